import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { hourMs } from './cover.ts';
import { rollUp } from './hours.ts';
import { lookAgain } from './mend.ts';

const keepEveryMs = 60_000;
/**
 * Hours are looked at again so much later, for what came late: a database may have been away
 * meanwhile.
 */
const againAfterMs = [hourMs, 24 * hourMs];

/**
 * Rolls up now and every minute, up to date before it rests. What fails is tried again the next
 * time: until then figures are read from records.
 */
export function keepHours(database: Database, clock: Clock): { stop(): void } {
  let busy = false;
  let stopped = false;
  const keep = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      for (
        let until = await rollUp(database, clock.now());
        until !== undefined && !stopped;
        until = await rollUp(database, clock.now())
      )
        if (until % hourMs === 0)
          for (const after of againAfterMs) await lookAgain(database, until - hourMs - after);
    } catch {
      // The database is away, or another is at it.
    }
    busy = false;
  };
  void keep();
  const timer = setInterval(() => void keep(), keepEveryMs).unref();
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
