import type { Fault } from '../../../base/fault.ts';
import type { Answer, Call, PictureAdapter } from '../../adapter.ts';
import { resolutionOf, wishOf } from '../../image-wish.ts';
import { modelPath } from '../gemini-ask.ts';
import { geminiFault, geminiFaultWithin } from '../gemini-fault.ts';
import { isObject, listOf, objectOf, parse, textOf } from '../json.ts';
import { protocolFault } from '../openai-chat-fault.ts';
import { extras } from './extras.ts';
import { jsonAsk, made, moderated, partsOf } from './made.ts';
import { nearest } from './sizes.ts';

/** cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api, 2026-08. */
const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;
const picturesAtOnce = 4;
const known = {
  seed: 'number',
  negativePrompt: 'text',
  personGeneration: 'text',
  safetySetting: 'text',
  addWatermark: 'flag',
} as const;

/** Imagen on Vertex: up to four pictures of words at a time. */
export const imagen: PictureAdapter = {
  ask: (call) => {
    const { prompt, n, size, quality } = wishOf(call);
    const large =
      quality === 'hd' || quality === 'high' || (size !== undefined && resolutionOf(size) !== '1K');
    return jsonAsk(`${modelPath(call.upstreamModel)}:predict`, {
      instances: [{ prompt }],
      parameters: {
        sampleCount: n,
        ...(size === undefined ? {} : { aspectRatio: nearest(size, ratios) }),
        ...(large ? { sampleImageSize: '2K' } : {}),
        includeRaiReason: true,
        ...extras(call, known),
      },
    });
  },
  parts: (call) => partsOf(call, picturesAtOnce),
  misfit: (call) =>
    wishOf(call).images.length === 0
      ? undefined
      : { param: 'image', why: 'This model takes no pictures.' },
  read,
  fault: geminiFault,
};

function read(reply: Buffer, _: string, call: Call): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const predictions = listOf(body['predictions']).map((one) => objectOf(one) ?? {});
  const pictures = predictions.flatMap(({ bytesBase64Encoded: base64, prompt }) =>
    typeof base64 === 'string' ? [{ from: { base64 }, revisedPrompt: textOf(prompt) }] : [],
  );
  if (pictures.length > 0) return made(call, pictures);
  const reason = predictions.flatMap(({ raiFilteredReason: why }) => textOf(why) ?? [])[0];
  // All of them were filtered: then there are none, or no list at all (same page).
  if (reason !== undefined || !('error' in body)) return moderated(reason);
  return geminiFaultWithin(body) ?? protocolFault('an answer without a picture');
}
