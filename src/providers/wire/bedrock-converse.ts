import type { Adapter, Call, StreamTranslator } from '../adapter.ts';
import { readConverse } from './bedrock-converse-answer.ts';
import { askConverse, unsignedConverse, watchedStops } from './bedrock-converse-ask.ts';
import { converseFault } from './bedrock-converse-fault.ts';
import { ConverseReader } from './bedrock-converse-stream.ts';
import { ChatCollector } from './chat-collect.ts';
import { TranslatedStream } from './chat-stream.ts';
import { EventStreamFrames } from './event-stream.ts';

const stream = (call: Call): StreamTranslator =>
  new TranslatedStream(
    call,
    (of, chunks, meter) => new ConverseReader(of, chunks, meter),
    (listener) => new EventStreamFrames(listener),
    watchedStops(call),
  );

/**
 * The wire format `bedrock-converse`: Amazon Bedrock's Converse and ConverseStream (wire-formats
 * §5.3), for every model family behind it.
 */
export const bedrockConverse: Adapter = {
  ask: askConverse,
  read(reply, contentType, call) {
    if (!/event-?stream/.test(contentType)) return readConverse(reply, call);
    // An answer that streams unasked.
    const collector = new ChatCollector(call, stream);
    collector.push(reply);
    const answer = collector.answer();
    return collector.meter.fault ?? answer;
  },
  stream,
  collect: (call) => new ChatCollector(call, stream),
  needsBytes: () => true,
  reads: ['topK', 'budget', 'betas'],
  unsigned: unsignedConverse,
  fault: converseFault,
};
