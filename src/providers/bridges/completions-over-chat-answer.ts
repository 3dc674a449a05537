import type { Answer, Call } from '../adapter.ts';
import { onlyPrompt } from '../wire/openai-completions-ask.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from '../wire/json.ts';

/** What a choice begins with when the client wants its prompt back. */
export const echoOf = (call: Call): string => (call.body['echo'] === true ? onlyPrompt(call) : '');

/** Completions know three ends. */
export const completionEnd = (finish: unknown): string =>
  finish === 'length' || finish === 'content_filter' ? finish : 'stop';

/** A chat completion as a text completion. Thoughts are not part of a text. */
export function completionFrom(answer: Answer, call: Call): JsonObject {
  const body = objectOf(parse(answer.body.toString('utf8'))) ?? {};
  const echo = echoOf(call);
  const choices = listOf(body['choices'])
    .filter(isObject)
    .map((choice) => {
      const said = objectOf(choice['message']) ?? {};
      const text = echo + (textOf(said['content']) ?? '') + (textOf(said['refusal']) ?? '');
      const logprobs = logprobsFrom(choice['logprobs'], promptLength(call));
      return {
        text,
        index: choice['index'],
        logprobs,
        finish_reason: completionEnd(choice['finish_reason']),
      };
    });
  const { created, usage, system_fingerprint: fingerprint } = body;
  return {
    id: call.answerId,
    object: 'text_completion',
    created,
    model: call.publicModel,
    ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
    choices,
    ...(usage === undefined ? {} : { usage }),
  };
}

/** Offsets count from the prompt's begin, as in the convention. */
export const promptLength = (call: Call): number => onlyPrompt(call).length;

/**
 * Chat's logprobs, a list of tokens, as completions have them: a list for each member. `from`: the
 * offset of the first token.
 */
export function logprobsFrom(value: unknown, from: number): JsonObject | null {
  const told = objectOf(value);
  if (told === undefined) return null;
  let offset = from;
  const offsets: number[] = [];
  const tokens = [...listOf(told['content']), ...listOf(told['refusal'])].filter(isObject);
  for (const { token } of tokens) {
    offsets.push(offset);
    offset += (textOf(token) ?? '').length;
  }
  return {
    text_offset: offsets,
    token_logprobs: tokens.map(({ logprob }) => logprob),
    tokens: tokens.map(({ token }) => token),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(
        listOf(top)
          .filter(isObject)
          .map(({ token, logprob }) => [textOf(token) ?? '', logprob]),
      ),
    ),
  };
}
