import type { Reply } from '../dialect.ts';
import { type Json, list, number, object, objectIn, text } from '../json.ts';
import { base64Of, sidesOf, type Size } from '../images/endpoint.ts';
import { type ModelRequest, modelRequest, type OwnCall } from '../own-format.ts';
import type { Writer } from '../play.ts';
import { scenarioOf } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { asQuestion, wholeWriter } from '../vectors/writer.ts';
import type { ModelFacts } from './model.ts';
import { status, type Surface } from './refusal.ts';

/** ai.google.dev/gemini-api/docs/image-generation, 2026-08. */
const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const pixels: Readonly<Record<string, number>> = {
  '1K': 1_048_576,
  '2K': 4_194_304,
  '4K': 16_777_216,
};
const tokens: Readonly<Record<string, number>> = { '1K': 1_120, '2K': 1_120, '4K': 2_000 };
const tokensOfGiven = 258;

export const wantsImage = (raw: Json): boolean =>
  list(object(raw['generationConfig'])['responseModalities']).includes('IMAGE');

/** The first error in the image parameters. */
export function imageComplaint(raw: Json, { id, generation }: ModelFacts): Reply | undefined {
  if (!/-image|^sim-/.test(id))
    return status(400, `Model ${id} does not support the requested response modalities: image.`);
  const { aspectRatio, imageSize } = object(object(raw['generationConfig'])['imageConfig']);
  if (aspectRatio !== undefined && !ratios.includes(String(aspectRatio)))
    return status(
      400,
      `Invalid value at 'generation_config.image_config.aspect_ratio': aspect_ratio must be one of ${ratios.join(', ')}.`,
    );
  if (imageSize === undefined) return undefined;
  if (generation < 3 || id.includes('lite'))
    return status(400, 'image_size is not supported by this model.');
  return String(imageSize) in pixels
    ? undefined
    : status(400, `Invalid value at 'generation_config.image_config.image_size'.`);
}

/** The image, and its usage. */
export function imageWriter(raw: Json, named: string): Writer {
  const { aspectRatio, imageSize = '1K' } = object(object(raw['generationConfig'])['imageConfig']);
  const parts = list(object(list(raw['contents']).at(-1))['parts']).map(object);
  const prompt = parts.map((part) => text(part['text']) ?? '').join(' ');
  const size = sidesOf(text(aspectRatio) ?? '1:1', pixels[String(imageSize)]);
  const given = parts.filter((part) => part['inlineData'] !== undefined).length;
  return wholeWriter(({ id, model, usageReported }) => ({
    candidates: [
      {
        content: { parts: [drawn(prompt, size, named)], role: 'model' },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    ...(usageReported && {
      usageMetadata: usageOf(
        countTokens(prompt),
        given * tokensOfGiven,
        tokens[String(imageSize)] ?? 0,
      ),
    }),
    modelVersion: model,
    responseId: id,
  }));
}

const drawn = (prompt: string, size: Size, named: string): Json => ({
  inlineData: {
    mimeType: 'image/png',
    data: base64Of({ lost: scenarioOf(named).lost }, prompt, size),
  },
});

function usageOf(text: number, seen: number, made: number): Json {
  const details = [
    { modality: 'TEXT', tokenCount: text },
    ...(seen > 0 ? [{ modality: 'IMAGE', tokenCount: seen }] : []),
  ];
  return {
    promptTokenCount: text + seen,
    candidatesTokenCount: made,
    totalTokenCount: text + seen + made,
    promptTokensDetails: details,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: made }],
  };
}

const imagenRatios = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const imagenMembers =
  'sampleCount aspectRatio sampleImageSize negativePrompt personGeneration safetySetting addWatermark seed includeRaiReason language';

/**
 * Imagen on Vertex (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api,
 * 2026-08); undefined for any other method or model.
 */
export function imagen(
  call: OwnCall,
  named: string,
  method: string,
  { api }: Surface,
): Reply | ModelRequest | undefined {
  if (api !== 'vertex' || method !== 'predict' || !named.startsWith('imagen-')) return undefined;
  const raw = objectIn(call.body);
  const parameters = object(raw?.['parameters']);
  const [instance, ...more] = list(raw?.['instances']).map(object);
  const prompt = text(instance?.['prompt']);
  if (prompt === undefined || prompt === '' || more.length > 0)
    return status(400, 'Text prompt is empty.');
  const stranger = Object.keys(parameters).find((name) => !imagenMembers.split(' ').includes(name));
  if (stranger !== undefined) return status(400, `Invalid parameter: ${stranger}.`);
  const count = number(parameters['sampleCount']) ?? 4;
  if (count < 1 || count > 4) return status(400, 'sampleCount must be between 1 and 4.');
  const ratio = text(parameters['aspectRatio']) ?? '1:1';
  if (!imagenRatios.includes(ratio))
    return status(400, `aspectRatio must be one of ${imagenRatios.join(', ')}.`);
  const size = sidesOf(ratio, pixels[text(parameters['sampleImageSize']) ?? '1K']);
  const { lost } = scenarioOf(named);
  const writer = wholeWriter(() => ({
    predictions: Array.from({ length: count }, (_, i) => ({
      bytesBase64Encoded: base64Of({ lost }, `${prompt} ${i + 1}`, size),
      mimeType: 'image/png',
    })),
  }));
  return modelRequest(named, asQuestion([prompt]), false, writer);
}
