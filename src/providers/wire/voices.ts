import type { Fault } from '../../base/fault.ts';
import { refuse } from '../../base/refusal.ts';
import type { Answer, Call } from '../adapter.ts';
import { speakOf, type VoiceFormat } from '../sound-wish.ts';
import { isObject, parse } from './json.ts';
import { faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { VoiceSource } from './speech-stream.ts';
import type { FaultRule } from './openai-chat-quirks.ts';

/**
 * Names that OpenAI's voices have (platform.openai.com/docs/guides/text-to-speech, 2026-08):
 * another vendor's model speaks with its own usual voice instead.
 */
const openaiVoices = new Set(
  'alloy ash ballad coral echo fable nova onyx sage shimmer verse marin cedar'.split(' '),
);

/** The client's voice as another vendor knows it. */
export const voiceOf = (call: Call, usual: string): string => {
  const { voice } = speakOf(call);
  return openaiVoices.has(voice) ? usual : voice;
};

/**
 * What is made: what the client wants, or the first of what the vendor can. Throws the Refusal that
 * lists it.
 */
export function formatOf(call: Call, made: readonly [VoiceFormat, ...VoiceFormat[]]): VoiceFormat {
  const { format } = speakOf(call);
  if (format === undefined) return made[0];
  if (made.includes(format)) return format;
  refuse('invalid_value', {
    param: 'response_format',
    why: `'${format}' is not one of ${made.join(', ')} for the model '${call.publicModel}'.`,
  });
}

/** A reply with a good status that is no voice at all. */
export function noVoice(reply: Buffer, faults: readonly FaultRule[]): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  return (
    (isObject(body) ? faultWithin(body, { faults }) : undefined) ??
    protocolFault(`an answer that is no sound: ${reply.toString('utf8', 0, 120)}`)
  );
}

/** The source of a vendor that answers with bytes: JSON in their place tells what is wrong. */
export function soundBytes(contentType: string, faults: readonly FaultRule[]): VoiceSource {
  if (!/^(?:application\/json|text\/)/.test(contentType)) return 'bytes';
  return {
    from: 'json',
    read: (said) => ({
      fault: faultWithin(said, { faults }) ?? protocolFault('an answer that is no sound'),
    }),
  };
}
