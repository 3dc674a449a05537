import { dayMs, dayOf } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';
import { startNightlyCheck } from './check.ts';

/** Four in the morning, by the offset by which limits count days. */
const nightMs = 4 * 3_600_000;
const lookEveryMs = 600_000;

/** When the last night began, wall clock, ms. */
export function lastNight(now: number, utcOffsetMinutes: number): number {
  const night = dayOf(now, utcOffsetMinutes).from + nightMs;
  return night <= now ? night : night - dayMs;
}

/**
 * Proves the ledger once a night, on one of the nodes. A node that was down at that hour, and a new
 * installation, prove it within ten minutes.
 */
export function keepLedgerChecked(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  utcOffsetMinutes: number,
  onError: OnError,
): Repeated {
  const look = () => {
    const night = lastNight(clock.now(), utcOffsetMinutes);
    return startNightlyCheck(database, clock, others, night, onError);
  };
  return repeat(
    'nightly proof of the ledger',
    look,
    { firstMs: lookEveryMs, everyMs: lookEveryMs },
    onError,
  );
}
