import { objectOf, parse } from '../../../base/json.ts';
import { uriEncoded } from '../../../base/sigv4.ts';
import type { Adapter, VendorCall, StreamTranslator } from '../../adapter.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { TranslatedStream } from '../../conversation/chat-stream.ts';
import type { ChatCount } from '../adapters.ts';
import { readStreamed } from '../reply.ts';
import { readConverse } from './response.ts';
import { converseRequest, unsignedConverse, converseWatchedStops } from './request.ts';
import { converseFault } from './fault.ts';
import { converseModel } from './models.ts';
import { ConverseReader, EventStreamFrames } from './stream.ts';

const stream = (call: VendorCall): StreamTranslator =>
  new TranslatedStream(
    call,
    (of, chunks, meter) => new ConverseReader(of, chunks, meter),
    (listener) => new EventStreamFrames(listener),
    converseWatchedStops(call),
  );

/**
 * The wire format `bedrock-converse`: Amazon Bedrock's Converse and ConverseStream
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08), for every
 * model family behind it.
 */
export const bedrockConverse: Adapter = {
  ask: converseRequest,
  read(reply, contentType, call) {
    if (!/event-?stream/.test(contentType)) return readConverse(reply, call);
    return readStreamed(reply, new ChatCollector(call, stream));
  },
  stream,
  collect: (call) => new ChatCollector(call, stream),
  needsBytes: () => true,
  readsMessagesOptions: ['topK', 'budget', 'betas'],
  readsResultErrors: (call) => converseModel(call).resultStatus,
  unsigned: unsignedConverse,
  fault: converseFault,
};

/**
 * The regions that a model's id may begin with. CountTokens takes the model itself, not such a
 * profile (recorded).
 */
const place = /^(?:us|us-gov|eu|apac|jp|au|global)\./;

/**
 * Bedrock's CountTokens, which some models offer
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html, 2026-08).
 */
export const converseCount: ChatCount = {
  ask(call) {
    const { headers, body } = converseRequest({ ...call, streamUpstream: false });
    const {
      inferenceConfig: _,
      outputConfig: __,
      ...converse
    } = objectOf(parse(body.toString('utf8'))) ?? {};
    const path = `/model/${uriEncoded(call.upstreamModel.replace(place, ''))}/count-tokens`;
    return { path, headers, body: Buffer.from(JSON.stringify({ input: { converse } })) };
  },
  member: 'inputTokens',
  fault(status, headers, reply) {
    const fault = converseFault(status, headers, reply);
    // Another channel may count; if none does, Tollgate counts itself.
    return /support counting tokens/i.test(fault.message)
      ? { ...fault, kind: 'unknown_model' }
      : fault;
  },
};
