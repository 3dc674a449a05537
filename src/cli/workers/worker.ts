import cluster from 'node:cluster';
import type { WorkerGroup } from '../../app/gateway.ts';
import {
  WorkerLimiter,
  type LimitAnswer,
  type LimitQuestion,
} from '../../limits/worker-limiter.ts';

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

/** The first worker's address and sign-in link. */
export interface WorkerReady {
  readonly url: string;
  readonly link: string | undefined;
}

/** The environment variable with a worker's place. */
export const workerVariable = 'TOLLGATE_WORKER';

export interface ClusterWorker extends WorkerGroup {
  ready(told: WorkerReady): void;
}

/** This process as one of several; undefined unless a supervisor started it. */
export function clusterWorker(env: NodeJS.ProcessEnv): ClusterWorker | undefined {
  const place = env[workerVariable];
  if (!cluster.isWorker || place === undefined) return undefined;
  const tell = (told: WorkerMessage): void => void process.send?.(told);
  const limiter = new WorkerLimiter((limits) => tell({ limits }));
  const waiting = new Map<number, (page: string) => void>();
  let own: () => Promise<string> = () => Promise.resolve('');
  let wanted = 0;
  process.on('message', (heard: SupervisorMessage) => {
    if ('limited' in heard) limiter.receive(heard.limited);
    else if ('tell' in heard) void own().then((page) => tell({ page, of: heard.tell }));
    else {
      waiting.get(heard.wanted)?.(heard.all);
      waiting.delete(heard.wanted);
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
          tell({ wanted });
        });
    },
    ready: (told) => tell({ ready: told }),
  };
}
