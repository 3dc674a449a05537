import { keyIn, pixelsOf } from '../task-handler.ts';
import type { Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { text } from '../json.ts';
import { oneOf, type Shape, whole, textValue, wrongWith } from '../video/check.ts';
import {
  type ImageCall,
  numbered,
  type Submission,
  type FinishedImage,
  type ImageHandler,
  refused,
  sidesOf,
} from './handler.ts';
import { wrongFiles } from './image-checks.ts';

/** developer.ideogram.ai/api-reference, 2026-10. */
const rows: Rows = {
  missing_key: { status: 401, message: 'Not authorized to generate an image.' },
  wrong_key: { status: 401, message: 'Not authorized to generate an image.' },
  unknown_url: { status: 404, message: 'Not found' },
  unknown_model: { status: 404, message: 'Not found' },
  bad_request: { status: 400 },
  context: { status: 400, message: 'Invalid input provided: prompt is too long' },
  policy: { status: 422, message: 'Prompt failed the safety check.' },
  rate: { status: 429, message: 'Too many requests.' },
  quota: { status: 402, message: 'Insufficient credits.' },
  server: { status: 500, message: 'Internal server error' },
  overloaded: { status: 503, message: 'Service unavailable' },
};

const refuse: ImageHandler['refuse'] = (problem) => {
  const { status, message } = fillRow(rows, problem);
  return { status, body: status === 422 ? { error: message } : { detail: message } };
};

const ratios = oneOf(
  '1x3',
  '3x1',
  '1x2',
  '2x1',
  '9x16',
  '16x9',
  '10x16',
  '16x10',
  '2x3',
  '3x2',
  '3x4',
  '4x3',
  '4x5',
  '5x4',
  '1x1',
);
const resolutions = oneOf(
  '1024x1024',
  '1344x768',
  '768x1344',
  '1248x832',
  '832x1248',
  '1152x864',
  '864x1152',
);
const usual: Shape = {
  'num_images?': whole(1, 8),
  'seed?': whole(0, 2_147_483_647),
  'magic_prompt?': oneOf('AUTO', 'ON', 'OFF'),
  'negative_prompt?': textValue(10_000),
  'style_type?': oneOf('AUTO', 'GENERAL', 'REALISTIC', 'DESIGN', 'FICTION'),
};
const third: Shape = {
  ...usual,
  prompt: textValue(10_000),
  'rendering_speed?': oneOf('FLASH', 'TURBO', 'DEFAULT', 'QUALITY'),
};
const shapes: Readonly<Record<string, Shape>> = {
  'ideogram-v3/generate': { ...third, 'aspect_ratio?': ratios },
  'ideogram-v3/remix': { ...third, 'aspect_ratio?': ratios, 'image_weight?': whole(1, 100) },
  'ideogram-v3/edit': third,
  'ideogram-v4/generate': {
    ...usual,
    text_prompt: textValue(10_000),
    'resolution?': resolutions,
    'rendering_speed?': oneOf('TURBO', 'DEFAULT', 'QUALITY'),
  },
};
const filesOf: Readonly<Record<string, readonly string[]>> = {
  generate: [],
  remix: ['image'],
  edit: ['image', 'mask'],
};

function submission(call: ImageCall, model: string, way: string): Reply | Submission | undefined {
  const shape = shapes[`${model}/${way}`];
  if (shape === undefined) return undefined;
  const raw = numbered(call.raw, ['num_images', 'seed', 'image_weight']);
  const files = filesOf[way] ?? [];
  const missing = files.find((name) => !call.files.has(name));
  const wrong =
    wrongWith(raw, shape) ?? wrongFiles(call.files, files) ?? (missing && `${missing} is required`);
  if (wrong !== undefined) return refused({ refuse }, call, `Invalid input provided: ${wrong}`);
  const resolution = text(raw['resolution']);
  const sides =
    resolution === undefined ? sidesOf(text(raw['aspect_ratio'])) : pixelsOf(resolution);
  const prompt = text(raw['prompt']) ?? text(raw['text_prompt']) ?? '';
  return {
    request: { named: model, prompt, n: Number(raw['num_images'] ?? 1), ...sides },
    done: (images, { moderated }) => ({
      status: 200,
      body: {
        created: '2026-11-21T10:00:00Z',
        data: images.map((each) => item(each, prompt, moderated)),
      },
    }),
  };
}

const item = (
  { url, width, height }: FinishedImage,
  prompt: string,
  moderated: boolean,
): Record<string, unknown> => ({
  url: moderated ? '' : url,
  prompt,
  resolution: `${width}x${height}`,
  is_image_safe: !moderated,
  seed: 42,
  style_type: 'GENERAL',
});

export const ideogramImages: ImageHandler = {
  vendor: 'ideogram',
  at: /^\/ideogram\//,
  checkKey: keyIn('api-key'),
  refuse,
  take(call) {
    const [, model = '', way = ''] =
      /^\/ideogram\/v1\/(ideogram-v\d)\/(\w+)$/.exec(call.path) ?? [];
    return call.method === 'POST' ? submission(call, model, way) : undefined;
  },
};
