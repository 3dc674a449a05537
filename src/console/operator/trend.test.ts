import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { newBrowser } from '../../../test/support/console.ts';
import { startOperatorConsole } from '../../../test/support/console-operator.ts';
import { charges, noon, sold } from '../../../test/support/console-user.ts';
import { newCustomer } from '../../../test/support/customer.ts';
import { migrations } from '../../app/schema.ts';
import { dayMs, hourMs } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import { refund } from '../../ledger/ledger.ts';
import type { Database } from '../../storage/database.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { OperatorTrend } from '../contract.ts';
import { yuan } from '../format.ts';

const nano = 1_000_000_000n;
const clock = { now: () => noon, monotonicMs: () => 0 };
/** 2026-11-21 00:00 in Shanghai. */
const today = Date.UTC(2026, 10, 20, 16);
const priced = sold.replace(
  'models: [glm, vendor/painter] }',
  'models: [glm, vendor/painter], costs: { glm: { input: 1, output: 4 } } }',
);

interface Sale {
  readonly account: string;
  readonly at: number;
  readonly model: 'glm' | 'alone';
  /** Millions of tokens: each costs the user 2.5 yuan, and the vendor takes 1 for glm. */
  readonly millions: bigint;
}

/** Records over 62 days, the last of them seconds old. */
function salesOf(accounts: readonly string[]): readonly Sale[] {
  const spread = Array.from({ length: 300 }, (_, index) => ({
    account: accounts[(index * 7) % accounts.length] ?? '',
    at: noon - 30_000 - index * 5 * hourMs + ((index * 1_234_567) % hourMs) - hourMs,
    model: index % 3 === 0 ? ('alone' as const) : ('glm' as const),
    millions: BigInt(1 + (index % 4)),
  }));
  const [account = ''] = accounts;
  return [...spread, { account, at: noon - 20_000, model: 'glm', millions: 3n }];
}

const sell = (database: Database, sales: readonly Sale[]): Promise<void> =>
  charges(
    database,
    sales.map(({ account, at, model, millions }, index) => ({
      id: `req_${index}`,
      account,
      keyId: 'key_1',
      at,
      model,
      lines: [['input', Number(millions) * 1e6, 2_500n, millions * 2_500_000_000n]],
    })),
  );

const revenue = (sales: readonly Sale[]) =>
  yuan(sales.reduce((sum, { millions }) => sum + millions * 2_500_000_000n, 0n));

/** The figures made by hand. */
function figures(sales: readonly Sale[], from: number, to: number, at = noon) {
  const within = sales.filter(({ at }) => at >= from && at < to);
  const paid = within.reduce((sum, { millions }) => sum + millions * 2_500_000_000n, 0n);
  const cost = within
    .filter(({ model }) => model === 'glm')
    .reduce((sum, { millions }) => sum + millions * nano, 0n);
  return {
    from: new Date(from).toISOString(),
    to: new Date(Math.min(to, at)).toISOString(),
    revenue: yuan(paid),
    vendor_cost: yuan(cost),
    margin: Number(((paid - cost) * 1_000_000n) / paid) / 1e6,
    requests: within.length,
    active_users: new Set(within.map(({ account }) => account)).size,
  };
}

async function open(database: Database, configuration = priced, its: Clock = clock) {
  const { operator, url } = await startOperatorConsole(database, configuration, { clock: its });
  const trend = async (query = ''): Promise<OperatorTrend> =>
    (await operator.ask(`operator/trend${query}`)).json;
  return { operator, url, trend };
}

forEachDatabase((_name, openFresh) => {
  test('a period, the one before and its course are the sums of the records', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    const accounts: string[] = [];
    for (let i = 0; i < 12; i++)
      accounts.push((await newCustomer(database, 1_000_000n * nano)).userId);
    await database.query('UPDATE users SET created_at=$1', [today]); // the operator's
    const made = [noon - hourMs, noon - 3 * dayMs, noon - 8 * dayMs];
    for (const [index, at] of made.entries())
      await database.query('UPDATE users SET created_at=$1 WHERE id=$2', [
        at,
        accounts[index] ?? '',
      ]);
    const sales = salesOf(accounts);
    await sell(database, sales);
    const check = async () => {
      for (const [query, days] of [
        ['?period=7d', 7],
        ['', 7],
        ['?period=30d', 30],
        ['?period=today', 1],
      ] as const) {
        const found = await trend(query);
        const from = today - (days - 1) * dayMs;
        const elapsed = noon - from;
        const before = from - days * dayMs;
        expect(found.period, query).toMatchObject(figures(sales, from, today + dayMs));
        expect(found.before, query).toMatchObject(figures(sales, before, before + elapsed));
        const starts = found.series.map(({ at }) => Date.parse(at));
        const step = days === 1 ? hourMs : dayMs;
        expect(starts).toEqual(
          Array.from({ length: days === 1 ? 15 : days }, (_, index) => from + index * step),
        );
        expect(found.series.map(({ revenue, requests }) => [revenue, requests])).toEqual(
          starts.map((at) => {
            const its = sales.filter((sale) => sale.at >= at && sale.at < at + step);
            return [revenue(its), its.length];
          }),
        );
      }
    };
    // At first the last minutes are in records alone.
    while ((await rollUp(database, noon - 10 * 60_000)) !== undefined);
    await check();
    while ((await rollUp(database, noon)) !== undefined);
    await check();
  }, 120_000);

  test('the period before ends as many minutes after its beginning as the period has run', async () => {
    const database = await openFresh({ migrations });
    const at = noon + 25 * 60_000;
    const { trend } = await open(database, priced, { now: () => at, monotonicMs: () => 0 });
    const { userId: account } = await newCustomer(database, 1_000_000n * nano);
    const { userId: other } = await newCustomer(database, 1_000_000n * nano);
    const elapsed = at - today;
    const sale = (sold: number, millions: bigint, by = account): Sale => ({
      ...{ account: by, at: sold, model: 'glm', millions },
    });
    const sales = [
      sale(today - dayMs, 1n),
      sale(today - dayMs + elapsed - 30 * 60_000, 2n),
      sale(today - dayMs + elapsed - 1_000, 4n, other),
      sale(today - dayMs + elapsed + 1_000, 8n),
      sale(today + hourMs, 16n),
    ];
    await sell(database, sales);
    while ((await rollUp(database, at)) !== undefined);
    const found = await trend('?period=today');
    expect(found.before).toMatchObject(figures(sales, today - dayMs, today - dayMs + elapsed, at));
    expect(found.before.requests).toBe(3);
    for (const { from, to } of [found.period, found.before])
      expect(Date.parse(to) - Date.parse(from)).toBe(elapsed);
    const week = await trend('?period=7d');
    const lengths = [week.period, week.before].map(
      ({ from, to }) => Date.parse(to) - Date.parse(from),
    );
    expect(lengths).toEqual([elapsed + 6 * dayMs, elapsed + 6 * dayMs]);
  });

  test('what was paid back is taken off the revenue of its hour, model and user', async () => {
    const database = await openFresh({ migrations });
    const { operator, trend } = await open(database);
    const { userId: account } = await newCustomer(database, 1_000n * nano);
    const { userId: other } = await newCustomer(database, 1_000n * nano);
    const sale = (at: number, model: Sale['model'], by: string): Sale => ({
      ...{ account: by, at, model, millions: 2n },
    });
    await sell(database, [
      sale(today - 3 * dayMs, 'glm', account),
      sale(today - 3 * dayMs, 'alone', other),
      sale(noon - 2 * hourMs, 'alone', account),
    ]);
    const back = (id: string, original: string, amount: bigint, at: number) =>
      refund(database, { id, original, amount, at });
    await back('back_1', 'req_0', 5n * nano, today - 2 * dayMs);
    await back('back_2', 'req_1', 1n, noon - hourMs);
    await back('back_3', 'req_1', nano, noon);
    const check = async () => {
      const week = await trend('?period=7d');
      expect(week.period).toMatchObject({ requests: 3, active_users: 2 });
      expect(week.period.revenue).toBe('8.999999999');
      expect(week.series.map((day) => day.revenue)).toEqual(
        [0n, 0n, 0n, 10n * nano, -5n * nano, 0n, 4n * nano - 1n].map(yuan),
      );
      expect(week.models).toEqual([
        { id: 'alone', revenue: '8.999999999', requests: 2 },
        { id: 'glm', revenue: yuan(0n), requests: 1 },
      ]);
      expect(week.users.map(({ id, revenue }) => [id, revenue])).toEqual([
        [account, yuan(5n * nano)],
        [other, '3.999999999'],
      ]);
      const ofOneDay = await trend('?from=2026-11-19&to=2026-11-19');
      expect(ofOneDay.period).toMatchObject({ revenue: '-5.000000000', margin: null });
      expect(ofOneDay.period).toMatchObject({ requests: 0, active_users: 0 });
      const { json: users } = await operator.ask('operator/users?sort=spent&limit=2');
      expect(users.items).toMatchObject([
        { id: account, spent_30_days: yuan(5n * nano) },
        { id: other, spent_30_days: '3.999999999' },
      ]);
      const { json: one } = await operator.ask(`operator/users/${other}`);
      expect(one, 'less its own refunds alone').toMatchObject({ spent_30_days: '3.999999999' });
    };
    while ((await rollUp(database, noon - 10 * 60_000)) !== undefined);
    await check();
    while ((await rollUp(database, noon)) !== undefined);
    await check();
  });

  test('a refund of a charge that is not rolled up yet is not taken off', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    const { userId: account } = await newCustomer(database, 1_000n * nano);
    const sale = (at: number): Sale => ({ account, at, model: 'glm', millions: 2n });
    await sell(database, [sale(noon - 4 * hourMs), sale(noon - hourMs)]);
    while ((await rollUp(database, noon - 2 * hourMs)) !== undefined);
    const at = noon - hourMs + 1_000;
    await refund(database, { id: 'back', original: 'req_1', amount: nano, at });
    const { as_of: until, period } = await trend('?period=today');
    expect(Date.parse(until)).toBeLessThan(noon - hourMs);
    expect(period.revenue).toBe(yuan(5n * nano));
  });

  test('charges and refunds of the period before end together, however late the roll-up', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    const { userId: account } = await newCustomer(database, 1_000n * nano);
    const end = noon - dayMs;
    const sale = (at: number): Sale => ({ account, at, model: 'glm', millions: 2n });
    await sell(database, [sale(end - 4 * hourMs), sale(end - hourMs)]);
    while ((await rollUp(database, end - 2 * hourMs)) !== undefined);
    const back = { original: 'req_1', amount: nano };
    await refund(database, { ...back, id: 'back_1', at: end - hourMs + 1_000 });
    await refund(database, { ...back, id: 'back_2', at: end + 1_000 });
    const { before } = await trend('?period=today');
    expect(before).toMatchObject({ requests: 2, revenue: yuan(9n * nano) });
  });

  test('a day with more refunds than charges has a vendor cost, and no margin', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    const { userId: account } = await newCustomer(database, 1_000n * nano);
    const day = Date.parse('2026-11-18T20:00:00Z');
    const sale = (at: number, millions: bigint): Sale => ({ account, at, model: 'glm', millions });
    await sell(database, [sale(day - dayMs, 2n), sale(day, 1n)]);
    await refund(database, { id: 'back', original: 'req_0', amount: 3n * nano, at: day + 1_000 });
    while ((await rollUp(database, noon)) !== undefined);
    expect((await trend('?from=2026-11-19&to=2026-11-19')).period).toMatchObject({
      revenue: yuan(-nano / 2n),
      vendor_cost: yuan(nano),
      margin: null,
    });
  });

  test('models, users and channels are ranked', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    const accounts: string[] = [];
    for (let i = 0; i < 12; i++)
      accounts.push((await newCustomer(database, 1_000_000n * nano)).userId);
    const sales = salesOf(accounts).filter(({ at }) => at > noon - 20 * dayMs);
    await sell(database, sales);
    const slot = noon - (noon % 600_000) - 2 * dayMs;
    for (const [channel, kind, count] of [
      ['a', 'ok', 75],
      ['a', 'timeout', 20],
      ['a', 'protocol', 5],
      ['a', 'first:12', 900],
      ['a', 'overrun', 1],
      ['b', 'network', 100],
    ] as const)
      await database.query('INSERT INTO channel_count VALUES ($1, $2, $3, $4)', [
        slot,
        channel,
        kind,
        count,
      ]);
    while ((await rollUp(database, noon)) !== undefined);
    const from = today - 9 * dayMs;
    const json = await trend('?from=2026-11-12&to=2026-11-21');
    const within = sales.filter(({ at }) => at >= from);
    const by = (of: (sale: Sale) => string) =>
      [...new Set(within.map(of))]
        .map((id) => {
          const its = within.filter((sale) => of(sale) === id);
          return { id, revenue: revenue(its), requests: its.length };
        })
        .toSorted(
          (a, b) =>
            Number(b.revenue) - Number(a.revenue) ||
            b.requests - a.requests ||
            (a.id < b.id ? -1 : 1),
        );
    expect(json.models).toEqual(by(({ model }) => model));
    const users = by(({ account }) => account).slice(0, 10);
    expect(json.users).toEqual(users.map((user) => ({ ...user, name: 'test' })));
    expect(json.channels).toEqual([
      {
        name: 'a',
        requests: within.length,
        vendor_cost: json.period.vendor_cost,
        attempts: 100,
        failed_attempts: 25,
      },
      { name: 'b', requests: 0, vendor_cost: null, attempts: 100, failed_attempts: 100 },
    ]);
    expect(json.period).toMatchObject({
      failed_share: 0.625,
      failed_attempts: 125,
      attempts: 200,
      failed_since: new Date(slot).toISOString(),
    });
    expect(json.before).toMatchObject({ failed_share: null, failed_since: null });
  }, 120_000);

  test('new users, operators apart, are counted by the day that made them', async () => {
    const database = await openFresh({ migrations });
    const { trend } = await open(database);
    await database.query('UPDATE users SET created_at=$1', [today]); // the operator's
    for (const at of [today, today - 1, today - 7 * dayMs, noon - 7 * dayMs]) {
      const { userId } = await newCustomer(database, 0n);
      await database.query('UPDATE users SET created_at=$1 WHERE id=$2', [at, userId]);
    }
    expect((await trend('?period=today')).period.new_users).toBe(1);
    const week = await trend('?period=7d');
    expect([week.period.new_users, week.before.new_users]).toEqual([2, 1]);
    const month = await trend('?period=month');
    expect([month.period.from, month.before.from, month.before.to]).toEqual([
      '2026-10-31T16:00:00.000Z',
      '2026-09-30T16:00:00.000Z',
      '2026-10-21T06:05:00.000Z',
    ]);
  });

  test('an empty database has zeros, and no cost where none is entered', async () => {
    const { trend, operator } = await open(await openFresh({ migrations }), sold);
    const found = await trend('?period=30d');
    expect(found).toMatchObject({
      period: {
        revenue: '0.000000000',
        vendor_cost: null,
        margin: null,
        requests: 0,
        failed_share: null,
        failed_since: null,
        active_users: 0,
      },
      models: [],
      users: [],
      channels: [],
      unit: 'day',
    });
    expect(found.series).toHaveLength(30);
    for (const [query, fields] of [
      ['from=2026-11-10&to=2026-11-09', { from: 'after_end' }],
      ['from=2025-01-01&to=2026-11-09', { from: 'too_long' }],
    ] as const)
      expect(await operator.ask(`operator/trend?${query}`)).toMatchObject({
        status: 400,
        json: { error: { fields } },
      });
    expect((await operator.ask('operator/trend?period=year')).status).toBe(400);
  });

  test('it is for operators only', async () => {
    const database = await openFresh({ migrations });
    const { url } = await open(database);
    const user = await newBrowser(url, database);
    expect(await user.ask('operator/trend')).toMatchObject({
      status: 403,
      json: { error: { code: 'operator_only' } },
    });
  });
});
