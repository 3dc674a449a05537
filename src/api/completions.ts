import type { Principal } from '../accounts/principal.ts';
import type { Skeleton } from '../base/long-strings.ts';
import { refuse } from '../base/refusal.ts';
import type { ApiRequest } from '../gateway/accept.ts';
import { checkSampling, checkStreamOptions, choicesMax, completionFormat } from './chat.ts';
import {
  type RequestBody,
  optionalBoolean,
  optionalInteger,
  refuseType,
  requiredString,
} from './request-body.ts';

export const bestOfMax = 20;
export const promptsMax = 2_048;
/** OpenAI allows 5; other vendors return more. */
export const logprobsMax = 20;

export const completionsFormat = completionFormat('text_completion');

/**
 * POST /v1/completions: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseCompletion(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model = requiredString(body, 'model');
  const prompts = checkPrompt(body['prompt']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const streamOptions = checkStreamOptions(body, stream);
  const outputTokensRequested = optionalInteger(body, 'max_tokens', 0, Number.MAX_SAFE_INTEGER);
  const answers = checkChoices(body, stream);
  checkWriting(body);
  return {
    id,
    principal,
    capability: 'completions',
    model,
    body,
    bytes,
    skeleton,
    stream,
    includeUsage: streamOptions?.['include_usage'] === true,
    choices: prompts * answers,
    outputTokensRequested,
    media: new Map(),
    mediaCount: 0,
    mediaBytes: 0,
    text: () => completionText(body['prompt']),
    answerId: `cmpl-${id.slice(4)}`,
  };
}

const isToken = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

/** How many prompts there are: a text, tokens, or a list of either. */
function checkPrompt(prompt: unknown): number {
  if (prompt === undefined || prompt === null) refuse('missing_parameter', { param: 'prompt' });
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
  if (prompt.length > promptsMax)
    refuse('out_of_range', {
      param: 'prompt',
      expected: `of at most ${promptsMax} prompts`,
      got: prompt.length,
    });
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
  const n = optionalInteger(body, 'n', 1, choicesMax) ?? 1;
  const bestOf = optionalInteger(body, 'best_of', 1, bestOfMax) ?? n;
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

function checkWriting(body: RequestBody): void {
  checkSampling(body);
  optionalInteger(body, 'logprobs', 0, logprobsMax);
  optionalBoolean(body, 'echo');
  const { suffix } = body;
  if (suffix !== undefined && suffix !== null && typeof suffix !== 'string')
    refuseType('suffix', 'a string', suffix);
}

/** Stands for one token that the client sent as a number: it is counted, never sent. */
const wordPerToken = ' a';

function completionText(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt;
  if (typeof prompt === 'number') return wordPerToken;
  return Array.isArray(prompt) ? prompt.map(completionText).join('') : '';
}
