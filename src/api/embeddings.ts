import type { Principal } from '../accounts/principal.ts';
import { editBytes } from '../base/json-edit.ts';
import { refuse } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import { type ClientRequest, unwritten } from '../gateway/request.ts';
import { vectorUsageText } from '../providers/wire/vectors.ts';
import { type Body, isObject, optionalInteger, refuseType, requiredString } from './check.ts';
import { wholeFormat } from './whole-format.ts';

/** Inputs of one request, as in the convention (wire-formats §1.3). */
export const inputsMax = 2_048;
export const encodings = ['float', 'base64'];

export const embeddingsFormat: ClientFormat = wholeFormat((answer, quantities) =>
  editBytes(answer, [{ path: ['usage'], json: vectorUsageText(inputTokens(quantities)) }]),
);

/**
 * POST /v1/embeddings: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseEmbeddings(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const model = requiredString(body, 'model');
  const tokens = checkInput(body['input']);
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
    stream: false,
    ...unwritten,
    ...(tokens === undefined ? {} : { textTokensMax: tokens }),
    text: () => (tokens === undefined ? [body['input']].flat().join(' ') : ''),
    answerId: `embd-${id.slice(4)}`,
  };
}

/**
 * A text, texts, tokens, or lists of tokens. Returns how many tokens there are, where the input is
 * tokens.
 */
function checkInput(input: unknown): number | undefined {
  if (input === undefined || input === null) refuse('missing_parameter', { param: 'input' });
  if (typeof input === 'string') return checkText('input', input);
  if (!Array.isArray(input)) refuseType('input', 'a string or an array', input);
  if (input.length === 0) refuse('invalid_value', { param: 'input', why: 'it must not be empty.' });
  const first: unknown = input[0];
  if (typeof first === 'number') return checkTokens('input', input);
  if (input.length > inputsMax)
    refuse('out_of_range', {
      param: 'input',
      expected: `of at most ${inputsMax} items`,
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
  if (!encodings.includes(encoding))
    refuse('invalid_value', {
      param: 'encoding_format',
      why: `'${encoding}' is not one of ${encodings.join(', ')}.`,
    });
}
