import type { Complaint } from '../dialect.ts';
import { type Json, list, number, object, text } from '../json.ts';
import type { Writer } from '../play.ts';
import { countTokens } from '../tokens.ts';
import { relevanceOf } from './model.ts';
import { wholeWriter } from './writer.ts';

/** The differences between a vendor's reranking and the format that Cohere and Jina share. */
export interface RerankRules {
  readonly documentsMax: number;
  /** Members that it knows. Absent: it ignores unknown ones. */
  readonly only?: readonly string[];
  /** Documents must be strings. */
  readonly texts?: true;
  readonly topN?: string;
  /** The name of the result list. */
  readonly results?: string;
  /** The cost that it reports: tokens, or search units. */
  readonly cost: (tokens: number, documents: number) => Json;
  /** It returns the documents by default. */
  readonly returns?: true;
}

export function rerankComplaint(
  raw: Json,
  { documentsMax, only, texts, topN = 'top_n' }: RerankRules,
): Complaint | undefined {
  const documents = list(raw['documents']);
  const stranger = only && Object.keys(raw).find((name) => !only.includes(name));
  if (stranger !== undefined)
    return {
      param: stranger,
      message: `unknown field: parameter '${stranger}' is not a valid field`,
    };
  if (text(raw['query']) === undefined || raw['query'] === '')
    return { param: 'query', message: 'query must not be empty' };
  if (documents.length === 0)
    return { param: 'documents', message: 'at least one document is needed' };
  if (documents.length > documentsMax)
    return {
      param: 'documents',
      message: `too many documents: ${documents.length} > ${documentsMax}`,
    };
  if (
    documents.some(
      (one) => typeof one !== 'string' && (texts || text(object(one)['text']) === undefined),
    )
  )
    return { param: 'documents', message: 'documents must be strings' };
  const top = raw[topN];
  if (top !== undefined && top !== null && (!Number.isInteger(top) || Number(top) < 1))
    return { param: topN, message: `${topN} must be at least 1` };
  return undefined;
}

export const documentsOf = (raw: Json): string[] =>
  list(raw['documents']).map((one) => text(one) ?? text(object(one)['text']) ?? '');

export function rerankWriter(
  raw: Json,
  { topN = 'top_n', results = 'results', cost, returns }: RerankRules,
): Writer {
  const query = text(raw['query']) ?? '';
  const documents = documentsOf(raw);
  const shows =
    raw['return_documents'] === true || (returns === true && raw['return_documents'] !== false);
  const ranked = documents
    .map((document, index) => ({
      index,
      relevance_score: relevanceOf(query, document),
      ...(shows && { document: { text: document } }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, number(raw[topN]) ?? documents.length);
  const tokens = documents.reduce(
    (sum, document) => sum + countTokens(query) + countTokens(document),
    0,
  );
  return wholeWriter(({ id, model, usageReported }) => ({
    id,
    model,
    [results]: ranked,
    ...(usageReported && cost(tokens, documents.length)),
  }));
}
