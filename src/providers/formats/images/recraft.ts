import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, textOf, type Unchecked } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type GeneratedImage,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import { faultReader, protocolFault } from '../fault.ts';
import { type FormField, formRequest } from '../multipart.ts';
import { jsonRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { blackAndWhite } from './mask.ts';
import { extraMembers, nearestRatio, namingUnsent } from './request.ts';
import { imagesAnswer, splitByCount } from './response.ts';

/** An answer (recraft.ai/docs/api-reference, 2026-11). */
interface RecraftAnswer {
  readonly data: readonly RecraftImage[];
}

/** An image: its address or its bytes (same page). */
interface RecraftImage {
  readonly url: string;
  readonly b64_json: string;
  readonly revised_prompt: string;
}

/**
 * recraft.ai/docs/api-reference/appendix, 2026-11: a size is one of the model's own list of sides,
 * or one of these ratios, which all models take.
 */
const ratios = [
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
] as const;
const picturesAtOnce = 6;

const known = {
  style: 'text',
  substyle: 'text',
  style_id: 'text',
  negative_prompt: 'text',
  controls: 'any',
  text_layout: 'any',
} as const;
const knownInForms = {
  style: 'text',
  substyle: 'text',
  style_id: 'text',
  negative_prompt: 'text',
} as const;
/**
 * The strength of a change if the client sets none: the vendor requires the member
 * (recraft.ai/docs/api-reference, image to image, 2026-11).
 */
const usualStrength = 0.5;

const fault = faultReader();
const parts: ImageAdapter['split'] = (call) => splitByCount(call, picturesAtOnce);

/** OpenAI's generations, except for sizes and refusals. */
export const recraftImages: ImageAdapter = {
  ask: (call) => {
    const { prompt, n, size, returns } = imageRequestOf(call);
    return namingUnsent(
      jsonRequest('/images/generations', {
        prompt,
        model: call.upstreamModel,
        n,
        size: size && nearestRatio(size, ratios),
        response_format: returns === 'url' ? 'url' : 'b64_json',
        ...extraMembers(call, known),
      }),
      call,
      known,
      ['size'],
    );
  },
  split: parts,
  read,
  fault,
};

/** Changes an image as a whole, or where a mask is white. */
export const recraftEdits: ImageAdapter = {
  ask: (call): VendorRequest => {
    const { prompt, n, images, mask, returns } = imageRequestOf(call);
    const strength = extraMembers(call, { strength: 'number' })['strength'] ?? usualStrength;
    return namingUnsent(
      formRequest(
        mask === undefined ? '/images/imageToImage' : '/images/inpaint',
        [
          ['image', images[0]],
          ['mask', mask && blackAndWhite(mask, 'white')],
          ['prompt', prompt],
          ['strength', mask === undefined ? Number(strength) : undefined],
          ['model', call.upstreamModel],
          ['n', n],
          ['response_format', returns === 'url' ? 'url' : 'b64_json'],
          ...Object.entries(extraMembers(call, knownInForms)).map(
            ([name, value]): FormField => [name, String(value)],
          ),
        ],
        call.answerId,
      ),
      call,
      knownInForms,
      [mask === undefined && 'strength'],
    );
  },
  split: parts,
  misfit: (call): ImageMisfit | undefined => {
    const { images, mask } = imageRequestOf(call);
    return imagesMisfit(images, 1) ?? maskMisfit(mask, true);
  },
  read,
  fault,
};

function read(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<RecraftAnswer> | undefined = objectIn(reply);
  if (!Array.isArray(body?.data)) return protocolFault('an answer without data');
  return imagesAnswer(call, listOf(body.data).flatMap(pictureOf));
}

function pictureOf(item: Unchecked<RecraftImage>): GeneratedImage[] {
  const { url, b64_json: bytes, revised_prompt: revised } = objectOf(item) ?? {};
  const base64 = textOf(bytes);
  const address = textOf(url);
  if (base64 === undefined && address === undefined) return [];
  return [
    {
      from: base64 === undefined ? { url: address ?? '' } : { base64 },
      revisedPrompt: textOf(revised),
    },
  ];
}
