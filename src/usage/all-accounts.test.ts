import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { accountsMigrations } from '../accounts/migrations.ts';
import { dayMs, hourMs, zoneDays } from '../base/calendar.ts';
import { changesMigrations } from '../storage/changes.ts';
import type { Database, SqlValue } from '../storage/database.ts';
import { catchUpAllAccounts, forgetAllAccounts } from './all-accounts.ts';
import { keepRolledUp } from './keep-rolled-up.ts';
import { usageMigrations } from './migrations.ts';
import type { TimeRange } from './ranges.ts';
import { recordColumns } from './record.ts';
import { rebuildHours, recheckHour, rollUp, settledAfterMs } from './rollup.ts';
import {
  channelShares,
  revenueByAccount,
  revenueByHour,
  revenueByModel,
  soldByModel,
} from './totals.ts';
import { unexpected } from '../../test/support/unexpected.ts';

const migrations = [...changesMigrations, ...accountsMigrations, ...usageMigrations];
/** New York's clocks go back on the first of November. */
const start = Date.UTC(2026, 9, 28, 5);
const days = 9;

interface Sale {
  readonly account: string;
  readonly at: number;
  readonly model: string;
  readonly channel: string | null;
  readonly cost: bigint;
  readonly shortfall: bigint;
  readonly input: number;
}

const sale = fc.record({
  account: fc.constantFrom('a', 'b', 'c'),
  at: fc.oneof(
    fc.integer({ min: start, max: start + days * dayMs - 1 }),
    // The first and the last moments of hours.
    fc.integer({ min: 0, max: days * 24 - 1 }).map((hour) => start + hour * hourMs),
    fc.integer({ min: 1, max: days * 24 }).map((hour) => start + hour * hourMs - 1),
  ),
  model: fc.constantFrom('m1', 'm2'),
  channel: fc.constantFrom('one', 'two', null),
  cost: fc.bigInt({ min: 5n, max: 9_000_000_000n }),
  shortfall: fc.constantFrom(0n, 0n, 3n),
  input: fc.integer({ min: 1, max: 100_000 }),
});

/** Zones east and west, off the full hour, and with a day of 25 hours. */
const zones = ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/New_York'];

const fullHour = (at: number): number => at - (at % hourMs);

/** Periods as the operator's overview cuts them: days of a zone, to the full hour. */
const periods: readonly TimeRange[] = zones.flatMap((zone) =>
  [
    ['2026-10-28', '2026-11-05'],
    ['2026-10-30', '2026-11-01'],
    ['2026-11-01', '2026-11-01'],
    ['2026-11-02', '2026-11-04'],
  ].map(([first = '', last = '']) => {
    const its = zoneDays(zone, first, last);
    return { from: fullHour(its[0]?.from ?? 0), to: fullHour(its.at(-1)?.to ?? 0) };
  }),
);

async function insert(database: Database, sales: readonly Sale[], first = 0): Promise<void> {
  const names = ['id', 'account', 'cost', 'shortfall', ...recordColumns.map(({ name }) => name)];
  const params: SqlValue[] = sales.flatMap((made, index) => {
    const { account, at, model, channel, cost, shortfall, input } = made;
    const values: Record<string, SqlValue> = {
      ...{
        id: `r${first + index}`,
        account,
        cost,
        shortfall,
        model,
        channel,
        key_id: `k${account}`,
      },
      ...{ reserved_at: at - 700, finished_at: at, capability: 'chat', group_name: 'default' },
      ...{
        status: 'ok',
        stream: 1,
        estimated: 0,
        first_byte_ms: 40,
        duration_ms: 700,
        attempts: 1,
      },
      ...{ input_tokens: input, output_tokens: 0 },
      lines: `[["input",${input},"1000","${cost}"],["second",1.5,"0","0"]]`,
    };
    return names.map((name) => values[name] ?? null);
  });
  const rows = sales.map(
    (_, row) => `(${names.map((__, at) => `$${row * names.length + at + 1}`).join()})`,
  );
  await database.query(`INSERT INTO usage (${names.join()}) VALUES ${rows.join()}`, params);
}

/** A figure of a group of sales. */
type Sums = Readonly<Record<string, string>>;

function grouped(
  sales: readonly Sale[],
  keyOf: (sale: Sale) => string,
  figureOf: (its: readonly Sale[]) => string,
): Sums {
  const groups = new Map<string, Sale[]>();
  for (const made of sales) groups.set(keyOf(made), [...(groups.get(keyOf(made)) ?? []), made]);
  return Object.fromEntries([...groups].map(([key, its]) => [key, figureOf(its)]));
}

const paid = (its: readonly Sale[]): string =>
  `${its.length} ${its.reduce((sum, { cost, shortfall }) => sum + cost - shortfall, 0n)}`;

/** The figures, sale by sale. */
function figuresOf(sales: readonly Sale[], { from, to }: TimeRange) {
  const within = sales.filter(({ at }) => at >= from && at < to);
  return {
    accounts: grouped(within, ({ account }) => account, paid),
    models: grouped(within, ({ model }) => model, paid),
    hours: grouped(within, ({ at }) => String(fullHour(at)), paid),
    sold: {
      ...grouped(
        within,
        ({ model }) => `${model} input`,
        (its) => String(its.reduce((sum, { input }) => sum + BigInt(input) * 1_000_000n, 0n)),
      ),
      ...grouped(
        within,
        ({ model }) => `${model} second`,
        (its) => String(its.length * 1_500_000),
      ),
    },
    shares: grouped(
      within,
      ({ model, channel }) => `${model} ${channel ?? ''}`,
      (its) => String(its.length),
    ),
  };
}

/** The same as the overview reads them. */
function figuresRead(database: Database, span: TimeRange) {
  return database.snapshot(function* () {
    const revenue = (rows: readonly { requests: number; cost: bigint }[], keys: unknown[]): Sums =>
      Object.fromEntries(rows.map(({ requests, cost }, row) => [keys[row], `${requests} ${cost}`]));
    const accounts = yield* revenueByAccount(span);
    const models = yield* revenueByModel(span);
    const hours = yield* revenueByHour(span);
    const sold = yield* soldByModel(database, span);
    const shares = yield* channelShares(span);
    return {
      accounts: revenue(
        accounts,
        accounts.map(({ id }) => id),
      ),
      models: revenue(
        models,
        models.map(({ id }) => id),
      ),
      hours: revenue(
        hours,
        hours.map(({ hour }) => hour),
      ),
      sold: Object.fromEntries(
        sold.map(({ model, measure, micros }) => [`${model} ${measure}`, String(micros)]),
      ),
      shares: Object.fromEntries(
        shares.map(({ model, channel, requests }) => [`${model} ${channel}`, String(requests)]),
      ),
    };
  });
}

async function compare(database: Database, sales: readonly Sale[], until: number): Promise<void> {
  const rolled = sales.filter(({ at }) => at < until);
  for (const span of periods)
    expect(await figuresRead(database, span), JSON.stringify([span, until])).toEqual(
      figuresOf(rolled, span),
    );
}

const reached = async (database: Database): Promise<readonly number[]> => {
  const [row] = await database.query('SELECT until, totals_until FROM usage_rolled');
  return [Number(row?.['until']), Number(row?.['totals_until'])];
};

forEachDatabase((_name, openFresh) => {
  async function withSales() {
    const database = await openFresh({ migrations });
    for (const id of ['a', 'b', 'c'])
      await database.query(
        "INSERT INTO users (id, name, role, created_at) VALUES ($1, 'n', 'user', 0)",
        [id],
      );
    const sales = fc.sample(sale, { numRuns: 300, seed: 11 });
    await insert(database, sales);
    return { database, sales };
  }
  const rollTo = async (database: Database, until: number): Promise<void> => {
    while (await rollUp(database, until + settledAfterMs)) continue;
    expect((await reached(database))[0]).toBe(until);
  };

  test('sums over all accounts are those of the records, in every zone, however far they are rolled up', async () => {
    const { database, sales } = await withSales();
    for (const until of [
      start + 30 * 60_000,
      start + 19 * hourMs,
      start + 19.5 * hourMs,
      start + 43 * hourMs,
      start + 100.5 * hourMs,
      start + days * dayMs,
    ]) {
      await rollTo(database, until);
      expect((await reached(database))[1]).toBe(fullHour(until));
      await compare(database, sales, until);
    }
  });

  test('a database of an older version answers the same before, while and after its sums are made', async () => {
    const { database, sales } = await withSales();
    const until = start + 150.5 * hourMs;
    await rollTo(database, until);
    await database.transact(() => forgetAllAccounts(0, 0));
    await compare(database, sales, until);
    expect(await catchUpAllAccounts(database)).toBe(Date.UTC(2026, 9, 29));
    expect(await catchUpAllAccounts(database)).toBe(Date.UTC(2026, 9, 30));
    await compare(database, sales, until);
    // An hour that is rolled up meanwhile waits for the sums before it.
    await rollTo(database, until + hourMs);
    expect((await reached(database))[1]).toBe(Date.UTC(2026, 9, 30));
    await compare(database, sales, until + hourMs);
    const end = start + days * dayMs;
    const clock = { now: () => end + settledAfterMs, monotonicMs: () => 0 };
    const keeping = keepRolledUp(database, clock, unexpected);
    await expect.poll(() => reached(database), { timeout: 20_000 }).toEqual([end, end]);
    await keeping.stop();
    await compare(database, sales, end);
    expect(await catchUpAllAccounts(database)).toBeUndefined();
  });

  test('a late record enters the sums with its hour, and sums of other hours stay', async () => {
    const { database, sales } = await withSales();
    const until = start + days * dayMs;
    await rollTo(database, until);
    const late = { model: 'm3', channel: null, cost: 77n, shortfall: 0n, input: 5 };
    const complete = { ...late, account: 'b', at: start + 60.5 * hourMs };
    const today = { ...late, account: 'a', at: until - 2.5 * hourMs };
    await insert(database, [complete, today], 1_000);
    expect(await recheckHour(database, start + 60 * hourMs)).toBe(1);
    expect(await rebuildHours(database, 'a')).toBe(1);
    const all = [...sales, complete, today];
    for (const span of periods) {
      const { shares: _, ...read } = await figuresRead(database, span);
      const { shares: __, ...wanted } = figuresOf(all, span);
      expect(read).toEqual(wanted);
    }
  });
});
