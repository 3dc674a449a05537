import type { Adapter, Call, StreamTranslator } from '../adapter.ts';
import { ChatCollector } from './chat-collect.ts';
import { TranslatedStream } from './chat-stream.ts';
import { GeminiReader } from './gemini-answer.ts';
import { askGemini } from './gemini-ask.ts';
import { geminiFault } from './gemini-fault.ts';
import { WholeFrames } from './whole-frames.ts';

const stream = (call: Call): TranslatedStream =>
  new TranslatedStream(call, (asked, chunks, meter) => new GeminiReader(asked, chunks, meter, false));

/** A stream that nobody sees: it is put together. */
const hidden = (call: Call): StreamTranslator =>
  new TranslatedStream(call, (asked, chunks, meter) => new GeminiReader(asked, chunks, meter, true));

const whole = (call: Call): StreamTranslator =>
  new TranslatedStream(
    call,
    (asked, chunks, meter) => new GeminiReader(asked, chunks, meter, true),
    (listener) => new WholeFrames(listener),
  );

/** The wire format `gemini`: generateContent of the Gemini API and of Vertex, for chat (wire-formats §4.4–4.6). */
export const geminiChat: Adapter = {
  ask: askGemini,
  read(reply, contentType, call) {
    const collector = new ChatCollector(call, contentType.includes('event-stream') ? hidden : whole);
    collector.push(reply);
    const answer = collector.answer();
    return collector.meter.fault ?? answer;
  },
  stream,
  collect: (call) => new ChatCollector(call, hidden),
  fault: geminiFault,
};
