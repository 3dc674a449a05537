import type { Fault } from '../../../base/fault.ts';
import type { Answer, Call, PictureAdapter, PictureMisfit } from '../../adapter.ts';
import { dataUrl, type ImageSize, sizeText, wishOf } from '../../image-wish.ts';
import { isObject, listOf, parse, textOf } from '../json.ts';
import { faultWithin, protocolFault } from '../openai-chat-fault.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { extras } from './extras.ts';
import { faultsOf, jsonAsk, made, moderated, partsOf } from './made.ts';
import { openaiImages } from './openai.ts';
import { fitted, nearest } from './sizes.ts';

const noMask: PictureMisfit = {
  param: 'mask',
  why: 'This model takes no mask: describe in the prompt what is to change.',
};

/**
 * docs.together.ai/reference/post-images-generations, 2026-08: sides instead of a size, `base64`
 * instead of `b64_json`.
 */
export const togetherImages = (faults: readonly FaultRule[]): PictureAdapter =>
  openaiImages({
    size: (size) => ({ ...fitted(size, { step: 16, least: 256, most: 1_792 }) }),
    quality: () => undefined,
    base64: 'base64',
    drop: ['size', 'style', 'background', 'moderation', 'output_compression', 'user'],
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
 * `image_size` and `batch_size`; given pictures are `image`, `image2`, `image3`; the answer lists
 * `images`.
 */
export function siliconflowImages(faults: readonly FaultRule[]): PictureAdapter {
  return {
    ask: (call) => {
      const { prompt, n, size, images } = wishOf(call);
      const given = Object.fromEntries(
        images.map((image, i) => [i === 0 ? 'image' : `image${i + 1}`, dataUrl(image)]),
      );
      return jsonAsk('/images/generations', {
        model: call.upstreamModel,
        prompt,
        ...(size === undefined ? {} : { image_size: flowSize(size, call) }),
        ...(n === 1 ? {} : { batch_size: n }),
        ...given,
        ...extras(call, flow),
      });
    },
    parts: (call) => partsOf(call, /kolors/i.test(call.upstreamModel) ? 4 : 1),
    misfit: (call) => {
      const { images, mask } = wishOf(call);
      if (mask !== undefined) return noMask;
      return images.length > 3
        ? { param: 'image', why: 'This model takes at most 3 pictures.' }
        : undefined;
    },
    read: openaiImages({ faults }).read,
    fault: faultsOf(faults).fault,
  };
}

function flowSize(size: ImageSize, { upstreamModel }: Call): string {
  if (/kolors/i.test(upstreamModel)) return nearest(size, kolors);
  if (/qwen-image/i.test(upstreamModel)) return nearest(size, qwen);
  return sizeText(fitted(size, { step: 16, least: 512, most: 2_048 }));
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

/** A workflow of the model's own, one picture at a time. */
export function fireworksImages(faults: readonly FaultRule[]): PictureAdapter {
  return {
    ask: (call) => {
      const { prompt, size } = wishOf(call);
      const model = call.upstreamModel.split('/').map(encodeURIComponent).join('/');
      const path = model.includes('/') ? model : `accounts/fireworks/models/${model}`;
      const body = {
        prompt,
        ...(size === undefined ? {} : { aspect_ratio: nearest(size, ratios) }),
        ...extras(call, steps),
      };
      return jsonAsk(`/workflows/${path}/text_to_image`, body, { accept: 'application/json' });
    },
    parts: (call) => partsOf(call, 1),
    misfit: (call) =>
      wishOf(call).images.length === 0
        ? undefined
        : { param: 'image', why: 'This model takes no pictures.' },
    read: (reply, _, call) => readWorkflow(reply, call, faults),
    fault: faultsOf(faults).fault,
  };
}

function readWorkflow(reply: Buffer, call: Call, faults: readonly FaultRule[]): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  if (body['finishReason'] === 'CONTENT_FILTERED') return moderated(undefined);
  const told = body['base64'];
  const pictures = (typeof told === 'string' ? [told] : listOf(told)).flatMap((one) =>
    typeof one === 'string' ? [{ from: { base64: one.replace(/^data:[^,]*,/, '') } }] : [],
  );
  return pictures.length > 0
    ? made(call, pictures, textOf(body['id']))
    : (faultWithin(body, { faults }) ?? protocolFault('an answer without a picture'));
}

const router = {
  aspect_ratio: 'text',
  resolution: 'text',
  background: 'text',
  output_format: 'text',
  output_compression: 'number',
  seed: 'number',
  provider: 'any',
} as const;

/**
 * OpenRouter's `/images` (recorded 2026-08;
 * openrouter.ai/docs/client-sdks/typescript/models/imagegenerationrequest): pictures of words and
 * of others at one address, one at a time, always as bytes.
 */
export function openrouterImages(faults: readonly FaultRule[]): PictureAdapter {
  return {
    ask: (call) => {
      const { prompt, images, size } = wishOf(call);
      const references = images.map((image) => ({
        type: 'image_url',
        image_url: { url: dataUrl(image) },
      }));
      return jsonAsk('/images', {
        model: call.upstreamModel,
        prompt,
        ...(size === undefined ? {} : { aspect_ratio: nearest(size, ratios) }),
        ...(references.length === 0 ? {} : { input_references: references }),
        ...extras(call, router),
      });
    },
    parts: (call) => partsOf(call, 1),
    misfit: (call) => (wishOf(call).mask === undefined ? undefined : noMask),
    read: openaiImages({ faults }).read,
    fault: faultsOf(faults).fault,
  };
}
