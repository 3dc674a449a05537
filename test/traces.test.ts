import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { systemClock } from '../src/base/clock.ts';
import { openSpans } from '../src/telemetry/spans.ts';
import { sqliteUrl } from './databases.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

/**
 * Takes what is sent by OTLP over HTTP. Strings and ids are bytes of their own in protobuf, and can
 * be looked for.
 */
async function startCollector() {
  const received: { path: string | undefined; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        received.push({ path: request.url, body: Buffer.concat(pieces) });
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, received };
}

test('a request is a span within its client’s trace, each attempt one within it, and neither has a word of the prompt', async () => {
  const collector = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const vendor = await startVendor();
  const configuration = oneModel(vendor.url);
  const trouble: unknown[] = [];
  const traces = openSpans({
    version: '1.2.3',
    clock: systemClock,
    trouble: (error) => trouble.push(error),
  });
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration,
    traces,
  });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const secret = 'the-prompt-is-nobody-elses';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const body = { ...hello, messages: [{ role: 'user', content: secret }] };

  vendor.answer((_request, response) => json(response, 503, '{"error":{"message":"busy"}}'));
  await running.post('/v1/chat/completions', body, { headers });
  vendor.answer((_request, response) => json(response, 200, completion('fine-answer')));
  const answer = await running.post('/v1/chat/completions', body, { headers });
  expect(answer.status).toBe(200);
  await running.post('/v1/chat/completions', { ...body, max_tokens: 'many' }, { headers });
  // The key is in the query, where a trace must not have it.
  await fetch(`${running.url}/v1beta/models/m1:generateContent?key=${running.key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ contents: { parts: { text: secret } } }),
  });
  await running.gateway.close();

  expect(trouble).toEqual([]);
  expect(collector.received.map(({ path }) => path)).toEqual(['/v1/traces']);
  const sent = collector.received[0]?.body ?? Buffer.alloc(0);
  const all = [
    'tollgate',
    '1.2.3',
    'POST /v1/chat/completions',
    'chat up',
    'POST /v1beta/models/{id}:generateContent',
    'gen_ai.provider.name',
    'openai',
    'gen_ai.usage.input_tokens',
    'overloaded',
  ];
  for (const word of [...all, 'invalid_type', answer.headers.get('x-request-id') ?? 'no id'])
    expect(sent.includes(word), word).toBe(true);
  expect(sent.includes(Buffer.from(traceId, 'hex'))).toBe(true);
  for (const word of [secret, 'fine-answer', running.key, 'up-key'])
    expect(sent.includes(word), word).toBe(false);
  // A trace ends here: a vendor hears nothing of it.
  expect(vendor.received.length).toBeGreaterThan(1);
  for (const { headers: got } of vendor.received) expect(got).not.toHaveProperty('traceparent');
});

test('an answer that its client got whole is no error, even where it could not be kept', async () => {
  const collector = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const traces = openSpans({ version: '1.2.3', clock: systemClock, trouble: () => undefined });
  for (const outcome of ['length, not kept', 'cut']) {
    const at = systemClock.now();
    traces.began(outcome, at, { method: 'POST', url: '/v1/chat/completions', headers: {} });
    traces.finished({
      id: outcome,
      userId: 'user_1',
      keyId: 'key_1',
      model: 'm',
      group: 'default',
      channel: 'up',
      stream: true,
      status: 200,
      outcome,
      attempts: 1,
      inputTokens: 3,
      outputTokens: 5,
      cost: '1',
      firstByteMs: 40,
      durationMs: 900,
      vendorMs: 890,
      beforeMs: 2,
    });
    traces.ended(outcome);
  }
  await traces.close();

  const sent = collector.received[0]?.body.toString('latin1') ?? '';
  const errors = [...sent.matchAll(/error\.type\x12.\x0a.([a-z, ]+)/g)].map(([, name]) => name);
  expect(errors).toEqual(['cut']);
});
