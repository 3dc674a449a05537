import cluster from 'node:cluster';
import type { WorkerGroup } from '../../app/gateway.ts';
import { systemClock, systemTimers } from '../../base/clock.ts';
import type { LimitAnswer, LimitQuestion } from '../../limits/limit-keeper.ts';
import { WorkerLimiter } from '../../limits/worker-limiter.ts';

/** Messages from a worker to its supervisor. */
export type WorkerMessage =
  | { readonly limits: readonly LimitQuestion[] }
  | { readonly ready: WorkerReady }
  /** A request for the page of all workers; and this worker's own page, on request. */
  | { readonly wanted: number }
  | { readonly page: string; readonly of: number };

/** Messages from the supervisor to a worker. */
export type SupervisorMessage =
  | { readonly limited: readonly LimitAnswer[] }
  | { readonly tell: number }
  | { readonly all: string; readonly wanted: number };

/** What the first worker reports. */
export interface WorkerReady {
  readonly url: string;
  readonly link: string | undefined;
  /** For the person who started it. */
  readonly lines: readonly string[];
}

/** The environment variable with a worker's place. */
export const workerVariable = 'TOLLGATE_WORKER';

export interface ClusterWorker extends WorkerGroup {
  ready(ready: WorkerReady): void;
}

/** This process as one of several; undefined unless a supervisor started it. */
export function clusterWorker(env: NodeJS.ProcessEnv): ClusterWorker | undefined {
  const place = env[workerVariable];
  if (!cluster.isWorker || place === undefined) return undefined;
  const send = (message: WorkerMessage): void => void process.send?.(message);
  const limiter = new WorkerLimiter((limits) => send({ limits }), systemClock, systemTimers);
  const waiting = new Map<number, (page: string) => void>();
  let own: () => Promise<string> = () => Promise.resolve('');
  let wanted = 0;
  process.on('message', (message: SupervisorMessage) => {
    if ('limited' in message) limiter.receive(message.limited);
    else if ('tell' in message) void own().then((page) => send({ page, of: message.tell }));
    else {
      waiting.get(message.wanted)?.(message.all);
      waiting.delete(message.wanted);
    }
  });
  return {
    first: place !== 'further',
    alone: place === 'alone',
    limiter,
    mergedMetrics(read) {
      own = read;
      return () =>
        new Promise((resolve) => {
          waiting.set(++wanted, resolve);
          send({ wanted });
        });
    },
    ready: (report) => send({ ready: report }),
  };
}
