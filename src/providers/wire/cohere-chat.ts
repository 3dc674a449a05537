import type { Adapter, Call, StreamTranslator } from '../adapter.ts';
import { ChatCollector } from './chat-collect.ts';
import { TranslatedStream } from './chat-stream.ts';
import { readCohere } from './cohere-chat-answer.ts';
import { stopsBeyond } from './stop-text.ts';
import { askCohere, stopsMax } from './cohere-chat-ask.ts';
import { cohereFault } from './cohere-chat-fault.ts';
import { CohereReader } from './cohere-chat-stream.ts';

const stream = (call: Call): StreamTranslator =>
  new TranslatedStream(
    call,
    (_call, chunks, meter) => new CohereReader(chunks, meter, call.body['logprobs'] === true),
    undefined,
    stopsBeyond(call.body['stop'], stopsMax),
  );

/** The wire format `cohere-chat`: Cohere's own chat, version 2 (wire-formats §5.1, §5.2). */
export const cohereChat: Adapter = {
  ask: askCohere,
  read(reply, contentType, call) {
    if (!/event-?stream/.test(contentType)) return readCohere(reply, call);
    // An answer that streams unasked.
    const collector = new ChatCollector(call, stream);
    collector.push(reply);
    const answer = collector.answer();
    return collector.meter.fault ?? answer;
  },
  stream,
  collect: (call) => new ChatCollector(call, stream),
  reads: ['topK', 'budget'],
  fault: cohereFault,
};
