import type { Adapter, Call, StreamTranslator } from '../adapter.ts';
import { ChatCollector } from './chat-collect.ts';
import { type MakeReader, TranslatedStream } from './chat-stream.ts';
import { GeminiReader, type Reading } from './gemini-answer.ts';
import { askGemini } from './gemini-ask.ts';
import { unsignedContents } from './gemini-contents.ts';
import { geminiFault } from './gemini-fault.ts';
import { addressPart } from './gemini-media.ts';
import { geminiModel } from './gemini-model.ts';
import { WholeFrames } from './whole-frames.ts';

const reading =
  (kind: Reading): MakeReader =>
  (call, chunks, meter) =>
    new GeminiReader(call, chunks, meter, kind);

const stream = (call: Call): StreamTranslator => new TranslatedStream(call, reading('stream'));
const collected = (call: Call): StreamTranslator =>
  new TranslatedStream(call, reading('collected'));
const reply = (call: Call): StreamTranslator =>
  new TranslatedStream(call, reading('reply'), (listener) => new WholeFrames(listener));

/** The wire format `gemini`: generateContent of the Gemini API and of Vertex, for chat (wire-formats §4.4–4.6). */
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
  needsBytes: ({ url, name }, { upstreamModel }) =>
    addressPart(url, name, geminiModel(upstreamModel)) === undefined,
  unsigned: ({ body, upstreamModel }) =>
    unsignedContents(body['messages'], geminiModel(upstreamModel)),
  fault: geminiFault,
};
