import type { Candidate } from '../catalog/snapshot.ts';
import type { Call } from '../providers/adapter.ts';
import type { Quote } from './quote.ts';
import type { ClientRequest } from './request.ts';

/**
 * What is sent to one channel. `outputTokensMax`: set where it is less than the client asks for.
 */
export function callFor(
  request: ClientRequest,
  candidate: Candidate,
  streamUpstream: boolean,
  outputTokensMax: number | undefined,
  quote: Quote | undefined,
  createdMs: number,
): Call {
  return {
    body: request.body,
    bytes: request.bytes,
    publicModel: request.model,
    upstreamModel: candidate.upstreamModel,
    stream: request.stream,
    includeUsage: request.includeUsage,
    streamUpstream,
    outputTokensMax,
    clientHeaders: request.headers,
    image: request.image,
    listen: request.listen,
    speak: request.speak,
    bounds: quote?.boundsFor(candidate),
    asksMode: quote?.asksMode,
    answerId: request.answerId,
    created: Math.floor(createdMs / 1_000),
    dropped: undefined,
    beside: undefined,
    bridged: undefined,
  };
}
