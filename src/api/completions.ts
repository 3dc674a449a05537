import { refuse } from '../base/refusal.ts';
import type { ApiRequest } from '../gateway/api-request.ts';
import {
  choicesMax,
  completionFormat,
  includesUsage,
  sampling,
  streaming,
  streamMembers,
} from './chat.ts';
import * as schema from './schema.ts';
import {
  checkLength,
  checksOf,
  costWish,
  fallbackModels,
  type ParsedJson,
  type ParserContext,
  readersOf,
  refuseType,
  type RequestBody,
  withCost,
  withFallbacks,
} from './request-body.ts';

const bestOfMax = 20;
const promptsMax = 2_048;
/** OpenAI allows 5; other vendors return more. */
const logprobsMax = 20;

const writing = {
  logprobs: schema.integer(
    'Number of most likely tokens to return for each position.',
    0,
    logprobsMax,
  ),
  echo: schema.boolean('Whether to repeat the prompt in the answer.'),
  suffix: schema.string('Text after the answer.'),
};

/** The schema of a request's body. */
export const completionRequestSchema = schema.request(
  {
    model: schema.string('Any chat model or completion model.', { minLength: 1 }),
    prompt: schema.checkedBy(
      checkPrompt,
      schema.anyOf(
        `A text, tokens, or up to ${promptsMax} of either.`,
        { type: 'string' },
        { type: 'array', minItems: 1, items: { type: 'string' }, maxItems: promptsMax },
        { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
        {
          type: 'array',
          minItems: 1,
          maxItems: promptsMax,
          items: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } },
        },
      ),
    ),
  },
  {
    ...sampling,
    max_tokens: schema.integer('Maximum number of output tokens.', 0),
    n: schema.integer('Number of answers per prompt.', 1, choicesMax),
    best_of: schema.integer(
      'The number of answers that the model writes for each prompt. The best `n` are returned, and all are charged.',
      1,
      bestOfMax,
    ),
    models: fallbackModels,
    usage: costWish,
    ...streamMembers,
    ...writing,
  },
  { allOf: [streaming] },
);
const read = readersOf(completionRequestSchema);
const checkWriting = checksOf({ ...sampling, ...writing });

export const completionsFormat = completionFormat('text_completion');

/** POST /v1/completions */
export function parseCompletion(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = read.model(body);
  const prompts = read.prompt(body);
  const stream = read.stream(body) ?? false;
  const includeUsage = includesUsage(body, stream);
  const outputTokensRequested = read.max_tokens(body);
  const answers = checkChoices(body, stream);
  checkWriting(body);
  return withCost(
    withFallbacks({
      id,
      principal,
      capability: 'completions',
      model,
      body,
      bytes,
      skeleton,
      stream,
      includeUsage,
      choices: prompts * answers,
      outputTokensRequested,
      media: new Map(),
      mediaCount: 0,
      textBytes: bytes.length,
      text: () => completionText(body['prompt']),
      answerId: `cmpl-${id.slice(4)}`,
    }),
  );
}

const isToken = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

/** How many prompts there are: a text, tokens, or a list of either. */
function checkPrompt(prompt: unknown): number {
  if (typeof prompt === 'string') return 1;
  if (!Array.isArray(prompt)) refuseType('prompt', 'a string or an array', prompt);
  if (prompt.length === 0)
    refuse('invalid_value', { param: 'prompt', why: 'at least one prompt is needed.' });
  const [first] = prompt;
  if (isToken(first)) {
    const wrong = prompt.findIndex((token) => !isToken(token));
    if (wrong >= 0) refuseType(`prompt[${wrong}]`, 'a token', prompt[wrong]);
    return 1;
  }
  checkLength(prompt, 'prompt', promptsMax, 'prompts');
  for (const [i, one] of prompt.entries()) {
    if (
      typeof one === typeof first &&
      (typeof one === 'string' || (Array.isArray(one) && one.length > 0 && one.every(isToken)))
    )
      continue;
    refuseType(
      `prompt[${i}]`,
      typeof first === 'string' ? 'a string' : 'a string or an array of tokens',
      one,
    );
  }
  return prompt.length;
}

/**
 * How many answers the model writes for each prompt: the vendor returns only `n` of `best_of`, but
 * charges for all.
 */
function checkChoices(body: RequestBody, stream: boolean): number {
  const n = read.n(body) ?? 1;
  const bestOf = read.best_of(body) ?? n;
  if (bestOf < n)
    refuse('invalid_value', {
      param: 'best_of',
      why: `it must not be less than 'n', which is ${n}.`,
    });
  if (stream && bestOf > n)
    refuse('invalid_value', {
      param: 'best_of',
      why: "the best answer is not known while it is streamed; it must equal 'n'.",
    });
  return bestOf;
}

/** Stands for one token that the client sent as a number: it is counted, never sent. */
const wordPerToken = ' a';

function completionText(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt;
  if (typeof prompt === 'number') return wordPerToken;
  return Array.isArray(prompt) ? prompt.map(completionText).join('') : '';
}
