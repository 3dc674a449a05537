import { expect, test } from 'vitest';
import { hourMs } from '../../base/calendar.ts';
import { forEachDatabase } from '../../../test/databases.ts';
import type { Browser } from '../../../test/support/console.ts';
import {
  charges,
  noon,
  startUserConsole,
  type TestCharge,
  topUp,
  type UserConsole,
} from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';
import { refund } from '../../ledger/ledger.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { ChargeView } from '../contract.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };
const yuan = 1_000_000_000n;

const newKey = async (browser: Browser, name: string): Promise<string> =>
  (
    await browser.ask('keys', {
      method: 'POST',
      body: { name, group: 'default' },
      headers: { 'idempotency-key': `form-${name}` },
    })
  ).json.key.id;

/** A user with forty charges, one every three hours, by two keys of two models. */
async function filled({
  database,
  newUser,
}: UserConsole): Promise<{ browser: Browser; keys: readonly string[] }> {
  const browser = await newUser();
  const account = browser.userId;
  const keys = [await newKey(browser, 'first-key'), await newKey(browser, '=second')];
  await topUp(database, account, 100n * yuan, noon - 30 * 24 * hourMs);
  const made = Array.from(
    { length: 40 },
    (_, n): TestCharge => ({
      ...{
        account,
        id: `req_${String(n).padStart(2, '0')}`,
        keyId: keys[n % 2] ?? '',
        at: noon - (40 - n) * 3 * hourMs,
      },
      ...(n % 4 === 3
        ? {
            model: 'vendor/painter',
            capability: 'images',
            lines: [['image', 2, 1n, BigInt(n + 1) * 1_000n]] as const,
          }
        : {
            lines: [
              ['input', 100, 1n, 500n],
              ['cached_input', 50, 1n, 250n],
              ['reasoning', 3, 1n, BigInt(n + 1) * 1_000n - 750n],
            ] as const,
          }),
      ...{ status: n % 10 === 0 ? 'cut' : 'ok', inputTokens: 150, outputTokens: 3 },
    }),
  );
  await charges(database, made);
  while (await rollUp(database, noon)) continue;
  return { browser, keys };
}

const ids = ({ json }: { json: { items: readonly ChargeView[] } }): readonly string[] =>
  json.items.map(({ id }) => id);

forEachDatabase((_name, openFresh) => {
  test('charges come newest first, in pages that lead on and back, and a filter keeps its cursor', async () => {
    const console = await startUserConsole(await openFresh({ migrations }), clock);
    const { browser, keys } = await filled(console);
    const all = await browser.ask('usage?limit=100');
    expect(all.json.items).toHaveLength(40);
    expect(all.json.items[0]).toMatchObject({
      id: 'req_39',
      model: 'vendor/painter',
      kind: 'images',
      key_name: '=second',
      status: 'ok',
      estimated: false,
      quantity: { amount: 2, unit: 'image' },
      first_byte_ms: 412,
      total_ms: 6_900,
      cost: '0.000040000',
    });
    expect(all.json.items[1]).toMatchObject({
      tokens: { input: 150, cached_input: 50, cache_write: 0, output: 3, reasoning: 3 },
      quantity: null,
    });
    const forth = [await browser.ask('usage?limit=15')];
    while (forth.at(-1)?.json.next !== null)
      forth.push(await browser.ask(`usage?limit=15&after=${forth.at(-1)?.json.next}`));
    expect(forth.flatMap(ids)).toEqual(ids(all));
    expect(forth).toHaveLength(3);
    const back = await browser.ask(`usage?limit=15&after=${forth[2]?.json.prev}`);
    expect(ids(back)).toEqual(forth[1] && ids(forth[1]));
    expect(ids(await browser.ask(`usage?limit=15&after=${back.json.prev}`))).toEqual(
      forth[0] && ids(forth[0]),
    );
    const other = await browser.ask(`usage?limit=15&model=glm&after=${forth[0]?.json.next}`);
    expect(other).toMatchObject({ status: 400, json: { error: { code: 'invalid_cursor' } } });
    expect(ids(await browser.ask(`usage?key=${keys[0]}&model=vendor/painter`))).toEqual([]);
    expect(ids(await browser.ask('usage?status=cut&kind=chat'))).toEqual([
      'req_30',
      'req_20',
      'req_10',
      'req_00',
    ]);
    expect(ids(await browser.ask('usage?min_cost=0.000038'))).toEqual([
      'req_39',
      'req_38',
      'req_37',
    ]);
    expect(ids(await browser.ask('usage?request=req_07'))).toEqual(['req_07']);
    expect(ids(await browser.ask('usage?from=-6h'))).toEqual(['req_39', 'req_38']);
    const refunded = async () => {
      const { json } = await browser.ask('usage?limit=25');
      const { json: one } = await browser.ask('usage/req_39');
      return [json.items[0].refunded, json.items[1].refunded, one.refunded];
    };
    expect(new Set(await refunded())).toEqual(new Set(['0.000000000']));
    for (const part of [15_000n, 25_000n]) {
      const id = `refund-of-${part}`;
      await refund(console.database, { id, original: 'req_39', amount: part, at: noon });
    }
    expect(await refunded()).toEqual(['0.000040000', '0.000000000', '0.000040000']);
    expect((await browser.ask('usage?from=yesterday')).json.error.fields).toEqual({
      from: 'not_a_time',
    });
    expect((await browser.ask('usage?min_cost=-1')).json.error.fields).toEqual({
      min_cost: 'not_an_amount',
    });
  });

  test('the summary and the days of a filter are what its charges come to', async () => {
    const console = await startUserConsole(await openFresh({ migrations }), clock);
    const { browser, keys } = await filled(console);
    for (const [original, amount] of [
      ['req_39', 25_000n],
      ['req_30', 31_000n],
    ] as const)
      await refund(console.database, { id: `back-${original}`, original, amount, at: noon });
    const nanos = (text: string): bigint => BigInt(text.replace('.', ''));
    for (const filter of [
      '',
      `key=${keys[1]}`,
      'model=glm',
      'status=cut',
      'min_cost=0.00002',
      'from=-40h&model=vendor/painter',
    ]) {
      const { items } = (await browser.ask(`usage?limit=100&${filter}`)).json as {
        items: readonly ChargeView[];
      };
      const cost = items.reduce((sum, row) => sum + nanos(row.cost), 0n);
      const { json } = await browser.ask(`usage/summary?${filter}`);
      expect([json.requests, nanos(json.cost)], filter).toEqual([items.length, cost]);
      const back = items.reduce((sum, { refunded }) => sum + nanos(refunded), 0n);
      expect(nanos(json.refunded), filter).toBe(back);
      expect(json.tokens.cached_input).toBe(
        items.filter(({ kind }) => kind === 'chat').length * 50,
      );
      expect(json.error_share).toBeCloseTo(
        items.filter(({ status }) => status === 'cut').length / items.length,
        5,
      );
      for (const by of ['model', 'key']) {
        const series = (await browser.ask(`usage/series?by=${by}&${filter}`)).json;
        expect(
          series.totals.reduce((sum: bigint, value: string) => sum + nanos(value), 0n),
          filter,
        ).toBe(cost);
        expect(
          series.series.reduce((sum: bigint, one: { cost: string }) => sum + nanos(one.cost), 0n),
        ).toBe(cost);
      }
    }
    const byKey = (await browser.ask('usage/series?by=key')).json;
    expect(byKey.series.map(({ name }: { name: string }) => name)).toEqual([
      '=second',
      'first-key',
    ]);
    expect(byKey.zone).toBe('Asia/Shanghai');
  });

  test('a table for spreadsheets has the whole filter, local times, and no text that is a formula', async () => {
    const { browser } = await filled(
      await startUserConsole(await openFresh({ migrations }), clock),
    );
    const csv = await browser.ask('usage.csv?kind=images');
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage-2026-11-21.csv"',
    });
    const lines = csv.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe(
      '\uFEFFtime,utc_offset,request_id,model,kind,key,group,status,estimated,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,reasoning_tokens,quantity,unit,first_byte_ms,total_ms,cost_yuan',
    );
    expect(lines.at(-1)).toBe(
      "2026-11-21 11:05:00,+08:00,req_39,vendor/painter,images,'=second,default,ok,no,150,0,0,3,0,2,image,412,6900,0.000040000",
    );
  });

  test('the overview: what there is, how long it lasts, and what costs most', async () => {
    const console = await startUserConsole(await openFresh({ migrations }), clock);
    const stranger = await console.newUser();
    const empty = (await stranger.ask('overview')).json;
    expect(empty).toMatchObject({
      balance: {
        available: '0.000000000',
        held: '0.000000000',
        runway: { state: 'unknown' },
        empty: true,
        unfunded: true,
      },
      today: { cost: '0.000000000', requests: 0 },
      top: [],
      last_charges: [],
      start: {
        done: false,
        topped_up: false,
        has_key: false,
        charged: false,
        first_charge: null,
        sample_model: null,
      },
    });
    const { browser } = await filled(console);
    const { json } = await browser.ask('overview');
    expect(json.series.days).toHaveLength(30);
    expect(json.series.days.at(-1)).toBe('2026-11-21');
    expect(json).toMatchObject({
      balance: {
        available: '99.999180000',
        runway: { state: 'over_a_year' },
        empty: false,
        unfunded: false,
      },
      // 02:05, 05:05, 08:05 and 11:05.
      today: { requests: 4, cost: '0.000154000' },
      last_7_days: { requests: 40, cost: '0.000820000' },
      top: [
        { model: 'glm', requests: 30, cost: '0.000600000', cached_share: 0.333333 },
        { model: 'vendor/painter', requests: 10, cost: '0.000220000', cached_share: null },
      ],
      start: {
        done: true,
        topped_up: true,
        has_key: true,
        charged: true,
        first_charge: { id: 'req_00' },
        sample_model: 'alone',
      },
    });
    expect(json.last_charges.map(({ id }: ChargeView) => id)).toEqual([
      'req_39',
      'req_38',
      'req_37',
      'req_36',
      'req_35',
      'req_34',
      'req_33',
      'req_32',
    ]);
    expect(json.period).toMatchObject({
      name: '30d',
      ...{ requests: 40, cost: '0.000820000' },
      before: { requests: 0, to: '2026-10-22T06:05:00.000Z' },
    });
    const today = (await browser.ask('overview?period=today')).json;
    expect(today.period).toMatchObject({
      ...{ from: '2026-11-20T16:00:00.000Z', requests: 4, cost: '0.000154000' },
      before: { from: '2026-11-19T16:00:00.000Z', to: '2026-11-20T06:05:00.000Z' },
    });
    expect(today.period.before.cost).toBe(today.yesterday_so_far);
    expect([today.series.days.length, today.series.days[14]]).toEqual([15, '14:00']);
    expect(today.top.map(({ requests }: { requests: number }) => requests)).toEqual([3, 1]);
    expect((await browser.ask('overview?period=90d')).json.series.days).toHaveLength(90);
    expect((await browser.ask('overview?period=year')).status).toBe(400);
    // Yesterday's until 14:05.
    expect(json.yesterday_so_far).toBe('0.000122000');
    expect((await browser.ask('overview?by=key')).json.series.series).toHaveLength(2);
    const back = { original: 'req_39', amount: 15_000n };
    await refund(console.database, { ...back, id: 'back', at: noon - 24 * hourMs - 1 });
    await refund(console.database, { ...back, id: 'back again', at: noon - 1 });
    const net = (await browser.ask('overview?period=today')).json;
    expect(net).toMatchObject({
      today: { requests: 4, cost: '0.000139000' },
      yesterday_so_far: '0.000107000',
      last_7_days: { requests: 40, cost: '0.000790000' },
      period: { cost: '0.000139000', refunded: '0.000015000', before: { cost: '0.000107000' } },
    });
    const costs = net.top.map(({ cost }: { cost: string }) => BigInt(cost.replace('.', '')));
    expect(costs[0] + costs[1]).toBe(154_000n);
  });

  test('the first steps name the sample model that the newest working key may use', async () => {
    let passed = 0;
    const ticking = { now: () => noon + passed++, monotonicMs: () => 0 };
    const console = await startUserConsole(await openFresh({ migrations }), ticking);
    const browser = await console.newUser();
    const sample = async () => (await browser.ask('overview')).json.start.sample_model;
    const make = (name: string, terms: object) =>
      browser.ask('keys', {
        method: 'POST',
        body: { name, group: 'default', ...terms },
        headers: { 'idempotency-key': `form-${name}` },
      });
    await make('all', {});
    expect(await sample()).toBe('alone');
    const { json } = await make('one', { only_models: ['glm', 'vendor/painter'] });
    expect(await sample()).toBe('glm');
    await browser.ask(`keys/${json.key.id}/disable`, { method: 'POST', body: {} });
    expect(await sample()).toBe('alone');
  });

  test('models have their prices per group, and how they did lately', async () => {
    const console = await startUserConsole(await openFresh({ migrations }), clock);
    const { browser } = await filled(console);
    const { json } = await browser.ask('models?group=economy');
    expect(json).toMatchObject({ group: 'economy', groups: ['default', 'economy'] });
    expect(json.items).toMatchObject([
      {
        id: 'glm',
        kind: 'chat',
        context: 128_000,
        prices: [
          { amount: '2.125', per: 1_000_000, unit: 'token', class: 'input' },
          { amount: '0.2125', class: 'cached_input' },
          { amount: '8.50', class: 'output' },
          // The vendor's list fees, at the exchange rate and the group's multiplier.
          { amount: '0.153', per: 1, unit: 'call', class: 'web_search' },
          { amount: '0.1836', class: 'code_session' },
          { amount: '0.00', class: 'mcp_call' },
        ],
      },
      {
        id: 'vendor/painter',
        prices: [{ amount: '0.357', per: 1, unit: 'image', class: 'image' }],
      },
    ]);
    expect((await browser.ask('models')).json.group).toBe('default');
    expect((await browser.ask('models?group=secret')).status).toBe(404);
    const detail = await browser.ask('models/vendor/painter');
    expect(detail.json).toMatchObject({
      id: 'vendor/painter',
      by_group: [
        { group: 'default', multiplier: '1.00' },
        { group: 'economy', prices: [{ amount: '0.357' }] },
      ],
      price_version: { version: 1 },
      image: {
        price_names: {
          also_called: { high: 'hd' },
          resolutions: [{ name: '1K', pixels_max: 2_400_000 }, {}, { pixels_max: null }],
        },
      },
      speed: { requests: 2, total_median_ms: 6_900, success_share: 1 },
    });
    expect((await browser.ask('models/nobody')).status).toBe(404);
  });

  test('the palette finds what the user has, and no more', async () => {
    const console = await startUserConsole(await openFresh({ migrations }), clock);
    const { browser } = await filled(console);
    const other = await console.newUser();
    const found = async (who: Browser, q: string) =>
      (await who.ask(`find?q=${encodeURIComponent(q)}`)).json.items.map(
        ({ kind, title }: { kind: string; title: string }) => [kind, title],
      );
    expect(await found(browser, 'FIRST')).toEqual([['key', 'first-key']]);
    expect(await found(browser, 'req_05')).toEqual([['request', 'req_05']]);
    expect(await found(browser, 'paint')).toEqual([['model', 'vendor/painter']]);
    expect(await found(browser, '%')).toEqual([]);
    expect(await found(other, 'req_05')).toEqual([]);
    expect(await found(other, 'first')).toEqual([]);
    expect(await found(other, 'test')).toEqual([]);
  });
});
