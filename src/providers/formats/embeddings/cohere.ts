import type { Fault } from '../../../base/fault.ts';
import type { VendorAnswer, VendorCall, WholeAdapter } from '../../adapter.ts';
import { cohereFault, cohereFaultWithin } from '../cohere/fault.ts';
import { notSent } from '../../not-sent.ts';
import {
  embeddingsMembers,
  embeddingsParts,
  type EmbeddingsRequest,
  textsOf,
  vectorsAnswer,
} from './vectors.ts';
import {
  type Documented,
  type JsonObject,
  objectOf,
  rawElements,
  rawMembers,
  textOf,
} from '../../../base/json.ts';
import { protocolFault } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn } from '../reply.ts';

/** An answer, beside its vectors (docs.cohere.com/reference/embed, 2026-08). */
interface CohereEmbedAnswer {
  readonly id: string;
  readonly meta: { readonly billed_units: { readonly input_tokens: number } };
}

/** A request; clients may write Cohere's own members (same page). */
interface CohereEmbedRequest extends EmbeddingsRequest {
  readonly input_type?: string;
  readonly truncate?: string;
}

/** docs.cohere.com/reference/embed, 2026-08. */
export const cohereTextsMax = 96;

/** Cohere's own members that a client may write. */
export const cohereEmbedMembers = ['input_type', 'truncate'];

/**
 * The request for Cohere's embedding models, at Cohere and at other hosts. OpenAI's format does not
 * say what the vectors are for: the default is documents to be searched.
 */
export function cohereEmbedBody(call: VendorCall<CohereEmbedRequest>): JsonObject {
  const { dimensions, input_type: type, truncate } = call.body;
  return {
    texts: textsOf(call),
    input_type: textOf(type) ?? 'search_document',
    embedding_types: ['float'],
    ...(dimensions != null && { output_dimension: dimensions }),
    ...(typeof truncate === 'string' && { truncate }),
  };
}

/** Reads the vectors from an object by type, or from a list if the request named no type. */
export function readCohereEmbed(reply: Buffer, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<CohereEmbedAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const embeddings = rawMembers(reply.toString('latin1').trim()).get('embeddings') ?? '';
  const vectors = rawElements(rawMembers(embeddings).get('float') ?? embeddings);
  if (vectors.length === 0)
    return cohereFaultWithin(body) ?? protocolFault('an answer without vectors');
  const billed = objectOf(objectOf(body.meta)?.billed_units);
  return vectorsAnswer(call, vectors, billed?.input_tokens, textOf(body.id));
}

/** The wire format of Cohere's `/v2/embed`. */
export const cohereEmbed: WholeAdapter = {
  textOnly: true,
  split: (call) => embeddingsParts(call, cohereTextsMax),
  ask: (call) => ({
    path: '/embed',
    headers: jsonHeaders,
    body: Buffer.from(JSON.stringify({ model: call.upstreamModel, ...cohereEmbedBody(call) })),
    dropped: notSent(call, embeddingsMembers, cohereEmbedMembers),
  }),
  read: (reply, _, call) => readCohereEmbed(reply, call),
  fault: cohereFault,
};
