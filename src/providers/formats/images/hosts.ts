import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, textOf, objectOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type ImageAdapter,
  imageRequestOf,
} from '../../adapter.ts';
import { dataUrl, type ImageSize, imageSizeText } from '../../media-request.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { openaiImages } from './openai.ts';
import { extraMembers, fittedSize, nearestRatio, namingUnsent } from './request.ts';
import { imagesAnswer, moderationFault, splitByCount } from './response.ts';

/** Fireworks' answer (docs.fireworks.ai, generate-a-new-image-from-a-text-prompt, 2026-08). */
interface WorkflowAnswer {
  readonly id: string;
  readonly base64: readonly string[] | string;
  readonly finishReason: string;
}

/** Zhipu's answer (docs.bigmodel.cn/api-reference, generate image, 2026-08). */
interface CogViewAnswer {
  readonly id: string;
  readonly data: readonly { readonly url: string }[];
}

/**
 * docs.together.ai/reference/post-images-generations, 2026-08: sides instead of a size, `base64`
 * instead of `b64_json`.
 */
export const togetherImages = (faults: readonly FaultRule[]): ImageAdapter =>
  openaiImages({
    size: (size) => ({ ...fittedSize(size, { step: 16, least: 256, most: 1_792 }) }),
    quality: () => undefined,
    base64: 'base64',
    // The size, which is what is paid for, tells the sides.
    drop: [
      'size',
      'style',
      'background',
      'moderation',
      'output_compression',
      'user',
      'width',
      'height',
    ],
    nMax: () => 4,
    faults,
  });

/** docs.siliconflow.cn/cn/api-reference/images/images-generations, 2026-08. */
const kolors = ['1024x1024', '960x1280', '768x1024', '720x1440', '720x1280'] as const;
const qwen = [
  '1328x1328',
  '1664x928',
  '928x1664',
  '1472x1140',
  '1140x1472',
  '1584x1056',
  '1056x1584',
] as const;
const flow = {
  seed: 'number',
  num_inference_steps: 'number',
  guidance_scale: 'number',
  cfg: 'number',
  negative_prompt: 'text',
} as const;

/**
 * SiliconFlow's images: `image_size` and `batch_size`; input images are `image`, `image2`,
 * `image3`; the answer lists `images`.
 */
export function siliconflowImages(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, n, size, images } = imageRequestOf(call);
      const given = Object.fromEntries(
        images.map((image, i) => [i === 0 ? 'image' : `image${i + 1}`, dataUrl(image)]),
      );
      return namingUnsent(
        jsonRequest('/images/generations', {
          model: call.upstreamModel,
          prompt,
          image_size: size && flowSize(size, call),
          batch_size: n === 1 ? undefined : n,
          ...given,
          ...extraMembers(call, flow),
        }),
        call,
        flow,
        ['size'],
      );
    },
    split: (call) => splitByCount(call, /kolors/i.test(call.upstreamModel) ? 4 : 1),
    misfit: (call) => {
      const { images, mask } = imageRequestOf(call);
      return maskMisfit(mask, false) ?? imagesMisfit(images, 3);
    },
    read: openaiImages({ faults }).read,
    fault: faultReader(faults),
  };
}

function flowSize(size: ImageSize, { upstreamModel }: VendorCall): string {
  if (/kolors/i.test(upstreamModel)) return nearestRatio(size, kolors);
  if (/qwen-image/i.test(upstreamModel)) return nearestRatio(size, qwen);
  return imageSizeText(fittedSize(size, { step: 16, least: 512, most: 2_048 }));
}

/** docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt, 2026-08. */
const ratios = [
  '1:1',
  '21:9',
  '16:9',
  '3:2',
  '5:4',
  '4:5',
  '2:3',
  '9:16',
  '9:21',
  '4:3',
  '3:4',
] as const;
const steps = { seed: 'number', guidance_scale: 'number', num_inference_steps: 'number' } as const;

/** Fireworks has a path for each model and makes one image at a time. */
export function fireworksImages(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, size } = imageRequestOf(call);
      const model = call.upstreamModel.split('/').map(encodeURIComponent).join('/');
      const path = model.includes('/') ? model : `accounts/fireworks/models/${model}`;
      const body = {
        prompt,
        aspect_ratio: size && nearestRatio(size, ratios),
        ...extraMembers(call, steps),
      };
      return namingUnsent(
        jsonRequest(`/workflows/${path}/text_to_image`, body, { accept: 'application/json' }),
        call,
        steps,
        ['size'],
      );
    },
    split: (call) => splitByCount(call, 1),
    misfit: (call) => imagesMisfit(imageRequestOf(call).images, 0),
    read: (reply, _, call) => readWorkflow(reply, call, faults),
    fault: faultReader(faults),
  };
}

function readWorkflow(
  reply: Buffer,
  call: VendorCall,
  faults: readonly FaultRule[],
): VendorAnswer | Fault {
  const body: Documented<WorkflowAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  if (body.finishReason === 'CONTENT_FILTERED') return moderationFault(undefined);
  const encoded = body.base64;
  const pictures = (typeof encoded === 'string' ? [encoded] : listOf(encoded)).flatMap((one) =>
    typeof one === 'string' ? [{ from: { base64: one.replace(/^data:[^,]*,/, '') } }] : [],
  );
  return pictures.length > 0
    ? imagesAnswer(call, pictures, textOf(body.id))
    : (faultWithin(body, faults) ?? protocolFault('an answer without a picture'));
}

/**
 * `resolution` is left out: larger images cost more at some of its vendors, and a price is by the
 * size that the client names.
 */
const router = {
  aspect_ratio: 'text',
  background: 'text',
  output_format: 'text',
  output_compression: 'number',
  seed: 'number',
  provider: 'any',
} as const;

/**
 * OpenRouter's `/images` (recorded 2026-08;
 * openrouter.ai/docs/client-sdks/typescript/models/imagegenerationrequest): images from text and
 * from other images at one address, one at a time, always as bytes.
 */
export function openrouterImages(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, images, size } = imageRequestOf(call);
      const references = images.map((image) => ({
        type: 'image_url',
        image_url: { url: dataUrl(image) },
      }));
      return namingUnsent(
        jsonRequest('/images', {
          model: call.upstreamModel,
          prompt,
          ...(size === undefined ? {} : { aspect_ratio: nearestRatio(size, ratios) }),
          input_references: references.length === 0 ? undefined : references,
          ...extraMembers(call, router),
        }),
        call,
        router,
        ['size'],
      );
    },
    split: (call) => splitByCount(call, 1),
    misfit: (call) => maskMisfit(imageRequestOf(call).mask, false),
    read: openaiImages({ faults }).read,
    fault: faultReader(faults),
  };
}

/**
 * docs.bigmodel.cn/api-reference, generate image, 2026-08: sides from 512 to 2048, multiples of 16,
 * at most 2²¹ pixels together.
 */
const sides = { step: 16, least: 512, most: 2_048, pixels: 2_097_152 } as const;
const known = { watermark_enabled: 'flag', user_id: 'text' } as const;

/** CogView and GLM-Image: one image from text at a time; the reply holds its address. */
export function cogView(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, size, quality } = imageRequestOf(call);
      return namingUnsent(
        jsonRequest('/images/generations', {
          model: call.upstreamModel,
          prompt,
          size: size && imageSizeText(fittedSize(size, sides)),
          quality: cogQuality(quality),
          ...extraMembers(call, known),
        }),
        call,
        known,
        ['size', 'quality'],
      );
    },
    split: (call) => splitByCount(call, 1),
    read,
    fault: faultReader(faults),
  };
}

function cogQuality(quality: string | undefined): 'hd' | 'standard' | undefined {
  if (quality === undefined || quality === 'auto') return undefined;
  return quality === 'hd' || quality === 'high' ? 'hd' : 'standard';
}

function read(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<CogViewAnswer> | undefined = objectIn(reply);
  if (!Array.isArray(body?.data)) return protocolFault('an answer without data');
  const urls = listOf(body.data).map((item) => textOf(objectOf(item)?.url));
  return imagesAnswer(
    call,
    urls.flatMap((url) => (url === undefined ? [] : [{ from: { url } }])),
    textOf(body.id),
  );
}
