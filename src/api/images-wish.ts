import { refuse } from '../base/refusal.ts';
import {
  type ImageTerms,
  sidesOf,
  sizeProblem,
  tokensOf,
  usualNMax,
  usualPromptCharsMax,
  usualQualities,
} from '../catalog/image-terms.ts';
import type { Model } from '../catalog/snapshot.ts';
import { previewTokens } from '../gateway/painted.ts';
import type { Sized } from '../gateway/request.ts';
import {
  alsoCalled,
  type ImageSize,
  type ImageWish,
  resolutionOf,
  sizeText,
} from '../providers/image-wish.ts';
import {
  type Body,
  optionalBoolean,
  optionalInteger,
  refuseType,
  requiredString,
} from './check.ts';
import type { Given } from './images-given.ts';

export const partialsMax = 3;

/** What a client may say in one word, whichever the model. */
export const words: Readonly<Record<string, readonly string[]>> = {
  response_format: ['url', 'b64_json'],
  background: ['transparent', 'opaque', 'auto'],
  output_format: ['png', 'jpeg', 'webp', 'gif', 'svg'],
  moderation: ['low', 'auto'],
  style: ['vivid', 'natural'],
  input_fidelity: ['high', 'low'],
};

/**
 * What is wished for, checked against what may be asked of the model. Throws the Refusal that lists
 * what is allowed.
 */
export function readWish(
  body: Body,
  terms: ImageTerms,
  prompt: string,
  { images, mask }: Given,
): ImageWish {
  for (const [param, known] of Object.entries(words)) optionalWord(body, param, known);
  optionalInteger(body, 'output_compression', 0, 100);
  const { user } = body;
  if (user !== undefined && user !== null && typeof user !== 'string')
    refuseType('user', 'a string', user);
  const format = body['response_format'];
  return {
    prompt,
    n: optionalInteger(body, 'n', 1, terms.nMax ?? usualNMax) ?? 1,
    size: sizeOf(body, terms),
    quality: qualityOf(body, terms),
    // Events carry bytes: there is no other kind.
    returns:
      body['stream'] === true
        ? 'b64_json'
        : format === 'url' || format === 'b64_json'
          ? format
          : (terms.returns ?? 'url'),
    partials: partialsOf(body),
    images,
    mask,
  };
}

export function readPrompt(
  body: Body,
  { promptCharsMax = usualPromptCharsMax }: ImageTerms,
): string {
  const prompt = requiredString(body, 'prompt');
  if (prompt.length > promptCharsMax)
    refuse('out_of_range', {
      param: 'prompt',
      expected: `of at most ${promptCharsMax} characters`,
      got: prompt.length,
    });
  return prompt;
}

function optionalWord(body: Body, param: string, known: readonly string[]): string | undefined {
  const value = body[param];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  if (!known.includes(value))
    refuse('invalid_value', {
      param,
      why: `'${value}' is not supported by this model. Supported values are: ${known.join(', ')}.`,
    });
  return value;
}

function sizeOf(body: Body, terms: ImageTerms): ImageSize | undefined {
  const { size } = body;
  const usual = terms.usual?.size === undefined ? undefined : sidesOf(terms.usual.size);
  if (size === undefined || size === null || size === '') return usual;
  if (typeof size !== 'string') refuseType('size', 'a string', size);
  const why = sizeProblem(terms, size);
  if (why !== undefined) refuse('invalid_value', { param: 'size', why });
  return size === 'auto' ? usual : sidesOf(size);
}

function qualityOf(body: Body, { qualities, usual }: ImageTerms): string | undefined {
  const quality = optionalWord(body, 'quality', qualities ?? usualQualities);
  return quality === undefined || quality === 'auto' ? (usual?.quality ?? quality) : quality;
}

function partialsOf(body: Body): number {
  const stream = optionalBoolean(body, 'stream') ?? false;
  const partials = optionalInteger(body, 'partial_images', 0, partialsMax) ?? 0;
  if (partials > 0 && !stream)
    refuse('invalid_value', { param: 'partial_images', why: 'it goes with stream: true.' });
  return partials;
}

/**
 * A picture that is given costs at most so many tokens to look at
 * (developers.openai.com/api/docs/guides/image-generation, high fidelity, 2026-08).
 */
const tokensPerGiven = 6_500;
const tokensPerPictureUnknown = 16_384;
/** What a model makes where nobody says a size is no larger. */
const largestUsual: ImageSize = { width: 1_536, height: 1_024 };
const megapixel = 1_024 * 1_024;
/** A byte of text is at most this share of a token. */
const bytesPerToken = 3;

/** The size of a wish in what models are sold by. */
export function sizedAs(wish: ImageWish, { image: terms = {}, outputTokensMax }: Model): Sized {
  const { prompt, n, quality, images, mask, partials } = wish;
  const size = wish.size ?? largestUsual;
  const tokens =
    tokensOf(terms, quality, size.width * size.height) ??
    outputTokensMax ??
    tokensPerPictureUnknown;
  const likely = {
    input: Math.ceil(Buffer.byteLength(prompt) / bytesPerToken) + 8,
    image_input: (images.length + (mask ? 1 : 0)) * tokensPerGiven,
  };
  const measured = { image: 1, megapixel: Math.ceil((size.width * size.height) / megapixel) };
  const most = {
    ...likely,
    image: n,
    megapixel: measured.megapixel * n,
    image_output: (tokens + partials * previewTokens) * n,
  };
  return {
    most,
    measured: {},
    likely,
    picture: { measured, likely: { image_output: tokens } },
    variants: variantsOf(wish),
  };
}

function variantsOf({ size, quality }: ImageWish): readonly string[] {
  const sizes = size === undefined ? [] : [sizeText(size), resolutionOf(size)];
  const other = alsoCalled[quality ?? ''];
  const qualities = [quality, other].flatMap((name) => name ?? []);
  return [
    ...qualities.flatMap((name) => sizes.map((each) => `${each}/${name}`)),
    ...sizes,
    ...qualities,
  ];
}
