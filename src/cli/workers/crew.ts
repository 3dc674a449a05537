import cluster from 'node:cluster';
import type { Crew } from '../../main.ts';
import { CrewLimiter, type LimitAnswer, type LimitQuestion } from '../../limits/crew-limiter.ts';

/** What a worker tells its supervisor. */
export type Told =
  | { readonly limits: readonly LimitQuestion[] }
  | { readonly ready: Ready }
  /** The page of all is wanted; and this worker's own, which was asked for. */
  | { readonly wanted: number }
  | { readonly page: string; readonly of: number };

/** What it hears. */
export type Heard =
  | { readonly limited: readonly LimitAnswer[] }
  | { readonly tell: number }
  | { readonly all: string; readonly wanted: number };

/** Where the first worker is to be found. */
export interface Ready {
  readonly url: string;
  readonly link: string | undefined;
}

/** By which a worker knows its place. */
export const placeVariable = 'TOLLGATE_WORKER';

export interface Member extends Crew {
  ready(told: Ready): void;
}

/** This process as one of several, when a supervisor has started it. */
export function crewOf(env: NodeJS.ProcessEnv): Member | undefined {
  const place = env[placeVariable];
  if (!cluster.isWorker || place === undefined) return undefined;
  const tell = (told: Told): void => void process.send?.(told);
  const limiter = new CrewLimiter((limits) => tell({ limits }));
  const waiting = new Map<number, (page: string) => void>();
  let own: () => Promise<string> = () => Promise.resolve('');
  let wanted = 0;
  process.on('message', (heard: Heard) => {
    if ('limited' in heard) limiter.heard(heard.limited);
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
    pageOf(read) {
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
