import { keyIn } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { object, text } from '../json.ts';
import { flag, listOf, oneOf, type Shape, whole, textValue, wrongWith } from '../video/check.ts';
import type { SimTask, TaskState } from '../video/task.ts';
import {
  type ImageCall,
  type Submission,
  type FinishedImage,
  type ImageHandler,
  refused,
  sidesOf,
} from './handler.ts';
import { wrongReference } from './image-checks.ts';
import { imageTaskOf, cancelImageTask } from './task.ts';

/** replicate.com/docs/reference/http, 2026-11. */
const rows: Rows = {
  missing_key: {
    status: 401,
    code: 'Unauthenticated',
    message: 'You did not pass an authentication token',
  },
  wrong_key: {
    status: 401,
    code: 'Unauthenticated',
    message: 'You did not pass a valid authentication token',
  },
  unknown_url: {
    status: 404,
    code: 'Not found',
    message: 'The requested resource could not be found.',
  },
  unknown_model: {
    status: 404,
    code: 'Not found',
    message: 'The requested resource could not be found.',
  },
  bad_request: { status: 422, code: 'Input validation failed' },
  context: { status: 422, code: 'Input validation failed', message: '- input.prompt: too long' },
  policy: {
    status: 422,
    code: 'Input validation failed',
    message: '- input.prompt: flagged as sensitive',
  },
  rate: {
    status: 429,
    code: 'Too many requests',
    message: 'Request was throttled. Expected available in 1 second.',
  },
  quota: {
    status: 402,
    code: 'Insufficient credit',
    message: 'You have insufficient credit to run this model.',
  },
  server: { status: 500, code: 'Internal server error', message: 'Internal server error' },
  overloaded: { status: 503, code: 'Service unavailable', message: 'Service unavailable' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message, code } = fillRow(rows, problem);
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { title: code, detail: message, status },
  };
};

const input: Shape = {
  prompt: textValue(32_768),
  'aspect_ratio?': oneOf(
    '1:1',
    '16:9',
    '21:9',
    '3:2',
    '2:3',
    '4:5',
    '5:4',
    '3:4',
    '4:3',
    '9:16',
    '9:21',
  ),
  'output_format?': oneOf('png', 'jpg', 'webp'),
  'image?': wrongReference,
  'input_image?': wrongReference,
  'input_images?': listOf(wrongReference, 8),
  'image_prompt?': wrongReference,
  'mask?': wrongReference,
  'seed?': whole(0, 4_294_967_295),
  'go_fast?': flag,
};

function submission(call: ImageCall, named: string): Reply | Submission {
  const wanted = object(call.raw['input']);
  const stranger = Object.keys(call.raw).find(
    (name) => !['input', 'version', 'webhook', 'webhook_events_filter'].includes(name),
  );
  const wrong =
    stranger === undefined
      ? wrongWith(wanted, input)
      : `${stranger} Additional property is not allowed`;
  if (wrong !== undefined) return refused({ refuse }, call, `- input: ${wrong}`);
  return {
    request: {
      named,
      prompt: text(wanted['prompt']) ?? '',
      n: 1,
      ...sidesOf(text(wanted['aspect_ratio'])),
    },
    accepted: (id) => ({ status: 201, body: prediction(id, 'starting', call.origin, null, null) }),
  };
}

function prediction(
  id: string,
  status: string,
  origin: string,
  output: unknown,
  error: string | null,
): Record<string, unknown> {
  const at = `${origin}/replicate/v1/predictions/${id}`;
  const urls = { get: at, cancel: `${at}/cancel`, web: `https://replicate.com/p/${id}` };
  return { id, status, output, error, logs: '', input: {}, metrics: {}, urls, data_removed: false };
}

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'starting',
  running: 'processing',
  odd: 'daydreaming',
  done: 'succeeded',
  failed: 'failed',
  moderated: 'failed',
  cancelled: 'canceled',
};

function report({ id, state }: SimTask, images: readonly FinishedImage[], origin: string): Reply {
  const error =
    state === 'moderated'
      ? 'The input or output was flagged as sensitive. Please try again with different inputs. (E005)'
      : state === 'failed'
        ? 'Prediction failed: CUDA error: device-side assert triggered'
        : null;
  return {
    status: 200,
    body: prediction(
      id,
      statuses[state],
      origin,
      state === 'done' ? images.map(({ url }) => url) : null,
      error,
    ),
  };
}

const unknown: Reply = {
  status: 404,
  body: { title: 'Not found', detail: 'The requested resource could not be found.', status: 404 },
};

export const replicateImages: ImageHandler = {
  vendor: 'replicate',
  at: /^\/replicate\//,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse,
  take(call) {
    const { method, path, raw, origin } = call;
    const [, model] = /^\/replicate\/v1\/models\/([^/]+\/[^/]+)\/predictions$/.exec(path) ?? [];
    if (method === 'POST' && model !== undefined)
      return submission(call, decodeURIComponent(model));
    if (method === 'POST' && path === '/replicate/v1/predictions')
      return submission(call, text(raw['version']) ?? '');
    const [, id, cancel] = /^\/replicate\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    if (id === undefined) return undefined;
    if (method === 'GET' && cancel === undefined)
      return { id, unknown, report: (task, images) => report(task, images, origin) };
    if (method !== 'POST' || cancel === undefined || imageTaskOf(id) === undefined) return unknown;
    cancelImageTask(id);
    return { status: 200, body: prediction(id, 'canceled', origin, null, null) };
  },
};
