import type { Principal } from '../accounts/principal.ts';
import { isObject } from '../base/json.ts';
import { mebibyte } from '../base/mebibyte.ts';
import { refuse } from '../base/refusal.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import { taskKeptMs } from '../gateway/tasks/queries.ts';
import type { SubmittedTask, VideoSubmission } from '../gateway/tasks/submit.ts';
import type { Task } from '../gateway/tasks/task.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import { isForm, readForm } from '../http/multipart.ts';
import { SpoolPool } from '../http/spool.ts';
import type { Files } from '../media/files.ts';
import { readImage } from '../media/image.ts';
import type { VideoImage } from '../providers/media-request.ts';
import { type Endpoint, type RequestContext, idIn, queryOf, sendJson } from './endpoint.ts';
import type { FileHandler } from './file-handler.ts';
import { idempotentAfterRead } from './idempotency.ts';
import { pageOf, pageQueryOf } from './page-query.ts';
import * as schema from './schema.ts';
import { type RequestBody, fieldsOf, takeJson, readersOf, refuseType } from './request-body.ts';
import { limitHeaders } from '../limits/limiter.ts';
import {
  foundTask,
  submissionParts,
  videoParamNames,
  unixSeconds,
  checkImage,
  videoPrompt,
  videoSize,
} from './video.ts';

/**
 * Durations in seconds of this format (developers.openai.com/api/reference/videos, 2026-08), where
 * a channel's model makes them.
 */
const ownSeconds: readonly number[] = [4, 8, 12];
const secondsMax = 60;
export const videosPageMax = 100;
const formLimits = {
  fields: 32,
  fieldBytes: 20 * mebibyte,
  files: 1,
  fileBytes: 20 * mebibyte,
  bodyBytes: 32 * mebibyte,
};
const imageTypes = /^image\/(?:png|jpeg|webp)$/;
/** How forms write a member of an object. */
const nested = (member: string): string => `input_reference[${member}]`;
const read = new Set([
  'model',
  'prompt',
  'seconds',
  'size',
  'input_reference',
  nested('image_url'),
  nested('file_id'),
]);

const usual = schema.string(
  'A video model. Default: the gateway’s default model, if there is one.',
  {
    minLength: 1,
  },
);
const videoRequest = schema.request(
  { prompt: videoPrompt },
  {
    model: usual,
    seconds: schema.checkedBy(
      checkSeconds,
      schema.anyOf(
        'Length of the video in seconds, as a string.',
        { type: 'string', pattern: '^[0-9]{1,2}$' },
        schema.integer('A number also works.', 1, secondsMax),
      ),
    ),
    size: videoSize,
    input_reference: schema.checkedBy(
      checkReference,
      schema.forwarded('The first frame: a URL, or `{"image_url": …}`.'),
    ),
  },
);
const readMember = readersOf(videoRequest);

/** The schemas of requests by the names that the document gives them. */
export const videosSchemas = {
  VideoRequest: videoRequest,
  VideoForm: schema.request(
    { prompt: videoPrompt },
    {
      model: usual,
      seconds: schema.string('Length of the video in seconds.'),
      size: videoSize,
      input_reference: { type: 'string', format: 'binary', description: 'PNG, JPEG or WebP.' },
    },
  ),
};

/** The model of a request that names none; undefined: there is none that its key can use. */
type DefaultModel = (principal: Principal) => string | undefined;

/** The same tasks in OpenAI's format: `/v1/videos`. */
export function videosEndpoints(
  tasks: Tasks,
  files: Files,
  fileHandler: FileHandler,
  idempotency: IdempotentRequests,
  defaultModel: DefaultModel,
): readonly Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/videos',
      handle: (context) => create(tasks, idempotency, defaultModel, context),
    },
    { method: 'GET', path: '/videos', handle: (context) => list(tasks, context) },
    {
      method: 'GET',
      path: '/videos/:id',
      handle: async (context) =>
        sendJson(context, resource(await foundTask(tasks, context, 'video_id'))),
    },
    {
      method: 'DELETE',
      path: '/videos/:id',
      handle: async (context) => {
        const id = idIn(context);
        const removed = await tasks.remove(context.principal.userId, id);
        if (removed === 'unknown') refuse('task_not_found', { id, param: 'video_id' });
        if (removed === 'running')
          refuse('invalid_value', {
            param: 'video_id',
            why: 'a video can be deleted once it is completed or failed.',
          });
        sendJson(context, { id, object: 'video.deleted', deleted: true });
      },
    },
    {
      method: 'GET',
      path: '/videos/:id/content',
      handle: (context) => content(tasks, files, fileHandler, context),
    },
  ];
}

async function create(
  tasks: Tasks,
  idempotency: IdempotentRequests,
  defaultModel: DefaultModel,
  context: RequestContext,
): Promise<void> {
  const { request } = context;
  const form = isForm(request.headers) ? await formOf(context) : undefined;
  if (form === 'left') return;
  const body = form ?? takeJson(request).body;
  // A retried form has another boundary but the same content.
  await idempotentAfterRead(
    idempotency,
    context,
    () => JSON.stringify(body),
    async (mine) => {
      const submission = parse(mine, body, defaultModel);
      const task = await tasks.submit(submission, (pass) => limitHeaders(pass, mine.response));
      sendJson(mine, resource(task, submission.options.prompt));
    },
  );
}

/** A form's fields as the members of a JSON body; a file becomes a data URL. */
async function formOf({ request }: RequestContext): Promise<RequestBody | 'left'> {
  const form = await readForm(request.body, request.headers, formLimits, new SpoolPool());
  if (form === 'left') return form;
  try {
    const body: Record<string, unknown> = Object.fromEntries(fieldsOf(form.fields));
    for (const { field, content: spool } of form.files) {
      if (field !== 'input_reference')
        refuse('invalid_value', {
          param: field.slice(0, 64) || 'file',
          why: 'an image is sent as input_reference.',
        });
      const bytes = await spool.bytes();
      // The bytes decide the type: clients that read the file from a disk declare it as a stream of
      // bytes.
      const image = readImage(bytes);
      if (typeof image === 'string') refuse('invalid_value', { param: field, why: image });
      if (!imageTypes.test(image.type))
        refuse('invalid_value', { param: field, why: 'it is a PNG, JPEG or WebP image.' });
      body[field] = { image_url: `data:${image.type};base64,${bytes.toString('base64')}` };
    }
    const named = ['image_url', 'file_id'].filter((member) => body[nested(member)] !== undefined);
    if (named.length > 0)
      body['input_reference'] = Object.fromEntries(
        named.map((member) => [member, body[nested(member)]]),
      );
    return body;
  } finally {
    form.discard();
  }
}

function parse(
  context: RequestContext,
  body: RequestBody,
  defaultModel: DefaultModel,
): VideoSubmission {
  const model =
    readMember.model(body) ??
    defaultModel(context.principal) ??
    refuse('missing_model', { what: 'videos', param: 'model' });
  const options = {
    prompt: readMember.prompt(body),
    negativePrompt: undefined,
    size: readMember.size(body),
    aspectRatio: undefined,
    resolution: undefined,
    audio: undefined,
    seed: undefined,
    images: readMember.input_reference(body) ?? [],
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !read.has(name))),
  };
  return {
    model,
    options,
    seconds: readMember.seconds(body),
    moreSeconds: ownSeconds,
    names: {
      ...videoParamNames,
      duration: 'seconds',
      image: 'input_reference',
    },
    ...submissionParts(context),
  };
}

/** Text in this format; a number is understood as well. */
function checkSeconds(seconds: unknown): number {
  if (typeof seconds !== 'string' && typeof seconds !== 'number')
    refuseType('seconds', 'a string', seconds);
  const value = /^\d+$/.test(String(seconds)) ? Number(seconds) : Number.NaN;
  if (!(value >= 1 && value <= secondsMax))
    refuse('invalid_value', { param: 'seconds', why: `it is a number of seconds, such as "8".` });
  return value;
}

function checkReference(reference: unknown): readonly VideoImage[] {
  if (isObject(reference) && reference['file_id'] !== undefined)
    refuse('invalid_value', {
      param: 'input_reference',
      why: 'files cannot be referred to by id: send the image, or its address.',
    });
  return [{ role: 'first', url: checkImage(reference, 'input_reference') }];
}

const statuses = {
  new: 'queued',
  queued: 'queued',
  running: 'in_progress',
  completed: 'completed',
  failed: 'failed',
} as const;

/** VideoResource. A prompt is not kept: only the answer to a submission has it. */
function resource(task: SubmittedTask | Task, prompt: string | null = null): object {
  const endedAt = 'endedAt' in task ? task.endedAt : undefined;
  const error = 'error' in task ? task.error : undefined;
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: statuses[task.state],
    progress: task.percent,
    created_at: unixSeconds(task.createdAt),
    completed_at: task.state === 'completed' && endedAt !== undefined ? unixSeconds(endedAt) : null,
    expires_at: unixSeconds(task.createdAt + taskKeptMs),
    prompt,
    size: task.size ?? null,
    seconds: String(task.seconds),
    remixed_from_video_id: null,
    error: error === undefined ? null : { code: error.code, message: error.message },
  };
}

async function list(tasks: Tasks, context: RequestContext): Promise<void> {
  const { order, limit, after } = pageQueryOf(context, videosPageMax);
  const found = await tasks.list(context.principal.userId, { limit, order, after });
  if (found === 'no such task') refuse('task_not_found', { id: after ?? '', param: 'after' });
  const page = found.slice(0, limit).map((task) => resource(task));
  sendJson(context, pageOf(page, found.length > limit));
}

async function content(
  tasks: Tasks,
  files: Files,
  fileHandler: FileHandler,
  context: RequestContext,
): Promise<void> {
  const variant = queryOf(context.request.url).get('variant') ?? 'video';
  if (variant !== 'video')
    refuse('invalid_value', { param: 'variant', why: "only 'video' is available." });
  const task = await foundTask(tasks, context, 'video_id');
  if (task.file === undefined)
    refuse('invalid_value', { param: 'video_id', why: 'the video is not completed.' });
  const file = await files.find(task.account, task.file);
  if (file === undefined) refuse('file_not_found');
  await fileHandler.send(context, file);
}
