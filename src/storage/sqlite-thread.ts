import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { DatabaseError, type DatabaseErrorKind, type Procedures } from './database.ts';
import { unpackInput } from './packing.ts';
import { callOf, type Job, LockRetry, restMs, SqliteHost } from './sqlite-host.ts';

export interface JobMessage {
  readonly id: number;
  readonly job: Job;
}

/** `kind` is absent when what was thrown is not a `DatabaseError`. */
export type JobReply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly failed: { readonly kind: DatabaseErrorKind | undefined; readonly message: string };
    };

const bell = new Int32Array(new SharedArrayBuffer(4));
/** Blocks the thread, which has nothing else to do; timers would not be precise enough. */
function sleep(ms: number): void {
  Atomics.wait(bell, 0, 0, ms);
}

function retryWhileLocked<T>(host: SqliteHost, attempt: () => T): T {
  let patience: LockRetry | undefined;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      patience ??= new LockRetry(systemClock, systemRandom);
      const pauseMs = patience.pauseMs(error);
      host.metOthers();
      sleep(pauseMs);
    }
  }
}

/**
 * The body of SQLite's thread: opens the file that `open` named and serves its jobs, one after the
 * other, until it is closed. The entry file given to `open` calls this with the procedures that the
 * thread shall know.
 */
export function serveSqlite(procedures: Procedures): void {
  assert(
    parentPort !== null && typeof workerData?.path === 'string',
    'serveSqlite runs in the thread that open() starts',
  );
  const port = parentPort;
  const host = new SqliteHost(workerData.path, procedures, systemClock);
  retryWhileLocked(host, () => host.configure());
  port.on('message', ({ id, job }: JobMessage) => {
    port.postMessage(
      reply(host, id, job.do === 'call' ? callOf(job.procedure, unpackInput(job.input)) : job),
    );
    if (job.do === 'close') port.close();
    else if (host.crowded && (job.do === 'call' || job.do === 'commit')) sleep(restMs);
  });
}

function reply(host: SqliteHost, id: number, job: Job): JobReply {
  try {
    return { id, value: retryWhileLocked(host, () => host.perform(job)) };
  } catch (error) {
    const kind = error instanceof DatabaseError ? error.kind : undefined;
    return {
      id,
      failed: { kind, message: error instanceof Error ? error.message : String(error) },
    };
  }
}
