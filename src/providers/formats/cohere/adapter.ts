import type { Adapter, VendorCall, StreamTranslator } from '../../adapter.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { TranslatedStream } from '../../conversation/chat-stream.ts';
import { readCohere, CohereReader } from './response.ts';
import { stopsBeyond } from '../../conversation/stop-text.ts';
import { readStreamed } from '../reply.ts';
import { cohereRequest, cohereStopsMax } from './request.ts';
import { cohereFault } from './fault.ts';
import type { CohereChatRequest } from './types.ts';

const stream = (call: VendorCall<CohereChatRequest>): StreamTranslator =>
  new TranslatedStream(
    call,
    (_call, chunks, meter) => new CohereReader(chunks, meter, call.body.logprobs === true),
    undefined,
    stopsBeyond(call.body.stop, cohereStopsMax),
  );

/** The wire format `cohere-chat`: Cohere's own chat, version 2. */
export const cohereChat: Adapter = {
  ask: cohereRequest,
  read(reply, contentType, call) {
    if (!/event-?stream/.test(contentType)) return readCohere(reply, call);
    return readStreamed(reply, new ChatCollector(call, stream));
  },
  stream,
  collect: (call) => new ChatCollector(call, stream),
  readsMessagesOptions: ['topK', 'budget'],
  fault: cohereFault,
};
