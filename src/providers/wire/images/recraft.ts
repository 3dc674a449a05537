import type { Fault } from '../../../base/fault.ts';
import type { Answer, Ask, Call, Picture, PictureAdapter, PictureMisfit } from '../../adapter.ts';
import { wishOf } from '../../image-wish.ts';
import { listOf, objectOf, parse, textOf } from '../json.ts';
import { protocolFault } from '../openai-chat-fault.ts';
import { extras } from './extras.ts';
import { type Field, formAsk } from './form.ts';
import { faultsOf, jsonAsk, made, partsOf } from './made.ts';
import { blackAndWhite, maskRule } from './mask.ts';
import { nearest } from './sizes.ts';

/**
 * recraft.ai/docs/api-reference/appendix, 2026-11: a size is sides out of a model's own list, or
 * one of these, which all models know.
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
 * How far a picture may change where the client does not say: the vendor wants it said
 * (recraft.ai/docs/api-reference, image to image, 2026-11).
 */
const usualStrength = 0.5;

const { fault } = faultsOf();
const parts: PictureAdapter['parts'] = (call) => partsOf(call, picturesAtOnce);

/** OpenAI's generations, but for sizes and what is refused. */
export const recraftImages: PictureAdapter = {
  ask: (call) => {
    const { prompt, n, size, returns } = wishOf(call);
    return jsonAsk('/images/generations', {
      prompt,
      model: call.upstreamModel,
      n,
      ...(size === undefined ? {} : { size: nearest(size, ratios) }),
      response_format: returns === 'url' ? 'url' : 'b64_json',
      ...extras(call, known),
    });
  },
  parts,
  read,
  fault,
};

/** A picture changed as a whole, or where a mask is white. */
export const recraftEdits: PictureAdapter = {
  ask: (call): Ask => {
    const { prompt, n, images, mask, returns } = wishOf(call);
    const strength = extras(call, { strength: 'number' })['strength'] ?? usualStrength;
    return formAsk(
      mask === undefined ? '/images/imageToImage' : '/images/inpaint',
      [
        ['image', images[0]],
        ['mask', mask && blackAndWhite(mask, 'white')],
        ['prompt', prompt],
        ['strength', mask === undefined ? Number(strength) : undefined],
        ['model', call.upstreamModel],
        ['n', n],
        ['response_format', returns === 'url' ? 'url' : 'b64_json'],
        ...Object.entries(extras(call, knownInForms)).map(
          ([name, value]): Field => [name, String(value)],
        ),
      ],
      call.answerId,
    );
  },
  parts,
  misfit: (call): PictureMisfit | undefined => {
    const { images, mask } = wishOf(call);
    if (images.length > 1) return { param: 'image', why: 'This model takes one picture.' };
    if (mask === undefined || blackAndWhite(mask, 'white') !== undefined) return undefined;
    return { param: 'mask', why: `This is no mask: ${maskRule}` };
  },
  read,
  fault,
};

function read(reply: Buffer, _: string, call: Call): Answer | Fault {
  const body = objectOf(parse(reply.toString('utf8')));
  if (!Array.isArray(body?.['data'])) return protocolFault('an answer without data');
  return made(call, listOf(body['data']).flatMap(pictureOf));
}

function pictureOf(item: unknown): Picture[] {
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
