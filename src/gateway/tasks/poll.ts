import assert from 'node:assert/strict';
import type { Fault } from '../../base/fault.ts';
import type { Quantities } from '../../base/quantities.ts';
import { isNotStored, type StoredFile } from '../../media/files.ts';
import type { VendorRequest } from '../../providers/adapter.ts';
import { protocolFault } from '../../providers/formats/fault.ts';
import {
  type AcceptedTask,
  isTaskFault,
  type VendorTaskProgress,
  type TaskAdapter,
  type TaskFault,
  type TaskFile,
} from '../../providers/task-adapter.ts';
import { type HiddenFacts, shownMessage } from '../error-mapping.ts';
import type { OpenChannel } from '../channels/open-channels.ts';
import { callVendor, type TaskCallResult } from './vendor-call.ts';
import { completeTask, failTask } from './finish.ts';
import { pollAfterMs, type TaskParts } from './parts.ts';
import { type PollResult, taskKeptMs } from './queries.ts';
import type { Task, TaskError } from './task.ts';

/**
 * A vendor may not know a new task on all of its servers yet: before this age, and for fewer
 * answers than this, "unknown task" is not believed.
 */
const goneAfterMs = 60_000;
const goneTimes = 3;

/** A finished video is copied for the last time after so many failures in a row, however late. */
const copyTimes = 3;

/** The outcome of a poll: the task has ended, or its progress and the fault of the poll. */
export type PollOutcome =
  | { readonly kind: 'ended' }
  | { readonly kind: 'unfinished'; readonly result: PollResult; readonly fault: Fault | undefined };

/** What became of a copy: the file, why there is none yet, or why there will be none. */
export type CopyResult =
  | { readonly file: StoredFile }
  | { readonly fault: Fault }
  | { readonly error: TaskError };

/** Runs a copy; `undefined` when too many copies run already. */
export type CopyFile = (
  task: Task,
  copying: (signal: AbortSignal) => Promise<CopyResult>,
) => Promise<CopyResult> | undefined;

const ended: PollOutcome = { kind: 'ended' };
const neverSent: TaskError = {
  code: 'submission_failed',
  message: 'The video could not be submitted. Please try again.',
};
const timedOut: TaskError = { code: 'timeout', message: 'Task timed out and was cancelled.' };
const tooLarge: TaskError = {
  code: 'generation_failed',
  message: 'The video could not be generated: its file is too large.',
};
const vanished: TaskError = {
  code: 'generation_failed',
  message: 'The video could not be generated: it was lost.',
};

/**
 * Polls the vendor once for a claimed task, and ends the task if the vendor has. Only an explicit
 * answer of the vendor or the task's age ends a task; after any other fault the task is polled
 * again. Throws a `DatabaseError` and errors of the channel client; then the claim runs out.
 */
export async function pollTask(
  parts: TaskParts,
  task: Task,
  copy: CopyFile,
  stop: AbortSignal,
): Promise<PollOutcome> {
  const { upstreamId, upstreamModel, seconds } = task;
  // The submitting process died before it stored the vendor's id, so the vendor may have the task:
  // it is not sent a second time.
  if (upstreamId === undefined) return failed(parts, task, neverSent);
  let openChannel: OpenChannel;
  try {
    openChannel = await parts.taskChannels.openChannel(task.channel);
  } catch (error) {
    if (!isOver(parts, task)) throw error;
    return failed(parts, task, timedOut);
  }
  const adapter = openChannel.taskAdapter('video');
  assert(adapter !== undefined, 'a channel that took a video speaks of videos');
  const accepted: AcceptedTask = { upstreamId, upstreamModel, seconds };
  const call = (request: VendorRequest): Promise<TaskCallResult> => {
    const { replyBytesMax, poll: times } = parts.taskLimits;
    const limits = { replyBytesMax, times };
    return callVendor(parts.timers, openChannel, adapter, request, upstreamModel, limits, stop);
  };
  const called = await call(adapter.poll(accepted));
  const reported: VendorTaskProgress | TaskFault =
    'fault' in called ? called.fault : read(() => adapter.readPoll(called.reply, accepted));
  if (stop.aborted) return unfinished(parts, task);
  if (isTaskFault(reported)) {
    const isBelieved = ageOf(parts, task) >= goneAfterMs && task.faults + 1 >= goneTimes;
    if (reported.gone === true && isBelieved) return failed(parts, task, vanished);
  } else if (reported.state === 'failed') {
    const { secret, upstream } = openChannel;
    const channel = { secret, baseUrl: upstream.urlOf('/') };
    return failed(parts, task, errorOf(reported.fault, channel));
  } else if (reported.state === 'completed') {
    const made = { parts, task, openChannel, adapter, accepted, call };
    const copied = await copy(task, (signal) => storeVideo(made, reported.file, signal));
    return delivered(parts, task, reported.quantities, copied, stop);
  }
  if (!isOver(parts, task))
    return unfinished(
      parts,
      task,
      isTaskFault(reported) ? { fault: reported } : { progress: reported },
    );
  if (adapter.cancel !== undefined) await call(adapter.cancel(accepted));
  return failed(parts, task, timedOut);
}

const ageOf = ({ clock }: TaskParts, { createdAt }: Task): number => clock.now() - createdAt;
const isOver = (parts: TaskParts, task: Task): boolean =>
  ageOf(parts, task) >= parts.taskLimits.ageMs;

function read<T>(reading: () => T): T | Fault {
  try {
    return reading();
  } catch (error) {
    return protocolFault(String(error));
  }
}

async function failed(parts: TaskParts, task: Task, error: TaskError): Promise<PollOutcome> {
  await failTask(parts, task, error);
  return ended;
}

/** The error for the client, who may change its request; the vendor's own trouble stays hidden. */
function errorOf(fault: Fault, channel: HiddenFacts): TaskError {
  if (fault.kind === 'content_policy')
    return {
      code: 'content_policy_violation',
      message: 'The video was refused by the content policy. Please change the prompt.',
    };
  const detail = fault.kind === 'bad_request' ? `: ${shownMessage(fault.message, channel)}` : '.';
  return { code: 'generation_failed', message: `The video could not be generated${detail}` };
}

/** Ends the task once its video is stored. `copied`: undefined when too many copies run already. */
async function delivered(
  parts: TaskParts,
  task: Task,
  metered: Quantities | undefined,
  copied: CopyResult | undefined,
  stop: AbortSignal,
): Promise<PollOutcome> {
  if (copied === undefined) return unfinished(parts, task, { progress: { state: 'running' } });
  if ('error' in copied) return failed(parts, task, copied.error);
  if ('file' in copied) {
    await completeTask(parts, task, copied.file, metered);
    return ended;
  }
  if (stop.aborted) return unfinished(parts, task);
  if (!isOver(parts, task) || task.faults + 1 < copyTimes)
    return unfinished(parts, task, { fault: copied.fault });
  return failed(parts, task, timedOut);
}

/** A task whose vendor has made the video. */
interface MadeVideo {
  readonly parts: TaskParts;
  readonly task: Task;
  readonly openChannel: OpenChannel;
  readonly adapter: TaskAdapter;
  readonly accepted: AcceptedTask;
  readonly call: (request: VendorRequest) => Promise<TaskCallResult>;
}

/** Stores a copy of the video that is independent of the vendor. */
async function storeVideo(
  made: MadeVideo,
  file: TaskFile,
  signal: AbortSignal,
): Promise<CopyResult> {
  const { parts, task, openChannel, adapter, accepted, call } = made;
  const wanted = {
    account: task.account,
    kind: 'video',
    expiresAt: task.createdAt + taskKeptMs,
    promised: true,
  } as const;
  if (file.kind === 'request') {
    const called = await call(file.request);
    if ('fault' in called) return called;
    const located = read(
      () =>
        adapter.readFileLocation?.(called.reply, accepted) ??
        protocolFault('a file that nobody finds'),
    );
    if (isTaskFault(located)) return { fault: located };
    if (located.kind === 'request') return { fault: protocolFault('a file behind a file') };
    return storeVideo(made, located, signal);
  }
  const stored =
    file.kind === 'bytes'
      ? await parts.files.put(file.bytes, wanted)
      : await parts.files.copy(await sourceOf(openChannel, file), wanted, signal);
  if (!isNotStored(stored)) return { file: stored };
  if (stored.why === 'too large') return { error: tooLarge };
  return {
    fault: {
      kind: stored.why === 'unreachable' ? 'network' : 'protocol',
      message: `the video could not be kept: ${stored.detail}`,
    },
  };
}

async function sourceOf(
  openChannel: OpenChannel,
  file: Extract<TaskFile, { readonly kind: 'address' | 'path' }>,
) {
  const home = openChannel.upstream.urlOf('');
  if (file.kind === 'address') return { url: file.url, home };
  const url = openChannel.upstream.urlOf(file.path);
  const proof = await openChannel.authorize?.({
    method: 'GET',
    url,
    headers: openChannel.sign,
    body: Buffer.alloc(0),
  });
  if (proof !== undefined && 'kind' in proof) throw new Error(proof.message);
  return { url, headers: { ...openChannel.sign, ...proof?.headers }, home };
}

interface PollReport {
  /** Nothing of the progress before is taken back. */
  readonly progress?: { readonly state: string; readonly percent?: number };
  readonly fault?: Fault;
}

/** The task goes on. Without a report nothing is known of it. */
function unfinished(
  { clock, taskLimits }: TaskParts,
  task: Task,
  { progress, fault }: PollReport = {},
): PollOutcome {
  const now = clock.now();
  const faults = fault === undefined ? 0 : task.faults + 1;
  const state = task.state === 'running' || progress?.state === 'running' ? 'running' : 'queued';
  const percent = Math.min(99, Math.max(task.percent, Math.round(progress?.percent ?? 0)));
  const vendorPauseMs = Math.min(Math.ceil(fault?.retryAfterMs ?? 0), taskLimits.backoffMsMax);
  const afterMs = Math.max(pollAfterMs(taskLimits, now - task.createdAt, faults), vendorPauseMs);
  // The last poll is due when the task's time ends, not later.
  const overAt = task.createdAt + taskLimits.ageMs;
  const nextPollAt = now < overAt ? Math.min(now + afterMs, overAt) : now + afterMs;
  const { id, claims } = task;
  return { kind: 'unfinished', result: { id, claims, state, percent, faults, nextPollAt }, fault };
}
