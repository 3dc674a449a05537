import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, parse, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import { faultReader, type FaultHeaders, protocolFault } from '../fault.ts';
import { type FormField, formRequest } from '../multipart.ts';
import { imagesMisfit, imageNeeded, maskMisfit } from './misfit.ts';
import { blackAndWhite } from './mask.ts';
import { extraMembers, imageFormat, nearestRatio, namingUnsent } from './request.ts';
import { imagesAnswer, moderationFault, splitByCount } from './response.ts';

/** An answer in JSON (platform.stability.ai/docs/api-reference, 2026-10). */
interface StabilityAnswer {
  readonly image: string;
  readonly finish_reason: string;
}

/** An error (same page). */
interface StabilityError {
  readonly name: string;
  readonly errors: readonly string[];
}

/** platform.stability.ai/docs/api-reference, 2026-10. */
const ratios = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'] as const;

/**
 * The endpoints: three generators, of which two take an image to start from, and one that fills a
 * mask.
 */
const ways = {
  core: { path: '/v2beta/stable-image/generate/core', images: 0 },
  ultra: { path: '/v2beta/stable-image/generate/ultra', images: 1 },
  sd3: { path: '/v2beta/stable-image/generate/sd3', images: 1 },
  inpaint: { path: '/v2beta/stable-image/edit/inpaint', images: 1 },
} as const;

type Way = keyof typeof ways;
const wayOf = ({ upstreamModel }: VendorCall): Way =>
  /inpaint/.test(upstreamModel)
    ? 'inpaint'
    : upstreamModel.startsWith('sd3')
      ? 'sd3'
      : /ultra/.test(upstreamModel)
        ? 'ultra'
        : 'core';

const known = {
  seed: 'number',
  negative_prompt: 'text',
  style_preset: 'text',
  cfg_scale: 'number',
  grow_mask: 'number',
} as const;
/** The strength of a change if the client sets none: the vendor requires the member. */
const usualStrength = 0.7;

const fault = faultReader();

/** Stable Image: a form in, one image out. */
export const stabilityImages: ImageAdapter = {
  ask,
  split: (call) => splitByCount(call, 1),
  misfit,
  read,
  fault: refused,
};

function ask(call: VendorCall): VendorRequest {
  const { prompt, size, images, mask } = imageRequestOf(call);
  const way = wayOf(call);
  const [image] = images;
  const format = imageFormat(call);
  const { strength } = extraMembers(call, { strength: 'number' });
  const changes = image !== undefined && way !== 'inpaint';
  const fields: readonly FormField[] = [
    ['prompt', prompt],
    ['model', way === 'sd3' ? call.upstreamModel : undefined],
    ['mode', way === 'sd3' ? (changes ? 'image-to-image' : 'text-to-image') : undefined],
    ['image', image],
    ['strength', changes ? Number(strength ?? usualStrength) : undefined],
    ['mask', mask && blackAndWhite(mask, 'white')],
    // The input image sets the shape; only sd3 would refuse the member.
    [
      'aspect_ratio',
      size === undefined || image !== undefined ? undefined : nearestRatio(size, ratios),
    ],
    // sd3 makes no WebP.
    ['output_format', way === 'sd3' && format === 'webp' ? 'png' : format],
    ...Object.entries(extraMembers(call, known)).map(
      ([name, value]): FormField => [name, String(value)],
    ),
  ];
  return namingUnsent(
    formRequest(ways[way].path, fields, call.answerId, { accept: 'application/json' }),
    call,
    known,
    [image === undefined && 'size', changes && 'strength', 'output_format'],
  );
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const way = wayOf(call);
  if (way === 'inpaint' && images.length === 0) return imageNeeded;
  return imagesMisfit(images, ways[way].images) ?? maskMisfit(mask, way === 'inpaint');
}

function read(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<StabilityAnswer> | undefined = objectOf(parse(reply.toString('latin1')));
  const base64 = textOf(body?.image);
  // The vendor sends a filtered image all the same, blurred.
  if (body?.finish_reason === 'CONTENT_FILTERED') return moderationFault('');
  return base64 === undefined
    ? protocolFault('an answer without a picture')
    : imagesAnswer(call, [{ from: { base64 } }]);
}

/** Errors are `{id, name, errors: […]}`: 403 means a wrong key, or a rejected request. */
function refused(status: number, headers: FaultHeaders, reply: string): Fault {
  const body: Documented<StabilityError> | undefined = objectOf(parse(reply));
  const message = listOf(body?.errors)
    .filter((one) => typeof one === 'string')
    .join(' ');
  if (body?.name === 'content_moderation') return moderationFault(message);
  if (status === 402 || body?.name === 'payment_required') return { kind: 'quota', message };
  const plain = fault(status, headers, reply);
  return message === '' ? plain : { ...plain, message };
}
