import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { imageOf } from '../../sim/media/png.ts';
import { taken } from '../../test/support/violations-found.ts';
import type { JsonObject } from '../base/json.ts';
import { Refusal } from '../base/refusal.ts';
import { SpoolPool } from '../http/spool.ts';
import type { VendorCall, VendorRequest } from './adapter.ts';
import { vendors } from './index.ts';
import type { ImageRequest, SpeechRequest, TranscriptionRequest } from './media-request.ts';

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const speechOf = (body: JsonObject): SpeechRequest => ({
  input: 'Hello',
  characters: 5,
  voice: textOf(body['voice']) ?? '',
  instructions: textOf(body['instructions']),
  format: undefined,
  speed: numberOf(body['speed']),
  events: false,
});

const recording = new SpoolPool().open();
void recording.write(Buffer.from('RIFF'));

const transcriptionOf = (body: JsonObject): TranscriptionRequest => ({
  file: recording,
  filename: 'a.wav',
  type: 'audio/wav',
  format: 'wav',
  seconds: 1,
  returns: 'json',
  language: textOf(body['language']),
  prompt: textOf(body['prompt']),
  temperature: numberOf(body['temperature']),
  timestamps: [],
  fields: Object.entries(body).flatMap(([name, value]) =>
    name === 'model' ? [] : [[name, String(value)]],
  ),
});

const house = {
  type: 'image/png',
  width: 64,
  height: 64,
  bytes: imageOf('a house', 64, 64),
} as const;

const imageRequestOf = (body: JsonObject, images: ImageRequest['images']): ImageRequest => ({
  prompt: 'A fox',
  n: 1,
  size: body['size'] === undefined ? undefined : { width: 1792, height: 1024 },
  quality: textOf(body['quality']),
  returns: 'b64_json',
  partials: 0,
  images,
  mask: undefined,
});

const imageMembers = {
  size: '1792x1024',
  quality: 'hd',
  background: 'transparent',
  output_format: 'jpeg',
  output_compression: 50,
  style: 'vivid',
  moderation: 'low',
  input_fidelity: 'high',
  user: 'ada',
  seed: 7,
  negative_prompt: 'rain',
  strength: 0.4,
  resolution: '2k',
  x_future: 'a',
};
/** The models of vendors that treat several of them differently. */
const models = [
  'gpt-image-2 gemini-3-pro-image gemini-2.5-flash-image imagen-4.0-generate-001 grok-imagine-image',
  'grok-imagine-image-2.0 doubao-seedream-3-0 doubao-seedream-4-5 doubao-seedream-5-0 qwen-image-plus',
  'wan2.6-image wan2.2-t2i-flash flux-2-pro flux-dev flux-kontext-pro flux-pro-1.0-fill',
  'fal-ai/flux/dev black-forest-labs/flux-dev ideogram-v3 ideogram-v4-turbo recraftv3 gen4_image',
  'stable-image-core sd3.5-large cogview-4 image-01 Kwai-Kolors/Kolors up',
].flatMap((line) => line.split(' '));

const kinds = {
  speech: {
    body: { model: 'm', input: 'Hello', voice: 'one' },
    members: { voice: 'two', speed: 1.1, instructions: 'Whisper.', x_future: 'a' },
    more: (body: JsonObject) => ({ speech: speechOf(body) }),
  },
  transcriptions: {
    body: { model: 'm' },
    members: {
      language: 'en',
      prompt: 'Ada',
      temperature: 0.2,
      'include[]': 'logprobs',
      'known_speaker_names[]': 'Ada',
      chunking_strategy: 'server_vad',
      x_future: 'a',
    },
    more: (body: JsonObject) => ({ transcription: transcriptionOf(body) }),
  },
  embeddings: {
    body: { model: 'm', input: ['Hello'] },
    members: {
      dimensions: 256,
      user: 'ada',
      task_type: 'QUERY',
      input_type: 'query',
      x_future: 'a',
    },
    more: () => ({}),
  },
  images: {
    body: { model: 'm', prompt: 'A fox' },
    members: imageMembers,
    more: (body: JsonObject) => ({ image: imageRequestOf(body, []) }),
  },
  image_edits: {
    body: { model: 'm', prompt: 'A fox' },
    members: imageMembers,
    more: (body: JsonObject) => ({ image: imageRequestOf(body, [house]) }),
  },
} as const;

function callOf(
  body: JsonObject,
  upstreamModel: string,
  more: Pick<VendorCall, 'speech' | 'transcription' | 'image'>,
): VendorCall {
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'm',
    upstreamModel,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'a-1',
    created: 0,
    ...more,
  };
}

/** Undefined: the vendor does not take such a request. */
function asked(
  ask: (call: VendorCall) => VendorRequest,
  call: VendorCall,
): VendorRequest | undefined {
  try {
    return ask(call);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const sentBy = ({ path, headers, body, rest }: VendorRequest): unknown => ({
  path,
  headers,
  body: body.toString(),
  rest,
});

const names = ['speech', 'transcriptions', 'embeddings', 'images', 'image_edits'] as const;

test.each(names)(
  '%s: what changes nothing at the vendor is named as dropped, and only that',
  (name) => {
    const { body, members, more } = kinds[name];
    const wrong: string[] = [];
    for (const [vendor, { adapters }] of vendors) {
      const adapter = adapters[name];
      if (adapter === undefined) continue;
      for (const model of models)
        for (const [member, value] of Object.entries(members)) {
          const other: JsonObject = { ...body, [member]: value };
          const without = asked((call) => adapter.ask(call), callOf(body, model, more(body)));
          const withIt = asked((call) => adapter.ask(call), callOf(other, model, more(other)));
          if (without === undefined || withIt === undefined) continue;
          const isDropped = withIt.dropped?.includes(member.replace('[]', '')) === true;
          if (isDropped !== isDeepStrictEqual(sentBy(without), sentBy(withIt)))
            wrong.push(`${vendor} ${model} ${member}: ${isDropped ? 'is sent' : 'is not named'}`);
        }
    }
    // Members that the vendor does not know are sent on purpose: it would refuse them.
    taken();
    expect(wrong).toEqual([]);
  },
);
