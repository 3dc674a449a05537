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
import { idempotencyHeader } from './entry.ts';
import { idempotent } from './idempotency.ts';
import * as schema from './schema.ts';
import {
  type RequestBody,
  checkLength,
  checkText,
  takeJson,
  readersOf,
  refuseType,
} from './request-body.ts';
import { limitHeaders } from '../limits/limiter.ts';

/** The API's own durations in seconds, for models whose catalog entry names none. */
const videoDurations: readonly number[] = [5, 10, 15, 20];

/** As in the convention. */
const promptCharsMax = 32_000;
export const videoPrompt = schema.string('What the video should show.', {
  minLength: 1,
  maxLength: promptCharsMax,
  check: checkPrompt,
});

const patternSchema = (
  description: string,
  pattern: string,
  why: string,
): schema.SchemaOf<string> => {
  const allowed = new RegExp(pattern);
  const check = (value: unknown, param: string): string => {
    const text = checkText(value, param, 0);
    return allowed.test(text) ? text : refuse('invalid_value', { param, why });
  };
  return schema.string(description, { pattern, check });
};
export const videoSize = patternSchema(
  '`<width>x<height>`, where the model can choose.',
  '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
  'it is a width and a height in pixels, such as 1280x720.',
);
const imageSchema = schema.forwarded('An image: a URL or a data URL.');

/** All other members go on unchanged, to vendors that know them by these names. */
export const videoTaskRequestSchema = schema.request(
  {
    model: schema.string('A video model.', { minLength: 1 }),
    prompt: videoPrompt,
    async: {
      type: 'boolean',
      description: 'Videos are generated asynchronously.',
      const: true,
      check: checkAsync,
    },
  },
  {
    duration: {
      type: 'integer',
      description: `Seconds: ${videoDurations.join(', ')}, or another length of the model.`,
      examples: videoDurations,
      check: checkDuration,
    },
    size: videoSize,
    aspect_ratio: patternSchema(
      'Such as `16:9`.',
      '^[0-9]{1,2}:[0-9]{1,2}$',
      'it is a width and a height, such as 16:9.',
    ),
    resolution: patternSchema(
      'Such as `720p` or `4k`.',
      '^(?:[0-9]{3,4}[pP]|[248][kK])$',
      'it is such as 720p, 1080p or 4k.',
    ),
    negative_prompt: schema.string('What the video should not show.'),
    seed: schema.integer('For repeatable videos, if the model supports it.', 0),
    audio: schema.boolean('Whether the video has sound; for models that support both.'),
    image: imageSchema,
    last_image: imageSchema,
    images: schema.array('Reference images; a single one is the first frame.', imageSchema),
    reference_images: schema.array('Reference images.', imageSchema),
  },
);
const readMember = readersOf(videoTaskRequestSchema);
const membersRead = new Set([...Object.keys(videoTaskRequestSchema.properties ?? {}), 'image_url']);

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
  idempotency: IdempotentRequests,
): readonly Endpoint[] {
  return [
    idempotent(idempotency, {
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
  const { body } = takeJson(context.request);
  const { id, createdAt } = await tasks.submit(parseVideo(context, body), (pass) =>
    limitHeaders(pass, context.response),
  );
  sendJson(context, { id, status: 'pending', created_at: unixSeconds(createdAt) });
}

function parseVideo(context: RequestContext, body: RequestBody): VideoSubmission {
  const model = readMember.model(body);
  const options = parseVideoOptions(body);
  const seconds = readMember.duration(body);
  readMember.async(body);
  return {
    model,
    seconds,
    options,
    moreSeconds: [],
    names: videoParamNames,
    ...submissionParts(context),
  };
}

/** What every submission has, whatever its format. */
export function submissionParts({ id, principal, request, response }: RequestContext) {
  // `idempotent` has checked the key.
  const key = request.headers[idempotencyHeader];
  return {
    id,
    taskId: `video_${randomText(24)}`,
    principal,
    usualDurations: videoDurations,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    beforeAttempts: response.beforeAttempts,
  } satisfies Partial<VideoSubmission>;
}

function checkAsync(value: unknown): void {
  if (typeof value !== 'boolean') refuseType('async', 'a boolean', value);
  if (!value)
    refuse('invalid_value', {
      param: 'async',
      why: 'it must be true: videos are made asynchronously.',
    });
}

function checkDuration(duration: unknown): number {
  if (typeof duration !== 'number' || !Number.isInteger(duration))
    refuseType('duration', 'an integer', duration);
  return duration;
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

const imagesMax = 16;
const imagePattern = /^(?:https?:\/\/|data:(image\/[\w.+-]+);base64,)/;
/** Types that Tollgate can check; the vendor judges all others. */
const knownTypes = /^image\/(?:png|jpe?g|webp|gif)$/;

function checkPrompt(value: unknown, param: string): string {
  const prompt = checkText(value, param);
  if (prompt.trim() === '') refuse('invalid_value', { param, why: 'it must not be empty.' });
  checkLength(prompt, param, promptCharsMax, 'characters');
  return prompt;
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

/** The prompt and the optional members of `/v1/video/generations`. */
function parseVideoOptions(body: RequestBody): Omit<VideoRequest, 'seconds'> {
  return {
    prompt: readMember.prompt(body),
    negativePrompt: readMember.negative_prompt(body),
    size: readMember.size(body),
    aspectRatio: readMember.aspect_ratio(body),
    resolution: readMember.resolution(body)?.toLowerCase(),
    audio: readMember.audio(body),
    seed: readMember.seed(body),
    images: imagesIn(body),
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !membersRead.has(name))),
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
  for (const param of ['images', 'reference_images'] as const) {
    const list = readMember[param](body) ?? [];
    // A single image is the first frame.
    const role =
      param === 'images' && list.length === 1 && images.length === 0 ? 'first' : 'reference';
    for (const [i, value] of list.entries())
      images.push({ role, url: checkImage(value, `${param}[${i}]`) });
  }
  one('last_image', 'last');
  checkLength(images, 'images', imagesMax, 'images');
  return images;
}
