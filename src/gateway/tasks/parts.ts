import type { UpstreamTimes } from '../../http/upstream.ts';
import type { Files } from '../../media/files.ts';
import type { Database } from '../../storage/database.ts';
import type { GatewayParts } from '../parts.ts';
import type { TaskChannels } from './task-channels.ts';
import type { Task } from './task.ts';

/** What is told of a task when it has ended, in the words of a request's line. */
export interface TaskLine {
  readonly id: string;
  readonly user: string;
  readonly key: string;
  readonly model: string;
  readonly group: string;
  readonly channel: string;
  readonly outcome: string;
  /** Nano-yuan, as a decimal string. */
  readonly costNano: string;
  readonly durationMs: number;
}

/** What work that outlives its request needs beside the pipeline's parts. */
export interface TaskParts
  extends Pick<
    GatewayParts,
    | 'clock'
    | 'random'
    | 'timers'
    | 'limiter'
    | 'health'
    | 'catalog'
    | 'channelClients'
    | 'downloads'
    | 'access'
    | 'limits'
  > {
  readonly database: Database;
  readonly files: Pick<Files, 'put' | 'copy' | 'room' | 'remove'>;
  readonly taskChannels: TaskChannels;
  readonly taskLimits: TaskLimits;
  readonly ended: (line: TaskLine) => void;
  /**
   * Something went wrong that nobody is told of: the task, or several of them, are asked for again.
   */
  readonly trouble: (task: Task | undefined, error: unknown) => void;
}

/**
 * Limits of work that outlives its request; docs/reference/config.md lists those that are settings.
 */
export interface TaskLimits {
  /** A task that has not ended by then is cancelled, and its money is back. */
  readonly ageMs: number;
  /**
   * The first question after a task's submission, and the most that lies between two. In between
   * they grow with its age.
   */
  readonly pollMsLeast: number;
  readonly pollMsMost: number;
  /** The most that lies between two questions of which the first told nothing. */
  readonly backoffMsMost: number;
  /** Questions of this process that are under way to one channel, and to all. */
  readonly channelPollsMax: number;
  readonly pollsMax: number;
  /** Files of this process that are copied at the same time, and the time that one may take. */
  readonly copiesMax: number;
  readonly copyMs: number;
  /** How often is looked for tasks that are due. */
  readonly lookEveryMs: number;
  /** How long a submission waits for money that others have and do not use. */
  readonly moneyWaitMs: number;
  /** Channels tried for one submission at most. */
  readonly attemptsMax: number;
  readonly replyBytesMax: number;
  readonly submit: UpstreamTimes;
  readonly poll: UpstreamTimes;
}

const mebibyte = 1024 * 1024;

export const taskLimits: TaskLimits = {
  ageMs: 3_600_000,
  pollMsLeast: 2_000,
  pollMsMost: 15_000,
  backoffMsMost: 60_000,
  channelPollsMax: 128,
  pollsMax: 512,
  copiesMax: 16,
  copyMs: 600_000,
  lookEveryMs: 500,
  moneyWaitMs: 3_000,
  attemptsMax: 4,
  // Some vendors answer with the video itself, as base64.
  replyBytesMax: 64 * mebibyte,
  submit: { firstByteTimeoutMs: 60_000, idleTimeoutMs: 30_000 },
  poll: { firstByteTimeoutMs: 10_000, idleTimeoutMs: 10_000 },
};

/** Beyond the longest that something can take: who is not heard of for so long is gone. */
const leaseSpareMs = 10_000;

/** Connecting, the head and the body, each with a limit of its own. */
export const replyMsMax = ({ firstByteTimeoutMs, idleTimeoutMs }: UpstreamTimes): number =>
  5_000 + firstByteTimeoutMs + idleTimeoutMs;

/** How long a submission has a task to itself, for each channel that it tries. */
export const submitLeaseMs = ({ submit }: TaskLimits): number => replyMsMax(submit) + leaseSpareMs;

/** How long a poll has a task to itself. */
export const pollLeaseMs = ({ poll }: TaskLimits): number => replyMsMax(poll) + leaseSpareMs;

/**
 * When a task of this age is asked for again, in whole milliseconds, after so many questions in a
 * row that told nothing.
 */
export function pollAfterMs(
  { pollMsLeast, pollMsMost, backoffMsMost }: TaskLimits,
  ageMs: number,
  faults: number,
): number {
  const plain = Math.min(pollMsMost, Math.max(pollMsLeast, Math.ceil(ageMs / 4)));
  return faults === 0
    ? plain
    : Math.min(Math.max(backoffMsMost, plain), plain * 2 ** Math.min(faults, 10));
}
