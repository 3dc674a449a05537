import { keyIn } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import {
  either,
  flag,
  listOf,
  object,
  oneOf,
  type Shape,
  whole,
  textValue,
  wrongWith,
} from '../video/check.ts';
import type { SimTask } from '../video/task.ts';
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

/** docs.fal.ai/documentation/model-apis/errors, 2026-11. */
const rows: Rows = {
  missing_key: { status: 401, message: 'Authentication is required to access this application.' },
  wrong_key: { status: 401, message: 'No user found for Key ID and Secret' },
  unknown_url: { status: 404, message: 'Not Found' },
  unknown_model: { status: 404, message: 'Application "{model}" not found' },
  bad_request: { status: 422 },
  context: { status: 422, message: 'prompt String should have at most 5000 characters' },
  policy: {
    status: 422,
    code: 'content_policy_violation',
    message:
      'prompt The content could not be processed because it was flagged by a content checker.',
  },
  rate: { status: 429, message: 'Too many requests' },
  quota: { status: 403, message: 'User is locked. Reason: Exhausted balance.' },
  server: { status: 500, message: 'Internal Server Error' },
  overloaded: { status: 503, message: 'Service Unavailable' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message, code } = fillRow(rows, problem);
  const [name = 'prompt'] = message.split(' ');
  return {
    status,
    body: {
      detail:
        status === 422
          ? [
              {
                loc: ['body', name],
                msg: message,
                type: code ?? 'value_error',
                url: 'https://docs.fal.ai/errors',
              },
            ]
          : message,
    },
  };
};

const sides = object({ width: whole(32, 14_142), height: whole(32, 14_142) });
const named = oneOf(
  'square_hd',
  'square',
  'portrait_4_3',
  'portrait_16_9',
  'landscape_4_3',
  'landscape_16_9',
);
const shape: Shape = {
  prompt: textValue(5_000),
  'num_images?': whole(1, 4),
  'image_size?': either(sides, named),
  'aspect_ratio?': oneOf(
    '21:9',
    '16:9',
    '4:3',
    '3:2',
    '1:1',
    '2:3',
    '3:4',
    '9:16',
    '9:21',
    '5:4',
    '4:5',
  ),
  'image_url?': wrongReference,
  'image_urls?': listOf(wrongReference, 10),
  'mask_url?': wrongReference,
  'output_format?': oneOf('jpeg', 'png', 'webp'),
  'seed?': whole(0, 4_294_967_295),
  'enable_safety_checker?': flag,
};

function submission(call: ImageCall, model: string): Reply | Submission {
  const { raw, origin } = call;
  const kontext = /kontext/.test(model) && !model.endsWith('/text-to-image');
  const wrong =
    wrongWith(raw, shape) ??
    (kontext && raw['image_url'] === undefined && raw['image_urls'] === undefined
      ? 'image_url is required'
      : undefined);
  if (wrong !== undefined) return refused({ refuse }, call, wrong);
  const size = Object.fromEntries(
    Object.entries(
      typeof raw['image_size'] === 'object'
        ? { ...raw['image_size'] }
        : sidesOf(text(raw['aspect_ratio'])),
    ),
  );
  const app = model.split('/').slice(0, 2).join('/');
  const requests = `${origin}/fal/${app}/requests`;
  return {
    request: {
      // A scenario follows the app's name, whatever endpoint of the app comes after it.
      named: model.replace(/\/text-to-image$/, ''),
      prompt: text(raw['prompt']) ?? '',
      width: Number(size['width']),
      height: Number(size['height']),
      n: Number(raw['num_images'] ?? 1),
    },
    accepted: (id) => ({
      status: 200,
      body: {
        status: 'IN_QUEUE',
        request_id: id,
        response_url: `${requests}/${id}`,
        status_url: `${requests}/${id}/status`,
        cancel_url: `${requests}/${id}/cancel`,
        queue_position: 0,
      },
    }),
  };
}

const ends: readonly string[] = ['done', 'failed', 'moderated', 'cancelled'];

function status({ id, state }: SimTask): Reply {
  const taskStatus = ends.includes(state)
    ? 'COMPLETED'
    : state === 'queued'
      ? 'IN_QUEUE'
      : state === 'odd'
        ? 'PONDERING'
        : 'IN_PROGRESS';
  return {
    status: taskStatus === 'COMPLETED' ? 200 : 202,
    body: { status: taskStatus, request_id: id, logs: null },
  };
}

function response({ state, request }: SimTask, finishedImages: readonly FinishedImage[]): Reply {
  if (!ends.includes(state))
    return { status: 400, body: { detail: 'Request is still in progress' } };
  if (state === 'moderated')
    return {
      status: 422,
      body: {
        detail: [
          {
            loc: ['body', 'prompt'],
            msg: 'flagged by a content checker',
            type: 'content_policy_violation',
          },
        ],
      },
    };
  if (state !== 'done')
    return {
      status: 500,
      headers: { 'x-fal-error-type': 'internal_error' },
      body: { detail: 'Internal Server Error' },
    };
  const images = finishedImages.map(({ url, width, height }) => ({
    url,
    width,
    height,
    content_type: 'image/png',
  }));
  return {
    status: 200,
    body: {
      images,
      seed: 42,
      prompt: request.prompt,
      has_nsfw_concepts: images.map(() => false),
      timings: {},
    },
  };
}

const unknown: Reply = { status: 404, body: { detail: 'Request not found' } };

export const falImages: ImageHandler = {
  vendor: 'fal',
  at: /^\/fal\//,
  checkKey: keyIn('authorization', 'Key '),
  refuse,
  take(call) {
    const { method, path } = call;
    const [, , id, what] =
      /^\/fal\/([^/]+\/[^/]+)\/requests\/([^/]+)(?:\/(status|cancel))?$/.exec(path) ?? [];
    if (id === undefined)
      return method === 'POST'
        ? submission(call, decodeURIComponent(path.slice('/fal/'.length)))
        : undefined;
    if (what === 'cancel') return method === 'PUT' ? cancelled(id) : undefined;
    if (method !== 'GET') return undefined;
    return {
      id,
      unknown,
      report: (task, images) => (what === 'status' ? status(task) : response(task, images)),
    };
  },
};

function cancelled(id: string): Reply {
  if (imageTaskOf(id) === undefined) return unknown;
  return cancelImageTask(id)
    ? { status: 202, body: { status: 'CANCELLATION_REQUESTED' } }
    : { status: 400, body: { status: 'ALREADY_COMPLETED' } };
}
