import type { Principal } from '../accounts/principal.ts';
import { editBytes } from '../base/json-edit.ts';
import { refuse } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import { type ClientRequest, unwritten } from '../gateway/request.ts';
import { vectorUsageText } from '../providers/wire/vectors.ts';
import {
  type Body,
  isObject,
  optionalBoolean,
  optionalInteger,
  refuseType,
  requiredString,
} from './check.ts';
import { wholeFormat } from './whole-format.ts';

export const documentsMax = 2_048;
const bytesPerToken = 3;
/**
 * A unit of search is a question and so many documents of so many tokens, the question's with them
 * (docs.cohere.com/docs/how-does-cohere-pricing-work, 2026-08).
 */
const documentsAUnit = 100;
const tokensADocument = 500;
/** Text beyond this is estimated, not counted (`text` of a request). */
const countedTokensMax = 1_000_000;

export const rerankFormat = wholeFormat((answer, quantities) =>
  editBytes(answer, [{ path: ['usage'], json: vectorUsageText(inputTokens(quantities)) }]),
);

/**
 * POST /v1/rerank: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseRerank(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const model = requiredString(body, 'model');
  const query = requiredString(body, 'query');
  const documents = checkDocuments(body['documents']);
  optionalInteger(body, 'top_n', 1, Number.MAX_SAFE_INTEGER);
  optionalBoolean(body, 'return_documents');
  // A model reads the question with each document.
  const tokens = documents.map((document) =>
    Math.ceil((Buffer.byteLength(query) + Buffer.byteLength(document)) / bytesPerToken),
  );
  const textTokensMax = tokens.reduce((sum, count) => sum + count, 0);
  return {
    id,
    principal,
    capability: 'rerank',
    model,
    body,
    bytes,
    stream: false,
    ...unwritten,
    textTokensMax,
    units: Math.ceil(
      tokens.reduce((sum, count) => sum + Math.ceil(count / tokensADocument), 0) / documentsAUnit,
    ),
    // A question that is read two thousand times is more text than a string holds.
    text: () =>
      textTokensMax > countedTokensMax
        ? ''
        : documents.map((document) => `${query} ${document}`).join(' '),
    answerId: `rerank-${id.slice(4)}`,
  };
}

/** Texts, or objects that have one. */
function checkDocuments(documents: unknown): string[] {
  if (documents === undefined || documents === null)
    refuse('missing_parameter', { param: 'documents' });
  if (!Array.isArray(documents)) refuseType('documents', 'an array', documents);
  if (documents.length === 0)
    refuse('invalid_value', { param: 'documents', why: 'it must not be empty.' });
  if (documents.length > documentsMax)
    refuse('out_of_range', {
      param: 'documents',
      expected: `of at most ${documentsMax} items`,
      got: documents.length,
    });
  return documents.map((document, i) => {
    if (typeof document === 'string') return document;
    const text = isObject(document) ? document['text'] : undefined;
    return typeof text === 'string'
      ? text
      : refuseType(`documents[${i}]`, 'a string, or an object with a text', document);
  });
}
