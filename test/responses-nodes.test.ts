import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { onPostgres } from './databases.ts';
import { relayTo } from './relay.ts';
import { oneModel, startGateway, startRunning } from './support/running.ts';

interface Answer {
  readonly id: string;
  readonly status: string;
}

onPostgres((_, __, fresh) => {
  test('a response of one node goes on, is read and is cancelled on another, at once', async () => {
    const sim = await startSim();
    onTestFinished(() => sim.close());
    const configuration = `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: sim-chat, owned_by: simulator, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
  - { id: sim-hang, owned_by: simulator, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
channels:
  - { name: a, vendor: deepseek, base_url: "${sim.url}/deepseek", api_key: sk-sim, groups: [default], models: [sim-chat, sim-hang] }
`;
    const { url: databaseUrl } = await fresh(migrations);
    const here = await startRunning({ databaseUrl, configuration });
    const there = await startGateway({ databaseUrl, configuration });
    const headers = { authorization: `Bearer ${here.key}`, 'content-type': 'application/json' };
    const ask = async (url: string, body: object): Promise<Answer> => {
      const answer: Answer = JSON.parse(
        await (
          await fetch(`${url}/v1/responses`, {
            method: 'POST',
            headers,
            body: JSON.stringify(body),
          })
        ).text(),
      );
      return answer;
    };

    let previous = (await ask(here.url, { model: 'sim-chat', input: 'Begin' })).id;
    for (const url of [there.url, here.url, there.url]) {
      const next = await ask(url, {
        model: 'sim-chat',
        input: 'Go on',
        previous_response_id: previous,
      });
      expect(next).toMatchObject({ status: 'completed', previous_response_id: previous });
      previous = next.id;
    }
    const items = await fetch(`${here.url}/v1/responses/${previous}/input_items?limit=100`, {
      headers,
    });
    const said = Array.from({ length: 7 }, () => ({ type: 'message' }));
    expect(await items.json()).toMatchObject({ object: 'list', data: said, has_more: false });

    const endless = await ask(here.url, { model: 'sim-hang', input: 'Never', background: true });
    await expect.poll(() => sim.requests.some(({ body }) => body.includes('Never'))).toBe(true);
    const cancelled = await fetch(`${there.url}/v1/responses/${endless.id}/cancel`, {
      method: 'POST',
      headers,
    });
    expect(await cancelled.json()).toMatchObject({ id: endless.id, status: 'cancelled' });
    await expect.poll(() => sim.requests.at(-1)?.left).toBe(true);
  });

  test('what is remembered in a database that is away is a 503, to be asked for again', async () => {
    const relay = await relayTo((await fresh(migrations)).url);
    const running = await startRunning({
      databaseUrl: relay.url,
      configuration: oneModel('http://127.0.0.1:1'),
    });
    const find = () =>
      fetch(`${running.url}/v1/responses/resp_1`, {
        headers: { authorization: `Bearer ${running.key}` },
      });
    expect((await find()).status).toBe(404);
    relay.cut();
    const away = await find();
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await away.text()).toContain('the database cannot be reached');
    relay.mend();
    await expect.poll(async () => (await find()).status).toBe(404);
  });
});
