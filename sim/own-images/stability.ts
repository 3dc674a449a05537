import { keyIn } from '../task-handler.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import { oneOf, type Shape, whole, textValue, wrongWith } from '../video/check.ts';
import { type ImageCall, numbered, type ImageHandler, refused, sidesOf } from './handler.ts';
import { wrongFiles } from './image-checks.ts';

/** platform.stability.ai/docs/api-reference, 2026-10. */
const rows: Rows = {
  missing_key: { status: 401, code: 'unauthorized', message: 'authorization: is required' },
  wrong_key: { status: 401, code: 'unauthorized', message: 'Incorrect API key provided' },
  unknown_url: { status: 404, code: 'not_found', message: 'The requested endpoint does not exist' },
  unknown_model: { status: 404, code: 'not_found', message: 'The requested model does not exist' },
  bad_request: { status: 400, code: 'bad_request' },
  context: {
    status: 400,
    code: 'bad_request',
    message: 'prompt: must be at most 10000 characters',
  },
  policy: {
    status: 403,
    code: 'content_moderation',
    message: 'Your request was flagged by our content moderation system.',
  },
  rate: {
    status: 429,
    code: 'rate_limit_exceeded',
    message: 'You have exceeded the rate limit of 150 requests within a 10 second period',
  },
  quota: {
    status: 402,
    code: 'payment_required',
    message: 'You lack sufficient credits to make this request.',
  },
  server: {
    status: 500,
    code: 'internal_error',
    message: 'An unexpected server error has occurred',
  },
  overloaded: { status: 503, code: 'service_unavailable', message: 'The service is overloaded' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message, code } = fillRow(rows, problem);
  return { status, body: { id: 'a1b2c3', name: code, errors: [message] } };
};

const fraction = (value: unknown): string | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? undefined : 'must be between 0 and 1';
const usual: Shape = {
  prompt: textValue(10_000),
  'negative_prompt?': textValue(10_000),
  'seed?': whole(0, 4_294_967_294),
  'aspect_ratio?': oneOf('21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21'),
  'output_format?': oneOf('jpeg', 'png', 'webp'),
  'style_preset?': textValue(100),
};
const { 'aspect_ratio?': _, ...changed } = usual;

interface Way {
  readonly shape: Shape;
  readonly files: readonly string[];
}

const ways: Readonly<Record<string, Way>> = {
  '/stability/v2beta/stable-image/generate/core': { shape: usual, files: [] },
  '/stability/v2beta/stable-image/generate/ultra': {
    shape: { ...usual, 'strength?': fraction },
    files: ['image'],
  },
  '/stability/v2beta/stable-image/generate/sd3': {
    shape: {
      ...usual,
      'model?': oneOf('sd3.5-large', 'sd3.5-large-turbo', 'sd3.5-medium', 'sd3.5-flash'),
      'mode?': oneOf('text-to-image', 'image-to-image'),
      'strength?': fraction,
      'output_format?': oneOf('jpeg', 'png'),
    },
    files: ['image'],
  },
  '/stability/v2beta/stable-image/edit/inpaint': {
    shape: { ...changed, 'grow_mask?': whole(0, 100) },
    files: ['image', 'mask'],
  },
};

function wrongIn(call: ImageCall, { shape, files }: Way): string | undefined {
  const raw = numbered(call.raw, ['seed', 'strength', 'grow_mask', 'cfg_scale']);
  const wrong = wrongWith(raw, shape) ?? wrongFiles(call.files, files);
  if (wrong !== undefined) return wrong;
  const image = call.files.has('image');
  if (call.path.endsWith('/inpaint')) return image ? undefined : 'image: is required';
  if (image !== (raw['strength'] !== undefined))
    return 'strength: goes with an image, and an image with strength';
  if (!call.path.endsWith('/sd3')) return undefined;
  if (image !== (raw['mode'] === 'image-to-image'))
    return 'mode: image-to-image goes with an image';
  return image && raw['aspect_ratio'] !== undefined
    ? 'aspect_ratio: is only valid for text-to-image'
    : undefined;
}

export const stabilityImages: ImageHandler = {
  vendor: 'stability',
  at: /^\/stability\//,
  checkKey: keyIn('authorization', 'Bearer '),
  refuse,
  take(call) {
    const way = ways[call.path];
    if (call.method !== 'POST' || way === undefined) return undefined;
    if (!call.headers['content-type']?.startsWith('multipart/form-data'))
      return refused({ refuse }, call, 'content-type: must be multipart/form-data');
    if (call.headers.accept !== 'application/json')
      return refused({ refuse }, call, 'accept: the simulator answers application/json alone');
    const wrong = wrongIn(call, way);
    if (wrong !== undefined) return refused({ refuse }, call, wrong);
    const sides = sidesOf(text(call.raw['aspect_ratio']));
    return {
      request: {
        named: text(call.raw['model']) ?? 'stable-image',
        prompt: text(call.raw['prompt']) ?? '',
        n: 1,
        ...sides,
      },
      done: ([image], { moderated }) => ({
        status: 200,
        body: {
          image: image?.base64(),
          finish_reason: moderated ? 'CONTENT_FILTERED' : 'SUCCESS',
          seed: 42,
        },
      }),
    };
  },
};
