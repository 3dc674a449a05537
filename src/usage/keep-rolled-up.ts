import { dayMs, hourMs } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';
import { catchUpAllAccounts } from './all-accounts.ts';
import { rolledUntil, startOfHour } from './ranges.ts';
import { recheckHour, rewind, rollUp, settledAfterMs } from './rollup.ts';

const rollUpEveryMs = 60_000;
/**
 * Hours are checked again this much later, for records that came late: a database may not have
 * answered meanwhile.
 */
const recheckAfterMs = [hourMs, 24 * hourMs];

/**
 * Rolls up now and every minute, each time until it is up to date. Until then figures are read from
 * records.
 */
export function keepRolledUp(database: Database, clock: Clock, onError: OnError): Repeated {
  const watch = new FutureWatch();
  const keep = async (stopped: () => boolean): Promise<void> => {
    while (!stopped() && (await catchUpAllAccounts(database)) !== undefined);
    for (
      let until = await rollUp(database, clock.now());
      until !== undefined && !stopped();
      until = await rollUp(database, clock.now())
    )
      if (until % hourMs === 0)
        for (const after of recheckAfterMs) await recheckHour(database, until - hourMs - after);
    await watch.look(database, clock, stopped);
  };
  return repeat('sums of usage', keep, { everyMs: rollUpEveryMs }, onError);
}

/** The recheck after an hour mends what a clock has skipped that is ahead by less. */
const aheadMsMax = hourMs;
/**
 * Figures that another process moves on are not taken back: its clock may be right, and this one's
 * wrong.
 */
const unmovedMsMin = 15 * 60_000;
/** A clock may have been ahead for this long. */
const recheckedMs = 31 * dayMs;

/**
 * Finds figures that were rolled up to a time in the future, by a process whose clock was ahead for
 * a while: what is charged before that time is in no figure. Mends the hours before now and takes
 * the figures of later ones back.
 */
export class FutureWatch {
  #seen = { until: 0, sinceMs: 0 };

  async look(database: Database, clock: Clock, stopped: () => boolean): Promise<void> {
    const until = await database.snapshot(rolledUntil, 'brief');
    const [now, nowMs] = [clock.now(), clock.monotonicMs()];
    if (until !== this.#seen.until) this.#seen = { until, sinceMs: nowMs };
    if (until <= now + aheadMsMax || nowMs - this.#seen.sinceMs < unmovedMsMin) return;
    const from = startOfHour(now - settledAfterMs);
    // The rewind comes last: a process that ends before it has changed nothing that is seen.
    for (let hour = from - recheckedMs; hour < from && !stopped(); hour += hourMs)
      await recheckHour(database, hour);
    if (!stopped()) await rewind(database, { from, to: until });
  }
}
