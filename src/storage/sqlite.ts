import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { type Statement, DatabaseError, type Procedures, type Row } from './database.ts';
import type { Engine, TransactionMode, EngineTransaction } from './engine.ts';
import {
  type Job,
  LockRetry,
  SqliteHost,
  type JobMessage,
  type JobReply,
  type ThreadData,
} from './sqlite-host.ts';

/**
 * The queue of one connection: an open session has the connection for itself, and everything else
 * waits for its end.
 */
class ConnectionQueue {
  readonly #link: Link;
  #session: Promise<void> | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  /** A link carries every job's outcome as unknown; the kind of job says what it is. */
  async send<T>(job: Job): Promise<T> {
    while (this.#session !== undefined) await this.#session;
    return this.#link.send(job) as Promise<T>;
  }

  async begin(mode: TransactionMode): Promise<EngineTransaction> {
    while (this.#session !== undefined) await this.#session;
    let ended = (): void => undefined;
    this.#session = new Promise((resolve) => {
      ended = () => {
        this.#session = undefined;
        resolve();
      };
    });
    try {
      await this.#link.send({ do: 'begin', mode });
    } catch (error) {
      ended();
      throw error;
    }
    return {
      run: ({ sql, params }) =>
        this.#link.send({ do: 'step', sql, params }) as Promise<readonly Row[]>,
      commit: () => this.#end('commit').finally(ended),
      rollback: () => this.#end('rollback').finally(ended),
    };
  }

  async close(): Promise<void> {
    while (this.#session !== undefined) await this.#session;
    await this.#link.close();
  }

  async #end(how: 'commit' | 'rollback'): Promise<void> {
    try {
      await this.#link.send({ do: how });
    } catch (error) {
      await this.#link.send({ do: 'rollback' }).catch(() => undefined);
      throw error;
    }
  }
}

/**
 * SQLite over one link, or over two: then reads have a connection of their own, and a long read of
 * the records delays no charge.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly #writer: ConnectionQueue;
  readonly #reader: ConnectionQueue;

  constructor(writer: Link, reader?: Link) {
    this.#writer = new ConnectionQueue(writer);
    this.#reader = reader === undefined ? this.#writer : new ConnectionQueue(reader);
  }

  run({ sql, params }: Statement): Promise<readonly Row[]> {
    return this.#writer.send({ do: 'run', sql, params });
  }

  call(procedure: string, input: unknown): Promise<unknown> {
    return this.#writer.send({ do: 'call', procedure, input });
  }

  begin(mode: TransactionMode): Promise<EngineTransaction> {
    return (mode === 'read' ? this.#reader : this.#writer).begin(mode);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    if (this.#reader !== this.#writer) await this.#reader.close();
  }
}

/**
 * Sends jobs to the owner of the connection, which does them in the order in which they are sent.
 */
interface Link {
  send(job: Job): Promise<unknown>;
  close(): Promise<void>;
}

/** The connection in this thread: for commands and tests. */
export class InlineLink implements Link {
  readonly #host: SqliteHost;
  #last: Promise<unknown>;

  constructor(path: string, procedures: Procedures, mayCreate: boolean) {
    this.#host = new SqliteHost(path, procedures, systemClock, mayCreate);
    this.#last = this.#retryWhileLocked(() => this.#host.configure());
    this.#last.catch(() => undefined);
  }

  send(job: Job): Promise<unknown> {
    const done = this.#last.then(() => this.#retryWhileLocked(() => this.#host.perform(job)));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async close(): Promise<void> {
    await this.send({ do: 'close' });
  }

  async #retryWhileLocked<T>(attempt: () => T): Promise<T> {
    const retry = new LockRetry(systemClock, systemRandom);
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        await wait(retry.pauseMs(error));
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
  #mayCreate: boolean;
  /**
   * Jobs without a reply, oldest first. The thread does them in order; a map would be rebuilt again
   * and again.
   */
  readonly #pending: Pending[] = [];
  #worker: Worker | undefined;
  #sent = 0;

  /** `mayCreate`: the first thread creates a file that does not exist; no later one does. */
  constructor(path: string, options: ThreadOptions, mayCreate: boolean) {
    this.#path = path;
    this.#options = options;
    this.#mayCreate = mayCreate;
  }

  send(job: Job): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      const message: JobMessage = { id: ++this.#sent, job };
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
      workerData: { path: this.#path, mayCreate: this.#mayCreate } satisfies ThreadData,
      ...(execArgv && { execArgv: [...execArgv] }),
    });
    this.#mayCreate = false;
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
