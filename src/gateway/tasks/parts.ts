import { mebibyte } from '../../base/mebibyte.ts';
import type { UpstreamTimes } from '../../http/upstream.ts';
import type { Files } from '../../media/files.ts';
import type { Database } from '../../storage/database.ts';
import type { GatewayParts } from '../parts.ts';
import type { TaskChannels } from './task-channels.ts';
import type { Task } from './task.ts';

/** The log line of an ended task, with the fields of a request's line. */
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

/** The parts that background tasks need beside the pipeline's. */
export interface TaskParts
  extends Pick<
    GatewayParts,
    | 'clock'
    | 'random'
    | 'timers'
    | 'limiter'
    | 'health'
    | 'catalog'
    | 'openChannels'
    | 'downloads'
    | 'access'
    | 'failed'
    | 'overran'
    | 'limits'
  > {
  readonly database: Database;
  readonly files: Pick<Files, 'put' | 'copy' | 'room' | 'remove'>;
  readonly taskChannels: TaskChannels;
  readonly taskLimits: TaskLimits;
  readonly ended: (line: TaskLine) => void;
  /** Called for an error that no client sees: the task, or several of them, are polled again. */
  readonly trouble: (task: Task | undefined, error: unknown) => void;
}

/** Limits of background tasks; docs/reference/config.md lists those that are settings. */
export interface TaskLimits {
  /** A task that has not ended by this age is cancelled, and its money is freed. */
  readonly ageMs: number;
  /**
   * The pause before a task's first poll, and the longest pause. In between, the pause grows with
   * the task's age.
   */
  readonly pollMsMin: number;
  readonly pollMsMax: number;
  /** The longest pause after a poll that failed. */
  readonly backoffMsMax: number;
  /** Polls of this process that are under way on one channel, and on all. */
  readonly channelPollsMax: number;
  readonly pollsMax: number;
  /** Files that this process copies at the same time, and the time limit of one copy. */
  readonly copiesMax: number;
  readonly copyMs: number;
  /** How often the poller looks for due tasks. */
  readonly lookEveryMs: number;
  /** How long a submission waits for money that other requests hold and do not use. */
  readonly moneyWaitMs: number;
  /** The most channels tried for one submission. */
  readonly attemptsMax: number;
  readonly replyBytesMax: number;
  readonly submit: UpstreamTimes;
  readonly poll: UpstreamTimes;
}

export const taskLimits: TaskLimits = {
  ageMs: 3_600_000,
  pollMsMin: 2_000,
  pollMsMax: 15_000,
  backoffMsMax: 60_000,
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

/** Time beyond the longest possible step: a process that is silent for this long is gone. */
const leaseSpareMs = 10_000;

/** The limits of connecting, the head and the body, added up. */
export const replyMsMax = ({ firstByteTimeoutMs, idleTimeoutMs }: UpstreamTimes): number =>
  5_000 + firstByteTimeoutMs + idleTimeoutMs;

/** How long a submission owns a task, for each channel that it tries. */
export const submitLeaseMs = ({ submit }: TaskLimits): number => replyMsMax(submit) + leaseSpareMs;

/** How long a poll owns a task. */
export const pollLeaseMs = ({ poll }: TaskLimits): number => replyMsMax(poll) + leaseSpareMs;

/**
 * The pause before the next poll of a task of this age, in whole milliseconds, after `faults`
 * failed polls in a row.
 */
export function pollAfterMs(
  { pollMsMin, pollMsMax, backoffMsMax }: TaskLimits,
  ageMs: number,
  faults: number,
): number {
  const plain = Math.min(pollMsMax, Math.max(pollMsMin, Math.ceil(ageMs / 4)));
  return faults === 0
    ? plain
    : Math.min(Math.max(backoffMsMax, plain), plain * 2 ** Math.min(faults, 10));
}
