import type { Principal } from '../accounts/principal.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import { type ClientRequest, unwritten } from '../gateway/request.ts';
import { type SpeakWish, type VoiceFormat, voices } from '../providers/sound-wish.ts';
import { type Body, isObject, optionalNumber, refuseType, requiredString } from './check.ts';
import { chatEnvelope } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';

/** As in the convention (wire-formats §1.5). */
export const charactersMax = 4_096;
export const slowest = 0.25;
export const fastest = 4;

/**
 * Sound of so many tokens a second, and so many seconds a character, is more than any voice needs:
 * numbers and signs are read as words.
 */
const most = {
  tokensPerCharacter: 8,
  secondsPerCharacter: 0.5,
  tokensBeside: 256,
  secondsBeside: 5,
};
const bytesPerToken = { most: 2, likely: 4 };

/** Bytes of sound: nothing can be said between them, and of an error only that they end. */
const asBytes: ClientFormat = { done: '', keepAlive: '', errorEvent: undefined, limitHeaders };
const asEvents: ClientFormat = {
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatEnvelope.event,
  limitHeaders,
};

export const speechFormat = (wish: SpeakWish): ClientFormat => (wish.events ? asEvents : asBytes);

/**
 * POST /v1/audio/speech: the request as the pipeline takes it. Throws the Refusal that names what
 * is wrong.
 */
export function parseSpeech(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest & { readonly speak: SpeakWish } {
  const model = requiredString(body, 'model');
  const speak = wishOf(body);
  const { input, characters, instructions = '', speed = 1 } = speak;
  const inputBytes = Buffer.byteLength(input) + Buffer.byteLength(instructions);
  const slowness = Math.max(1, 1 / speed);
  const tokens = Math.ceil(inputBytes / bytesPerToken.most) + most.tokensBeside;
  return {
    id,
    principal,
    capability: 'speech',
    model,
    body,
    bytes,
    // Sound leaves as it is made, whoever asks for it how.
    stream: true,
    ...unwritten,
    textTokensMax: tokens,
    speak,
    sized: {
      most: {
        input: tokens,
        audio_output:
          Math.ceil(characters * most.tokensPerCharacter * slowness) + most.tokensBeside,
        second: Math.ceil(characters * most.secondsPerCharacter * slowness) + most.secondsBeside,
        character: characters,
      },
      measured: { character: characters },
      likely: { input: Math.ceil(inputBytes / bytesPerToken.likely) },
    },
    text: () => '',
    answerId: `speech-${id.slice(4)}`,
  };
}

function wishOf(body: Body): SpeakWish {
  const input = requiredString(body, 'input');
  const characters = [...input].length;
  if (characters > charactersMax)
    refuse('out_of_range', {
      param: 'input',
      expected: `of at most ${charactersMax} characters`,
      got: characters,
    });
  const { instructions } = body;
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string')
    refuseType('instructions', 'a string', instructions);
  if (instructions != null && instructions.length > charactersMax)
    refuse('out_of_range', {
      param: 'instructions',
      expected: `of at most ${charactersMax} characters`,
      got: instructions.length,
    });
  return {
    input,
    characters,
    voice: voiceOf(body['voice']),
    instructions: instructions ?? undefined,
    format: oneOf<VoiceFormat>(body, 'response_format', voices),
    speed: optionalNumber(body, 'speed', slowest, fastest),
    events: oneOf(body, 'stream_format', ['audio', 'sse']) === 'sse',
  };
}

/** A name, or an object with the id of a voice of one's own. */
function voiceOf(voice: unknown): string {
  if (voice === undefined || voice === null) refuse('missing_parameter', { param: 'voice' });
  const name = isObject(voice) ? voice['id'] : voice;
  if (typeof name !== 'string') refuseType('voice', 'a string, or an object with an id', voice);
  if (name === '') refuse('invalid_value', { param: 'voice', why: 'it must not be empty.' });
  return name;
}

function oneOf<Word extends string>(
  body: Body,
  param: string,
  known: readonly Word[],
): Word | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  return (
    known.find((word) => word === value) ??
    refuse('invalid_value', { param, why: `'${value}' is not one of ${known.join(', ')}.` })
  );
}
