import { setMaxListeners } from 'node:events';
import type { Pass } from '../../limits/limiter.ts';
import type { TaskParts } from './parts.ts';
import { Poller } from './poller.ts';
import {
  releaseTasks,
  deleteTask,
  expireTasks,
  findTask,
  listTasks,
  type TaskPage,
} from './queries.ts';
import { type SubmittedTask, submitTask, type VideoSubmission } from './submit.ts';
import type { Task } from './task.ts';

/**
 * Background tasks of all accounts: submitted here, polled in the background, visible to their
 * owner for a day.
 */
export class Tasks {
  readonly #parts: TaskParts;
  readonly #poller: Poller;
  readonly #stop = new AbortController();

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.#poller = new Poller(parts);
    setMaxListeners(0, this.#stop.signal);
  }

  /** Frees all claims. Call it only when no other process is alive. */
  release(): Promise<void> {
    return releaseTasks(this.#parts.database);
  }

  start(): void {
    this.#poller.start();
  }

  /**
   * The progress of this process's polls: tasks that wait for one, and polls and copies under way.
   */
  get polls(): { readonly due: number; readonly busy: number } {
    return { due: this.#poller.due, busy: this.#poller.busy };
  }

  /** Throws a Refusal (or LimitReached), and then there is no task and no hold. */
  submit(request: VideoSubmission, onLimits: (pass: Pass) => void): Promise<SubmittedTask> {
    return submitTask(this.#parts, request, this.#stop.signal, onLimits);
  }

  /** Undefined when this account has no task of this id, or had it more than a day ago. */
  find(account: string, id: string): Promise<Task | undefined> {
    return findTask(this.#parts.database, account, id, this.#parts.clock.now());
  }

  list(account: string, page: TaskPage): Promise<readonly Task[] | 'no such task'> {
    return listTasks(this.#parts.database, account, page, this.#parts.clock.now());
  }

  /** Deletes a task that has ended, with its file. */
  async remove(account: string, id: string): Promise<'removed' | 'unknown' | 'running'> {
    const task = await this.find(account, id);
    if (task === undefined) return 'unknown';
    if (task.endedAt === undefined) return 'running';
    // The file goes first: as long as its task is there, a removal that failed can be repeated.
    if (task.file !== undefined) await this.#parts.files.remove(account, task.file);
    await deleteTask(this.#parts.database, task);
    return 'removed';
  }

  expire(): Promise<number> {
    return expireTasks(this.#parts.database, this.#parts.clock.now());
  }

  /**
   * Breaks off submissions and polls under way. Other processes, or the next one, poll the
   * submitted tasks.
   */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#poller.close();
  }
}
