import { describe, expect, test } from 'vitest';
import { imageOf } from '../../../../sim/media/png.ts';
import type { VendorRequest, VendorCall, ImageAdapter } from '../../adapter.ts';
import type { InputImage, ImageRequest } from '../../media-request.ts';
import { bflImages } from './bfl.ts';
import { cogView } from './hosts.ts';
import { dashscopeTasks } from './dashscope.ts';
import { falImages } from './fal.ts';
import { ideogramImages } from './ideogram.ts';
import { minimaxImages } from './minimax.ts';
import { recraftEdits, recraftImages } from './recraft.ts';
import { replicateImages } from './replicate.ts';
import { runwayImages } from './runway.ts';
import { stabilityImages } from './stability.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const cat: InputImage = {
  type: 'image/png',
  width: 64,
  height: 64,
  bytes: imageOf('cat', 64, 64),
};
const mask: InputImage = {
  type: 'image/png',
  width: 64,
  height: 64,
  bytes: imageOf('here', 64, 64, true),
};
const wide = { width: 1_792, height: 1_024 };

function callOf(
  upstreamModel: string,
  wish: Partial<ImageRequest> = {},
  body: Record<string, unknown> = {},
): VendorCall {
  return vendorCall(body, {
    upstreamModel,
    answerId: 'img-1',
    created: 1_700_000_000,
    image: {
      prompt: 'a cat',
      n: 1,
      size: undefined,
      quality: undefined,
      returns: 'url',
      images: [],
      mask: undefined,
      partials: 0,
      ...wish,
    },
  });
}

const ask = (adapter: ImageAdapter, call: VendorCall): VendorRequest =>
  adapter.ask(adapter.split?.(call)?.calls[0] ?? call);
const said = ({ body }: VendorRequest): Record<string, unknown> =>
  JSON.parse(body.toString('utf8'));

/** The fields of a form; for a file, its type. */
function fieldsOf({ headers, body }: VendorRequest): Record<string, string> {
  const boundary = /boundary=(.*)$/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  const found: Record<string, string> = {};
  for (const part of body.toString('latin1').split(`--${boundary}`)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const name = / name="([^"]*)"/.exec(head)?.[1];
    if (name !== undefined)
      found[name] = /content-type: (\S+)/.exec(head)?.[1] ?? rest.join('\r\n\r\n').trimEnd();
  }
  return found;
}

interface Row {
  readonly what: string;
  readonly adapter: ImageAdapter;
  readonly call: VendorCall;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

const kontext = 'flux-kontext-pro';
const rows: readonly Row[] = [
  {
    what: 'FLUX 2 by its sides',
    adapter: bflImages,
    call: callOf('flux-2-pro', { size: wide, n: 3 }, { seed: 7, user: 'u' }),
    path: '/flux-2-pro',
    body: { prompt: 'a cat', width: 1_792, height: 1_024, output_format: 'png', seed: 7 },
  },
  {
    what: 'FLUX 1 within its sides, in the same shape',
    adapter: bflImages,
    call: callOf('flux-pro-1.1', { size: wide }, { output_format: 'jpeg' }),
    path: '/flux-pro-1.1',
    body: { prompt: 'a cat', width: 1_440, height: 832, output_format: 'jpeg' },
  },
  {
    what: 'FLUX Kontext by the ratio, with a picture',
    adapter: bflImages,
    call: callOf(kontext, { size: { width: 1_024, height: 1_536 }, images: [cat, cat] }),
    path: `/${kontext}`,
    body: {
      prompt: 'a cat',
      aspect_ratio: '2:3',
      input_image: cat.bytes.toString('base64'),
      input_image_2: cat.bytes.toString('base64'),
      output_format: 'png',
    },
  },
  {
    what: 'FLUX dev with more steps for hd',
    adapter: bflImages,
    call: callOf('flux-dev', { quality: 'hd' }),
    path: '/flux-dev',
    body: { prompt: 'a cat', steps: 50, output_format: 'png' },
  },
  {
    what: 'fal by sides, several at once',
    adapter: falImages,
    call: callOf('fal-ai/flux/dev', { size: wide, n: 4 }),
    path: '/fal-ai/flux/dev',
    body: { prompt: 'a cat', num_images: 4, image_size: wide, output_format: 'png' },
  },
  {
    what: 'fal by the ratio, with a picture',
    adapter: falImages,
    call: callOf('fal-ai/flux-pro/kontext', { size: wide, images: [cat] }),
    path: '/fal-ai/flux-pro/kontext',
    body: {
      prompt: 'a cat',
      num_images: 1,
      aspect_ratio: '16:9',
      image_url: `data:image/png;base64,${cat.bytes.toString('base64')}`,
      output_format: 'png',
    },
  },
  {
    what: 'an official model of Replicate',
    adapter: replicateImages,
    call: callOf(
      'black-forest-labs/flux-dev',
      { size: wide },
      { output_format: 'jpeg', go_fast: 'true' },
    ),
    path: '/models/black-forest-labs/flux-dev/predictions',
    body: { input: { prompt: 'a cat', aspect_ratio: '16:9', output_format: 'jpg', go_fast: true } },
  },
  {
    what: 'a version of any model of Replicate',
    adapter: replicateImages,
    call: callOf('somebody/sdxl:39ed52f2'),
    path: '/predictions',
    body: { version: '39ed52f2', input: { prompt: 'a cat', output_format: 'png' } },
  },
  {
    what: 'Recraft by the ratio',
    adapter: recraftImages,
    call: callOf(
      'recraftv3',
      { size: wide, n: 2, returns: 'b64_json' },
      { style: 'digital_illustration', quality: 'hd' },
    ),
    path: '/images/generations',
    body: {
      prompt: 'a cat',
      model: 'recraftv3',
      n: 2,
      size: '16:9',
      response_format: 'b64_json',
      style: 'digital_illustration',
    },
  },
  {
    what: 'MiniMax by the ratio',
    adapter: minimaxImages([]),
    call: callOf('image-01', { size: wide, n: 9, returns: 'b64_json' }),
    path: '/image_generation',
    body: {
      model: 'image-01',
      prompt: 'a cat',
      n: 9,
      aspect_ratio: '16:9',
      response_format: 'base64',
    },
  },
  {
    what: 'CogView by its sides',
    adapter: cogView([]),
    call: callOf('cogview-4', { size: { width: 1_000, height: 1_000 }, quality: 'hd' }),
    path: '/images/generations',
    body: { model: 'cogview-4', prompt: 'a cat', size: '1008x1008', quality: 'hd' },
  },
  {
    what: 'a task of DashScope by its sides',
    adapter: dashscopeTasks([]),
    call: callOf('wan2.2-t2i-flash', { size: wide, n: 2 }, { negative_prompt: 'dogs' }),
    path: '/../../api/v1/services/aigc/text2image/image-synthesis',
    body: {
      model: 'wan2.2-t2i-flash',
      input: { prompt: 'a cat', negative_prompt: 'dogs' },
      parameters: { n: 2, size: '1440*816' },
    },
  },
  {
    what: 'Runway by a shape of its own',
    adapter: runwayImages,
    call: callOf('gen4_image', { size: wide }),
    path: '/v1/text_to_image',
    body: { model: 'gen4_image', promptText: 'a cat', ratio: '1360:768' },
  },
];

describe('what a vendor is asked', () => {
  for (const { what, adapter, call, path, body } of rows)
    test(`${what}`, () => {
      const asked = ask(adapter, call);
      expect(asked.path).toBe(path);
      expect(said(asked)).toEqual(body);
      expect(asked.headers['content-type']).toBe('application/json');
    });

  test('Stability in forms: of words, of a picture, where a mask is', () => {
    const core = ask(stabilityImages, callOf('stable-image-core', { size: wide }, { seed: '5' }));
    expect([core.path, core.headers['accept']]).toEqual([
      '/v2beta/stable-image/generate/core',
      'application/json',
    ]);
    expect(fieldsOf(core)).toEqual({
      prompt: 'a cat',
      aspect_ratio: '16:9',
      output_format: 'png',
      seed: '5',
    });
    const changed = ask(stabilityImages, callOf('sd3.5-large', { images: [cat], size: wide }));
    expect(fieldsOf(changed)).toEqual({
      prompt: 'a cat',
      model: 'sd3.5-large',
      mode: 'image-to-image',
      image: 'image/png',
      strength: '0.7',
      output_format: 'png',
    });
    const filled = ask(stabilityImages, callOf('stable-image-inpaint', { images: [cat], mask }));
    expect(filled.path).toBe('/v2beta/stable-image/edit/inpaint');
    expect(fieldsOf(filled)).toEqual({
      prompt: 'a cat',
      image: 'image/png',
      mask: 'image/png',
      output_format: 'png',
    });
  });

  test('Ideogram in forms: generated, remixed, edited, and version 4 by its resolution', () => {
    const made = ask(ideogramImages, callOf('ideogram-v3', { size: wide, quality: 'hd', n: 2 }));
    expect(made.path).toBe('/v1/ideogram-v3/generate');
    expect(fieldsOf(made)).toEqual({
      prompt: 'a cat',
      aspect_ratio: '16x9',
      rendering_speed: 'QUALITY',
      num_images: '2',
    });
    const remixed = ask(ideogramImages, callOf('ideogram-v3-turbo', { size: wide, images: [cat] }));
    expect(remixed.path).toBe('/v1/ideogram-v3/remix');
    expect(fieldsOf(remixed)).toMatchObject({
      image: 'image/png',
      rendering_speed: 'TURBO',
      aspect_ratio: '16x9',
    });
    const edited = ask(ideogramImages, callOf('ideogram-v3', { size: wide, images: [cat], mask }));
    expect(edited.path).toBe('/v1/ideogram-v3/edit');
    expect(fieldsOf(edited)).toEqual({
      prompt: 'a cat',
      image: 'image/png',
      mask: 'image/png',
      num_images: '1',
    });
    expect(fieldsOf(ask(ideogramImages, callOf('ideogram-v4', { size: wide })))).toEqual({
      text_prompt: 'a cat',
      resolution: '1344x768',
    });
  });

  test('Recraft in forms, where it is given a picture', () => {
    const changed = ask(
      recraftEdits,
      callOf('recraftv3', { images: [cat], n: 2 }, { strength: 0.2 }),
    );
    expect(changed.path).toBe('/images/imageToImage');
    expect(fieldsOf(changed)).toEqual({
      image: 'image/png',
      prompt: 'a cat',
      strength: '0.2',
      model: 'recraftv3',
      n: '2',
      response_format: 'url',
    });
    const filled = ask(recraftEdits, callOf('recraftv3', { images: [cat], mask }));
    expect(filled.path).toBe('/images/inpaint');
    expect(fieldsOf(filled)).toMatchObject({ mask: 'image/png' });
  });
});

test('more pictures than a vendor makes at once are several calls', () => {
  const split = (
    adapter: ImageAdapter,
    model: string,
    n: number,
  ): (number | undefined)[] | undefined =>
    adapter.split?.(callOf(model, { n }))?.calls.map(({ image }) => image?.n);
  expect(split(bflImages, 'flux-2-pro', 3)).toEqual([1, 1, 1]);
  expect(split(falImages, 'fal-ai/flux/dev', 10)).toEqual([4, 4, 2]);
  expect(split(recraftImages, 'recraftv3', 10)).toEqual([6, 4]);
  expect(split(ideogramImages, 'ideogram-v3', 8)).toBeUndefined();
});

test('what a model does not make is said by itself, and nobody is asked', () => {
  const why = (adapter: ImageAdapter, model: string, wish: Partial<ImageRequest>) =>
    adapter.misfit?.(callOf(model, wish))?.param;
  expect(why(bflImages, 'flux-pro-1.1', { images: [cat] })).toBe('image');
  expect(why(bflImages, 'flux-kontext-pro', { images: [cat, cat, cat, cat, cat] })).toBe('image');
  expect(why(bflImages, 'flux-pro-1.0-fill', {})).toBe('image');
  expect(why(bflImages, 'flux-kontext-pro', { images: [cat], mask })).toBe('mask');
  expect(why(bflImages, 'flux-pro-1.0-fill', { images: [cat], mask })).toBeUndefined();
  expect(why(bflImages, 'flux-pro-1.0-fill', { images: [cat], mask: cat })).toBe('mask');
  expect(why(falImages, 'fal-ai/flux/dev', { images: [cat], mask })).toBe('mask');
  expect(why(stabilityImages, 'stable-image-core', { images: [cat] })).toBe('image');
  expect(why(runwayImages, 'gen4_image_turbo', {})).toBe('image');
});
