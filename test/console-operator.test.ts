import { expect, test } from 'vitest';
import { forEachDatabase } from './databases.ts';
import { askPlain, newBrowser } from './support/console.ts';
import { hello, oneModel, startGateway, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';
import { operatorRoutes } from '../src/console/operator/routes.ts';
import { startOperatorConsole } from './support/console-operator.ts';
import { migrations } from '../src/app/schema.ts';

/** Effective in every process within a second; the rest is for a busy machine. */
const soon = { interval: 50 };

forEachDatabase((_name, openFresh, fresh) => {
  test('what an operator makes is sold at once, what he drains finishes what it runs, and the figures are those of all nodes', async () => {
    const vendor = await startVendor();
    const { url: databaseUrl } = await fresh(migrations);
    const configuration = oneModel(vendor.url);
    const running = await startRunning({ databaseUrl, configuration });
    const { database } = running.gateway;
    const operator = await newBrowser(running.url, database, 'operator');
    const post = (path: string, body: object = {}) =>
      operator.ask(`operator/${path}`, { method: 'POST', body });
    const ask = (model: string) => running.post('/v1/chat/completions', { ...hello, model });
    expect((await post('models', { id: 'fresh', price: { input: '1', output: '2' } })).status).toBe(
      201,
    );
    const channel = {
      name: 'made',
      vendor: 'openai',
      base_url: `${vendor.url}/v1`,
      secret: 'made-in-the-console',
      models: ['fresh'],
    };
    expect((await post('channels', channel)).status).toBe(201);
    await expect.poll(async () => (await ask('fresh')).status, soon).toBe(200);
    expect(vendor.received.at(-1)?.headers.authorization).toBe('Bearer made-in-the-console');

    let finish = (): void => {};
    vendor.answer((_, response) => {
      finish = () => json(response, 200, completion('late'));
    });
    const slow = ask('fresh');
    const one = async () => (await operator.ask('operator/channels/made')).json;
    await expect
      .poll(async () => (await one()).running, { timeout: 10_000, interval: 100 })
      .toBe(1);
    expect((await post('channels/made/drain', { accept_unserved: true })).json.state).toBe(
      'draining',
    );
    await expect
      .poll(() => running.gateway.parts.catalog().offer('default', 'fresh'), soon)
      .toBeUndefined();
    expect((await ask('fresh')).status).toBe(404);
    expect((await one()).state).toBe('draining');
    finish();
    expect((await slow).status).toBe(200);
    await expect
      .poll(async () => (await one()).state, { timeout: 20_000, interval: 200 })
      .toBe('drained');
    expect((await one()).last_hour).toMatchObject({ error_share: 0 });

    vendor.answer((_, response) => json(response, 401, '{"error":{"message":"no"}}'));
    expect((await ask('m1')).status).toBe(503);
    const attention = async () =>
      (await operator.ask('operator/overview')).json.attention.map(
        ({ code }: { code: string }) => code,
      );
    await expect
      .poll(attention, { timeout: 10_000, interval: 200 })
      .toContain('credentials_refused');
    const { json: health } = await operator.ask('operator/channels/a/health');
    expect(health.hours.at(-1).errors).toEqual({ credentials: 1 });
    expect(health.story[0]).toMatchObject({
      code: 'parked',
      values: { why: 'credentials_refused' },
    });

    for (const tab of ['statement', 'usage', 'usage/summary', 'keys'])
      expect((await operator.ask(`operator/users/${running.userId}/${tab}`)).status, tab).toBe(200);
    expect((await operator.ask(`operator/users/${running.userId}/usage`)).json.items).toHaveLength(
      2,
    );
    await running.expectBooks();
  }, 90_000);

  test('R2: a vendor that reports more than was asked for is told in the overview and with its channel, with what it cost the house', async () => {
    const vendor = await startVendor();
    const { url: databaseUrl } = await fresh(migrations);
    const running = await startRunning({ databaseUrl, configuration: oneModel(vendor.url) });
    const operator = await newBrowser(running.url, running.gateway.database, 'operator');
    const lies = { prompt_tokens: 9, completion_tokens: 1_050, total_tokens: 1_059 };
    vendor.answer((_, response) => json(response, 200, completion('Hello', { usage: lies })));
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
    // 1,050 tokens at a thousandth of a yuan, of which the client allowed 50.
    const attention = async () => (await operator.ask('operator/overview')).json.attention;
    await expect.poll(attention, { timeout: 10_000, interval: 200 }).toMatchObject([
      {
        code: 'vendor_overran',
        values: { channel: 'a', answers: '1', loss: '1.000000000' },
        path: '/operator/channels/a',
      },
    ]);
    const { json: channels } = await operator.ask('operator/channels');
    const told = channels.items.map(
      ({ name, overruns_24h: overruns }: { name: string; overruns_24h: object }) => [
        name,
        overruns,
      ],
    );
    expect(told).toEqual([
      ['a', { answers: 1, loss: '1.000000000' }],
      ['b', { answers: 0, loss: '0.000000000' }],
    ]);
    await running.expectBooks();
  });

  test('of a channel with several keys each is told how it does, and each can be replaced, removed and joined by another', async () => {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: oneModel(vendor.url),
    });
    const operator = await newBrowser(running.url, running.gateway.database, 'operator');
    const at = 'operator/channels/made';
    const one = async () => (await operator.ask(at)).json;
    const change = async (body: object) =>
      operator.ask(at, {
        method: 'PATCH',
        body,
        headers: { 'if-match': String((await one()).version) },
      });
    const secrets = ['the-first-key-1111', 'the-second-key-2222', 'the-third-key-3333'];
    const made = {
      name: 'made',
      vendor: 'openai',
      base_url: `${vendor.url}/v1`,
      models: ['hidden'],
      priority: 0,
    };
    const { json: created } = await operator.ask('operator/channels', {
      method: 'POST',
      body: { ...made, secrets },
    });
    expect(
      created.keys.map(({ number, last4 }: { number: number; last4: string }) => [number, last4]),
    ).toEqual([
      [1, '1111'],
      [2, '2222'],
      [3, '3333'],
    ]);
    vendor.answer(({ headers }, response) => {
      if (headers.authorization?.endsWith('2222') === true)
        json(response, 401, '{"error":{"message":"no"}}');
      else json(response, 200, completion());
    });
    await expect
      .poll(
        async () =>
          (await running.post('/v1/chat/completions', { ...hello, model: 'hidden' })).status,
        soon,
      )
      .toBe(200);
    const states = async () =>
      (await one()).keys.map(
        ({ state, why }: { state: string; why: string | null }) => why ?? state,
      );
    const asked = async () => {
      await running.post('/v1/chat/completions', { ...hello, model: 'hidden' });
      return states();
    };
    await expect
      .poll(asked, { timeout: 20_000, interval: 50 })
      .toEqual(['healthy', 'credentials_refused', 'healthy']);
    expect((await one()).state).toBe('healthy');

    expect((await change({ secrets: [1, 'the-fourth-key-4444'] })).status).toBe(200);
    const { keys } = await one();
    expect(keys.map(({ last4 }: { last4: string }) => last4)).toEqual(['1111', '4444']);
    await expect
      .poll(
        () =>
          running.gateway.parts
            .catalog()
            .offer('default', 'hidden')
            ?.candidates.map(({ channel }) => channel.secret),
        soon,
      )
      .toEqual(['the-first-key-1111', 'the-fourth-key-4444']);
    expect((await change({ secrets: [3] })).json).toMatchObject({ error: { code: 'invalid' } });
    // Keys are for the host that they were written for.
    expect(
      (await change({ base_url: 'http://127.0.0.2:9/v1', secrets: [1, 'another-one-5555'] }))
        .status,
    ).toBe(400);
    expect((await change({ priority: 3 })).json).toMatchObject({
      priority: 3,
      keys: [{ last4: '1111' }, { last4: '4444' }],
    });
    const audit = JSON.stringify((await operator.ask('operator/audit')).json);
    expect(audit).not.toMatch(/the-\w+-key/);
  }, 60_000);

  test('how channels are chosen is set by group and model, and vendors tell where their accounts are looked after', async () => {
    const { url } = await fresh(migrations);
    const gateway = await startGateway({
      databaseUrl: url,
      configuration: oneModel('http://127.0.0.1:9'),
    });
    const operator = await newBrowser(gateway.url, gateway.database, 'operator');
    const post = (path: string, body: object) =>
      operator.ask(`operator/${path}`, { method: 'POST', body });
    expect((await post('groups', { name: 'fast', policy: 'latency' })).json).toMatchObject({
      policy: 'latency',
    });
    const model = { id: 'hedged', price: { input: '1', output: '2' }, hedge_after_ms: 800 };
    expect((await post('models', model)).json).toMatchObject({ hedge_after_ms: 800 });
    const never = {
      method: 'PATCH',
      body: { hedge_after_ms: null },
      headers: { 'if-match': '1' },
    } as const;
    expect((await operator.ask('operator/models/hedged', never)).json).toMatchObject({
      hedge_after_ms: null,
    });
    const { items } = (await operator.ask('operator/vendors')).json;
    const consoles = items.flatMap(
      ({ console_url: address }: { console_url: string | null }) => address ?? [],
    );
    expect(consoles.length).toBeGreaterThan(30);
    for (const address of consoles) expect(new URL(address).protocol).toBe('https:');
    const keyless = items.flatMap(
      ({ name, needs_secret: needs }: { name: string; needs_secret: boolean }) =>
        needs ? [] : name,
    );
    expect(keyless).toEqual(['openai-compatible']);
  }, 60_000);

  test('what was made in the console is there after a start with the same configuration', async () => {
    const vendor = await startVendor();
    const { url: databaseUrl } = await fresh(migrations);
    const configuration = oneModel(vendor.url);
    const first = await startGateway({ databaseUrl, configuration });
    const operator = await newBrowser(first.url, first.database, 'operator');
    const made = {
      name: 'made',
      vendor: 'openai',
      base_url: `${vendor.url}/v1`,
      secret: 'made-in-the-console',
      models: ['m1'],
      priority: 5,
    };
    expect((await operator.ask('operator/channels', { method: 'POST', body: made })).status).toBe(
      201,
    );
    await first.close();
    const second = await startGateway({ databaseUrl, configuration });
    const again = await newBrowser(second.url, second.database, 'operator');
    const { json: channels } = await again.ask('operator/channels');
    expect(
      channels.items.map(({ name: called, origin }: { name: string; origin: string }) => [
        called,
        origin,
      ]),
    ).toEqual([
      ['a', 'configuration'],
      ['b', 'configuration'],
      ['made', 'console'],
    ]);
    expect(
      second.parts
        .catalog()
        .offer('default', 'm1')
        ?.candidates.map(({ channel }) => channel.name),
    ).toEqual(['a', 'made']);
  }, 60_000);

  test('every route of operators is refused to users and to strangers', async () => {
    const { url, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      oneModel('http://127.0.0.1:9'),
    );
    const user = await newBrowser(url, database);
    // The rows are only counted: none of what they need is asked.
    const rows = operatorRoutes(Object.create(null));
    expect(rows.length).toBeGreaterThan(40);
    for (const { method, path, role } of rows) {
      const at = path.replace(/:\w+/g, 'x');
      expect(role, path).toBe('operator');
      const refused = await user.ask(at, {
        method,
        ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
      });
      expect([path, refused.status, refused.json.error.code]).toEqual([path, 403, 'operator_only']);
      const stranger = await askPlain(`${url}/console/api/${at}`, {
        method,
        headers: { origin: url },
      });
      expect([path, stranger.status]).toEqual([path, 401]);
    }
  }, 60_000);
});
