import { setMaxListeners } from 'node:events';
import type { Fault, FaultKind } from '../../base/fault.ts';
import type { Database } from '../../storage/database.ts';
import { WorkOutcomes } from '../../storage/repeat.ts';
import { pollLeaseMs, type TaskParts } from './parts.ts';
import { type CopyFile, type CopyResult, pollTask } from './poll.ts';
import { claimTasks, dueTasks, renewClaim, type PollResult, writePollResults } from './queries.ts';
import type { Task } from './task.ts';

/** The fewest concurrent polls on a channel that does not answer. */
const channelPollsMin = 4;
const silences: ReadonlySet<FaultKind> = new Set(['timeout', 'network']);

/**
 * The polls of one channel. `most` halves with each silence and grows with each answer, so that a
 * hanging vendor takes no capacity from others.
 */
interface ChannelPolls {
  busy: number;
  most: number;
  due: number;
  claiming: boolean;
}

/**
 * Polls vendors for due tasks, within its limits. Every process has one; until its lease ends, a
 * claim belongs to one process alone.
 */
export class Poller {
  readonly #parts: TaskParts;
  readonly #results: PollResults;
  readonly #outcomes: WorkOutcomes;
  readonly #channels = new Map<string, ChannelPolls>();
  readonly #stop = new AbortController();
  #busy = 0;
  /** The polls for which a claim is under way. */
  #claiming = 0;
  #copying = 0;
  #looking: Promise<void> = Promise.resolve();
  #cancel: () => void = () => {};
  #idle: (() => void) | undefined;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    const trouble = (error: unknown): void => parts.trouble(undefined, error);
    this.#results = new PollResults(parts.database, trouble);
    this.#outcomes = new WorkOutcomes('polls', (_, error) => trouble(error));
    // Every poll and every copy listens to this signal.
    setMaxListeners(0, this.#stop.signal);
  }

  start(): void {
    this.#cancel = this.#parts.timers.after(this.#parts.taskLimits.lookEveryMs, () => {
      this.#looking = this.look().finally(() => {
        if (!this.#stop.signal.aborted) this.start();
      });
    });
  }

  /** Polls and copies under way. */
  get busy(): number {
    return this.#busy;
  }

  /** Tasks that were due and unclaimed at the last look. */
  get due(): number {
    let due = 0;
    for (const polls of this.#channels.values()) due += polls.due;
    return due;
  }

  /**
   * Claims the due tasks that can be polled. Tries again at the next look when the database is
   * away.
   */
  async look(): Promise<void> {
    const { database, clock } = this.#parts;
    try {
      const due = await dueTasks(database, clock.now());
      for (const polls of this.#channels.values()) polls.due = 0;
      for (const { channel, count } of due) this.#channel(channel).due = count;
      for (const [channel, polls] of this.#channels)
        if (polls.due === 0 && polls.busy === 0) this.#channels.delete(channel);
      await Promise.all(due.map(({ channel }) => this.#fill(channel)));
      this.#outcomes.succeeded();
    } catch (error) {
      // Either nothing was claimed, or the claimed tasks are due again when their lease runs out.
      this.#outcomes.failed(error);
    }
  }

  /**
   * Claims nothing more, breaks off the running polls and waits until their outcome is written:
   * other processes go on with the tasks.
   */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancel();
    await this.#looking;
    if (this.#busy > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    await this.#results.idle();
  }

  #channel(channel: string): ChannelPolls {
    let polls = this.#channels.get(channel);
    if (polls === undefined) {
      polls = { busy: 0, most: this.#parts.taskLimits.channelPollsMax, due: 0, claiming: false };
      this.#channels.set(channel, polls);
    }
    return polls;
  }

  async #fill(channel: string): Promise<void> {
    const { database, clock, taskLimits } = this.#parts;
    const polls = this.#channel(channel);
    const free = taskLimits.pollsMax - this.#busy - this.#claiming;
    const room = Math.min(polls.most - polls.busy, free, polls.due);
    if (room <= 0 || polls.claiming || this.#stop.signal.aborted) return;
    polls.claiming = true;
    this.#claiming += room;
    try {
      const now = clock.now();
      const tasks = await claimTasks(database, channel, room, now, now + pollLeaseMs(taskLimits));
      polls.due = tasks.length < room ? 0 : polls.due - tasks.length;
      for (const task of tasks) void this.#poll(channel, polls, task);
    } finally {
      polls.claiming = false;
      this.#claiming -= room;
    }
  }

  async #poll(channel: string, polls: ChannelPolls, task: Task): Promise<void> {
    polls.busy += 1;
    this.#busy += 1;
    try {
      const polled = await pollTask(this.#parts, task, this.#copy, this.#stop.signal);
      if (polled.kind === 'unfinished') this.#results.add(polled.result);
      this.#learn(polls, polled.kind === 'unfinished' ? polled.fault : undefined);
    } catch (error) {
      this.#parts.trouble(task, error);
    } finally {
      polls.busy -= 1;
      this.#busy -= 1;
      if (this.#busy === 0) this.#idle?.();
      // Refills half of the capacity at a time, so that a claim is worth its statement.
      if (polls.due > 0 && polls.busy <= polls.most / 2)
        void this.#fill(channel).catch(this.#outcomes.failed);
    }
  }

  #learn(polls: ChannelPolls, fault: Fault | undefined): void {
    const { channelPollsMax } = this.#parts.taskLimits;
    if (fault !== undefined && silences.has(fault.kind))
      polls.most = Math.max(channelPollsMin, Math.floor(polls.most / 2));
    else polls.most = Math.min(channelPollsMax, polls.most + 1);
  }

  /** Runs one copy within its time limit, and renews the task's claim meanwhile. */
  readonly #copy: CopyFile = (task, copying) => {
    const { copiesMax, copyMs } = this.#parts.taskLimits;
    if (this.#copying >= copiesMax) return undefined;
    this.#copying += 1;
    const late = new AbortController();
    const cancel = this.#parts.timers.after(copyMs, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#stop.signal]);
    let renewing = (): void => {};
    let renewed = Promise.resolve();
    const renew = (): void => {
      const { database, clock, taskLimits, timers } = this.#parts;
      const leaseMs = pollLeaseMs(taskLimits);
      renewed = renewClaim(database, task, clock.now() + leaseMs).catch(this.#outcomes.failed);
      renewing = timers.after(leaseMs / 3, renew);
    };
    renew();
    return copying(signal)
      .catch(
        (error: unknown): CopyResult => ({
          fault: { kind: 'network', message: String(error) },
        }),
      )
      .then(async (copied) => {
        this.#copying -= 1;
        cancel();
        renewing();
        // A renewal written after the poll's result would block the next poll until the lease is
        // over.
        await renewed;
        return copied;
      });
  };
}

const atOnceMax = 512;

/**
 * Results of polls on their way to the database: those that gather during a write go into the next
 * one. A lost result costs one poll, once its lease has run out.
 */
class PollResults {
  readonly #database: Database;
  readonly #failed: (error: unknown) => void;
  #waiting: PollResult[] = [];
  #writing: Promise<void> | undefined;

  constructor(database: Database, failed: (error: unknown) => void) {
    this.#database = database;
    this.#failed = failed;
  }

  add(result: PollResult): void {
    this.#waiting.push(result);
    this.#writing ??= this.#write();
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, atOnceMax);
      await writePollResults(this.#database, some).catch(this.#failed);
    }
    this.#writing = undefined;
  }
}
