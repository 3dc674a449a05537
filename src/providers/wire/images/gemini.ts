import type { Fault } from '../../../base/fault.ts';
import type { Answer, Ask, Call, Picture, PictureAdapter, PictureMisfit } from '../../adapter.ts';
import { type GivenImage, resolutionOf, wishOf } from '../../image-wish.ts';
import { modelPath } from '../gemini-ask.ts';
import { geminiFault, geminiFaultWithin } from '../gemini-fault.ts';
import { geminiQuantities } from '../gemini-usage.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from '../json.ts';
import { sanitise } from '../../vendor-words.ts';
import { protocolFault } from '../openai-chat-fault.ts';
import { jsonAsk, made, moderated, partsOf } from './made.ts';
import { nearest } from './sizes.ts';
import { counted, withUsage } from './usage.ts';

/** ai.google.dev/gemini-api/docs/image-generation, 2026-08. */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
const givenMax = 14;

/** A mask is a picture like any other to these models; what it means is said in words. */
const maskInWords =
  'The last picture is a mask of the first one. Change the first picture only where the mask is transparent, and leave all else as it is.';

/** Gemini's models that make pictures: one at a time, in the words of a conversation. */
export const geminiImages: PictureAdapter = {
  ask,
  parts: (call) => withUsage(partsOf(call, 1)),
  misfit,
  read,
  fault: geminiFault,
};

function ask(call: Call): Ask {
  const { prompt, images, mask } = wishOf(call);
  const words = mask === undefined ? prompt : `${prompt}\n\n${maskInWords}`;
  const parts = [
    { text: words },
    ...[...images, ...(mask === undefined ? [] : [mask])].map(inline),
  ];
  return jsonAsk(`${modelPath(call.upstreamModel)}:generateContent`, {
    contents: [{ role: 'user', parts }],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...shape(call) },
  });
}

const inline = ({ type, bytes }: GivenImage): JsonObject => ({
  inlineData: { mimeType: type, data: bytes.toString('base64') },
});

/** Only the third generation has resolutions (same page); 2.5 refuses to be told one. */
function shape(call: Call): JsonObject {
  const { size, quality } = wishOf(call);
  const better = quality === 'hd' || quality === 'high';
  const asked = size === undefined ? undefined : resolutionOf(size);
  const resolution = better && (asked === undefined || asked === '1K') ? '2K' : asked;
  const config = {
    ...(size === undefined ? {} : { aspectRatio: nearest(size, ratios) }),
    ...(resolution === undefined || resolution === '1K' || !hasResolutions(call)
      ? {}
      : { imageSize: resolution }),
  };
  return Object.keys(config).length === 0 ? {} : { imageConfig: config };
}

const hasResolutions = ({ upstreamModel }: Call): boolean =>
  /gemini-[3-9]/.test(upstreamModel) && !upstreamModel.includes('lite');

function misfit(call: Call): PictureMisfit | undefined {
  const { images } = wishOf(call);
  if (images.length > givenMax)
    return { param: 'image', why: `This model takes at most ${givenMax} pictures.` };
  return images.some(({ type }) => type === 'image/gif')
    ? { param: 'image', why: 'This model takes PNG, JPEG and WebP.' }
    : undefined;
}

function read(reply: Buffer, _: string, call: Call): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const candidates = listOf(body['candidates']).map((candidate) => objectOf(candidate) ?? {});
  const parts = candidates.flatMap(({ content }) =>
    listOf(objectOf(content)?.['parts']).map((part) => objectOf(part) ?? {}),
  );
  const pictures = parts.flatMap(pictureOf);
  if (pictures.length === 0) return geminiFaultWithin(body) ?? heldBack(body, candidates, parts);
  const answer = made(call, pictures, textOf(body['responseId']));
  const usage = objectOf(body['usageMetadata']);
  return 'kind' in answer || usage === undefined
    ? answer
    : counted(answer, geminiQuantities(usage));
}

/** What it drew while it thought is no picture of the answer. */
function pictureOf(part: JsonObject): Picture[] {
  const data = textOf(objectOf(part['inlineData'])?.['data']);
  return data === undefined || part['thought'] === true ? [] : [{ from: { base64: data } }];
}

/**
 * No picture has a reason, or was talked out of: both are for the client to mend (wire-formats §3).
 */
function heldBack(
  body: JsonObject,
  candidates: readonly JsonObject[],
  parts: readonly JsonObject[],
): Fault {
  const blocked = textOf(objectOf(body['promptFeedback'])?.['blockReason']);
  const reason = blocked ?? candidates.flatMap(({ finishReason }) => textOf(finishReason) ?? [])[0];
  if (reason === undefined) return protocolFault('an answer without a picture');
  const words = parts
    .flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? [text] : []))
    .join('');
  if (reason === 'MAX_TOKENS' || reason === 'OTHER' || reason === 'MALFORMED_RESPONSE')
    return { kind: 'server_error', message: `no picture: ${reason}` };
  return moderated(words === '' ? reason : sanitise(words));
}
