import { isObject } from '../base/json.ts';
import { randomText } from '../base/random.ts';
import { refuse } from '../base/refusal.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import { taskKeptMs } from '../gateway/tasks/queries.ts';
import type { VideoSubmission } from '../gateway/tasks/submit.ts';
import type { Task } from '../gateway/tasks/task.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import type { Files } from '../media/files.ts';
import { readImage } from '../media/image.ts';
import type { VideoImage, VideoRequest } from '../providers/media-request.ts';
import { type Endpoint, type RequestContext, idIn, sendJson } from './endpoint.ts';
import { idempotent } from './idempotency.ts';
import {
  type RequestBody,
  parseJson,
  refuseType,
  requiredString,
  optionalArray,
  optionalBoolean,
  optionalInteger,
} from './request-body.ts';
import { limitHeaders } from '../limits/limiter.ts';

/** The API's own durations in seconds, for models whose catalogue entry names none. */
export const videoDurations: readonly number[] = [5, 10, 15, 20];

export const videoParamNames: VideoSubmission['names'] = {
  duration: 'duration',
  size: 'size',
  aspect_ratio: 'aspect_ratio',
  resolution: 'resolution',
  audio: 'audio',
  image: 'image',
  prompt: 'prompt',
};

/** The endpoints under `/v1/video/generations`. */
export function videoEndpoints(
  tasks: Tasks,
  files: Files,
  submissions: IdempotentRequests,
): readonly Endpoint[] {
  return [
    idempotent(submissions, {
      method: 'POST',
      path: '/video/generations',
      handle: (context) => submit(tasks, context),
    }),
    {
      method: 'GET',
      path: '/video/generations/:id',
      handle: async (context) => {
        const task = await foundTask(tasks, context, 'task_id');
        sendJson(context, await taskResource(task, files, context.request.headers.host));
      },
    },
  ];
}

async function submit(tasks: Tasks, context: RequestContext): Promise<void> {
  const { body } = parseJson(context.request.body, context.request.headers['content-type']);
  const { id, createdAt } = await tasks.submit(parseVideo(context, body), (pass) =>
    limitHeaders(pass, context.reply),
  );
  sendJson(context, { id, status: 'pending', created_at: unixSeconds(createdAt) });
}

function parseVideo(
  { id, principal, request, reply: { begin } }: RequestContext,
  body: RequestBody,
): VideoSubmission {
  const model = requiredString(body, 'model');
  const options = parseVideoOptions(body);
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
    options,
    usualDurations: videoDurations,
    moreSeconds: [],
    names: videoParamNames,
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

/** The Idempotency-Key, which `idempotent` has already checked. */
export function keyIn({ headers }: RequestContext['request']): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

/**
 * The task that the path names: of this account, and less than a day old. Throws the Refusal if
 * there is none.
 */
export async function foundTask(
  tasks: Tasks,
  context: RequestContext,
  param: string,
): Promise<Task> {
  const id = idIn(context);
  const task = await tasks.find(context.principal.userId, id);
  if (task === undefined) refuse('task_not_found', { id, param });
  return task;
}

const statuses = {
  new: 'pending',
  queued: 'pending',
  running: 'processing',
  completed: 'completed',
  failed: 'failed',
} as const;

async function taskResource(task: Task, files: Files, host: string | undefined): Promise<object> {
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

/** As in the convention (wire-formats §7, row 32). */
export const promptCharsMax = 32_000;
const imagesMax = 16;
const imagePattern = /^(?:https?:\/\/|data:(image\/[\w.+-]+);base64,)/;
/** Types that Tollgate can check; the vendor judges all others. */
const knownTypes = /^image\/(?:png|jpe?g|webp|gif)$/;

/** The prompt of every video request. Throws the Refusal that names what is wrong. */
export function checkPrompt(body: RequestBody): string {
  const prompt = requiredString(body, 'prompt');
  if (prompt.trim() === '')
    refuse('invalid_value', { param: 'prompt', why: 'it must not be empty.' });
  if (prompt.length > promptCharsMax)
    refuse('out_of_range', {
      param: 'prompt',
      expected: `of at most ${promptCharsMax} characters`,
      got: prompt.length,
    });
  return prompt;
}

/** `1280x720`. */
export function checkSize(body: RequestBody): string | undefined {
  return pattern(
    body,
    'size',
    /^[1-9]\d{1,4}x[1-9]\d{1,4}$/,
    'it is a width and a height in pixels, such as 1280x720.',
  );
}

export function optionalString(body: RequestBody, param: string): string | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  return value;
}

function pattern(
  body: RequestBody,
  param: string,
  allowed: RegExp,
  why: string,
): string | undefined {
  const value = optionalString(body, param);
  if (value !== undefined && !allowed.test(value)) refuse('invalid_value', { param, why });
  return value;
}

/** An image by its address or as a data URL. */
export function checkImage(value: unknown, param: string): string {
  const url = isObject(value) ? (value['url'] ?? value['image_url']) : value;
  if (typeof url !== 'string') refuseType(param, 'an address or a data URL', url);
  const [head, type] = imagePattern.exec(url) ?? [];
  if (head === undefined)
    refuse('invalid_value', {
      param,
      why: 'it is neither an address (https://…) nor an image as a data URL.',
    });
  if (type !== undefined && (knownTypes.test(type) || url.length === head.length)) {
    const image = readImage(Buffer.from(url.slice(head.length), 'base64'));
    if (typeof image === 'string') refuse('invalid_value', { param, why: image });
  }
  return url;
}

/**
 * Members of `/v1/video/generations` that Tollgate reads; all others go on unchanged, to vendors
 * that know them by these names.
 */
const read = new Set([
  'model',
  'prompt',
  'async',
  'duration',
  'size',
  'aspect_ratio',
  'resolution',
  'negative_prompt',
  'seed',
  'audio',
  'image',
  'image_url',
  'last_image',
  'images',
  'reference_images',
]);

/** The prompt and the optional members of `/v1/video/generations`. */
function parseVideoOptions(body: RequestBody): Omit<VideoRequest, 'seconds'> {
  return {
    prompt: checkPrompt(body),
    negativePrompt: optionalString(body, 'negative_prompt'),
    size: checkSize(body),
    aspectRatio: pattern(
      body,
      'aspect_ratio',
      /^\d{1,2}:\d{1,2}$/,
      'it is a width and a height, such as 16:9.',
    ),
    resolution: pattern(
      body,
      'resolution',
      /^(?:\d{3,4}p|[248]k)$/i,
      'it is such as 720p, 1080p or 4k.',
    )?.toLowerCase(),
    audio: optionalBoolean(body, 'audio'),
    seed: optionalInteger(body, 'seed', 0, Number.MAX_SAFE_INTEGER),
    images: imagesIn(body),
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !read.has(name))),
  };
}

function imagesIn(body: RequestBody): readonly VideoImage[] {
  const images: VideoImage[] = [];
  const one = (param: string, role: VideoImage['role']): void => {
    const value = body[param];
    if (value !== undefined && value !== null) images.push({ role, url: checkImage(value, param) });
  };
  one('image', 'first');
  if (images.length === 0) one('image_url', 'first');
  for (const param of ['images', 'reference_images']) {
    const list = optionalArray(body, param) ?? [];
    // A single image is the first frame.
    const role =
      param === 'images' && list.length === 1 && images.length === 0 ? 'first' : 'reference';
    for (const [i, value] of list.entries())
      images.push({ role, url: checkImage(value, `${param}[${i}]`) });
  }
  one('last_image', 'last');
  if (images.length > imagesMax)
    refuse('out_of_range', {
      param: 'images',
      expected: `of at most ${imagesMax} images`,
      got: images.length,
    });
  return images;
}
