import { refuse } from '../base/refusal.ts';
import { readPicture } from '../media/picture.ts';
import type { VideoImage, VideoWish } from '../providers/task-adapter.ts';
import {
  type Body,
  isObject,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  refuseType,
  requiredString,
} from './check.ts';

/** As in the convention (wire-formats §7, row 32). */
export const promptCharsMax = 32_000;
const imagesMax = 16;
const imagePattern = /^(?:https?:\/\/|data:(image\/[\w.+-]+);base64,)/;
/** What we can look at; whether any other picture is one, is the vendor's to say. */
const knownTypes = /^image\/(?:png|jpe?g|webp|gif)$/;

/**
 * The members that every way to ask for a video has. Throws the Refusal that names what is wrong.
 */
export function checkPrompt(body: Body): string {
  const prompt = requiredString(body, 'prompt');
  if (prompt.trim() === '')
    refuse('invalid_value', { param: 'prompt', why: 'it must not be empty.' });
  if (prompt.length > promptCharsMax)
    refuse('out_of_range', {
      param: 'prompt',
      expected: `of at most ${promptCharsMax} characters`,
      got: prompt.length,
    });
  return prompt;
}

/** `1280x720`. */
export function checkSize(body: Body): string | undefined {
  return pattern(
    body,
    'size',
    /^[1-9]\d{1,4}x[1-9]\d{1,4}$/,
    'it is a width and a height in pixels, such as 1280x720.',
  );
}

export function optionalString(body: Body, param: string): string | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  return value;
}

function pattern(body: Body, param: string, allowed: RegExp, why: string): string | undefined {
  const value = optionalString(body, param);
  if (value !== undefined && !allowed.test(value)) refuse('invalid_value', { param, why });
  return value;
}

/** A picture by its address or as a data URL. */
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
    const picture = readPicture(Buffer.from(url.slice(head.length), 'base64'));
    if (typeof picture === 'string') refuse('invalid_value', { param, why: picture });
  }
  return url;
}

/**
 * Members of `/v1/video/generations` that are read here; all others go on as they are, to vendors
 * of the same words.
 */
const read = new Set([
  'model',
  'prompt',
  'async',
  'duration',
  'size',
  'aspect_ratio',
  'resolution',
  'negative_prompt',
  'seed',
  'audio',
  'image',
  'image_url',
  'last_image',
  'images',
  'reference_images',
]);

/** What `/v1/video/generations` says beside its required members. */
export function checkWish(body: Body): Omit<VideoWish, 'seconds'> {
  return {
    prompt: checkPrompt(body),
    negativePrompt: optionalString(body, 'negative_prompt'),
    size: checkSize(body),
    aspectRatio: pattern(
      body,
      'aspect_ratio',
      /^\d{1,2}:\d{1,2}$/,
      'it is a width and a height, such as 16:9.',
    ),
    resolution: pattern(
      body,
      'resolution',
      /^(?:\d{3,4}p|[248]k)$/i,
      'it is such as 720p, 1080p or 4k.',
    )?.toLowerCase(),
    audio: optionalBoolean(body, 'audio'),
    seed: optionalInteger(body, 'seed', 0, Number.MAX_SAFE_INTEGER),
    images: imagesIn(body),
    more: Object.fromEntries(Object.entries(body).filter(([name]) => !read.has(name))),
  };
}

function imagesIn(body: Body): readonly VideoImage[] {
  const images: VideoImage[] = [];
  const one = (param: string, role: VideoImage['role']): void => {
    const value = body[param];
    if (value !== undefined && value !== null) images.push({ role, url: checkImage(value, param) });
  };
  one('image', 'first');
  if (images.length === 0) one('image_url', 'first');
  for (const param of ['images', 'reference_images']) {
    const list = optionalArray(body, param) ?? [];
    // A list of one is the picture to begin with.
    const role =
      param === 'images' && list.length === 1 && images.length === 0 ? 'first' : 'reference';
    for (const [i, value] of list.entries())
      images.push({ role, url: checkImage(value, `${param}[${i}]`) });
  }
  one('last_image', 'last');
  if (images.length > imagesMax)
    refuse('out_of_range', {
      param: 'images',
      expected: `of at most ${imagesMax} images`,
      got: images.length,
    });
  return images;
}
