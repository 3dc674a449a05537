import { expect, test } from 'vitest';
import { chatCall } from '../../../test/support/vendor-call.ts';
import type { VendorCall } from '../adapter.ts';
import { vendors } from '../index.ts';
import { isFault } from './fault.ts';

const call = (body: Record<string, unknown>): VendorCall => {
  const whole = { model: 'public/model', query: 'q', documents: ['a', 'b'], ...body };
  return {
    ...chatCall({}, 'up'),
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    answerId: 'rerank-1',
  };
};

function rerank(vendor: string) {
  const adapter = vendors.get(vendor)?.adapters.rerank;
  if (adapter === undefined) throw new Error(`${vendor} ranks nothing`);
  return adapter;
}

const sent = (vendor: string, body: Record<string, unknown>): unknown =>
  JSON.parse(rerank(vendor).ask(call(body)).body.toString('utf8'));

test('documents travel as texts, and are not sent back: we have them', () => {
  const asked = { documents: [{ text: 'a', title: 't' }, 'b'], top_n: 1, return_documents: true };
  expect(sent('cohere', asked)).toEqual({
    model: 'up',
    query: 'q',
    documents: ['a', 'b'],
    top_n: 1,
  });
  expect(sent('voyage', asked)).toEqual({
    model: 'up',
    query: 'q',
    documents: ['a', 'b'],
    top_k: 1,
  });
  expect(sent('bedrock', asked)).toEqual({
    query: 'q',
    documents: ['a', 'b'],
    top_n: 1,
    api_version: 2,
  });
});

const result = { index: 1, relevance_score: 0.5 };

test.each([
  ['cohere', { results: [result], meta: { billed_units: { search_units: 2 } } }, { request: 2 }],
  ['voyage', { data: [result], usage: { total_tokens: 9 } }, { input: 9 }],
  [
    'siliconflow',
    { results: [result], tokens: { input_tokens: 9, output_tokens: 0 } },
    { input: 9 },
  ],
  ['siliconflow', { results: [result], meta: { tokens: { input_tokens: 9 } } }, { input: 9 }],
  [
    'together',
    { results: [{ ...result, document: {} }], usage: { prompt_tokens: 9, total_tokens: 9 } },
    { input: 9 },
  ],
  ['bedrock', { results: [result] }, { request: 1 }],
  ['vllm', { results: [{ ...result, document: { text: 'b' } }] }, undefined],
])('%s is read: %j', (vendor, reply, quantities) => {
  const answer = rerank(vendor).read(
    Buffer.from(JSON.stringify({ id: 'v', ...reply })),
    'application/json',
    call({ return_documents: true }),
  );
  if (isFault(answer)) throw new Error(answer.message);
  expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject({
    id: 'rerank-1',
    model: 'public/model',
    results: [{ ...result, document: { text: 'b' } }],
  });
  expect(answer.quantities).toEqual(quantities);
});

test.each([
  '',
  '[]',
  '{}',
  '{"results":{}}',
  '{"results":[{"index":2,"relevance_score":1}]}',
  '{"results":[{"index":0}]}',
  '{"error":{"message":"no"}}',
])('an answer that makes no sense is a fault: %s', (reply) =>
  expect(rerank('cohere').read(Buffer.from(reply), 'application/json', call({}))).toHaveProperty(
    'kind',
  ),
);
