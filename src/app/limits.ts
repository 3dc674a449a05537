import { systemClock } from '../base/clock.ts';
import { type SharedLimiter, MemoryLimiter } from '../limits/limiter.ts';
import { NodesLimiter } from '../limits/nodes-limiter.ts';
import { openSharedState } from '../storage/shared-state.ts';
import { type MetricFamily, metricFamily } from '../telemetry/exposition.ts';
import type { Log } from '../telemetry/log.ts';

export interface LimitOptions {
  /**
   * The shared state of all nodes; undefined: this process is alone, and keeps its limits in
   * memory.
   */
  readonly redisUrl?: string | undefined;
  /**
   * The limiter of one worker process among several on this machine; a shared state takes
   * precedence.
   */
  readonly limiter?: SharedLimiter | undefined;
}

export interface OpenLimits {
  readonly limiter: SharedLimiter;
  readonly families: () => readonly MetricFamily[];
  close(): Promise<void>;
}

export async function openLimits(
  { redisUrl, limiter: workerLimiter }: LimitOptions,
  log: Log,
): Promise<OpenLimits> {
  const own = new MemoryLimiter(systemClock);
  if (redisUrl === undefined)
    return { limiter: workerLimiter ?? own, families: () => [], close: async () => {} };
  const changed = (there: boolean, why: string | undefined): void => {
    if (there) log.line('shared state is back', {});
    else
      log.error('shared state is away', why ?? 'the connection was closed', {
        consequence: 'each node limits by itself',
      });
  };
  const state = await openSharedState({ url: redisUrl, changed });
  const limiter = new NodesLimiter({ state, own });
  return {
    limiter,
    families: () => [
      metricFamily(
        'tollgate_shared_state_up',
        'gauge',
        'Whether Valkey or Redis answers',
        Number(state.there),
      ),
      metricFamily(
        'tollgate_limits_alone_total',
        'counter',
        'Requests limited by this process alone, the shared state being away',
        limiter.alone,
      ),
    ],
    close() {
      limiter.close();
      return state.close();
    },
  };
}
