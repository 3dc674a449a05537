import type { Fault } from '../../../base/fault.ts';
import {
  type Documented,
  isObject,
  type JsonObject,
  objectsOf,
  textOf,
} from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type GeneratedImage,
  type ImageAdapter,
  imageRequestOf,
} from '../../adapter.ts';
import { dataUrl, type ImageSize, imageSizeText } from '../../media-request.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { extraMembers, fittedSize, namingUnsent } from './request.ts';
import { imagesAnswer, splitByCount } from './response.ts';

/** An answer; images have errors of their own (volcengine.com/docs/82379/1541523, 2026-08). */
interface SeedreamAnswer {
  readonly id: string;
  readonly data: readonly SeedreamImage[];
  readonly error: unknown;
}

/** An image, or why it was not made (same page). */
interface SeedreamImage {
  readonly url: string;
  readonly b64_json: string;
  readonly error: object;
}

/**
 * volcengine.com/docs/82379/1541523, 2026-08: an image's pixels, whose minimum depends on the
 * generation.
 */
const pixelsMax = 16_777_216;
const generations = [
  { ids: /seedream-3/, least: 512 * 512, most: 2_048 * 2_048 },
  { ids: /seedream-4-0/, least: 921_600, most: pixelsMax },
  { ids: /(?:)/, least: 3_686_400, most: pixelsMax },
] as const;
const referencesMax = 14;

/**
 * `sequential_image_generation` is left out: it makes up to 15 images where one is paid for (same
 * page).
 */
const known = {
  seed: 'number',
  guidance_scale: 'number',
  watermark: 'flag',
  optimize_prompt_options: 'any',
} as const;

/** The same shape with the least pixels of this generation, or more. */
function grown(size: ImageSize, model: string): ImageSize {
  const { least, most } = generations.find(({ ids }) => ids.test(model)) ?? generations[2];
  const by = Math.sqrt(least / (size.width * size.height));
  const side = (length: number): number => Math.ceil((length * by) / 16) * 16;
  const enough = by <= 1 ? size : { width: side(size.width), height: side(size.height) };
  return fittedSize(enough, { step: 1, least: 1, most: 4_096 * 2, pixels: most });
}

/** Seedream on Ark: one image at a time, from text or from up to fourteen images. */
export function seedream(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, size, quality, images, returns } = imageRequestOf(call);
      const urls = images.map(dataUrl);
      return namingUnsent(
        jsonRequest('/images/generations', {
          model: call.upstreamModel,
          prompt,
          image: urls.length > 1 ? urls : urls[0],
          ...sizeSaid(size, quality, call.upstreamModel),
          response_format: returns === 'url' ? 'url' : 'b64_json',
          ...formatSaid(call),
          ...extraMembers(call, known),
        }),
        call,
        known,
        [
          'size',
          size === undefined && !call.upstreamModel.includes('seedream-3') && 'quality',
          ...Object.keys(formatSaid(call)),
        ],
      );
    },
    split: (call) => splitByCount(call, 1),
    misfit: (call) => {
      const { images, mask } = imageRequestOf(call);
      return maskMisfit(mask, false) ?? imagesMisfit(images, referencesMax);
    },
    read: (reply, _, call) => read(reply, call, faults),
    fault: faultReader(faults),
  };
}

function sizeSaid(
  size: ImageSize | undefined,
  quality: string | undefined,
  model: string,
): JsonObject {
  if (size !== undefined) return { size: imageSizeText(grown(size, model)) };
  return quality === 'hd' && !model.includes('seedream-3') ? { size: '4K' } : {};
}

/** Models from the fifth generation on take a format; earlier ones make JPEG only (same page). */
function formatSaid({
  body: { output_format: format },
  upstreamModel,
}: VendorCall<{ readonly output_format?: string }>): JsonObject {
  return (format === 'png' || format === 'jpeg') && /seedream-[5-9]/.test(upstreamModel)
    ? { output_format: format }
    : {};
}

function read(reply: Buffer, call: VendorCall, faults: readonly FaultRule[]): VendorAnswer | Fault {
  const body: Documented<SeedreamAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const items = objectsOf(body.data);
  const pictures = items.flatMap(pictureOf);
  if (pictures.length > 0) return imagesAnswer(call, pictures, textOf(body.id));
  const refused = items.find(({ error }) => isObject(error)) ?? body;
  return (
    faultWithin({ error: refused.error }, faults) ?? protocolFault('an answer without a picture')
  );
}

function pictureOf({ url, b64_json: base64 }: Documented<SeedreamImage>): GeneratedImage[] {
  if (typeof url === 'string' && url !== '') return [{ from: { url } }];
  return typeof base64 === 'string' && base64 !== '' ? [{ from: { base64 } }] : [];
}
