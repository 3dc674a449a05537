import { performance } from 'node:perf_hooks';

/** How busy this thread is comes in by argument, as time does. */
export interface Load {
  /** The part of the recent past in which the thread had something to do: 0 (idle) to 1. */
  busy(): number;
}

/** The past that is looked back on at least, ms. */
const spanMs = 100;

class EventLoopLoad implements Load {
  #since = performance.eventLoopUtilization();
  #busy = 0;

  busy(): number {
    const past = performance.eventLoopUtilization(this.#since);
    if (past.active + past.idle >= spanMs) {
      this.#since = performance.eventLoopUtilization();
      this.#busy = past.utilization;
    }
    return this.#busy;
  }
}

export const systemLoad: Load = new EventLoopLoad();
