import { keyIn } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import { flag, oneOf, type Shape, whole, textValue, wrongWith } from '../video/check.ts';
import type { SimTask, TaskState } from '../video/task.ts';
import {
  type ImageCall,
  type Submission,
  type FinishedImage,
  type ImageHandler,
  refused,
  sidesOf,
} from './handler.ts';
import { bareBase64, wrongMask } from './image-checks.ts';

/** api.bfl.ai/openapi.json 0.0.1 and docs.bfl.ai/errors, 2026-08. */
const rows: Rows = {
  missing_key: { status: 403, message: 'Not authenticated' },
  wrong_key: { status: 403, message: 'Not authenticated' },
  unknown_url: { status: 404, message: 'Not Found' },
  unknown_model: { status: 404, message: 'Not Found' },
  bad_request: { status: 422 },
  context: { status: 422, message: 'String should have at most 32768 characters' },
  policy: { status: 422, message: 'Prompt was moderated' },
  rate: { status: 429, message: 'Too many active tasks' },
  quota: { status: 402, message: 'Insufficient credits' },
  server: { status: 500, message: 'Internal Server Error' },
  overloaded: { status: 503, message: 'Service Unavailable' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message } = fillRow(rows, problem);
  const [name = 'prompt'] = message.split(' ');
  return {
    status,
    body: {
      detail:
        status === 422 ? [{ loc: ['body', name], msg: message, type: 'value_error' }] : message,
    },
  };
};

const side = (value: unknown): string | undefined =>
  whole(256, 1_440)(value) ?? (Number(value) % 32 === 0 ? undefined : 'must be a multiple of 32');
const free = (value: unknown): string | undefined =>
  whole(64, 4_096)(value) ?? (Number(value) % 16 === 0 ? undefined : 'must be a multiple of 16');
const ratio = (value: unknown): string | undefined => {
  const [, w, h] = /^(\d+):(\d+)$/.exec(String(value)) ?? [];
  const shape = Number(w) / Number(h);
  return shape >= 9 / 21 && shape <= 21 / 9 ? undefined : 'must lie between 21:9 and 9:21';
};

const usual: Shape = {
  'prompt?': textValue(32_768),
  'seed?': whole(0, 4_294_967_295),
  'output_format?': oneOf('jpeg', 'png', 'webp'),
  'safety_tolerance?': whole(0, 6),
  'prompt_upsampling?': flag,
};
const numbered = (most: number): Shape =>
  Object.fromEntries(
    Array.from({ length: most }, (_, i) => [
      `input_image${i === 0 ? '' : `_${i + 1}`}?`,
      bareBase64,
    ]),
  );

/** By model: the members of its page, and no others. */
const shapes: readonly (readonly [RegExp, Shape])[] = [
  [
    /^flux-2-flex/,
    {
      ...usual,
      ...numbered(8),
      prompt: textValue(32_768),
      'width?': free,
      'height?': free,
      'steps?': whole(1, 50),
    },
  ],
  [
    /^flux-2-klein/,
    { ...usual, ...numbered(4), prompt: textValue(32_768), 'width?': free, 'height?': free },
  ],
  [
    /^flux-2-(?:pro|max)/,
    { ...usual, ...numbered(8), prompt: textValue(32_768), 'width?': free, 'height?': free },
  ],
  [
    /^flux-kontext-(?:pro|max)/,
    { ...usual, ...numbered(4), prompt: textValue(32_768), 'aspect_ratio?': ratio },
  ],
  [
    /^flux-pro-1\.1-ultra/,
    { ...usual, 'aspect_ratio?': ratio, 'image_prompt?': bareBase64, 'raw?': flag },
  ],
  [
    /^flux-pro-1\.0-fill/,
    { ...usual, image: bareBase64, 'mask?': bareBase64, 'steps?': whole(15, 50) },
  ],
  [/^flux-pro-1\.1/, { ...usual, 'width?': side, 'height?': side, 'image_prompt?': bareBase64 }],
  [/^flux-dev/, { ...usual, 'width?': side, 'height?': side, 'steps?': whole(1, 50) }],
];

function submission(call: ImageCall, named: string): Reply | Submission {
  const { raw, origin } = call;
  const shape = shapes.find(([ids]) => ids.test(named))?.[1];
  if (shape === undefined) return { status: 404, body: { detail: 'Not Found' } };
  const wrong = wrongWith(raw, shape) ?? maskProblem(raw['mask'], raw['image']);
  if (wrong !== undefined) return refused({ refuse }, call, wrong);
  const sides = sidesOf(text(raw['aspect_ratio']));
  const width = Number(raw['width'] ?? sides.width);
  const height = Number(raw['height'] ?? sides.height);
  return {
    request: { named, prompt: text(raw['prompt']) ?? '', width, height, n: 1 },
    // A task can be polled only on the cluster that accepted it.
    accepted: (id) => ({
      status: 200,
      body: {
        id,
        polling_url: `${origin}/bfl/cluster/get_result?id=${id}`,
        cost: 3,
        input_mp: 0,
        output_mp: 1,
      },
    }),
  };
}

const bytesOf = (value: unknown): Buffer => Buffer.from(String(value), 'base64');
const maskProblem = (mask: unknown, image: unknown): string | undefined => {
  const wrong = mask === undefined ? undefined : wrongMask(bytesOf(mask), bytesOf(image));
  return wrong && `mask ${wrong}`;
};

const statuses: Readonly<Record<TaskState, string>> = {
  queued: 'Pending',
  running: 'Pending',
  odd: 'Contemplating',
  done: 'Ready',
  failed: 'Error',
  moderated: 'Content Moderated',
  cancelled: 'Error',
};

function report(
  { id, state, request, percent }: SimTask,
  [image]: readonly FinishedImage[],
): Reply {
  const details =
    state === 'moderated' ? { 'Moderation Reasons': ['Derivative Works Filter'] } : null;
  const result =
    state === 'done'
      ? { sample: image?.url, prompt: request.prompt, seed: 42, duration: 2.5 }
      : null;
  return {
    status: 200,
    body: {
      id,
      status: statuses[state],
      result,
      progress: state === 'running' ? percent / 100 : null,
      details,
    },
  };
}

export const bflImages: ImageHandler = {
  vendor: 'bfl',
  at: /^\/bfl\//,
  checkKey: keyIn('x-key'),
  refuse,
  take(call) {
    const { method, path, query } = call;
    const [, model] = /^\/bfl\/v1\/(flux-[^/]+)$/.exec(path) ?? [];
    if (method === 'POST' && model !== undefined)
      return submission(call, decodeURIComponent(model));
    const id = query.get('id') ?? '';
    const unknown = {
      status: 200,
      body: { id, status: 'Task not found', result: null, progress: null, details: null },
    };
    if (method === 'GET' && path === '/bfl/cluster/get_result') return { id, report, unknown };
    return method === 'GET' && path === '/bfl/v1/get_result' ? unknown : undefined;
  },
};
