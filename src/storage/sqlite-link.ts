import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { DatabaseError, type Procedures } from './database.ts';
import { pack } from './packing.ts';
import { callOf, type Job, Patience, SqliteHost } from './sqlite-host.ts';
import type { JobMessage, JobReply } from './sqlite-thread.ts';

/** The way to whoever has the connection. Jobs are done in the order in which they are sent. */
export interface Link {
  send(job: Job): Promise<unknown>;
  close(): Promise<void>;
}

/** The connection in this thread: for commands and tests. */
export class InlineLink implements Link {
  readonly #host: SqliteHost;
  #last: Promise<unknown>;

  constructor(path: string, procedures: Procedures) {
    this.#host = new SqliteHost(path, procedures, systemClock);
    this.#last = this.#patiently(() => this.#host.configure());
    this.#last.catch(() => undefined);
  }

  send(job: Job): Promise<unknown> {
    const done = this.#last.then(() => this.#patiently(() => this.#host.perform(job)));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async close(): Promise<void> {
    await this.send({ do: 'close' });
  }

  async #patiently<T>(attempt: () => T): Promise<T> {
    const patience = new Patience(systemClock, systemRandom);
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        await wait(patience.pauseMs(error));
      }
    }
  }
}

interface Pending {
  readonly id: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Where the thread's code is, and what Node needs to run it (`['--import', 'tsx']` from sources on
 * Node 20).
 */
export interface ThreadOptions {
  readonly entry: URL;
  readonly execArgv?: readonly string[];
}

/**
 * The connection in a thread of its own, so that an fsync never stops a stream. A thread that dies
 * is replaced with the next job.
 */
export class ThreadLink implements Link {
  readonly #path: string;
  readonly #options: ThreadOptions;
  /**
   * Of jobs that are not answered yet, oldest first. The thread does them in order; a map of all
   * that ever was would be rebuilt for each of them.
   */
  readonly #pending: Pending[] = [];
  #worker: Worker | undefined;
  #sent = 0;

  constructor(path: string, options: ThreadOptions) {
    this.#path = path;
    this.#options = options;
  }

  send(job: Job): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      const message: JobMessage = {
        id: ++this.#sent,
        job: job.do === 'call' ? callOf(job.procedure, pack(job.input)) : job,
      };
      this.#worker.postMessage(message);
      this.#pending.push({ id: message.id, resolve, reject });
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await this.send({ do: 'close' });
    await ended;
  }

  #start(): Worker {
    const { entry, execArgv } = this.#options;
    const worker = new Worker(entry, {
      workerData: { path: this.#path },
      ...(execArgv && { execArgv: [...execArgv] }),
    });
    let why = 'the database thread ended';
    worker.on('message', (reply: JobReply) => this.#settle(reply));
    worker.on('error', (error) => {
      why = `the database thread ended: ${error.message}`;
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const pending of this.#pending.splice(0))
        pending.reject(new DatabaseError('unknown', why));
    });
    return worker;
  }

  #settle(reply: JobReply): void {
    const pending = this.#pending.shift();
    assert(pending?.id === reply.id, 'the thread answers in order');
    if ('value' in reply) pending.resolve(reply.value);
    else if (reply.failed.kind === undefined) pending.reject(new Error(reply.failed.message));
    else pending.reject(new DatabaseError(reply.failed.kind, reply.failed.message));
  }
}
