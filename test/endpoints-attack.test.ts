import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { setKeyStatus } from '../src/accounts/keys.ts';
import { migrations } from '../src/app/schema.ts';
import { type Fresh, forEachDatabase } from './databases.ts';
import { hello, type Running, startRunning } from './support/running.ts';
import { completion, json, type ScriptedVendor, startVendor } from './support/scripted-vendor.ts';

/** A thousandth of a yuan a token. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
  - { name: slow, price_multiplier: 1.0, limits: { rpm: 1 } }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: routed, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: reader, owned_by: openai, kind: rerank, price: { input: 1000 } }
channels:
  - { name: a, vendor: openai-compatible, base_url: "${url}/v1", api_key: up, groups: [default, slow], models: [m1, reader] }
  - { name: r, vendor: openrouter, base_url: "${url}/v1", api_key: up, groups: [default], models: [routed] }
`;

async function startOn(
  fresh: Fresh,
  yuan = '100',
): Promise<{ vendor: ScriptedVendor; running: Running }> {
  const vendor = await startVendor();
  return {
    vendor,
    running: await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url),
      yuan,
    }),
  };
}

const responses = '/v1/responses';

forEachDatabase((_name, _openFresh, fresh) => {
  test('an id that no database holds is the id of nothing', async () => {
    const { running } = await startOn(fresh);
    const authorization = `Bearer ${running.key}`;
    for (const method of ['GET', 'DELETE'])
      expect(
        (
          await fetch(`${running.url}${responses}/resp_%00a`, {
            method,
            headers: { authorization },
          })
        ).status,
      ).toBe(404);
    const previous = await running.post(responses, {
      model: 'm1',
      input: 'Hello',
      previous_response_id: 'resp_\0',
    });
    expect(previous.status).toBe(400);
    expect(
      (
        await running.post(responses, {
          model: 'm1',
          input: [{ type: 'item_reference', id: 'a\0' }],
        })
      ).status,
    ).toBe(400);
    const named = await running.post(responses, {
      model: 'm1',
      input: [{ type: 'message', id: 'a\0', role: 'user', content: 'Hello' }],
    });
    const { id } = JSON.parse(await named.text());
    expect(
      (await fetch(`${running.url}${responses}/${id}`, { headers: { authorization } })).status,
    ).toBe(200);
  });

  test('whatever a vendor calls its answer, the answer is charged and given', async () => {
    const { vendor, running } = await startOn(fresh);
    vendor.answer((_request, response) =>
      json(response, 200, completion('Hello!', { id: 'a\0b' })),
    );
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
    expect(await running.balance()).toBe('99.971');
    await running.expectBooks();
  });

  test('no other model is smuggled past the one that is charged', async () => {
    const { vendor, running } = await startOn(fresh);
    for (const body of [
      { Model: 'dear' },
      { MODEL: 'dear' },
      { N: 128 },
      { Max_Tokens: 100_000 },
      { 'max_to\u212aens': 100_000 },
      { 'be\u017ft_of': 20 },
    ]) {
      const reply = await running.post('/v1/chat/completions', { ...hello, ...body });
      expect(reply.status, JSON.stringify(body)).toBe(400);
      expect(await reply.json()).toMatchObject({ error: { param: Object.keys(body)[0] } });
    }
    const twice =
      '{"m\\u006fdel":"dear","x":{"model":"dear"},"model":"dear","messages":[{"role":"user","content":"\\"model\\":"}],"model":"m1"}';
    expect((await running.post('/v1/chat/completions', twice)).status).toBe(200);
    // Of each name only the last is left, which is the one that was read.
    expect(vendor.received.map(({ text }) => text)).toEqual([
      twice.replace('"m\\u006fdel":"dear",', '').replace('"model":"dear","messages"', '"messages"'),
    ]);
    // Other models that the body names must be sold to this key, too: refused before a vendor hears
    // of them (H5).
    const routed = { ...hello, model: 'routed', models: ['dear/model'], route: 'fallback' };
    for (const [path, body] of [
      ['/v1/chat/completions', routed],
      ['/v1/completions', { ...routed, prompt: 'Hello' }],
    ] as const) {
      const reply = await running.post(path, body);
      expect([reply.status, await reply.json()]).toMatchObject([
        404,
        { error: { param: 'models[0]' } },
      ]);
    }
    expect(vendor.received).toHaveLength(1);
  });

  test('no dearer tier is asked for than the one that is charged', async () => {
    const { vendor, running } = await startOn(fresh);
    // A tier that no price names is refused, the cheaper one, too: it would be charged in full
    // (H1).
    for (const service_tier of ['priority', 'fast', 'flex'])
      for (const [path, body] of [
        ['/v1/chat/completions', hello],
        ['/v1/completions', { model: 'm1', prompt: 'Hello' }],
        [responses, { model: 'm1', input: 'Hello' }],
      ] as const) {
        const reply = await running.post(path, { ...body, service_tier });
        expect([reply.status, await reply.json()]).toMatchObject([
          400,
          { error: { param: 'service_tier' } },
        ]);
      }
    expect(vendor.received).toHaveLength(0);
  });

  test('a submission that is repeated without end does not wait without end', async () => {
    const { vendor, running } = await startOn(fresh);
    let finish = (): void => {};
    vendor.answer((_request, response) => {
      finish = () => json(response, 200, completion());
    });
    const ask = (): Promise<Response> =>
      running.post('/v1/chat/completions', hello, { headers: { 'idempotency-key': 'k' } });
    const first = ask();
    await expect.poll(() => vendor.received.length).toBe(1);
    const repeated = Array.from({ length: 110 }, ask);
    const refused: number[] = [];
    for (const one of repeated) void one.then(({ status }) => refused.push(status));
    await expect
      .poll(() => refused, { timeout: 10_000 })
      .toEqual(Array.from({ length: 10 }, () => 409));
    finish();
    expect((await first).status).toBe(200);
    expect((await Promise.all(repeated)).filter(({ status }) => status === 200)).toHaveLength(100);
    expect(await running.usage()).toHaveLength(1);
  });

  test('a key that is deleted while a request of it is still being sent opens nothing', async () => {
    const { vendor, running } = await startOn(fresh);
    const { id, secret } = await running.newKey();
    const body = JSON.stringify(hello);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\n`;
    const framings = [
      { before: `content-length: ${body.length}\r\n\r\n`, after: '' },
      {
        before: `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
        after: '\r\n0\r\n\r\n',
      },
    ];
    const begun = framings.map(({ before, after }) => {
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      let said = '';
      socket.on('data', (piece) => {
        said += piece.toString();
      });
      socket.write(head + before + body.slice(0, 10));
      return { end: () => socket.write(body.slice(10) + after), said: () => said };
    });
    await wait(300);
    await running.gateway.database.transact(() => setKeyStatus(id, 'deleted'));
    await wait(1_500);
    for (const { end, said } of begun) {
      end();
      await expect.poll(said).toContain('HTTP/1.1 401');
    }
    expect(vendor.received).toHaveLength(0);
  });

  test('references without end are refused before they are looked for', async () => {
    const { running } = await startOn(fresh);
    const input = Array.from({ length: 70_000 }, (_, i) => ({
      type: 'item_reference',
      id: `msg_${i}`,
    }));
    const reply = await running.post(responses, { model: 'm1', input });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { param: 'input' } });
    const many = Array.from({ length: 9_999 }, (_, i) => ({
      role: 'user',
      id: `msg_${i % 5_000}`,
      content: 'a',
    }));
    expect((await running.post(responses, { model: 'm1', input: many })).status).toBe(200);
    expect(await running.gateway.database.query('SELECT COUNT(*) AS n FROM response_item')).toEqual(
      [{ n: 5_001n }],
    );
    expect((await running.post(responses, { model: 'm1', input: [...many, ...many] })).status).toBe(
      400,
    );
  });

  test('a background response that nobody can pay for is refused, and nothing of it is kept', async () => {
    const { vendor, running } = await startOn(fresh, '0');
    const ask = { model: 'm1', input: 'x'.repeat(100_000), background: true };
    const reply = await running.post(responses, ask);
    expect(reply.status).toBe(429);
    expect(await reply.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
    const wrong = await running.post(responses, { ...ask, model: 'reader' });
    expect(wrong.status).toBe(400);
    expect(await running.gateway.database.query('SELECT id FROM response')).toEqual([]);
    expect(vendor.received).toHaveLength(0);
  });

  test('nor is one beyond the limit of requests', async () => {
    const { running } = await startOn(fresh);
    const { secret } = await running.newKey({ group: 'slow' });
    const ask = (): Promise<Response> =>
      running.post(
        responses,
        { model: 'm1', input: 'Hello', background: true },
        { headers: { authorization: `Bearer ${secret}` } },
      );
    expect((await ask()).status).toBe(200);
    const second = await ask();
    expect(second.status).toBe(429);
    expect(await second.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(await running.gateway.database.query('SELECT id FROM response')).toHaveLength(1);
  });

  test('a question that is read with thousands of documents is charged, told by its vendor or not', async () => {
    const { vendor, running } = await startOn(fresh, '1000000');
    const ask = {
      model: 'reader',
      query: 'q '.repeat(150_000),
      documents: Array.from({ length: 2_048 }, () => 'a'),
    };
    vendor.answer((_request, response) =>
      json(response, 200, '{"results":[{"index":0,"relevance_score":0.5}]}'),
    );
    const reply = await running.post('/v1/rerank', ask);
    expect(reply.status).toBe(200);
    const [record] = await running.usage();
    expect(record).toMatchObject({ estimated: 1n, shortfall: 0n });
    expect(Number(record?.['input_tokens'])).toBeGreaterThan(2_048 * 75_000);
    await running.expectBooks();
  });
});
