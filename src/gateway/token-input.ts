import { setImmediate as nextTurn } from 'node:timers/promises';
import { editJsonBytes, jsonText } from '../base/json.ts';
import { refusal } from '../base/refusal.ts';
import type { VendorCall } from '../providers/adapter.ts';
import type { NotSent } from './attempt.ts';

/**
 * OpenAI's own limit of one request (developers.openai.com/api/reference/resources/embeddings,
 * 2026-11).
 */
const tokenInputMax = 300_000;
/** Tokens decoded in one turn of the event loop: they take a hundredth of a second. */
const tokensAtOnce = 32_768;

/**
 * cl100k_base has tokens 0 to 100255, and these (github.com/openai/tiktoken,
 * tiktoken_ext/openai_public.py).
 */
const plainTokens = 100_256;
const specialTokens = new Set([100_257, 100_258, 100_259, 100_260, 100_276]);

/** Whether the input of embeddings is token ids instead of text. */
export function hasTokenInput({ input }: VendorCall['body']): boolean {
  if (!Array.isArray(input)) return false;
  const first: unknown = input[0];
  return typeof first === 'number' || Array.isArray(first);
}

/**
 * The call with its token ids decoded, for vendors that read text only. cl100k_base is the encoding
 * of OpenAI's embedding models, and the one that LangChain uses for models that it does not know.
 * An id that cannot be decoded is a 400, and no vendor gets the request.
 */
export async function withTextInput(call: VendorCall): Promise<VendorCall | NotSent> {
  const { input } = call.body;
  const lists: readonly unknown[] =
    Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const total = lists.reduce<number>(
    (sum, tokens) => sum + (Array.isArray(tokens) ? tokens.length : 0),
    0,
  );
  if (total > tokenInputMax)
    return refused('out_of_range', {
      param: 'input',
      expected: `of at most ${tokenInputMax} tokens, or text`,
      got: total,
    });
  const { decode } = await import('gpt-tokenizer/encoding/cl100k_base');
  const texts: string[] = [];
  let done = 0;
  for (const [i, tokens] of lists.entries()) {
    const ids = numbersIn(tokens);
    const unknown = ids.findIndex((id) => id >= plainTokens && !specialTokens.has(id));
    if (unknown >= 0) return unknownToken(pathOf(input, i, unknown), ids[unknown] ?? 0);
    // A token that is only a part of a character decodes to nothing, and no vendor takes an empty
    // text.
    texts.push(decode(ids) || '\ufffd');
    done += ids.length;
    if (done < tokensAtOnce) continue;
    done = 0;
    await nextTurn();
  }
  const body = { ...call.body, input: texts };
  return {
    ...call,
    body,
    bytes: editJsonBytes(call.bytes, [{ path: ['input'], json: jsonText(texts) }], call.skeleton),
  };
}

const numbersIn = (tokens: unknown): number[] =>
  Array.isArray(tokens) ? tokens.filter((token): token is number => typeof token === 'number') : [];

/** `input[3]` of one list, `input[0][3]` of several. */
const pathOf = (input: unknown, list: number, at: number): string =>
  Array.isArray(input) && typeof input[0] === 'number' ? `input[${at}]` : `input[${list}][${at}]`;

const unknownToken = (param: string, id: number): NotSent =>
  refused('invalid_value', {
    param,
    why: `${id} is no token of cl100k_base, in which token ids are read for this model. Send text instead.`,
  });

const refused = (...why: Parameters<typeof refusal>): NotSent => ({
  kind: 'own_refusal',
  why: refusal(...why),
});
