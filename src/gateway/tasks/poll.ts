import { assert } from '../../base/assert.ts';
import type { Fault } from '../../base/fault.ts';
import { isNotStored, type StoredFile } from '../../media/files.ts';
import type { Ask } from '../../providers/adapter.ts';
import {
  type AcceptedTask,
  isTaskFault,
  type Progress,
  type TaskAdapter,
  type TaskFault,
  type TaskFile,
} from '../../providers/task-adapter.ts';
import { protocolFault } from '../attempt.ts';
import { type HiddenFacts, shownWords } from '../blame.ts';
import type { Lane } from '../lanes.ts';
import { contact } from './contact.ts';
import { complete, fail } from './finish.ts';
import { pollAfterMs } from './limits.ts';
import type { TaskParts } from './parts.ts';
import { type Standing, taskKeptMs } from './rows.ts';
import type { Task, TaskError } from './task.ts';

/**
 * A vendor that has just taken a task may not know it yet on all of its servers (wire-formats
 * §2.0): before this age, and fewer times than that, it is not believed.
 */
const goneAfterMs = 60_000;
const goneTimes = 3;

/** What a poll came to: the task has ended, or how it stands and whether the vendor was heard. */
export type Polled =
  | { readonly kind: 'ended' }
  | { readonly kind: 'standing'; readonly standing: Standing; readonly fault: Fault | undefined };

/** Gives way to copying: `undefined` when there are too many already. */
export type CopyFile = (
  task: Task,
  copying: (signal: AbortSignal) => Promise<StoredFile | Fault>,
) => Promise<StoredFile | Fault> | undefined;

const ended: Polled = { kind: 'ended' };
const neverSent: TaskError = {
  code: 'submission_failed',
  message: 'The video could not be submitted. Please try again.',
};
const timedOut: TaskError = { code: 'timeout', message: 'Task timed out and was cancelled.' };
const vanished: TaskError = {
  code: 'generation_failed',
  message: 'The video could not be generated: it was lost.',
};

/**
 * Asks the vendor once for a task that is claimed, and ends it if the vendor has. Only a vendor's
 * explicit word ends a task, or its age: whatever else is wrong is asked again later. Throws a
 * `DatabaseError`, and what the channel's lane throws; then the claim runs out.
 */
export async function pollTask(
  parts: TaskParts,
  task: Task,
  copy: CopyFile,
  stop: AbortSignal,
): Promise<Polled> {
  // Whoever submitted it did not live to know what came of it, and nobody else does: it is not sent
  // a second time.
  if (task.upstreamId === undefined) return failed(parts, task, neverSent);
  let lane: Lane;
  try {
    lane = await parts.pins.lane(task.channel);
  } catch (error) {
    if (!isOver(parts, task)) throw error;
    return failed(parts, task, timedOut);
  }
  const adapter = lane.taskAdapter('video');
  assert(adapter !== undefined, 'a channel that took a video speaks of videos');
  const { upstreamId, upstreamModel, seconds } = task;
  const accepted: AcceptedTask = { upstreamId, upstreamModel, seconds };
  const ask = (question: Ask): ReturnType<typeof contact> => {
    const { replyBytesMax, poll: times } = parts.taskLimits;
    return contact(lane, adapter, question, upstreamModel, { replyBytesMax, times }, stop);
  };
  const contacted = await ask(adapter.poll(accepted));
  const reported: Progress | TaskFault =
    'fault' in contacted ? contacted.fault : read(() => adapter.polled(contacted.reply, accepted));
  if (stop.aborted) return stands(parts, task, undefined, undefined);
  if (!isTaskFault(reported)) {
    if (reported.state === 'failed')
      return failed(
        parts,
        task,
        errorOf(reported.fault, { secret: lane.secret, baseUrl: lane.upstream.urlOf('/') }),
      );
    if (reported.state === 'completed')
      return delivered(parts, task, reported, copy, (signal) =>
        keep(parts, lane, adapter, task, reported.file, ask, signal),
      );
  } else if (
    reported.gone === true &&
    ageOf(parts, task) >= goneAfterMs &&
    task.faults + 1 >= goneTimes
  ) {
    return failed(parts, task, vanished);
  }
  if (!isOver(parts, task))
    return stands(
      parts,
      task,
      isTaskFault(reported) ? undefined : reported,
      isTaskFault(reported) ? reported : undefined,
    );
  if (adapter.cancel !== undefined) await ask(adapter.cancel(accepted));
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

async function failed(parts: TaskParts, task: Task, error: TaskError): Promise<Polled> {
  await fail(parts, task, error);
  return ended;
}

/**
 * In words for the client, who may change what it asked for; a vendor's own trouble is nobody's
 * business.
 */
function errorOf(fault: Fault, channel: HiddenFacts): TaskError {
  if (fault.kind === 'content_policy')
    return {
      code: 'content_policy_violation',
      message: 'The video was refused by the content policy. Please change the prompt.',
    };
  const told = fault.kind === 'bad_request' ? `: ${shownWords(fault.message, channel)}` : '.';
  return { code: 'generation_failed', message: `The video could not be generated${told}` };
}

async function delivered(
  parts: TaskParts,
  task: Task,
  { quantities }: Extract<Progress, { readonly state: 'completed' }>,
  copy: CopyFile,
  copying: (signal: AbortSignal) => Promise<StoredFile | Fault>,
): Promise<Polled> {
  const file = await copy(task, copying);
  // Others are being copied: this one is asked for again soon.
  if (file === undefined) return stands(parts, task, { state: 'running' }, undefined);
  if (!('kind' in file)) {
    await complete(parts, task, file, quantities);
    return ended;
  }
  if (!isOver(parts, task)) return stands(parts, task, undefined, file);
  return failed(parts, task, timedOut);
}

/** A copy of the video that nobody but us has to do with. */
async function keep(
  parts: TaskParts,
  lane: Lane,
  adapter: TaskAdapter,
  task: Task,
  file: TaskFile,
  ask: (question: Ask) => ReturnType<typeof contact>,
  signal: AbortSignal,
): Promise<StoredFile | Fault> {
  const wanted = {
    account: task.account,
    kind: 'video',
    expiresAt: task.createdAt + taskKeptMs,
  } as const;
  if (file.kind === 'asked') {
    const contacted = await ask(file.ask);
    if ('fault' in contacted) return contacted.fault;
    const { upstreamId = '', upstreamModel, seconds } = task;
    const located = read(
      () =>
        adapter.located?.(contacted.reply, { upstreamId, upstreamModel, seconds }) ??
        protocolFault('a file that nobody finds'),
    );
    if (isTaskFault(located) || located.kind === 'asked')
      return isTaskFault(located) ? located : protocolFault('a file behind a file');
    return keep(parts, lane, adapter, task, located, ask, signal);
  }
  const stored =
    file.kind === 'bytes'
      ? await parts.files.put(file.bytes, wanted)
      : await parts.files.copy(await sourceOf(lane, file), wanted, signal);
  if (!isNotStored(stored)) return stored;
  return {
    kind: stored.why === 'unreachable' ? 'network' : 'protocol',
    message: `the video could not be kept: ${stored.detail}`,
  };
}

async function sourceOf(
  lane: Lane,
  file: Extract<TaskFile, { readonly kind: 'address' | 'path' }>,
) {
  const home = lane.upstream.urlOf('');
  if (file.kind === 'address') return { url: file.url, home };
  const url = lane.upstream.urlOf(file.path);
  const proof = await lane.authorize?.({
    method: 'GET',
    url,
    headers: lane.sign,
    body: Buffer.alloc(0),
  });
  if (proof !== undefined && 'kind' in proof) throw new Error(proof.message);
  return { url, headers: { ...lane.sign, ...proof?.headers }, home };
}

/** How the task stands now: never behind what was known before. */
function stands(
  { clock, taskLimits }: TaskParts,
  task: Task,
  progress: { readonly state: string; readonly percent?: number } | undefined,
  fault: Fault | undefined,
): Polled {
  const now = clock.now();
  const faults = fault === undefined ? 0 : task.faults + 1;
  const state = task.state === 'running' || progress?.state === 'running' ? 'running' : 'queued';
  const percent = Math.min(99, Math.max(task.percent, Math.round(progress?.percent ?? 0)));
  const askedMs = Math.min(Math.ceil(fault?.retryAfterMs ?? 0), taskLimits.backoffMsMost);
  const afterMs = Math.max(pollAfterMs(taskLimits, now - task.createdAt, faults), askedMs);
  // Nobody is kept waiting for the end of its time.
  const overAt = task.createdAt + taskLimits.ageMs;
  const nextPollAt = now < overAt ? Math.min(now + afterMs, overAt) : now + afterMs;
  return {
    kind: 'standing',
    standing: { id: task.id, claims: task.claims, state, percent, faults, nextPollAt },
    fault,
  };
}
