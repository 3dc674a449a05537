import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { nanoPerYuan } from '../src/base/money.ts';
import { check } from '../src/ledger/check.ts';
import { balance } from '../src/ledger/ledger.ts';
import { open } from '../src/storage/open.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { askPlainly } from './support/plain-client.ts';
import { startProcess } from './support/process.ts';
import { oneModel } from './support/running.ts';
import { completion, json, sse, startVendor, streamOf } from './support/scripted-vendor.ts';

const requests = 1_000;
/** 9 tokens in, 10 out, at a thousandth of a yuan each. */
const usage = { prompt_tokens: 9, completion_tokens: 10, total_tokens: 19 };
const costNano = 19_000_000n;

forEachDatabase((name, _openFresh, fresh) => {
  const processes = name === 'sqlite' ? 1 : 2;

  test(`1,000 parallel requests on 1 yuan, ${processes} gateway process(es): never negative, nobody charged twice, used up to the last affordable request`, {
    timeout: 180_000,
  }, async () => {
    const vendor = await startVendor();
    vendor.answer((received, response) => {
      if (received.text.includes('"stream":true'))
        sse(response).end(
          streamOf(['Hel', 'lo']).replace(/"usage":\{[^}]*\}/, `"usage":${JSON.stringify(usage)}`),
        );
      else json(response, 200, completion('Hello', { usage }));
    });
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-last-yuan-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = name === 'sqlite' ? `sqlite:${join(folder, 'tollgate.db')}` : (await fresh()).url;
    const env = { DATABASE_URL: place };
    const gateways = [await startProcess({ folder, configuration: oneModel(vendor.url), env })];
    while (gateways.length < processes)
      gateways.push(await startProcess({ folder, configuration: oneModel(vendor.url), env }));
    onTestFinished(async () => {
      for (const gateway of gateways) await gateway.kill();
    });
    const database = await open(place);
    onTestFinished(() => database.close());
    const {
      userId,
      key: { secret: key },
    } = await newCustomer(database, nanoPerYuan);

    const agent = new Agent({ keepAlive: true, maxSockets: requests });
    let lowest = nanoPerYuan;
    let asking = true;
    const watching = (async () => {
      while (asking) {
        await wait(5);
        const now = await balance(database, userId);
        if (now !== undefined && now.balance < lowest) lowest = now.balance;
      }
    })();
    const heard = await Promise.all(
      Array.from({ length: requests }, (_, i) =>
        askPlainly(gateways[i % processes]?.url ?? '', key, agent, i % 2 === 0, 10),
      ),
    );
    asking = false;
    await watching;
    agent.destroy();

    const seen = heard.filter((one) => one !== undefined);
    expect(seen).toHaveLength(requests);
    const good = seen.filter((one) => one.whole);
    expect(new Set(seen.map((one) => one.status))).toEqual(new Set([200, 429]));
    expect(lowest).toBeGreaterThanOrEqual(0n);
    const affordable = Number(nanoPerYuan / costNano);
    expect(good).toHaveLength(affordable);
    const left = nanoPerYuan - BigInt(affordable) * costNano;
    expect((await balance(database, userId))?.balance).toBe(left);
    const records = await database.query('SELECT id, cost, shortfall FROM usage');
    expect(new Set(records.map((record) => record['id']))).toEqual(
      new Set(good.map((one) => one.id)),
    );
    expect(
      records.every((record) => record['cost'] === costNano && record['shortfall'] === 0n),
    ).toBe(true);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  });
});
