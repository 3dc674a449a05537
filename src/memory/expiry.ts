import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';

/**
 * A store whose entries expire. `expire` deletes at most `expiredAtOnceMax` at a time, so that no
 * commit is long, and returns how many. One that takes several steps asks `stopped` between them.
 */
export interface Expiring {
  expire(stopped: () => boolean): Promise<number>;
}

export const expiredAtOnceMax = 500;
/** A process that lives less than an hour deletes expired entries as well. */
const rhythm = { firstMs: 60_000, everyMs: 3_600_000 };

/**
 * Deletes expired entries, a minute from now and then every hour. `entries`: what they are, for the
 * log.
 */
export function expireHourly(entries: string, memory: Expiring, onError: OnError): Repeated {
  const expire = async (stopped: () => boolean): Promise<void> => {
    while ((await memory.expire(stopped)) === expiredAtOnceMax && !stopped());
  };
  return repeat(`deletion of expired ${entries}`, expire, rhythm, onError);
}
