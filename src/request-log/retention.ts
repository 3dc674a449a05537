import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';
import { type RequestLogLimits, requestLogLimits } from './entry.ts';
import {
  forgetCutsBefore,
  forgetExcess,
  forgetRequestsBefore,
  requestsByAccount,
} from './queries.ts';

const deletedAtOnceMax = 500;
const rhythm = { firstMs: 60_000, everyMs: 600_000 };

/** Applies the limits of the log, a minute from now and then every ten minutes. */
export function keepRequestLogBounded(
  database: Database,
  clock: Clock,
  onError: OnError,
  limits: RequestLogLimits = requestLogLimits,
): Repeated {
  const keep = (stopped: () => boolean) => boundRequestLog(database, clock, limits, stopped);
  return repeat('limits of the request log', keep, rhythm, onError);
}

/**
 * Deletes requests that are too old and the oldest of accounts that have too many, a few at a time,
 * so that no commit is long. When all accounts together have too many, the limit of one account
 * falls until the rest fits: a small account loses nothing to a large one. `stopped` ends it before
 * the next few.
 */
export async function boundRequestLog(
  database: Database,
  clock: Clock,
  limits: RequestLogLimits = requestLogLimits,
  stopped: () => boolean = () => false,
): Promise<void> {
  const before = clock.now() - limits.keptForMs;
  const forget = () => database.transact(() => forgetRequestsBefore(before, deletedAtOnceMax));
  while ((await forget()) === deletedAtOnceMax) if (stopped()) return;
  await database.transact(() => forgetCutsBefore(before));
  const counts = await database.snapshot(() => requestsByAccount());
  const allowed = accountAllowance([...counts.values()], limits);
  for (const [account, count] of counts) {
    let deleted = count > allowed ? deletedAtOnceMax : 0;
    while (deleted === deletedAtOnceMax) {
      if (stopped()) return;
      deleted = await database.transact(() => forgetExcess(account, allowed, deletedAtOnceMax));
    }
  }
}

/** The most requests of one account, so that those of all accounts fit into the log. */
export function accountAllowance(
  counts: readonly number[],
  { accountRowsMax, rowsMax }: Pick<RequestLogLimits, 'accountRowsMax' | 'rowsMax'>,
): number {
  let allowed = accountRowsMax;
  const kept = (): number => counts.reduce((sum, count) => sum + Math.min(count, allowed), 0);
  while (kept() > rowsMax && allowed > 1) allowed = Math.floor(allowed / 2);
  return allowed;
}
