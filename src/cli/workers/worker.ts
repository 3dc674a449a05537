import cluster from 'node:cluster';
import type { WorkerGroup } from '../../app/gateway.ts';
import {
  WorkerLimiter,
  type LimitAnswer,
  type LimitQuestion,
} from '../../limits/worker-limiter.ts';

/** What a worker tells its supervisor. */
export type WorkerMessage =
  | { readonly limits: readonly LimitQuestion[] }
  | { readonly ready: WorkerReady }
  /** The page of all is wanted; and this worker's own, which was asked for. */
  | { readonly wanted: number }
  | { readonly page: string; readonly of: number };

/** What it hears. */
export type SupervisorMessage =
  | { readonly limited: readonly LimitAnswer[] }
  | { readonly tell: number }
  | { readonly all: string; readonly wanted: number };

/** Where the first worker is to be found. */
export interface WorkerReady {
  readonly url: string;
  readonly link: string | undefined;
}

/** By which a worker knows its place. */
export const workerVariable = 'TOLLGATE_WORKER';

export interface ClusterWorker extends WorkerGroup {
  ready(told: WorkerReady): void;
}

/** This process as one of several, when a supervisor has started it. */
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
