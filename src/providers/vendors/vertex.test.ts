import { expect, test } from 'vitest';
import { vertex } from './vertex.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const call = vendorCall(
  { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
  {
    publicModel: 'public/model',
    upstreamModel: 'claude-sonnet-4-5@20250929',
    answerId: 'chatcmpl-abc',
  },
);

const file = '{"project_id":"p-1","private_key":"k"}';
const path = '/models/gemini-2.5-pro:generateContent';

test.each([
  [
    'https://aiplatform.googleapis.com',
    file,
    `/v1/projects/p-1/locations/global/publishers/google${path}`,
  ],
  [
    'https://us-central1-aiplatform.googleapis.com/',
    file,
    `/v1/projects/p-1/locations/us-central1/publishers/google${path}`,
  ],
  [
    'https://europe-west4-aiplatform.googleapis.com/v1beta1',
    file,
    `/v1beta1/projects/p-1/locations/europe-west4/publishers/google${path}`,
  ],
  [
    'https://host/v1/projects/x/locations/y',
    file,
    `/v1/projects/x/locations/y/publishers/google${path}`,
  ],
  [
    'https://host/v1/projects/x/locations/y/publishers/google',
    'ya29.t',
    `/v1/projects/x/locations/y/publishers/google${path}`,
  ],
  ['https://aiplatform.googleapis.com', 'AIzaKey', `/v1/publishers/google${path}`],
])('%s with %.12s is reached at its place', (base, secret, expected) => {
  const home = new URL(vertex.baseUrlFor?.(base, secret) ?? base).pathname;
  expect(home + (vertex.pathFor?.(home, path, 'gemini-2.5-pro') ?? path)).toBe(expected);
  expect(home + (vertex.pathFor?.(home, '/endpoints/1:generateContent', 'endpoints/1') ?? '')).toBe(
    `${home}/endpoints/1:generateContent`,
  );
});

test('Claude is asked as at home, with its model in the path and its version in the body', () => {
  const chat = vertex.adapters.chat;
  const ask = chat?.ask(call);
  expect(ask?.path).toBe('/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict');
  expect(JSON.parse(ask?.body.toString() ?? '')).toEqual({
    anthropic_version: 'vertex-2023-10-16',
    max_tokens: 50,
    messages: [{ role: 'user', content: expect.anything() }],
  });
  expect(chat?.ask({ ...call, streamUpstream: true }).path).toMatch(/:streamRawPredict$/);
  expect(vertex.pathFor?.('', ask?.path ?? '', call.upstreamModel)).toBe(ask?.path);
  const reply = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  expect(chat?.read(Buffer.from(JSON.stringify(reply)), 'application/json', call)).toMatchObject({
    quantities: { input: 1, output: 1 },
  });
});

test('an error is read in the format of the publisher that sent it', () => {
  const fault = (body: object): unknown =>
    vertex.adapters.chat?.fault(400, {}, JSON.stringify(body)).kind;
  expect(
    fault({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    }),
  ).toBe('context_length');
  expect(
    fault({ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }),
  ).toBe('credentials');
});
