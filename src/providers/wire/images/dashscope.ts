import type { Fault } from '../../../base/fault.ts';
import type { Answer, Call, PictureAdapter, PictureMisfit } from '../../adapter.ts';
import { dataUrl, type ImageSize, sizeText, wishOf } from '../../image-wish.ts';
import { isObject, listOf, objectOf, parse, textOf } from '../json.ts';
import { faultWithin, protocolFault } from '../openai-chat-fault.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { extras } from './extras.ts';
import { faultsOf, jsonAsk, made, partsOf } from './made.ts';
import { fitted, nearest } from './sizes.ts';

/**
 * What a family of models takes: help.aliyun.com/zh/model-studio/qwen-image-api,
 * …/qwen-image-edit-api and …/wan-image-generation-api-reference, 2026-08.
 */
interface Family {
  readonly ids: RegExp;
  readonly size: (size: ImageSize) => string;
  /** Pictures at a time. */
  readonly most: number;
  /** Pictures that it is given; from the first number to the second. */
  readonly given: readonly [number, number];
}

const listed = ['1328*1328', '1664*928', '928*1664', '1472*1140', '1140*1472'] as const;
const free = (pixels: number) => (size: ImageSize) =>
  sizeText(fitted(size, { step: 16, least: 512, most: 2_048, pixels }), '*');

const other: Family = { ids: /(?:)/, size: free(2_048 * 2_048), most: 1, given: [0, 3] };

const families: readonly Family[] = [
  { ids: /^qwen-image-edit/, size: free(2_048 * 2_048), most: 6, given: [1, 3] },
  { ids: /^qwen-image-[2-9]/, size: free(2_048 * 2_048), most: 6, given: [0, 3] },
  { ids: /^qwen-image/, size: (size) => nearest(size, listed), most: 1, given: [0, 0] },
  { ids: /^wan2\.6-t2i/, size: free(1_440 * 1_440), most: 4, given: [0, 0] },
  { ids: /^wan/, size: free(1_280 * 1_280), most: 4, given: [0, 4] },
];
const familyOf = ({ upstreamModel }: Call): Family =>
  families.find(({ ids }) => ids.test(upstreamModel)) ?? other;

const known = {
  seed: 'number',
  prompt_extend: 'flag',
  watermark: 'flag',
  negative_prompt: 'text',
} as const;

/** Beside the compatible address, not below it. */
const path = '/../../api/v1/services/aigc/multimodal-generation/generation';

/**
 * Qwen-Image, and Wan from 2.6 on: answered at once, in the words of a conversation; pictures lie
 * behind addresses for a day.
 */
export function dashscopeImages(faults: readonly FaultRule[]): PictureAdapter {
  return {
    ask: (call) => {
      const { prompt, n, size, images } = wishOf(call);
      const content = [...images.map((image) => ({ image: dataUrl(image) })), { text: prompt }];
      return jsonAsk(path, {
        model: call.upstreamModel,
        input: { messages: [{ role: 'user', content }] },
        parameters: {
          n,
          ...(size === undefined ? {} : { size: familyOf(call).size(size) }),
          ...extras(call, known),
        },
      });
    },
    parts: (call) => partsOf(call, familyOf(call).most),
    misfit,
    read: (reply, _, call) => read(reply, call, faults),
    fault: faultsOf(faults).fault,
  };
}

function misfit(call: Call): PictureMisfit | undefined {
  const { images, mask } = wishOf(call);
  const [least, most] = familyOf(call).given;
  if (mask !== undefined)
    return {
      param: 'mask',
      why: 'This model takes no mask: describe in the prompt what is to change.',
    };
  if (images.length < least)
    return { param: 'image', why: 'This model changes a picture: send one to /v1/images/edits.' };
  if (images.length > most)
    return {
      param: 'image',
      why:
        most === 0 ? 'This model takes no pictures.' : `This model takes at most ${most} pictures.`,
    };
  return undefined;
}

function read(reply: Buffer, call: Call, faults: readonly FaultRule[]): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const pictures = listOf(objectOf(body['output'])?.['choices'])
    .flatMap((choice) => listOf(objectOf(objectOf(choice)?.['message'])?.['content']))
    .flatMap((part) => {
      const url = textOf(objectOf(part)?.['image']);
      return url === undefined || url === '' ? [] : [{ from: { url } }];
    });
  if (pictures.length > 0) return made(call, pictures, textOf(body['request_id']));
  const { code, message } = body;
  return (
    faultWithin({ error: code === undefined ? undefined : { code, message } }, { faults }) ??
    protocolFault('an answer without a picture')
  );
}
