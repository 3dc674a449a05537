import { bytesPerTokenInput } from '../base/bytes-per-token.ts';
import { editJsonBytes, isObject } from '../base/json.ts';
import type { Quantities } from '../base/quantities.ts';
import { refuse } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import { type ClientFormat, type ApiRequest, defaultsWithoutText } from '../gateway/api-request.ts';
import { vectorUsageText } from '../providers/formats/embeddings/vectors.ts';
import { chatEnvelope, type Envelope } from './errors.ts';
import * as schema from './schema.ts';
import {
  type ParsedJson,
  type ParserContext,
  checkLength,
  checkText,
  readersOf,
  refuseType,
  refuseUnlisted,
} from './request-body.ts';

const model = schema.string('The model to use.', { minLength: 1 });

/**
 * The format of endpoints that never stream. `counted` writes Tollgate's count into a response
 * whose vendor reported none. `envelope`: how the client's convention writes errors.
 */
export function wholeFormat(
  counted?: (answer: Buffer, quantities: Quantities) => Buffer,
  envelope: Envelope = chatEnvelope,
): ClientFormat {
  return {
    done: '',
    keepAlive: '',
    errorEvent: envelope.event,
    ...(counted === undefined ? {} : { counted: { whole: counted, event: () => '' } }),
  };
}

/**
 * The most inputs of one request, as in the convention
 * (developers.openai.com/api/reference/embeddings, 2026-08).
 */
export const embeddingInputsMax = 2_048;

const tokenList = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };
export const embeddingsRequestSchema = schema.request(
  {
    model,
    input: schema.checkedBy(
      checkEmbeddingInput,
      schema.anyOf(
        `A text, tokens, or up to ${embeddingInputsMax} of either. Tokens are those of cl100k_base; for models that read text alone they are decoded.`,
        { type: 'string', minLength: 1 },
        {
          type: 'array',
          minItems: 1,
          maxItems: embeddingInputsMax,
          items: { type: 'string', minLength: 1 },
        },
        tokenList,
        { type: 'array', minItems: 1, maxItems: embeddingInputsMax, items: tokenList },
      ),
    ),
  },
  {
    encoding_format: schema.choice('Format of the vectors; default `float`.', ['float', 'base64']),
    dimensions: schema.integer('Number of dimensions; for models that support it.', 1),
    user: schema.string('Your ID for your end user.'),
  },
);
const readEmbeddings = readersOf(embeddingsRequestSchema);

/** The format of embeddings and of ranks. */
export const vectorsFormat = wholeFormat((answer, quantities) =>
  editJsonBytes(answer, [{ path: ['usage'], json: vectorUsageText(inputTokens(quantities)) }]),
);

/** POST /v1/embeddings */
export function parseEmbeddings(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = readEmbeddings.model(body);
  const tokens = readEmbeddings.input(body);
  readEmbeddings.encoding_format(body);
  readEmbeddings.dimensions(body);
  readEmbeddings.user(body);
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
    textBytes: bytes.length,
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
  if (typeof input === 'string') {
    checkText(input, 'input');
    return undefined;
  }
  if (!Array.isArray(input)) refuseType('input', 'a string or an array', input);
  if (input.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  const first: unknown = input[0];
  if (typeof first === 'number') return checkTokens('input', input);
  checkLength(input, 'input', embeddingInputsMax, 'items');
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
    checkText(text, `input[${i}]`);
  }
}

function checkTokens(param: string, tokens: readonly unknown[]): number {
  for (const [i, token] of tokens.entries())
    if (typeof token !== 'number' || !Number.isInteger(token) || token < 0)
      refuseType(`${param}[${i}]`, 'a token (a whole number)', token);
  return tokens.length;
}

const documentsMax = 2_048;
/**
 * A search unit is one query and this many documents of this many tokens, the query's included
 * (docs.cohere.com/docs/how-does-cohere-pricing-work, 2026-08).
 */
const documentsAUnit = 100;
const tokensADocument = 500;
/** Text beyond this is estimated, not counted (`text` of a request). */
const countedTokensMax = 1_000_000;

export const rerankRequestSchema = schema.request(
  {
    model,
    query: schema.string('The query.', { minLength: 1 }),
    documents: schema.array(
      'Texts, or objects with a `text`.',
      {
        anyOf: [
          { type: 'string' },
          schema.request({ text: schema.string('Text of the document.') }),
        ],
      },
      { minItems: 1, maxItems: documentsMax },
    ),
  },
  {
    top_n: schema.integer('Number of results; default: all.', 1),
    return_documents: schema.boolean('Whether to return the documents.'),
  },
);
const readRerank = readersOf(rerankRequestSchema);

/** POST /v1/rerank */
export function parseRerank(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = readRerank.model(body);
  const query = readRerank.query(body);
  const documents = readRerank.documents(body).map(documentText);
  readRerank.top_n(body);
  readRerank.return_documents(body);
  // A model reads the query with each document.
  const tokens = documents.map((document) =>
    Math.ceil((Buffer.byteLength(query) + Buffer.byteLength(document)) / bytesPerTokenInput),
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
    textBytes: bytes.length,
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

/** A string, or an object with a `text`. */
function documentText(document: unknown, i: number): string {
  const text = isObject(document) ? document['text'] : document;
  return typeof text === 'string'
    ? text
    : refuseType(`documents[${i}]`, 'a string, or an object with a text', document);
}

/** The convention's model for requests that name none. */
const modelUsual = 'omni-moderation-latest';
const moderationInputsMax = 2_048;
const moderationTypes = ['text', 'image_url'];

export const moderationRequestSchema = schema.request(
  {
    input: schema.checkedBy(
      checkModerationInput,
      schema.anyOf(
        'A text, several texts, or a list of parts (texts and images) that are checked together.',
        { type: 'string' },
        { type: 'array', minItems: 1, maxItems: moderationInputsMax, items: { type: 'string' } },
        {
          type: 'array',
          minItems: 1,
          maxItems: moderationInputsMax,
          items: schema.request({
            type: schema.choice('Type of the part.', moderationTypes),
          }),
        },
      ),
    ),
  },
  { model },
);
const readModeration = readersOf(moderationRequestSchema);

export const moderationsFormat = wholeFormat();

/** POST /v1/moderations */
export function parseModeration(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = readModeration.model(body) ?? modelUsual;
  const { texts, images, imageBytes } = readModeration.input(body);
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
    textBytes: bytes.length - imageBytes,
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
  if (typeof value === 'string') return { ...input, texts: [value] };
  if (!Array.isArray(value)) refuseType('input', 'a string or an array', value);
  if (value.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  checkLength(value, 'input', moderationInputsMax, 'items');
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
    refuseUnlisted(String(part['type']), `${param}.type`, moderationTypes);
  const image = part['image_url'];
  const url = isObject(image) ? image['url'] : undefined;
  if (typeof url !== 'string') refuseType(`${param}.image_url.url`, 'a string', url);
  input.images.push(param);
  input.imageBytes += url.length;
}
