import type { Reply } from '../dialect.ts';
import { status, type Surface } from '../google/refusal.ts';
import { type Json, list, number, object, objectIn, text } from '../json.ts';
import { type ModelRequest, modelRequest, type OwnCall } from '../own-format.ts';
import { countTokens } from '../tokens.ts';
import { vectorOf } from './model.ts';
import { asQuestion, wholeWriter } from './writer.ts';

const dimensionsUsual = 3_072;
const batchMax = 100;

/**
 * Google's embedding models (ai.google.dev/api/embeddings and Vertex's text embeddings API,
 * 2026-08); undefined for any other method.
 */
export function embedding(
  call: OwnCall,
  named: string,
  method: string,
  { api, models }: Surface,
): Reply | ModelRequest | undefined {
  if (
    !(api === 'gemini' && (method === 'batchEmbedContents' || method === 'embedContent')) &&
    !(api === 'vertex' && method === 'predict')
  )
    return undefined;
  if (!/embed|^sim-/.test(named))
    return status(
      404,
      `${models}${named} is not found for API version v1beta, or is not supported for embedContent.`,
    );
  const raw = objectIn(call.body);
  if (raw === undefined) return status(400, 'Invalid JSON payload received.');
  if (api !== 'gemini') return predict(raw, named);
  if (method === 'batchEmbedContents') return batch(list(raw['requests']).map(object), named);
  // The path names the model of a single request.
  return batch([{ ...raw, model: named }], named, true);
}

/** `single`: the answer has one vector. */
function batch(requests: readonly Json[], named: string, single = false): Reply | ModelRequest {
  if (requests.length === 0 || requests.length > batchMax)
    return status(
      400,
      `* BatchEmbedContentsRequest.requests: at most ${batchMax} requests can be in one batch`,
    );
  const texts: string[] = [];
  for (const [i, request] of requests.entries()) {
    if (typeof request['model'] !== 'string' || !request['model'].endsWith(named))
      return status(
        400,
        `* BatchEmbedContentsRequest.requests[${i}].model: unexpected model name format`,
      );
    const parts = list(object(request['content'])['parts']).map((part) =>
      text(object(part)['text']),
    );
    // The parts of one content have one vector (ai.google.dev/gemini-api/docs/embeddings, 2026-11).
    if (parts.length === 0 || parts.some((part) => part === undefined || part === ''))
      return status(400, `* EmbedContentRequest.content: contents is empty`);
    texts.push(parts.join('\n'));
  }
  const size = number(requests[0]?.['outputDimensionality']) ?? dimensionsUsual;
  const tokens = sum(texts);
  // Recorded: the first generation reports no tokens.
  const usage = named.startsWith('gemini-embedding-001')
    ? undefined
    : { promptTokenCount: tokens, promptTokenDetails: [{ modality: 'TEXT', tokenCount: tokens }] };
  const vectors = texts.map((one) => ({ values: vectorOf(one, size) }));
  const writer = wholeWriter(({ usageReported }) => ({
    ...(single ? { embedding: vectors[0] } : { embeddings: vectors }),
    ...(usageReported && usage && { usageMetadata: usage }),
  }));
  return modelRequest(named, asQuestion(texts), false, writer);
}

function predict(raw: Json, named: string): Reply | ModelRequest {
  const instances = list(raw['instances']).map(object);
  const most = named.startsWith('gemini-') ? 1 : 250;
  if (instances.length === 0 || instances.length > most)
    return status(
      400,
      `${instances.length} instance(s) is not allowed in prediction. Max allowed instances is ${most}.`,
    );
  const texts = instances.map((instance) => text(instance['content']) ?? '');
  if (texts.includes('')) return status(400, 'The text content is empty.');
  const size = number(object(raw['parameters'])['outputDimensionality']) ?? dimensionsUsual;
  const writer = wholeWriter(({ usageReported }) => ({
    predictions: texts.map((one) => ({
      embeddings: {
        values: vectorOf(one, size),
        statistics: { truncated: false, ...(usageReported && { token_count: countTokens(one) }) },
      },
    })),
    metadata: { billableCharacterCount: texts.join('').replace(/\s/g, '').length },
  }));
  return modelRequest(named, asQuestion(texts), false, writer);
}

const sum = (texts: readonly string[]): number =>
  texts.reduce((total, one) => total + countTokens(one), 0);
