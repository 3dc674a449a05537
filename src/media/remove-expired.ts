import { isAway } from '../storage/database.ts';

const readAtOnce = 500;
const removedAtOnce = 8;

/**
 * Removes entries in the order in which they expire, a few at a time; returns how many this process
 * has removed. What cannot be removed does not keep the others, and the next call tries it again;
 * rejects at the end with the error of one of them. Rejects at once where the database is away.
 * `find` returns at most so many entries, the first that have expired. `stopped` ends it before the
 * next few.
 */
export async function removeExpired<Entry>(
  find: (count: number) => Promise<readonly Entry[]>,
  remove: (entry: Entry) => Promise<boolean>,
  stopped: () => boolean,
): Promise<number> {
  let [removed, before] = [0, -1];
  let failure: Error | undefined;
  for (let read = readAtOnce; read === readAtOnce && removed > before; ) {
    before = removed;
    const entries = await find(readAtOnce);
    read = entries.length;
    for (let at = 0; at < read; at += removedAtOnce) {
      const some = entries.slice(at, at + removedAtOnce);
      const results = await Promise.allSettled(some.map((entry) => remove(entry)));
      removed += results.filter(isRemoved).length;
      failure ??= failureOf(results);
      if (stopped()) return removed;
    }
  }
  if (failure !== undefined) throw failure;
  return removed;
}

const isRemoved = (result: PromiseSettledResult<boolean>): boolean =>
  result.status === 'fulfilled' && result.value;

/** Throws where the database is away. */
function failureOf(results: readonly PromiseSettledResult<boolean>[]): Error | undefined {
  const reasons = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const away = reasons.find(isAway);
  if (away !== undefined) throw away;
  return reasons[0];
}
