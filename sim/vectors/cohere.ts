import type { Complaint } from '../dialect.ts';
import { type Json, list, number, text } from '../json.ts';
import type { Writer } from '../play.ts';
import { countTokens } from '../tokens.ts';
import { type VectorEndpoint, endpointAt } from './endpoint.ts';
import { vectorOf } from './model.ts';
import { wholeWriter } from './writer.ts';
import type { RerankRules } from './rerank.ts';

const textsMax = 96;
const types = ['search_document', 'search_query', 'classification', 'clustering', 'image'];
const sizes = [256, 512, 1_024, 1_536];

/**
 * `/v2/embed`, as docs.cohere.com/reference/embed describes it, 2026-08. Bedrock uses the same
 * format.
 */
export function embedComplaint(raw: Json): Complaint | undefined {
  const texts = list(raw['texts']);
  if (texts.length === 0)
    return { message: 'invalid request: at least one of texts, images or inputs is required' };
  if (texts.length > textsMax)
    return {
      message: `invalid request: total number of texts must be at most ${textsMax} - received ${texts.length}`,
    };
  if (texts.some((one) => typeof one !== 'string'))
    return { message: 'invalid type: parameter texts must be an array of strings' };
  if (!types.includes(String(raw['input_type'])))
    return {
      message: `invalid request: valid input_type must be provided, one of ${types.join(', ')}`,
    };
  const size = raw['output_dimension'];
  if (size !== undefined && !sizes.includes(Number(size)))
    return { message: `invalid output_dimension: must be one of ${sizes.join(', ')}` };
  const stranger = Object.keys(raw).find((name) => !members.has(name));
  return stranger === undefined
    ? undefined
    : { message: `unknown field: parameter '${stranger}' is not a valid field` };
}

const members = new Set(
  'model texts images inputs input_type max_tokens output_dimension embedding_types truncate priority'.split(
    ' ',
  ),
);

export const embedTexts = (raw: Json): string[] => list(raw['texts']).map((one) => text(one) ?? '');

/** `reports`: the response reports billed units. */
export function embedWriter(raw: Json, reports: boolean): Writer {
  const texts = embedTexts(raw);
  const size = number(raw['output_dimension']) ?? 1_536;
  const float = texts.map((one) => vectorOf(one, size));
  const billed = {
    input_tokens: texts.reduce((sum, one) => sum + countTokens(one), 0),
    image_tokens: 0,
  };
  const byType = list(raw['embedding_types']).length > 0;
  return wholeWriter(({ id, usageReported }) => ({
    id,
    texts,
    embeddings: byType ? { float } : float,
    response_type: byType ? 'embeddings_by_type' : 'embeddings_floats',
    ...(reports &&
      usageReported && { meta: { api_version: { version: '2' }, billed_units: billed } }),
  }));
}

/** `/v2/rerank`: one unit for each hundred documents, rounded up. */
const reranking: RerankRules = {
  documentsMax: 10_000,
  only: 'model query documents top_n max_tokens_per_doc priority'.split(' '),
  texts: true,
  cost: (_, documents) => ({
    meta: {
      api_version: { version: '2' },
      billed_units: { search_units: Math.ceil(documents / 100) },
    },
  }),
};

/** Cohere's endpoints other than chat. */
export function cohereEndpoint(path: string): VectorEndpoint | undefined {
  if (path === '/embed')
    return {
      complaint: embedComplaint,
      texts: embedTexts,
      writer: (raw) => embedWriter(raw, true),
    };
  return endpointAt(path, { rerank: reranking });
}
