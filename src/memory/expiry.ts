/**
 * Something that forgets: at most `expiredMax` at a time, so that no commit is long. Returns how
 * many.
 */
interface Expiring {
  expire(): Promise<number>;
}

export const expiredAtOnceMax = 500;
const everyMs = 3_600_000;
/** A process that never gets an hour old forgets as well. */
const firstMs = 60_000;

/**
 * Forgets what has expired, a minute from now and then every hour; a database that is away then is
 * asked again in the next one.
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
