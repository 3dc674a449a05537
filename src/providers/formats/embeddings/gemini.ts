import type { VendorRequest, VendorCall, WholeAdapter } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import {
  embeddingsMembers,
  embeddingsParts,
  type EmbeddingsRequest,
  textsOf,
  vectorsAnswer,
} from './vectors.ts';
import { modelPath } from '../gemini/request.ts';
import { geminiFault, geminiFaultWithin } from '../gemini/fault.ts';
import type { UsageMetadata } from '../gemini/types.ts';
import {
  countOf,
  type Documented,
  type JsonObject,
  objectOf,
  parse,
  rawElements,
  rawMembers,
  textOf,
} from '../../../base/json.ts';
import { protocolFault } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn } from '../reply.ts';

/**
 * An answer of the Gemini API, or of Vertex with its `predictions` (ai.google.dev/api/embeddings
 * and docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings, 2026-08).
 */
interface EmbeddingsAnswer {
  readonly embeddings: readonly unknown[];
  readonly predictions: readonly Prediction[];
  readonly usageMetadata: Pick<UsageMetadata, 'promptTokenCount'>;
}

/** A request; clients may write Google's name of the task (same pages). */
interface GoogleEmbeddingsRequest extends EmbeddingsRequest {
  readonly task_type?: string;
}

/** One vector of Vertex's with its tokens (get-text-embeddings, 2026-08). */
interface Prediction {
  readonly embeddings: { readonly statistics: { readonly token_count: number } };
}

const askWith = (call: VendorCall, method: string, body: JsonObject): VendorRequest => ({
  path: `${modelPath(call.upstreamModel)}:${method}`,
  headers: jsonHeaders,
  body: Buffer.from(JSON.stringify(body)),
  dropped: notSent(call, embeddingsMembers, ['task_type']),
});

/**
 * What the vectors are for, in Google's terms. OpenAI's format has no such member; clients may send
 * Google's.
 */
const taskOf = ({ body }: VendorCall<GoogleEmbeddingsRequest>): string | undefined =>
  textOf(body.task_type);

/**
 * The parsed reply and the JSON text of the list under `name`; a fault when there is no such list.
 */
function listIn(reply: Buffer, name: 'embeddings' | 'predictions') {
  const body: Documented<EmbeddingsAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  if (!Array.isArray(body[name]))
    return geminiFaultWithin(body) ?? protocolFault(`an answer without ${name}`);
  return { body, items: rawElements(rawMembers(reply.toString('latin1').trim()).get(name)) };
}

/**
 * ai.google.dev/api/embeddings, 2026-08: 100 requests in a batch. Newer models report their tokens.
 */
export const geminiEmbeddings: WholeAdapter = {
  textOnly: true,
  split: (call) => embeddingsParts(call, 100),
  ask(call: VendorCall<GoogleEmbeddingsRequest>) {
    const taskType = taskOf(call);
    const { dimensions } = call.body;
    const shared = {
      ...(taskType && { taskType }),
      ...(dimensions != null && { outputDimensionality: dimensions }),
    };
    const model = modelPath(call.upstreamModel).slice(1);
    return askWith(call, 'batchEmbedContents', {
      requests: textsOf(call).map((text) => ({ model, content: { parts: [{ text }] }, ...shared })),
    });
  },
  read(reply, _, call) {
    const told = listIn(reply, 'embeddings');
    if ('kind' in told) return told;
    const vectors = told.items.map((item) => rawMembers(item).get('values') ?? '[]');
    return vectorsAnswer(call, vectors, objectOf(told.body.usageMetadata)?.promptTokenCount);
  },
  fault: geminiFault,
};

/**
 * docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings, 2026-08:
 * Gemini's models take one input at a time, older ones 250.
 */
export const vertexEmbeddings: WholeAdapter = {
  textOnly: true,
  split: (call) => embeddingsParts(call, call.upstreamModel.startsWith('gemini-') ? 1 : 250),
  ask(call: VendorCall<GoogleEmbeddingsRequest>) {
    const task_type = taskOf(call);
    const { dimensions } = call.body;
    return askWith(call, 'predict', {
      instances: textsOf(call).map((content) => ({ content, ...(task_type && { task_type }) })),
      ...(dimensions != null && { parameters: { outputDimensionality: dimensions } }),
    });
  },
  read(reply, _, call) {
    const told = listIn(reply, 'predictions');
    if ('kind' in told) return told;
    const vectors = told.items.map(
      (item) => rawMembers(rawMembers(item).get('embeddings') ?? '').get('values') ?? '[]',
    );
    return vectorsAnswer(call, vectors, sum(told.items.map(tokensOf)));
  },
  fault: geminiFault,
};

function tokensOf(prediction: string): number | undefined {
  const told: Documented<Prediction> | undefined = objectOf(parse(prediction));
  return countOf(objectOf(objectOf(told?.embeddings)?.statistics)?.token_count);
}

function sum(counts: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const count of counts) {
    if (count === undefined) return undefined;
    total += count;
  }
  return total;
}
