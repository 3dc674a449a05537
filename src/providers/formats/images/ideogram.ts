import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, textOf } from '../../../base/json.ts';
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
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { blackAndWhite } from './mask.ts';
import { extraMembers, nearestRatio, namingUnsent } from './request.ts';
import { imagesAnswer, moderationFault, splitByCount } from './response.ts';

/** An answer (developer.ideogram.ai, generate-v3, 2026-10). */
interface IdeogramAnswer {
  readonly data: readonly IdeogramImage[];
}

/** An image, or a place where one was held back (same page). */
interface IdeogramImage {
  readonly url: string;
  readonly prompt: string;
  readonly is_image_safe: boolean;
}

/** developer.ideogram.ai/api-reference, generate-v3, 2026-10. */
const ratios = [
  '1x1',
  '16x9',
  '9x16',
  '3x2',
  '2x3',
  '4x3',
  '3x4',
  '5x4',
  '4x5',
  '16x10',
  '10x16',
  '2x1',
  '1x2',
  '3x1',
  '1x3',
] as const;
/** The resolutions of version 4, which takes sides (ideogram skills, 2026). */
const resolutions = [
  '1024x1024',
  '1344x768',
  '768x1344',
  '1248x832',
  '832x1248',
  '1152x864',
  '864x1152',
] as const;
const picturesAtOnce = 8;

const known = {
  seed: 'number',
  negative_prompt: 'text',
  magic_prompt: 'text',
  style_type: 'text',
  style_preset: 'text',
  image_weight: 'number',
} as const;
/** The client's quality → the vendor's rendering speed. */
const speeds: Readonly<Record<string, string>> = {
  hd: 'QUALITY',
  high: 'QUALITY',
  standard: 'DEFAULT',
  medium: 'DEFAULT',
  low: 'TURBO',
};

/**
 * The key is sent as `Api-Key`; 422 means that the vendor rejected the prompt
 * (developer.ideogram.ai, generate-v3, 2026-10).
 */
const fault = faultReader([{ status: 422, text: /safety/i, kind: 'content_policy' }]);

/**
 * Ideogram 3 and 4, which answer at once. With a mask an image is edited, without one it is
 * remixed. Addresses work for a day at most.
 */
export const ideogramImages: ImageAdapter = {
  ask,
  split: (call) => splitByCount(call, picturesAtOnce),
  misfit,
  read,
  fault,
};

/**
 * Splits a model id (`ideogram-v3`, `ideogram-v3-turbo`, `ideogram-v4-quality`): its last word is
 * the rendering speed.
 */
function modelOf({ upstreamModel }: VendorCall): {
  readonly base: string;
  readonly speed: string | undefined;
  readonly fourth: boolean;
} {
  const [, base = upstreamModel, speed] =
    /^(ideogram-v\d+)(?:-(flash|turbo|default|quality))?$/i.exec(upstreamModel) ?? [];
  return { base, speed: speed?.toUpperCase(), fourth: base === 'ideogram-v4' };
}

function ask(call: VendorCall): VendorRequest {
  const { prompt, n, size, quality, images, mask } = imageRequestOf(call);
  const { base, speed, fourth } = modelOf(call);
  const [image] = images;
  const way = image === undefined ? 'generate' : mask === undefined ? 'remix' : 'edit';
  const shape: FormField = fourth
    ? ['resolution', size && nearestRatio(size, resolutions)]
    : ['aspect_ratio', size && nearestRatio(size, ratios)];
  const fields: readonly FormField[] = [
    [fourth && way === 'generate' ? 'text_prompt' : 'prompt', prompt],
    ['image', image],
    ['mask', mask && blackAndWhite(mask, 'black')],
    // An edited image keeps its shape.
    ...(way === 'edit' ? [] : [shape]),
    ['rendering_speed', speed ?? speeds[quality ?? '']],
    // Version 4 makes one image by default.
    ['num_images', n > 1 || !fourth ? n : undefined],
    ...Object.entries(extraMembers(call, known)).map(
      ([name, value]): FormField => [name, String(value)],
    ),
  ];
  return namingUnsent(formRequest(`/v1/${base}/${way}`, fields, call.answerId), call, known, [
    way !== 'edit' && 'size',
    speed === undefined && 'quality',
  ]);
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  return imagesMisfit(images, 1) ?? maskMisfit(mask, true);
}

function read(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<IdeogramAnswer> | undefined = objectIn(reply);
  if (!Array.isArray(body?.data)) return protocolFault('an answer without data');
  const items = listOf(body.data).map((item) => objectOf(item) ?? {});
  const pictures = items.flatMap((item): GeneratedImage[] => {
    const url = textOf(item.url) ?? '';
    const prompt = textOf(item.prompt);
    return url === '' || item.is_image_safe === false
      ? []
      : [
          {
            from: { url },
            revisedPrompt: prompt === imageRequestOf(call).prompt ? undefined : prompt,
          },
        ];
  });
  if (pictures.length === 0 && items.length > 0) return moderationFault('');
  return imagesAnswer(call, pictures);
}
