import { performance } from 'node:perf_hooks';

/** Time comes in by argument, so that tests can turn it. */
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
