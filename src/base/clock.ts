import { performance } from 'node:perf_hooks';

/** Time is passed in as an argument, so that tests can control it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For records and windows, never for leases. */
  now(): number;
  /** Milliseconds of this process's own steady clock. For everything that measures or waits. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Waiting is passed in as an argument, so that tests can control time. */
export interface Timers {
  /**
   * Runs `run` once after at least `ms`; the returned function cancels it. Such a timer keeps no
   * process alive.
   */
  after(ms: number, run: () => void): () => void;
  /**
   * Runs `run` once everything that has already arrived has been handled: events that arrived
   * together are handled together, without a delay.
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

export function nextTurn(timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    timers.soon(resolve);
  });
}

export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve);
  });
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for `ms`, more precisely than a timer waits. */
export function blockThread(ms: number): void {
  Atomics.wait(neverNotified, 0, 0, ms);
}

/** The load of this thread, passed in as an argument like time. */
export interface ThreadLoad {
  /** The part of the recent past in which the thread had something to do: 0 (idle) to 1. */
  busy(): number;
}

/** The shortest period over which the load is measured, ms. */
const loadWindowMs = 100;

class EventLoopLoad implements ThreadLoad {
  #since = performance.eventLoopUtilization();
  #busy = 0;

  busy(): number {
    const past = performance.eventLoopUtilization(this.#since);
    if (past.active + past.idle >= loadWindowMs) {
      this.#since = performance.eventLoopUtilization();
      this.#busy = past.utilization;
    }
    return this.#busy;
  }
}

export const systemLoad: ThreadLoad = new EventLoopLoad();
