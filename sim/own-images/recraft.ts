import { keyIn } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import { oneOf, type Shape, whole, textValue, wrongWith } from '../video/check.ts';
import {
  type ImageCall,
  numbered,
  type Submission,
  type ImageHandler,
  refused,
  sidesOf,
} from './handler.ts';
import { wrongFiles } from './image-checks.ts';

/** recraft.ai/docs/api-reference, 2026-11. */
const rows: Rows = {
  missing_key: { status: 401, code: 'unauthorized', message: 'Unauthorized' },
  wrong_key: { status: 401, code: 'unauthorized', message: 'Unauthorized' },
  unknown_url: { status: 404, code: 'not_found', message: 'Not found' },
  unknown_model: { status: 400, code: 'invalid_request_parameter', message: 'model: unknown' },
  bad_request: { status: 400, code: 'invalid_request_parameter' },
  context: {
    status: 400,
    code: 'invalid_request_parameter',
    message: 'prompt: must be at most 1000 characters',
  },
  policy: {
    status: 400,
    code: 'content_policy_violation',
    message: 'The prompt violates the content policy',
  },
  rate: { status: 429, code: 'rate_limit_exceeded', message: 'Too many requests' },
  quota: { status: 402, code: 'not_enough_credits', message: 'Not enough credits' },
  server: { status: 500, code: 'internal_error', message: 'Internal server error' },
  overloaded: { status: 503, code: 'unavailable', message: 'Service unavailable' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message, code } = fillRow(rows, problem);
  return { status, body: { code, message } };
};

const model = (value: unknown): string | undefined =>
  /^recraftv[234](?:_\w+)?(?:\+sim-.*)?$/.test(String(value)) ? undefined : 'is none of the models';
const usual: Shape = {
  prompt: textValue(10_000),
  model,
  'n?': whole(1, 6),
  'response_format?': oneOf('url', 'b64_json'),
  'style?': textValue(60),
  'substyle?': textValue(60),
  'style_id?': textValue(60),
  'negative_prompt?': textValue(10_000),
};
const object = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null ? undefined : 'must be an object';
const sizes = oneOf(
  '1024x1024',
  '1:1',
  '2:1',
  '1:2',
  '3:2',
  '2:3',
  '4:3',
  '3:4',
  '5:4',
  '4:5',
  '16:9',
  '9:16',
);
const strength = (value: unknown): string | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'must be between 0 and 1';

const ways: Readonly<Record<string, { readonly shape: Shape; readonly files: readonly string[] }>> =
  {
    generations: { shape: { ...usual, 'size?': sizes, 'controls?': object }, files: [] },
    imageToImage: { shape: { ...usual, strength }, files: ['image'] },
    inpaint: { shape: usual, files: ['image', 'mask'] },
  };

function submission(call: ImageCall, name: string): Reply | Submission | undefined {
  const way = ways[name];
  if (way === undefined) return undefined;
  const raw = numbered(call.raw, ['n', 'strength']);
  const missing = way.files.find((file) => !call.files.has(file));
  const wrong =
    wrongWith(raw, way.shape) ??
    wrongFiles(call.files, way.files) ??
    (missing && `${missing} is required`);
  if (wrong !== undefined) return refused({ refuse }, call, wrong);
  const size = text(raw['size']);
  return {
    request: {
      named: text(raw['model']) ?? '',
      prompt: text(raw['prompt']) ?? '',
      n: Number(raw['n'] ?? 1),
      ...sidesOf(size?.includes(':') ? size : '1:1'),
    },
    done: (images, { moderated }) =>
      moderated
        ? {
            status: 400,
            body: {
              code: 'content_policy_violation',
              message: 'The image violates the content policy',
            },
          }
        : {
            status: 200,
            body: {
              created: 1_795_000_000,
              credits: images.length * 40,
              data: images.map(({ url, base64 }, i) => ({
                image_id: `00000000-0000-4000-8000-00000000000${i}`,
                ...(raw['response_format'] === 'b64_json' ? { b64_json: base64() } : { url }),
              })),
            },
          },
  };
}

export const recraftImages: ImageHandler = {
  vendor: 'recraft',
  at: /^\/recraft\//,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse,
  take(call) {
    const [, name = ''] = /^\/recraft\/v1\/images\/(\w+)$/.exec(call.path) ?? [];
    return call.method === 'POST' ? submission(call, name) : undefined;
  },
};
