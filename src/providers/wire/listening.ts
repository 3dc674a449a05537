import type { Fault } from '../../base/fault.ts';
import type { Quantities } from '../../base/quantities.ts';
import { refuse } from '../../base/refusal.ts';
import type { Answer, Ask, Call, SoundAdapter } from '../adapter.ts';
import { listenOf, type ListenWish, type ScriptFormat } from '../sound-wish.ts';
import { isObject, type JsonObject, parse } from './json.ts';
import { faultOf, faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { answerOf, type Transcript } from './transcript.ts';
import { inJson, TranscriptInOne } from './transcript-stream.ts';

/** What a vendor's answer says, and what it tells of its cost. */
export interface Heard {
  readonly transcript: Transcript;
  readonly quantities?: Quantities | undefined;
  readonly upstreamId?: string | undefined;
}

/** A vendor with a shape of its own for what was said. */
export interface Listening {
  /** What can be made of its answers. */
  readonly formats: readonly ScriptFormat[];
  readonly ask: (call: Call, wish: ListenWish) => Ask;
  /** Undefined: it is no answer. */
  readonly read: (answer: JsonObject, call: Call) => Heard | undefined;
  readonly faults?: readonly FaultRule[];
}

export const untimed: readonly ScriptFormat[] = ['json', 'text'];
export const whenSaid: readonly ScriptFormat[] = [...untimed, 'srt', 'verbose_json', 'vtt'];
export const whoSaid: readonly ScriptFormat[] = [...whenSaid, 'diarized_json'];

/**
 * Transcription by a vendor that knows nothing of OpenAI's formats: all of them are written here.
 */
export function listening({ formats, ask, read, faults = [] }: Listening): SoundAdapter {
  const answer = (reply: Buffer, call: Call): Answer | Fault => {
    const body = parse(reply.toString('utf8'));
    if (!isObject(body))
      return protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);
    const heard = read(body, call);
    if (heard === undefined)
      return faultWithin(body, { faults }) ?? protocolFault('an answer without a text');
    return answerOf(heard.transcript, call, heard.quantities, heard.upstreamId);
  };
  return {
    ask(call) {
      const wish = listenOf(call);
      if (!formats.includes(wish.returns))
        refuse('invalid_value', {
          param: 'response_format',
          why: `'${wish.returns}' is not one of ${formats.join(', ')} for the model '${call.publicModel}'.`,
        });
      return ask(call, wish);
    },
    read: (reply, _, call) => answer(reply, call),
    stream: (call) => new TranscriptInOne((reply) => answer(reply, inJson(call))),
    fault: (status, headers, reply) => faultOf(status, headers, reply, { faults }),
  };
}
