/** Waiting comes in by argument, so that tests can turn time. */
export interface Timers {
  /**
   * Runs `run` once after at least `ms`; what it returns calls that off. Such a timer keeps no
   * process alive.
   */
  after(ms: number, run: () => void): () => void;
  /**
   * Runs `run` once everything that has already arrived has been handled: what belongs together
   * goes together, and waits for nothing.
   */
  soon(run: () => void): void;
}

export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon(run) {
    setImmediate(run);
  },
};

export function turn(timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    timers.soon(resolve);
  });
}

export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve);
  });
}
