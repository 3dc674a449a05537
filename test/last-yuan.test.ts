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
import { askPlainly, type Seen } from './support/plain-client.ts';
import { startProcess } from './support/process.ts';
import { oneModel } from './support/running.ts';
import { completion, json, sse, startVendor, streamOf } from './support/scripted-vendor.ts';

const requests = 1_000;
/** 9 tokens in, 10 out, at a thousandth of a yuan each. */
const usage = { prompt_tokens: 9, completion_tokens: 10, total_tokens: 19 };
const costNano = 19_000_000n;

/** Each text once, with how often it occurs. */
function counted(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `${count} × ${text}`).join(', ');
}

/**
 * What one gateway's clients got, and what it logged. It tells a request that was refused too early
 * from one that was charged and did not arrive whole.
 */
function answersOf(heard: readonly (Seen | undefined)[], output: string): string {
  const seen = heard.filter((one) => one !== undefined);
  const answered = seen.filter(({ status }) => status === 200);
  const refused = seen.filter(({ status }) => status !== 200);
  const cut = answered.filter(({ whole }) => !whole);
  const log = output.split('\n').filter((line) => line.startsWith('{'));
  return [
    `answered: ${answered.length}, the last after ${longestMs(answered)} ms`,
    `of them not whole: ${counted(cut.map(({ id, rest }) => `${id} …${rest}`))}`,
    `refused: ${counted(refused.map(({ status, rest }) => `${status} ${rest}`))}`,
    `the last refusal after ${longestMs(refused)} ms`,
    ...log,
  ].join('\n');
}

const longestMs = (seen: readonly Seen[]): number =>
  Math.round(Math.max(0, ...seen.map(({ durationMs }) => durationMs)));

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

    const left = await balance(database, userId);
    const records = await database.query('SELECT id, cost, shortfall, status FROM usage');
    const charges = records.map(({ status, cost, shortfall }) => `${status} ${cost} ${shortfall}`);
    const facts = [
      ...gateways.map(({ output }, gateway) =>
        answersOf(
          heard.filter((_, i) => i % processes === gateway),
          output(),
        ),
      ),
      `records by status, cost and shortfall: ${counted(charges)}`,
      `balance left: ${left?.balance}`,
    ].join('\n');
    const seen = heard.filter((one) => one !== undefined);
    expect(seen, facts).toHaveLength(requests);
    const good = seen.filter((one) => one.whole);
    expect(new Set(seen.map((one) => one.status)), facts).toEqual(new Set([200, 429]));
    expect(lowest).toBeGreaterThanOrEqual(0n);
    const affordable = Number(nanoPerYuan / costNano);
    expect(good.length, facts).toBe(affordable);
    expect(left?.balance, facts).toBe(nanoPerYuan - BigInt(affordable) * costNano);
    expect(new Set(records.map((record) => record['id']))).toEqual(
      new Set(good.map((one) => one.id)),
    );
    expect(
      records.every((record) => record['cost'] === costNano && record['shortfall'] === 0n),
    ).toBe(true);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  });
});
