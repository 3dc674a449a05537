import type { Fault } from '../../../base/fault.ts';
import {
  type Documented,
  type JsonObject,
  objectOf,
  objectsOf,
  textOf,
} from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type GeneratedImage,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import { type InputImage, imageResolutionOf } from '../../media-request.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { protocolFault } from '../fault.ts';
import { geminiFault, geminiFaultWithin } from '../gemini/fault.ts';
import { modelPath } from '../gemini/request.ts';
import { geminiQuantities } from '../gemini/response.ts';
import type {
  GeminiCandidate,
  GeminiPart,
  GenerateContentResponse,
  GoogleStatus,
} from '../gemini/types.ts';
import { jsonRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit } from './misfit.ts';
import { nearestRatio, extraMembers, namingUnsent } from './request.ts';
import {
  imagesAnswer,
  moderationFault,
  splitByCount,
  withImageUsage,
  partsWithImageUsage,
} from './response.ts';

/** Imagen's answer (cloud.google.com/vertex-ai, imagen-api, 2026-08). */
interface ImagenAnswer {
  readonly predictions: readonly ImagenPrediction[];
  readonly error: GoogleStatus;
}

/** An image, or why it was filtered (same page). */
interface ImagenPrediction {
  readonly bytesBase64Encoded: string;
  readonly prompt: string;
  readonly raiFilteredReason: string;
}

/** ai.google.dev/gemini-api/docs/image-generation, 2026-08. */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
const givenMax = 14;

/** These models take a mask as an ordinary image; an instruction explains its meaning. */
const maskInWords =
  'The last picture is a mask of the first one. Change the first picture only where the mask is transparent, and leave all else as it is.';

/** Gemini's image models: one image at a time, with the request in the form of a conversation. */
export const geminiImages: ImageAdapter = {
  ask,
  split: (call) => partsWithImageUsage(splitByCount(call, 1)),
  misfit,
  read,
  fault: geminiFault,
};

function ask(call: VendorCall): VendorRequest {
  const { prompt, images, mask } = imageRequestOf(call);
  const words = mask === undefined ? prompt : `${prompt}\n\n${maskInWords}`;
  const parts = [
    { text: words },
    ...[...images, ...(mask === undefined ? [] : [mask])].map(inline),
  ];
  return namingUnsent(
    jsonRequest(`${modelPath(call.upstreamModel)}:generateContent`, {
      contents: [{ role: 'user', parts }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...shape(call) },
    }),
    call,
    {},
    ['size', hasResolutions(call) && 'quality'],
  );
}

const inline = ({ type, bytes }: InputImage): JsonObject => ({
  inlineData: { mimeType: type, data: bytes.toString('base64') },
});

/**
 * The `imageConfig`. Only the third generation has resolutions (same page); 2.5 refuses the
 * setting.
 */
function shape(call: VendorCall): JsonObject {
  const { size, quality } = imageRequestOf(call);
  const better = quality === 'hd' || quality === 'high';
  const requested = size === undefined ? undefined : imageResolutionOf(size);
  const resolution = better && (requested === undefined || requested === '1K') ? '2K' : requested;
  const config = {
    ...(size === undefined ? {} : { aspectRatio: nearestRatio(size, ratios) }),
    ...(resolution === undefined || resolution === '1K' || !hasResolutions(call)
      ? {}
      : { imageSize: resolution }),
  };
  return Object.keys(config).length === 0 ? {} : { imageConfig: config };
}

const hasResolutions = ({ upstreamModel }: VendorCall): boolean =>
  /gemini-[3-9]/.test(upstreamModel) && !upstreamModel.includes('lite');

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images } = imageRequestOf(call);
  const isGif = images.some(({ type }) => type === 'image/gif');
  return (
    imagesMisfit(images, givenMax) ??
    (isGif ? { param: 'image', why: 'This model takes PNG, JPEG and WebP.' } : undefined)
  );
}

function read(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<GenerateContentResponse> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const candidates = objectsOf(body.candidates);
  const parts = candidates.flatMap(({ content }) => objectsOf(objectOf(content)?.parts));
  const pictures = parts.flatMap(pictureOf);
  if (pictures.length === 0) return geminiFaultWithin(body) ?? heldBack(body, candidates, parts);
  const answer = imagesAnswer(call, pictures, textOf(body.responseId));
  const usage = objectOf(body.usageMetadata);
  return 'kind' in answer || usage === undefined
    ? answer
    : withImageUsage(answer, geminiQuantities(usage));
}

/** The image in a part; images in the model's thinking are left out. */
function pictureOf(part: Documented<GeminiPart>): GeneratedImage[] {
  const data = textOf(objectOf(part.inlineData)?.data);
  return data === undefined || part.thought === true ? [] : [{ from: { base64: data } }];
}

/**
 * The fault for an answer without an image: it names a reason, or the model refused in text. Either
 * is a refusal that the client can act on.
 */
function heldBack(
  body: Documented<GenerateContentResponse>,
  candidates: readonly Documented<GeminiCandidate>[],
  parts: readonly Documented<GeminiPart>[],
): Fault {
  const blocked = textOf(objectOf(body.promptFeedback)?.blockReason);
  const reason = blocked ?? candidates.flatMap(({ finishReason }) => textOf(finishReason) ?? [])[0];
  if (reason === undefined) return protocolFault('an answer without a picture');
  const words = parts
    .flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? [text] : []))
    .join('');
  if (reason === 'MAX_TOKENS' || reason === 'OTHER' || reason === 'MALFORMED_RESPONSE')
    return { kind: 'server_error', message: `no picture: ${reason}` };
  return moderationFault(words === '' ? reason : sanitizeVendorMessage(words));
}

/** cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api, 2026-08. */
const imagenRatios = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;
const picturesAtOnce = 4;
const known = {
  seed: 'number',
  negativePrompt: 'text',
  personGeneration: 'text',
  safetySetting: 'text',
  addWatermark: 'flag',
} as const;

/** Imagen on Vertex: up to four images from text at a time. */
export const imagen: ImageAdapter = {
  ask: (call) => {
    const { prompt, n, size, quality } = imageRequestOf(call);
    const large =
      quality === 'hd' ||
      quality === 'high' ||
      (size !== undefined && imageResolutionOf(size) !== '1K');
    return namingUnsent(
      jsonRequest(`${modelPath(call.upstreamModel)}:predict`, {
        instances: [{ prompt }],
        parameters: {
          sampleCount: n,
          aspectRatio: size && nearestRatio(size, imagenRatios),
          sampleImageSize: large ? '2K' : undefined,
          includeRaiReason: true,
          ...extraMembers(call, known),
        },
      }),
      call,
      known,
      ['size', 'quality'],
    );
  },
  split: (call) => splitByCount(call, picturesAtOnce),
  misfit: (call) => imagesMisfit(imageRequestOf(call).images, 0),
  read: readImagen,
  fault: geminiFault,
};

function readImagen(reply: Buffer, _: string, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<ImagenAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const predictions = objectsOf(body.predictions);
  const pictures = predictions.flatMap(({ bytesBase64Encoded: base64, prompt }) =>
    typeof base64 === 'string' ? [{ from: { base64 }, revisedPrompt: textOf(prompt) }] : [],
  );
  if (pictures.length > 0) return imagesAnswer(call, pictures);
  const reason = predictions.flatMap(({ raiFilteredReason: why }) => textOf(why) ?? [])[0];
  // If all images were filtered, the list is empty or absent (same page).
  if (reason !== undefined || !('error' in body)) return moderationFault(reason);
  return geminiFaultWithin(body) ?? protocolFault('an answer without a picture');
}
