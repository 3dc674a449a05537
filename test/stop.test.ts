import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { migrations, proofs } from '../src/app/schema.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import { formatYuan } from '../src/base/money.ts';
import { forEachDatabase } from './databases.ts';
import { hello, oneModel, startGateway, startRunning } from './support/running.ts';
import { chunk, sse, startVendor } from './support/scripted-vendor.ts';

const drainMs = 400;
/** A stop takes as long as the drain, and little more. */
const stopMsMax = drainMs + 4_000;
const keyed = { 'idempotency-key': 'k' };
const chat = '/v1/chat/completions';
const responses = '/v1/responses';

/** Its vendor bills the input of requests that are broken off. */
const configurationFor = (vendorUrl: string): string =>
  oneModel(vendorUrl)
    .replaceAll('vendor: openai', 'vendor: deepseek')
    .replaceAll('api_key: up-key', 'api_key: up-key, bills_cancelled_input: true');

forEachDatabase((_name, _openFresh, fresh) => {
  test.each([
    ['a request', chat, hello, {}],
    ['a request with an Idempotency-Key', chat, hello, keyed],
    ['a stream with an Idempotency-Key', chat, { ...hello, stream: true }, keyed],
    ['a response in the background', responses, { background: true, input: 'Hello' }, {}],
    ['its stream', responses, { background: true, stream: true, input: 'Hello' }, {}],
  ])(
    'a stop breaks off %s that hangs; what goes on without its client costs nothing then',
    async (_what, path, body: object, headers) => {
      const vendor = await startVendor();
      let left = false;
      vendor.answer(({ text }, response) => {
        if (text.includes('"stream":true'))
          sse(response).write(chunk({ role: 'assistant', content: 'Hel' }));
        response.on('close', () => {
          left = true;
        });
      });
      const configuration = configurationFor(vendor.url);
      const { url: databaseUrl, open } = await fresh(migrations);
      const running = await startRunning({ databaseUrl, configuration, drainMs });
      let had = '';
      void running
        .post(path, { model: 'm1', ...body }, { headers })
        .then(async (response) => {
          for await (const piece of response.body ?? []) had += Buffer.from(piece).toString();
        })
        .catch(() => undefined);
      await expect.poll(() => vendor.received.length).toBe(1);
      if (body !== hello) await expect.poll(() => had).not.toBe('');
      const beganMs = performance.now();
      await running.gateway.close();
      expect(performance.now() - beganMs).toBeLessThan(stopMsMax);
      await expect.poll(() => left).toBe(true);
      const database = await open();
      expect(await database.query('SELECT key FROM answer')).toEqual([]);
      expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
      if (path === chat && headers !== keyed) return;
      expect(formatYuan((await balance(database, running.userId))?.balance ?? 0n)).toBe('100.00');
      expect(await database.query('SELECT id FROM usage')).toEqual([]);
      if (path === chat) return;
      const { url } = await startGateway({ databaseUrl, configuration });
      const id = /resp_\w+/.exec(had)?.[0];
      const found = await fetch(`${url}${path}/${id}`, {
        headers: { authorization: `Bearer ${running.key}` },
      });
      expect(await found.json()).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('shutting down') },
      });
    },
  );
});
