import type { Principal } from '../accounts/principal.ts';
import { editJsonBytes, isObject } from '../base/json.ts';
import type { Skeleton } from '../base/long-strings.ts';
import type { Quantities } from '../base/quantities.ts';
import { refuse } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import { type ClientFormat, type ApiRequest, defaultsWithoutText } from '../gateway/accept.ts';
import { vectorUsageText } from '../providers/formats/embeddings/vectors.ts';
import { chatEnvelope } from './errors.ts';
import {
  type RequestBody,
  optionalInteger,
  refuseType,
  requiredString,
  optionalBoolean,
} from './request-body.ts';

/**
 * The format of endpoints that never stream. `counted` writes Tollgate's count into a response
 * whose vendor reported none.
 */
export function wholeFormat(
  counted?: (answer: Buffer, quantities: Quantities) => Buffer,
): ClientFormat {
  return {
    done: '',
    keepAlive: '',
    errorEvent: chatEnvelope.event,
    ...(counted === undefined ? {} : { counted: { whole: counted, event: () => '' } }),
  };
}

/** The most inputs of one request, as in the convention (wire-formats §1.3). */
export const embeddingInputsMax = 2_048;
export const embeddingEncodings = ['float', 'base64'];

export const embeddingsFormat: ClientFormat = wholeFormat((answer, quantities) =>
  editJsonBytes(answer, [{ path: ['usage'], json: vectorUsageText(inputTokens(quantities)) }]),
);

/**
 * POST /v1/embeddings: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseEmbeddings(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model = requiredString(body, 'model');
  const tokens = checkEmbeddingInput(body['input']);
  checkEncoding(body['encoding_format']);
  optionalInteger(body, 'dimensions', 1, Number.MAX_SAFE_INTEGER);
  const { user } = body;
  if (user !== undefined && user !== null && typeof user !== 'string')
    refuseType('user', 'a string', user);
  return {
    id,
    principal,
    capability: 'embeddings',
    model,
    body,
    bytes,
    skeleton,
    stream: false,
    ...defaultsWithoutText,
    ...(tokens === undefined ? {} : { textTokensMax: tokens }),
    text: () => (tokens === undefined ? [body['input']].flat().join(' ') : ''),
    answerId: `embd-${id.slice(4)}`,
  };
}

/**
 * A text, texts, tokens, or lists of tokens. Returns how many tokens there are, where the input is
 * tokens.
 */
function checkEmbeddingInput(input: unknown): number | undefined {
  if (input === undefined || input === null) refuse('missing_parameter', { param: 'input' });
  if (typeof input === 'string') return checkText('input', input);
  if (!Array.isArray(input)) refuseType('input', 'a string or an array', input);
  if (input.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  const first: unknown = input[0];
  if (typeof first === 'number') return checkTokens('input', input);
  if (input.length > embeddingInputsMax)
    refuse('out_of_range', {
      param: 'input',
      expected: `of at most ${embeddingInputsMax} items`,
      got: input.length,
    });
  if (!Array.isArray(first)) return checkTexts(input);
  let tokens = 0;
  for (const [i, list] of input.entries()) {
    if (!Array.isArray(list)) refuseType(`input[${i}]`, 'an array of tokens', list);
    if (list.length === 0)
      refuse('invalid_value', { param: `input[${i}]`, why: 'it must not be empty.' });
    tokens += checkTokens(`input[${i}]`, list);
  }
  return tokens;
}

function checkTexts(input: readonly unknown[]): undefined {
  for (const [i, text] of input.entries()) {
    if (typeof text !== 'string')
      refuseType(
        `input[${i}]`,
        isObject(text) ? 'a string: vectors are made of text' : 'a string',
        text,
      );
    checkText(`input[${i}]`, text);
  }
}

function checkText(param: string, text: string): undefined {
  if (text === '') refuse('invalid_value', { param, why: 'it must not be empty.' });
}

function checkTokens(param: string, tokens: readonly unknown[]): number {
  for (const [i, token] of tokens.entries())
    if (typeof token !== 'number' || !Number.isInteger(token) || token < 0)
      refuseType(`${param}[${i}]`, 'a token (a whole number)', token);
  return tokens.length;
}

function checkEncoding(encoding: unknown): void {
  if (encoding === undefined || encoding === null) return;
  if (typeof encoding !== 'string') refuseType('encoding_format', 'a string', encoding);
  if (!embeddingEncodings.includes(encoding))
    refuse('invalid_value', {
      param: 'encoding_format',
      why: `'${encoding}' is not one of ${embeddingEncodings.join(', ')}.`,
    });
}

export const documentsMax = 2_048;
const bytesPerToken = 3;
/**
 * A search unit is one query and this many documents of this many tokens, the query's included
 * (docs.cohere.com/docs/how-does-cohere-pricing-work, 2026-08).
 */
const documentsAUnit = 100;
const tokensADocument = 500;
/** Text beyond this is estimated, not counted (`text` of a request). */
const countedTokensMax = 1_000_000;

export const rerankFormat = wholeFormat((answer, quantities) =>
  editJsonBytes(answer, [{ path: ['usage'], json: vectorUsageText(inputTokens(quantities)) }]),
);

/**
 * POST /v1/rerank: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseRerank(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model = requiredString(body, 'model');
  const query = requiredString(body, 'query');
  const documents = checkDocuments(body['documents']);
  optionalInteger(body, 'top_n', 1, Number.MAX_SAFE_INTEGER);
  optionalBoolean(body, 'return_documents');
  // A model reads the query with each document.
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
    skeleton,
    stream: false,
    ...defaultsWithoutText,
    textTokensMax,
    units: Math.ceil(
      tokens.reduce((sum, count) => sum + Math.ceil(count / tokensADocument), 0) / documentsAUnit,
    ),
    // A query repeated two thousand times is more text than a string holds.
    text: () =>
      textTokensMax > countedTokensMax
        ? ''
        : documents.map((document) => `${query} ${document}`).join(' '),
    answerId: `rerank-${id.slice(4)}`,
  };
}

/** Strings, or objects with a `text`. */
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

/** The convention's model for requests that name none. */
const modelUsual = 'omni-moderation-latest';
export const moderationInputsMax = 2_048;

export const moderationsFormat = wholeFormat();

/**
 * POST /v1/moderations: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseModeration(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model =
    body['model'] === undefined || body['model'] === null
      ? modelUsual
      : requiredString(body, 'model');
  const { texts, images, imageBytes } = checkModerationInput(body['input']);
  return {
    id,
    principal,
    capability: 'moderations',
    model,
    body,
    bytes,
    skeleton,
    stream: false,
    ...defaultsWithoutText,
    includeUsage: false,
    media:
      images.length === 0 ? defaultsWithoutText.media : new Map([['image', images[0] ?? 'input']]),
    mediaCount: images.length,
    mediaBytes: imageBytes,
    text: () => texts.join(' '),
    answerId: `modr-${id.slice(4)}`,
  };
}

interface ModerationInput {
  readonly texts: string[];
  /** The parameters where images stand. */
  readonly images: string[];
  imageBytes: number;
}

/** A string, strings, or the text and image parts of one input. */
function checkModerationInput(value: unknown): ModerationInput {
  const input: ModerationInput = { texts: [], images: [], imageBytes: 0 };
  if (value === undefined || value === null) refuse('missing_parameter', { param: 'input' });
  if (typeof value === 'string') return { ...input, texts: [value] };
  if (!Array.isArray(value)) refuseType('input', 'a string or an array', value);
  if (value.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  if (value.length > moderationInputsMax)
    refuse('out_of_range', {
      param: 'input',
      expected: `of at most ${moderationInputsMax} items`,
      got: value.length,
    });
  const parts = isObject(value[0]);
  for (const [i, one] of value.entries()) {
    if (parts) checkPart(`input[${i}]`, one, input);
    else if (typeof one === 'string') input.texts.push(one);
    else refuseType(`input[${i}]`, 'a string', one);
  }
  return input;
}

function checkPart(param: string, part: unknown, input: ModerationInput): void {
  if (!isObject(part)) refuseType(param, 'an object', part);
  if (part['type'] === 'text') {
    if (typeof part['text'] !== 'string') refuseType(`${param}.text`, 'a string', part['text']);
    input.texts.push(part['text']);
    return;
  }
  if (part['type'] !== 'image_url')
    refuse('invalid_value', {
      param: `${param}.type`,
      why: `'${String(part['type'])}' is not one of text, image_url.`,
    });
  const image = part['image_url'];
  const url = isObject(image) ? image['url'] : undefined;
  if (typeof url !== 'string') refuseType(`${param}.image_url.url`, 'a string', url);
  input.images.push(param);
  input.imageBytes += url.length;
}
