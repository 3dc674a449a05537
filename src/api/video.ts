import { randomText } from '../base/id.ts';
import { refuse } from '../base/refusal.ts';
import { taskKeptMs } from '../gateway/tasks/rows.ts';
import type { Task } from '../gateway/tasks/task.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import type { VideoRequest } from '../gateway/tasks/wish.ts';
import type { Submissions } from '../gateway/submissions.ts';
import type { Files } from '../media/files.ts';
import { type Body, parseJson, refuseType, requiredString } from './check.ts';
import type { Endpoint, Visit } from './door.ts';
import { once } from './idempotency.ts';
import { limitHeaders } from './limit-headers.ts';
import { checkWish } from './video-wish.ts';

/** Lengths of models of which the catalogue names none: the interface's own. */
export const usualDurations: readonly number[] = [5, 10, 15, 20];

export const names: VideoRequest['names'] = {
  duration: 'duration',
  size: 'size',
  aspect_ratio: 'aspect_ratio',
  resolution: 'resolution',
  audio: 'audio',
  image: 'image',
  prompt: 'prompt',
};

/** `/v1/video/generations`, exactly as the interface says. */
export function videoEndpoints(
  tasks: Tasks,
  files: Files,
  submissions: Submissions,
): readonly Endpoint[] {
  return [
    once(submissions, {
      method: 'POST',
      path: '/video/generations',
      handle: (visit) => submit(tasks, visit),
    }),
    {
      method: 'GET',
      path: '/video/generations/:id',
      handle: async (visit) => {
        const task = await foundTask(tasks, visit, 'task_id');
        sendJson(visit, await shown(task, files, visit.request.headers.host));
      },
    },
  ];
}

async function submit(tasks: Tasks, visit: Visit): Promise<void> {
  const { body } = parseJson(visit.request.body, visit.request.headers['content-type']);
  const { id, createdAt } = await tasks.submit(parseVideo(visit, body), (pass) =>
    limitHeaders(pass, visit.reply),
  );
  sendJson(visit, { id, status: 'pending', created_at: unixSeconds(createdAt) });
}

function parseVideo({ id, principal, request, reply: { begin } }: Visit, body: Body): VideoRequest {
  const model = requiredString(body, 'model');
  const wish = checkWish(body);
  const seconds = checkDuration(body['duration']);
  const { async: asynchronous } = body;
  if (asynchronous === undefined || asynchronous === null)
    refuse('missing_parameter', { param: 'async' });
  if (typeof asynchronous !== 'boolean') refuseType('async', 'a boolean', asynchronous);
  if (!asynchronous)
    refuse('invalid_value', {
      param: 'async',
      why: 'it must be true: videos are made asynchronously.',
    });
  const idempotencyKey = keyIn(request);
  return {
    id,
    taskId: newTaskId(),
    principal,
    model,
    seconds,
    wish,
    usualDurations,
    moreSeconds: [],
    names,
    idempotencyKey,
    begin,
  };
}

function checkDuration(duration: unknown): number | undefined {
  if (duration === undefined || duration === null) return undefined;
  if (typeof duration !== 'number' || !Number.isInteger(duration))
    refuseType('duration', 'an integer', duration);
  return duration;
}

/** Wire-formats §7, row 37. */
export const newTaskId = (): string => `video_${randomText(24)}`;

/** Validated where it is read first. */
export function keyIn({ headers }: Visit['request']): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

/** The task that the path names: of this account, and not a day old. */
export async function foundTask(tasks: Tasks, visit: Visit, param: string): Promise<Task> {
  const id = idIn(visit);
  const task = await tasks.find(visit.principal.userId, id);
  if (task === undefined) refuse('task_not_found', { id, param });
  return task;
}

export function idIn({ request: { params } }: Visit): string {
  if (
    typeof params === 'object' &&
    params !== null &&
    'id' in params &&
    typeof params.id === 'string'
  )
    return params.id;
  throw new Error('the route of a task has an id');
}

const statuses = {
  new: 'pending',
  queued: 'pending',
  running: 'processing',
  completed: 'completed',
  failed: 'failed',
} as const;

async function shown(task: Task, files: Files, host: string | undefined): Promise<object> {
  const file = task.file === undefined ? undefined : await files.find(task.account, task.file);
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: statuses[task.state],
    progress: task.percent,
    created_at: unixSeconds(task.createdAt),
    ...(task.state === 'completed' && task.endedAt !== undefined
      ? { completed_at: unixSeconds(task.endedAt) }
      : {}),
    expires_at: unixSeconds(task.createdAt + taskKeptMs),
    duration: task.seconds,
    ...(file === undefined ? {} : { video_url: files.urlOf(file, host) }),
    ...(task.error === undefined ? {} : { error: task.error.message }),
  };
}

export const unixSeconds = (ms: number): number => Math.floor(ms / 1_000);

export function sendJson({ reply }: Visit, body: object): void {
  reply.whole(200, 'application/json', JSON.stringify(body));
}
