import type { Adapter, Call, StreamTranslator } from '../adapter.ts';
import { ChatCollector } from './chat-collect.ts';
import { type MakeReader, TranslatedStream } from './chat-stream.ts';
import { GeminiReader, type Reading } from './gemini-answer.ts';
import { askGemini } from './gemini-ask.ts';
import { unsignedContents } from './gemini-contents.ts';
import { geminiFault } from './gemini-fault.ts';
import { addressPart } from './gemini-media.ts';
import { geminiModel } from './gemini-model.ts';
import { stopsMax } from './gemini-config.ts';
import { stopsBeyond } from './stop-text.ts';
import { WholeFrames } from './whole-frames.ts';

const reading =
  (kind: Reading): MakeReader =>
  (call, chunks, meter) =>
    new GeminiReader(call, chunks, meter, kind);

const watched = (call: Call): readonly string[] | undefined =>
  stopsBeyond(call.body['stop'], stopsMax);
const stream = (call: Call): StreamTranslator =>
  new TranslatedStream(call, reading('stream'), undefined, watched(call));
const collected = (call: Call): StreamTranslator =>
  new TranslatedStream(call, reading('collected'), undefined, watched(call));
const reply = (call: Call): StreamTranslator =>
  new TranslatedStream(
    call,
    reading('reply'),
    (listener) => new WholeFrames(listener),
    watched(call),
  );

/**
 * The wire format `gemini`: generateContent of the Gemini API and of Vertex, for chat (wire-formats
 * §4.4–4.6).
 */
export const geminiChat: Adapter = {
  ask: askGemini,
  read(bytes, contentType, call) {
    const collector = new ChatCollector(
      call,
      contentType.includes('event-stream') ? collected : reply,
    );
    collector.push(bytes);
    const answer = collector.answer();
    return collector.meter.fault ?? answer;
  },
  stream,
  collect: (call) => new ChatCollector(call, collected),
  reads: ['topK', 'budget'],
  needsBytes: ({ url, name }, { upstreamModel }) =>
    addressPart(url, name, geminiModel(upstreamModel)) === undefined,
  unsigned: ({ body, upstreamModel }) =>
    unsignedContents(body['messages'], geminiModel(upstreamModel)),
  fault: geminiFault,
};
