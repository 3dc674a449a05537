import { type JsonObject, objectOf, parse } from '../../../base/json.ts';
import type { Adapter, VendorCall, StreamTranslator, VendorRequest } from '../../adapter.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { type MakeReader, TranslatedStream } from '../../conversation/chat-stream.ts';
import { stopsBeyond } from '../../conversation/stop-text.ts';
import type { ChatCount } from '../adapters.ts';
import type { ChatRequest } from '../openai-chat/types.ts';
import { WholeFrames } from '../../stream/frames.ts';
import { readStreamed } from '../reply.ts';
import { GeminiReader, type GeminiReading } from './response.ts';
import { geminiRequest, modelPath, geminiStopsMax } from './request.ts';
import { unsignedContents, addressPart } from './contents.ts';
import { geminiFault } from './fault.ts';
import { geminiModel } from './models.ts';

const reading =
  (kind: GeminiReading): MakeReader =>
  (call, chunks, meter) =>
    new GeminiReader(call, chunks, meter, kind);

const watched = (call: VendorCall<ChatRequest>): readonly string[] | undefined =>
  stopsBeyond(call.body.stop, geminiStopsMax);
const stream = (call: VendorCall): StreamTranslator =>
  new TranslatedStream(call, reading('stream'), undefined, watched(call));
const collected = (call: VendorCall): StreamTranslator =>
  new TranslatedStream(call, reading('collected'), undefined, watched(call));
const reply = (call: VendorCall): StreamTranslator =>
  new TranslatedStream(
    call,
    reading('reply'),
    (listener) => new WholeFrames(listener),
    watched(call),
  );

/**
 * The wire format `gemini`: generateContent of the Gemini API and of Vertex, for chat
 * (ai.google.dev/api/generate-content, 2026-08).
 */
export const geminiChat: Adapter = {
  ask: geminiRequest,
  read(bytes, contentType, call) {
    const stream = contentType.includes('event-stream') ? collected : reply;
    return readStreamed(bytes, new ChatCollector(call, stream));
  },
  stream,
  collect: (call) => new ChatCollector(call, collected),
  readsMessagesOptions: ['topK', 'budget'],
  readsResultErrors: () => true,
  needsBytes: ({ url, name }, { upstreamModel }) =>
    addressPart(url, name, geminiModel(upstreamModel)) === undefined,
  unsigned: ({ body, upstreamModel }: VendorCall<ChatRequest>) =>
    unsignedContents(body.messages, geminiModel(upstreamModel)),
  fault: geminiFault,
};

/**
 * countTokens of the Gemini API takes a whole request inside an envelope (ai.google.dev/api/tokens,
 * 2026-08; recorded).
 */
export const geminiCount: ChatCount = {
  ask: (call) =>
    askCount(call, (request, path) => ({
      generateContentRequest: { model: path.slice(1), ...request },
    })),
  member: 'totalTokens',
  fault: geminiFault,
};

/**
 * Vertex takes only members that count
 * (cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens,
 * 2026-08).
 */
export const vertexCount: ChatCount = {
  ...geminiCount,
  ask: (call) => askCount(call, ({ toolConfig: _, cachedContent: __, ...counted }) => counted),
};

function askCount(
  call: VendorCall,
  wrap: (request: JsonObject, path: string) => JsonObject,
): VendorRequest {
  const { headers, body } = geminiRequest({ ...call, streamUpstream: false });
  const path = modelPath(call.upstreamModel);
  return {
    path: `${path}:countTokens`,
    headers,
    body: Buffer.from(JSON.stringify(wrap(objectOf(parse(body.toString('utf8'))) ?? {}, path))),
  };
}
