import { expect, test } from 'vitest';
import { context, refusalOf, sentJson } from '../../test/support/parsed-request.ts';
import { refusals } from '../base/refusal.ts';
import type { RequestBody } from './request-body.ts';
import { completionsFormat, parseCompletion } from './completions.ts';

const hello = { model: 'm', prompt: 'Once upon a time' };
const parsed = (body: RequestBody) => parseCompletion(context, sentJson(body));

const wrong: readonly (readonly [string, RequestBody, string])[] = [
  ['no model', { ...hello, model: undefined }, 'model'],
  ['no prompt', { model: 'm' }, 'prompt'],
  ['a prompt that is null', { ...hello, prompt: null }, 'prompt'],
  ['a prompt of a wrong type', { ...hello, prompt: 5 }, 'prompt'],
  ['no prompt in a list', { ...hello, prompt: [] }, 'prompt'],
  ['a list of texts with something else', { ...hello, prompt: ['a', 5] }, 'prompt[1]'],
  ['a list of tokens with something else', { ...hello, prompt: [5, 'a'] }, 'prompt[1]'],
  ['a token with a fraction', { ...hello, prompt: [5, 1.5] }, 'prompt[1]'],
  ['a negative token', { ...hello, prompt: [-1] }, 'prompt[0]'],
  ['a list of tokens that is empty', { ...hello, prompt: [[1], []] }, 'prompt[1]'],
  ['an object as a prompt', { ...hello, prompt: [{}] }, 'prompt[0]'],
  [
    'more prompts than there may be',
    { ...hello, prompt: Array.from({ length: 2_049 }, () => 'a') },
    'prompt',
  ],
  ['a negative limit', { ...hello, max_tokens: -1, temperature: 3 }, 'max_tokens'],
  ['a limit that is a string', { ...hello, max_tokens: '10' }, 'max_tokens'],
  ['no answer', { ...hello, n: 0 }, 'n'],
  ['too many answers', { ...hello, n: 129 }, 'n'],
  ['the best of too many', { ...hello, best_of: 21 }, 'best_of'],
  ['the best of fewer than are told', { ...hello, n: 3, best_of: 2 }, 'best_of'],
  ['the best of several, streamed', { ...hello, best_of: 2, stream: true }, 'best_of'],
  ['probabilities of too many tokens', { ...hello, logprobs: 21 }, 'logprobs'],
  ['probabilities as chat asks for them', { ...hello, logprobs: true }, 'logprobs'],
  ['a temperature that is too high', { ...hello, temperature: 2.1 }, 'temperature'],
  ['a share that is too large', { ...hello, top_p: 1.1 }, 'top_p'],
  ['a penalty that is too high', { ...hello, presence_penalty: 3 }, 'presence_penalty'],
  ['an echo that is no boolean', { ...hello, echo: 'yes' }, 'echo'],
  ['a suffix that is no string', { ...hello, suffix: 5 }, 'suffix'],
  ['too many ends', { ...hello, stop: ['1', '2', '3', '4', '5'] }, 'stop'],
  ['an end that is no string', { ...hello, stop: [1] }, 'stop[0]'],
  ['a bias that is no object', { ...hello, logit_bias: [] }, 'logit_bias'],
  ['a stream that is no boolean', { ...hello, stream: 'true' }, 'stream'],
  [
    'options of a stream without one',
    { ...hello, stream_options: { include_usage: true } },
    'stream_options',
  ],
];

test.each(wrong)('%s is a 400 that names it', (_, body, param) => {
  const refusal = refusalOf(() => parsed(body));
  expect(refusals[refusal.refusal].status).toBe(400);
  expect(refusal.param).toBe(param);
});

test.each([
  ['a text', 'a', 1],
  ['an empty text', '', 1],
  ['texts', ['a', 'b', 'c'], 3],
  ['tokens', [1, 2, 3], 1],
  ['lists of tokens', [[1, 2], [3]], 2],
])('%s can be completed', (_, prompt, prompts) => {
  expect(parsed({ ...hello, prompt }).choices).toBe(prompts);
  expect(parsed({ ...hello, prompt, n: 2 }).choices).toBe(2 * prompts);
  // Every completion that the model writes is paid for, whether or not it is returned.
  expect(parsed({ ...hello, prompt, n: 2, best_of: 5 }).choices).toBe(5 * prompts);
});

test('what a model reads is counted, tokens as so many words', () => {
  expect(parsed({ ...hello, prompt: ['ab', 'cd'] }).text()).toBe('abcd');
  expect(
    parsed({ ...hello, prompt: [[7, 8], [9]] })
      .text()
      .split(' '),
  ).toHaveLength(4);
});

test('members that are null are absent', () => {
  const nothing = {
    suffix: null,
    logprobs: null,
    stop: null,
    logit_bias: null,
    n: null,
    best_of: null,
    max_tokens: null,
    stream: null,
  };
  expect(parsed({ ...hello, ...nothing })).toMatchObject({
    choices: 1,
    stream: false,
    outputTokensRequested: undefined,
  });
});

test('our own count is reported as the convention does', () => {
  const event = completionsFormat.counted?.event(parsed(hello), 7, { input: 3, output: 4 }) ?? '';
  expect(JSON.parse(event.slice('data: '.length))).toMatchObject({
    object: 'text_completion',
    created: 7,
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  });
});
