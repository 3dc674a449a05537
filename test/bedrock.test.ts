import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { awsProof } from './support/aws-signature.ts';
import { eventFrame, exceptionFrame } from './support/event-stream.ts';
import { json, type Received } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

const keyPair = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const upstream = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

const configuration = (url: string, key: string): string => `
models:
  - { id: m1, owned_by: anthropic, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: b, vendor: bedrock, base_url: "${url}", api_key: "${key}", groups: [default], models: [{ id: m1, upstream: "${upstream}" }] }
`;

const start = (key = `${keyPair.accessKeyId}:${keyPair.secretAccessKey}`) =>
  startWithVendor((url) => configuration(url, key));

const hello = { model: 'm1', messages: [{ role: 'user', content: 'Grüße' }] };
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const whole = JSON.stringify({
  output: { message: { role: 'assistant', content: [{ text: 'Hallo!' }] } },
  stopReason: 'end_turn',
  usage,
});
const text = (said: string): Buffer =>
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: said } });

function streaming(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
  response.write(eventFrame('messageStart', { role: 'assistant' }));
  return response;
}

/** The signature that this request should have, by what arrived. */
async function signatureOf({ url, headers, text: body }: Received): Promise<string | undefined> {
  const [, y, m, d, h, min, s] =
    /^(....)(..)(..)T(..)(..)(..)Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const at = new Date(`${y}-${m}-${d}T${h}:${min}:${s}Z`);
  const signed = { 'content-type': String(headers['content-type']) };
  const proof = await awsProof({
    keys: keyPair,
    region: 'us-east-1',
    host: String(headers.host),
    path: url,
    query: {},
    headers: signed,
    body,
    at,
  });
  return proof['authorization'];
}

test('a request signed with a key pair is one that AWS would accept, as it arrives', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) => json(response, 200, whole));
  const response = await running.post('/v1/chat/completions', hello);
  expect(await response.json()).toMatchObject({
    model: 'm1',
    choices: [{ message: { content: 'Hallo!' }, finish_reason: 'stop' }],
    usage: { total_tokens: 15 },
  });
  const [received] = vendor.received;
  expect(received?.url).toBe(`/model/${encodeURIComponent(upstream)}/converse`);
  expect(received?.headers['authorization']).toBe(received && (await signatureOf(received)));
  await running.expectBooks();
});

test('an API key is a bearer token', async () => {
  const { vendor, running } = await start('ABSKkey');
  vendor.answer((_request, response) => json(response, 200, whole));
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect(vendor.received[0]?.headers['authorization']).toBe('Bearer ABSKkey');
});

test('a binary stream arrives as chunks, with its count and its end', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) => {
    const bytes = Buffer.concat([
      text('Hal'),
      text('lo!'),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame('metadata', { usage }),
    ]);
    streaming(response).write(bytes.subarray(0, 100));
    response.end(bytes.subarray(100));
  });
  const events = await (
    await running.post('/v1/chat/completions', {
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    })
  ).text();
  expect(events).toMatch(
    /"content":"Hal"[\s\S]*"content":"lo!"[\s\S]*"finish_reason":"stop"[\s\S]*"total_tokens":15[\s\S]*data: \[DONE\]\n\n$/,
  );
  await running.expectBooks();
});

test('an exception inside a stream is an error to the client, and what was delivered is charged', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) => {
    streaming(response).write(text('Hallo, wie geht es Ihnen?'));
    response.end(exceptionFrame('modelStreamErrorException', { message: 'boom' }));
  });
  const events = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(events).toContain('Hallo, wie geht');
  expect(events).toContain('"error":');
  expect(events).not.toContain('[DONE]');
  expect(await running.usage()).toMatchObject([{ channel: 'b' }]);
  await running.expectBooks();
});
