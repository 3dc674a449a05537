/** Something that forgets: at most `expiredMax` at a time, so that no commit is long. Returns how many. */
interface Forgetful {
  expire(): Promise<number>;
}

export const expiredMax = 500;
const everyMs = 3_600_000;

/** Forgets what has expired, every hour; a database that is away then is asked again in the next one. */
export function expireHourly(memories: readonly Forgetful[]): { stop(): void } {
  const expire = async (memory: Forgetful): Promise<void> => {
    while ((await memory.expire()) === expiredMax);
  };
  const timer = setInterval(() => {
    for (const memory of memories) void expire(memory).catch(() => undefined);
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
