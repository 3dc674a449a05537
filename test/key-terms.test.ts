import { expect, test } from 'vitest';
import { changeKey, userKey } from '../src/accounts/user-keys.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { oneModel, type Running, startRunning } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

const twoModels = (vendorUrl: string): string =>
  oneModel(vendorUrl)
    .replace('models: [{ id: m1, upstream: up }]', 'models: [{ id: m1, upstream: up }, hidden]')
    .replace(
      '{ name: default, price_multiplier: 1.0 }',
      '{ name: default, price_multiplier: 1.0, limits: { rpm: 100 } }',
    );

forEachDatabase((_name, _openFresh, fresh) => {
  const start = async (trustedProxies: readonly string[] = []): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: twoModels((await startVendor()).url),
      trustedProxies,
    });
  const ask = ({ url }: Running, key: string, model = 'm1', headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 50,
      }),
    });
  const codeOf = async (response: Response): Promise<unknown> => [
    response.status,
    JSON.parse(await response.text()).error.code,
  ];

  test('a key that is confined to models knows of no other', async () => {
    const running = await start();
    const { secret } = await running.newKey({ models: ['m1'] });
    expect((await ask(running, secret)).status).toBe(200);
    expect(await codeOf(await ask(running, secret, 'hidden'))).toEqual([404, 'model_not_found']);
    const get = (path: string, key: string) =>
      fetch(`${running.url}/v1/models${path}`, { headers: { authorization: `Bearer ${key}` } });
    const ids = async (key: string) =>
      JSON.parse(await (await get('', key)).text()).data.map(({ id }: { id: string }) => id);
    expect(await ids(secret)).toEqual(['m1']);
    expect(await ids(running.key)).toEqual(['hidden', 'm1']);
    expect([(await get('/m1', secret)).status, (await get('/hidden', secret)).status]).toEqual([
      200, 404,
    ]);
    const count = { model: 'hidden', messages: [{ role: 'user', content: 'Hello' }] };
    const counted = await running.post('/v1/messages/count_tokens', count, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(counted.status).toBe(404);
    await running.expectBooks();
  });

  test('a key that is confined to addresses is refused from any other, whatever the client says of itself', async () => {
    const running = await start();
    const near = await running.newKey({ addresses: ['127.0.0.0/8', '::1'] });
    const far = await running.newKey({ addresses: ['10.0.0.0/8'] });
    expect((await ask(running, near.secret)).status).toBe(200);
    const refused = await ask(running, far.secret, 'm1', { 'x-forwarded-for': '10.1.2.3' });
    expect(await codeOf(refused.clone())).toEqual([403, 'address_not_allowed']);
    expect(await refused.text()).toContain('from your address 127.0.0.1');
    const models = await fetch(`${running.url}/v1/models`, {
      headers: { authorization: `Bearer ${far.secret}` },
    });
    expect(models.status).toBe(403);
    const message = await running.post(
      '/v1/messages',
      { model: 'm1' },
      { headers: { authorization: '', 'x-api-key': far.secret } },
    );
    expect([message.status, JSON.parse(await message.text()).error.type]).toEqual([
      403,
      'permission_error',
    ]);
  });

  test('behind a proxy of ours it is the address that the proxy names, and only that', async () => {
    const running = await start(['127.0.0.1']);
    const { secret } = await running.newKey({ addresses: ['10.0.0.0/8', '2001:db8::/32'] });
    const from = async (forwarded: string) =>
      (await ask(running, secret, 'm1', { 'x-forwarded-for': forwarded })).status;
    expect(await from('10.1.2.3')).toBe(200);
    expect(await from('2001:db8::1')).toBe(200);
    expect(await from('10.1.2.3, 192.0.2.1')).toBe(403);
    expect(await from('192.0.2.1')).toBe(403);
    expect((await ask(running, secret)).status).toBe(403);
  });

  test("a key's own rates hold within its group's, each for itself", async () => {
    const running = await start();
    const [slow, other] = [await running.newKey({ rpm: 2 }), await running.newKey({ tpm: 400 })];
    const first = await ask(running, slow.secret);
    expect([
      first.status,
      first.headers.get('x-ratelimit-limit-requests'),
      first.headers.get('x-ratelimit-remaining-requests'),
    ]).toEqual([200, '2', '1']);
    expect((await ask(running, slow.secret)).status).toBe(200);
    const third = await ask(running, slow.secret);
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '30']);
    const tokens = await ask(running, other.secret);
    expect([
      tokens.status,
      tokens.headers.get('x-ratelimit-limit-tokens'),
      tokens.headers.get('x-ratelimit-limit-requests'),
    ]).toEqual([200, '400', '100']);
    expect((await ask(running, running.key)).headers.get('x-ratelimit-remaining-requests')).toBe(
      '96',
    );
  });

  test('what confines a key changes without a new key, within a second', async () => {
    const running = await start();
    const { id, secret } = await running.newKey({ models: ['hidden'] });
    expect((await ask(running, secret)).status).toBe(404);
    await running.gateway.database.transact(function* () {
      const key = yield* userKey(running.userId, id);
      if (key !== undefined)
        yield* changeKey(key, { terms: { models: ['m1'], addresses: ['127.0.0.1'] } });
    });
    await expect
      .poll(async () => (await ask(running, secret)).status, { timeout: 1_000, interval: 50 })
      .toBe(200);
  });
});
