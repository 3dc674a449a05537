/**
 * A store whose entries expire. `expire` deletes at most `expiredAtOnceMax` at a time, so that no
 * commit is long, and returns how many.
 */
interface Expiring {
  expire(): Promise<number>;
}

export const expiredAtOnceMax = 500;
const everyMs = 3_600_000;
/** A process that lives less than an hour expires entries as well. */
const firstMs = 60_000;

/**
 * Deletes expired entries, a minute from now and then every hour. When the database is away, the
 * next hour tries again.
 */
export function expireHourly(memories: readonly Expiring[]): { stop(): void } {
  const expire = async (memory: Expiring): Promise<void> => {
    while ((await memory.expire()) === expiredAtOnceMax);
  };
  const expireAll = (): void => {
    for (const memory of memories) void expire(memory).catch(() => undefined);
  };
  const first = setTimeout(expireAll, firstMs).unref();
  const others = setInterval(expireAll, everyMs).unref();
  return {
    stop() {
      clearTimeout(first);
      clearInterval(others);
    },
  };
}
