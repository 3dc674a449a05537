import { expect, test } from 'vitest';
import { chatCall } from '../../../test/support/vendor-call.ts';
import type { VendorRequest } from '../adapter.ts';
import { adaptersOf } from '../bridges/index.ts';
import { vendors } from '../index.ts';

/** The request by which each vendor completes a text. */
function askOf(
  vendor: string,
  upstreamModel: string,
  body: Readonly<Record<string, unknown>> = {},
): VendorRequest {
  const call = chatCall({ messages: undefined, prompt: 'Hi', ...body }, upstreamModel);
  const found = vendors.get(vendor);
  const adapter = found && adaptersOf(found).completions;
  if (adapter === undefined) throw new Error(`${vendor} completes nothing`);
  return adapter.ask(call);
}

const askedAt = (...asked: Parameters<typeof askOf>): string => askOf(...asked).path;

test.each([
  ['openai', 'gpt-3.5-turbo-instruct', '/completions'],
  ['openai', 'davinci-002', '/completions'],
  ['openai', 'text-davinci-003', '/completions'],
  ['openai', 'gpt-4o', '/chat/completions'],
  ['azure', 'gpt-35-turbo-instruct', '/completions'],
  ['azure', 'gpt-4.1', '/chat/completions'],
  ['deepseek', 'deepseek-chat', '/beta/completions'],
  ['deepseek', 'deepseek-reasoner', '/chat/completions'],
  ['mistral', 'codestral-2508', '/fim/completions'],
  ['mistral', 'mistral-large-latest', '/chat/completions'],
  ['vllm', 'any', '/completions'],
  ['openai-compatible', 'any', '/completions'],
  ['groq', 'any', '/chat/completions'],
  ['anthropic', 'claude-sonnet-4-5', '/messages'],
  ['gemini', 'gemini-2.5-flash', '/models/gemini-2.5-flash:generateContent'],
  ['cohere', 'command-a-03-2025', '/chat'],
  ['bedrock', 'amazon.nova-lite-v1:0', '/model/amazon.nova-lite-v1%3A0/converse'],
])('%s is asked for completions of %s at %s', (vendor, model, path) => {
  expect(askedAt(vendor, model)).toBe(path);
});

test.each([['mistral', 'codestral-2508', { n: 2 }]])(
  '%s has no word for what %s is asked with %o: its chat has',
  (vendor, model, body) => {
    expect(askedAt(vendor, model, body)).toBe('/chat/completions');
  },
);

test.each([
  ['deepseek', 'deepseek-chat', { n: 2 }, 'n'],
  ['mistral', 'codestral-2508', { logprobs: 1 }, 'logprobs'],
])(
  '%s has a word for what %s is asked with %o neither there nor in its chat: it refuses %s itself',
  (vendor, model, body, param) => {
    expect(askOf(vendor, model, body).unsupported?.param).toBe(param);
  },
);

test('DeepSeek’s beta does not lie below the other name of its address', () => {
  const deepseek = vendors.get('deepseek');
  expect(deepseek?.baseUrlFor?.('https://api.deepseek.com/v1', undefined)).toBe(
    'https://api.deepseek.com',
  );
  expect(deepseek?.baseUrlFor?.('https://proxy.example/v1', undefined)).toBe(
    'https://proxy.example/v1',
  );
  expect(deepseek?.pathFor?.('/beta', '/beta/completions', 'deepseek-chat')).toBe('/completions');
  expect(deepseek?.pathFor?.('', '/chat/completions', 'deepseek-chat')).toBe('/chat/completions');
});

test('Claude on Vertex is counted where Claude’s own counter is, Gemini by its model', () => {
  const count = vendors.get('vertex')?.counts?.messages;
  const claude = count?.ask(chatCall({}, 'claude-sonnet-4-5@20250929'));
  expect(claude?.path).toBe('/publishers/anthropic/models/count-tokens:rawPredict');
  expect(JSON.parse(claude?.body.toString() ?? '')).toEqual({
    messages: [{ role: 'user', content: 'Hi' }],
    model: 'claude-sonnet-4-5@20250929',
    anthropic_version: 'vertex-2023-10-16',
  });
  expect(count?.ask(chatCall({}, 'gemini-2.5-flash')).path).toBe(
    '/models/gemini-2.5-flash:countTokens',
  );
});
