import cluster, { type Worker } from 'node:cluster';
import type { Env } from '../../base/env.ts';
import { systemClock, systemTimers } from '../../base/clock.ts';
import { LimitKeeper } from '../../limits/limit-keeper.ts';
import { LeasingLimiter } from '../../limits/lease.ts';
import { acquireServingLock } from '../../storage/serving-lock.ts';
import { mergeMetricsPages } from '../../telemetry/exposition.ts';
import { makeInstallation } from '../installation.ts';
import { Failure } from '../command-io.ts';
import {
  type SupervisorMessage,
  workerVariable,
  type WorkerReady,
  type WorkerMessage,
} from './worker.ts';

/**
 * The delay before a worker that ended is replaced; a worker that keeps ending at once must not
 * take a whole processor.
 */
const replaceMs = 1_000;
/** A worker that has not sent its metrics by then is on the page with those that it sent last. */
const pageMs = 1_000;

/**
 * Runs several worker processes on one address. The first one starts alone, so that it cleans up
 * after a crashed gateway; the others follow. A worker that ends is replaced. The supervisor
 * handles no requests: it hands out connections, keeps the limits that all share, and merges their
 * metrics. Resolves when the first worker serves.
 */
export async function supervise(
  count: number,
  data: string | undefined,
  env: Env,
): Promise<WorkerReady> {
  const sole = acquireServingLock(makeInstallation(data, env).databaseUrl);
  const supervisor = new Supervisor();
  process.on('SIGTERM', supervisor.stop).on('SIGINT', supervisor.stop);
  supervisor.onEmpty(() => {
    sole?.release();
    process.exit(supervisor.stopping ? 0 : 1);
  });
  const ready = await supervisor.start(sole === undefined ? 'first' : 'alone');
  if (ready === undefined) throw new Failure('the first worker ended before it served');
  supervisor.keep(count);
  return ready;
}

class Supervisor {
  stopping = false;
  readonly #limits = new LimitKeeper(new LeasingLimiter(systemClock), systemTimers);
  readonly #workers = new Set<Worker>();
  /** The metrics that each worker sent last. */
  readonly #pages = new Map<Worker, string>();
  /** The counters of all workers that have ended: what was counted once never falls. */
  #counted = '';
  readonly #collections = new Map<number, PageCollection>();
  #collected = 0;
  #kept = 0;
  #empty: () => void = () => {};

  onEmpty(empty: () => void): void {
    this.#empty = empty;
  }

  /**
   * Keeps this many workers running from here on. A signal to stop may come before the first worker
   * reports that it is ready: then no other starts, because nothing would end it.
   */
  keep(count: number): void {
    this.#kept = count;
    if (this.stopping) return;
    while (this.#workers.size < count) void this.start('further');
  }

  /** Resolves when the worker serves; with undefined when it ends before. */
  start(place: 'alone' | 'first' | 'further'): Promise<WorkerReady | undefined> {
    const worker = cluster.fork({ [workerVariable]: place });
    this.#workers.add(worker);
    const send = (message: SupervisorMessage): void =>
      void (worker.isConnected() && worker.send(message));
    const limits = this.#limits.join((limited) => send({ limited }));
    // A message to a worker that has just died is lost; its exit event follows soon.
    worker.on('error', () => {});
    return new Promise((resolve) => {
      worker.on('message', (message: WorkerMessage) => {
        if ('limits' in message) limits.receive(message.limits);
        else if ('ready' in message) resolve(message.ready);
        else if ('wanted' in message) this.#gather((all) => send({ all, wanted: message.wanted }));
        else this.#receive(worker, message.page, message.of);
      });
      worker.once('exit', () => {
        limits.gone();
        resolve(undefined);
        this.#ended(worker);
      });
    });
  }

  #ended(worker: Worker): void {
    this.#workers.delete(worker);
    this.#counted = mergeMetricsPages(new Map(), [this.#counted, this.#pages.get(worker) ?? '']);
    this.#pages.delete(worker);
    for (const collection of this.#collections.values()) collection.delete(worker);
    if (this.#workers.size === 0 && (this.stopping || this.#kept === 0)) return this.#empty();
    if (!this.stopping) setTimeout(() => this.keep(this.#kept), replaceMs);
  }

  /** Makes every worker drain. */
  readonly stop = (): void => {
    this.stopping = true;
    // A worker that was about to be replaced is not.
    if (this.#workers.size === 0) this.#empty();
    for (const worker of this.#workers) worker.process.kill('SIGTERM');
  };

  #gather(done: (page: string) => void): void {
    const id = ++this.#collected;
    const workers = [...this.#workers].filter((worker) => worker.isConnected());
    const collection = new PageCollection(workers, () => {
      this.#collections.delete(id);
      const pages = [...this.#pages].map(([worker, page]) => [String(worker.id), page] as const);
      done(mergeMetricsPages(new Map(pages), [this.#counted]));
    });
    this.#collections.set(id, collection);
    for (const worker of workers) worker.send({ tell: id } satisfies SupervisorMessage);
  }

  #receive(worker: Worker, page: string, collection: number): void {
    // Its exit may come before its last message.
    if (!this.#workers.has(worker)) return;
    this.#pages.set(worker, page);
    this.#collections.get(collection)?.delete(worker);
  }
}

/** Waits for the metrics of several workers, until all have sent theirs or the time is over. */
class PageCollection {
  readonly #missing: Set<Worker>;
  readonly #late: NodeJS.Timeout;
  readonly #done: () => void;

  constructor(workers: readonly Worker[], done: () => void) {
    this.#missing = new Set(workers);
    this.#done = done;
    this.#late = setTimeout(() => this.#finish(), pageMs);
  }

  /** The worker has sent its metrics, or has ended. */
  delete(worker: Worker): void {
    if (this.#missing.delete(worker) && this.#missing.size === 0) this.#finish();
  }

  #finish(): void {
    clearTimeout(this.#late);
    this.#missing.clear();
    this.#done();
  }
}
