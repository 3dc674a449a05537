import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type ImageAdapter,
  type ImageMisfit,
  type PendingAnswer,
  type PendingFault,
  type GeneratedImage,
  imageRequestOf,
} from '../../adapter.ts';
import { dataUrl, type ImageSize, imageSizeText } from '../../media-request.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, imageNeeded, maskMisfit } from './misfit.ts';
import { extraMembers, fittedSize, nearestRatio, namingUnsent } from './request.ts';
import {
  finalAnswer,
  faultReaders,
  imagesAnswer,
  splitByCount,
  finalFault,
  moderationFault,
} from './response.ts';

/** An answer in the form of a conversation (qwen-image-api, 2026-08). */
interface QwenImageAnswer {
  readonly request_id: string;
  readonly output: { readonly choices: readonly QwenImageChoice[] };
  readonly code: string;
  readonly message: string;
}

/** A message with its images (same page). */
interface QwenImageChoice {
  readonly message: { readonly content: readonly { readonly image: string }[] };
}

/** A task, and its images once it has succeeded (text-to-image-v2-api-reference, 2026-08). */
interface ImageTaskReply {
  readonly output: {
    readonly task_id: string;
    readonly task_status: string;
    readonly code: string;
    readonly message: string;
    readonly results: readonly ImageTaskResult[];
  };
}

/** An image, or why it was not made (same page). */
interface ImageTaskResult {
  readonly url: string;
  readonly actual_prompt: string;
  readonly code: string;
  readonly message: string;
}

/**
 * What a family of models takes: help.aliyun.com/zh/model-studio/qwen-image-api,
 * …/qwen-image-edit-api and …/wan-image-generation-api-reference, 2026-08.
 */
interface Family {
  readonly ids: RegExp;
  readonly size: (size: ImageSize) => string;
  /** The most images in one request. */
  readonly most: number;
  /** The least and the most input images. */
  readonly given: readonly [number, number];
}

const listed = ['1328*1328', '1664*928', '928*1664', '1472*1140', '1140*1472'] as const;
const free = (pixels: number) => (size: ImageSize) =>
  imageSizeText(fittedSize(size, { step: 16, least: 512, most: 2_048, pixels }), '*');

const other: Family = { ids: /(?:)/, size: free(2_048 * 2_048), most: 1, given: [0, 3] };

const families: readonly Family[] = [
  { ids: /^qwen-image-edit/, size: free(2_048 * 2_048), most: 6, given: [1, 3] },
  { ids: /^qwen-image-[2-9]/, size: free(2_048 * 2_048), most: 6, given: [0, 3] },
  { ids: /^qwen-image/, size: (size) => nearestRatio(size, listed), most: 1, given: [0, 0] },
  { ids: /^wan2\.6-t2i/, size: free(1_440 * 1_440), most: 4, given: [0, 0] },
  { ids: /^wan/, size: free(1_280 * 1_280), most: 4, given: [0, 4] },
];
const familyOf = ({ upstreamModel }: VendorCall): Family =>
  families.find(({ ids }) => ids.test(upstreamModel)) ?? other;

const known = {
  seed: 'number',
  prompt_extend: 'flag',
  watermark: 'flag',
  negative_prompt: 'text',
} as const;

/** The vendor's own interface, beside the compatible one. */
const path = '/../../api/v1/services/aigc/multimodal-generation/generation';

/**
 * Qwen-Image, and Wan from 2.6 on: the request has the form of a conversation, and the reply holds
 * addresses that work for a day.
 */
export function dashscopeImages(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, n, size, images } = imageRequestOf(call);
      const content = [...images.map((image) => ({ image: dataUrl(image) })), { text: prompt }];
      return namingUnsent(
        jsonRequest(path, {
          model: call.upstreamModel,
          input: { messages: [{ role: 'user', content }] },
          parameters: {
            n,
            size: size && familyOf(call).size(size),
            ...extraMembers(call, known),
          },
        }),
        call,
        known,
        ['size'],
      );
    },
    split: (call) => splitByCount(call, familyOf(call).most),
    misfit,
    read: (reply, _, call) => read(reply, call, faults),
    fault: faultReader(faults),
  };
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const [least, most] = familyOf(call).given;
  return (
    maskMisfit(mask, false) ?? (images.length < least ? imageNeeded : imagesMisfit(images, most))
  );
}

function read(reply: Buffer, call: VendorCall, faults: readonly FaultRule[]): VendorAnswer | Fault {
  const body: Documented<QwenImageAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const pictures = listOf(objectOf(body.output)?.choices)
    .flatMap((choice) => listOf(objectOf(objectOf(choice)?.message)?.content))
    .flatMap((part) => {
      const url = textOf(objectOf(part)?.image);
      return url === undefined || url === '' ? [] : [{ from: { url } }];
    });
  if (pictures.length > 0) return imagesAnswer(call, pictures, textOf(body.request_id));
  const { code, message } = body;
  return (
    faultWithin({ error: code === undefined ? undefined : { code, message } }, faults) ??
    protocolFault('an answer without a picture')
  );
}

/**
 * help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, 2026-08: sides from 512 to 1440
 * up to wan2.5, which takes larger ones.
 */
const sides = { step: 16, least: 512, most: 1_440, pixels: 2_073_600 } as const;
const picturesAtOnce = 4;
const taskMembers = { seed: 'number', prompt_extend: 'flag', watermark: 'flag' } as const;
const negatives = { negative_prompt: 'text' } as const;

const services = '/../../api/v1/services/aigc';

/**
 * The vendor's models that answer later (`X-DashScope-Async`): a task, polled until it has
 * succeeded.
 */
export function dashscopeTasks(faults: readonly FaultRule[]): ImageAdapter {
  const { fault, polled } = faultReaders(faults);
  return {
    ask: (call) => {
      const { prompt, n, size, images } = imageRequestOf(call);
      const [image] = images;
      const negative = extraMembers(call, negatives);
      const way = image === undefined ? 'text2image' : 'image2image';
      const body = {
        model: call.upstreamModel,
        input: {
          prompt,
          ...negative,
          images: image && images.map(dataUrl),
        },
        parameters: {
          n,
          size: size && imageSizeText(fittedSize(size, sides), '*'),
          ...extraMembers(call, taskMembers),
        },
      };
      const request = jsonRequest(`${services}/${way}/image-synthesis`, body, {
        'x-dashscope-async': 'enable',
      });
      return namingUnsent(request, call, { ...taskMembers, ...negatives }, ['size']);
    },
    split: (call) => splitByCount(call, picturesAtOnce),
    misfit: taskMisfit,
    read: (reply) => accepted(reply, faults, polled),
    isAsync: () => true,
    fault,
  };
}

function taskMisfit(call: VendorCall): ImageMisfit | undefined {
  const { mask, images } = imageRequestOf(call);
  return imagesMisfit(images, 3) ?? maskMisfit(mask, false);
}

const afterMs = 1_000;

function accepted(
  reply: Buffer,
  faults: readonly FaultRule[],
  fault: NonNullable<PendingAnswer['fault']>,
): PendingAnswer | PendingFault {
  const body: Documented<ImageTaskReply> | undefined = objectIn(reply);
  const id = textOf(objectOf(body?.output)?.task_id);
  if (id === undefined) return protocolFault('an answer without the id of a task');
  const path = `/../../api/v1/tasks/${encodeURIComponent(id)}`;
  const later: PendingAnswer = {
    poll: getRequest(path),
    afterMs,
    read: (told, _, call) => stateOf(told, id, call, later, faults),
    fault,
    // The vendor cancels a task that waits and refuses once it runs.
    cancel: jsonRequest(`${path}/cancel`, {}),
  };
  return later;
}

function stateOf(
  reply: Buffer,
  id: string,
  call: VendorCall,
  later: PendingAnswer,
  faults: readonly FaultRule[],
): VendorAnswer | PendingAnswer | PendingFault {
  const body: Documented<ImageTaskReply> | undefined = objectIn(reply);
  const output = objectOf(body?.output);
  const status = textOf(output?.task_status);
  if (status === 'PENDING' || status === 'RUNNING' || status === 'SUSPENDED') return later;
  if (status === 'FAILED' || status === 'CANCELED')
    return failed(textOf(output?.code) ?? status, textOf(output?.message) ?? '', faults);
  if (status !== 'SUCCEEDED') return protocolFault(`the status '${status}'`);
  const results = listOf(output?.results).map((one) => objectOf(one) ?? {});
  const pictures = results.flatMap(({ url, actual_prompt: revised }): GeneratedImage[] =>
    typeof url === 'string' ? [{ from: { url }, revisedPrompt: textOf(revised) }] : [],
  );
  const [refused] = results;
  if (pictures.length === 0 && refused !== undefined)
    return failed(textOf(refused.code) ?? '', textOf(refused.message) ?? '', faults);
  return finalAnswer(call, pictures, id);
}

function failed(code: string, message: string, faults: readonly FaultRule[]): PendingFault {
  const fault = faultWithin({ error: { code, message } }, faults) ?? {
    kind: 'server_error',
    message: sanitizeVendorMessage(message),
  };
  return fault.kind === 'content_policy' ? moderationFault(fault.message) : finalFault(fault);
}
