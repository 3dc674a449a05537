import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { dayMs, hourMs } from '../base/calendar.ts';
import type { Database, SqlValue, Transaction } from '../storage/database.ts';
import { accountsMigrations } from '../accounts/migrations.ts';
import { changesMigrations } from '../storage/changes.ts';
import { splitRange, recentOf, rolledUntil } from './ranges.ts';
import { FutureWatch } from './keep-rolled-up.ts';
import { rollUp, settledAfterMs, recheckHour, rebuildHours, rewind } from './rollup.ts';
import { usageMigrations } from './migrations.ts';
import { usagePage, type UsagePosition } from './page.ts';
import { recordColumns } from './record.ts';
import {
  charged,
  chargedBySpan,
  metered,
  spending,
  spentByKey,
  startOfNewest,
} from './spending.ts';
import { speedsByHour, summarizeSpeeds } from './histogram.ts';
import {
  channelShares,
  type Revenue,
  soldByModel,
  revenueByAccount,
  revenueByHour,
} from './totals.ts';

const migrations = [...changesMigrations, ...accountsMigrations, ...usageMigrations];
const start = Date.UTC(2026, 10, 20);
const names = ['id', 'account', 'cost', 'shortfall', ...recordColumns.map(({ name }) => name)];
const sql = `INSERT INTO usage (${names.join()}) VALUES (${names.map((_, i) => `$${i + 1}`).join()})`;

interface Made {
  readonly account: string;
  readonly at: number;
  readonly cost: bigint;
  readonly shortfall: bigint;
  readonly model: string;
  readonly key: string;
  readonly status: string;
  readonly input: number;
}

async function insert(database: Database, records: readonly Made[], from = 0): Promise<void> {
  for (const [
    index,
    { account, at, cost, shortfall, model, key, status, input },
  ] of records.entries()) {
    const values: Record<string, SqlValue> = {
      key_id: key,
      reserved_at: at - 700,
      finished_at: at,
      capability: 'chat',
      model,
      group_name: 'default',
      channel: 'c',
      upstream_id: null,
      status,
      stream: 1,
      estimated: 0,
      first_byte_ms: 400,
      duration_ms: 700,
      attempts: 1,
      input_tokens: input,
      output_tokens: 0,
      lines: `[["input",${input},"1000","${cost}"],["second",1.5,"0","0"]]`,
    };
    await database.query(sql, [
      `r${from + index}`,
      account,
      cost,
      shortfall,
      ...recordColumns.map(({ name }) => values[name] ?? null),
    ]);
  }
}

async function withUsers(database: Database): Promise<Database> {
  for (const id of ['a', 'b'])
    await database.query(
      "INSERT INTO users (id, name, role, created_at) VALUES ($1, 'n', 'user', 0)",
      [id],
    );
  return database;
}

const record = fc.record({
  account: fc.constantFrom('a', 'b'),
  at: fc.integer({ min: start, max: start + 6 * hourMs }),
  cost: fc.bigInt({ min: 5n, max: 9_000_000_000n }),
  shortfall: fc.constantFrom(0n, 0n, 3n),
  model: fc.constantFrom('m1', 'm2'),
  key: fc.constantFrom('k1', 'k2'),
  status: fc.constantFrom('ok', 'ok', 'cut'),
  input: fc.integer({ min: 1, max: 100_000 }),
});

/** The same over sixty hours. */
const longer = record.map((made) => ({ ...made, at: start + (made.at - start) * 10 }));

const rollAll = async (database: Database, now: number): Promise<void> => {
  while (await rollUp(database, now)) continue;
};

const sum = (records: readonly Made[]): bigint =>
  records.reduce((total, { cost, shortfall }) => total + cost - shortfall, 0n);

test('a span is covered once, by days, hours and records together', () => {
  const time = fc.integer({ min: 0, max: 400 }).map((quarters) => (quarters * hourMs) / 4);
  fc.assert(
    fc.property(time, time, time, fc.constantFrom('hour', 'day'), (a, b, until, unit) => {
      const span = { from: Math.min(a, b), to: Math.max(a, b) };
      const { days, hours, records } = splitRange(span, until, unit);
      expect(
        days.every(({ from, to }) => from % dayMs === 0 && to % dayMs === 0 && to <= until),
      ).toBe(true);
      // Hours cover the charges before `until`.
      const parts = [
        ...days,
        ...hours.map(({ from, to }) => ({ from, to: Math.min(to, until) })),
        ...records,
      ];
      for (let at = 0; at < 101 * hourMs; at += hourMs / 8) {
        const times = parts.filter(({ from, to }) => at >= from && at < to).length;
        if (times !== (at >= span.from && at < span.to ? 1 : 0))
          throw new Error(`${at} is covered ${times} times`);
      }
    }),
  );
});

forEachDatabase((_name, openFresh) => {
  test('hourly figures are those of the records, however far they are rolled up, for every account and range', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const records = fc.sample(longer, { numRuns: 200, seed: 7 });
    await insert(database, records);
    const spans = fc.sample(
      fc.tuple(fc.integer({ min: -10, max: 4_000 }), fc.integer({ min: -10, max: 4_000 })),
      { numRuns: 12, seed: 8 },
    );
    for (const now of [
      0,
      start + 2.4 * hourMs,
      start + 30.5 * hourMs,
      start + 48 * hourMs + settledAfterMs,
      start + 70 * hourMs,
    ]) {
      await rollAll(database, now);
      for (const [one, other] of spans) {
        const span = {
          from: start + Math.min(one, other) * 60_000,
          to: start + Math.max(one, other) * 60_000,
        };
        const inside = records.filter(
          ({ account, at }) => account === 'a' && at >= span.from && at < span.to,
        );
        const question = { account: 'a', ...span };
        const [all, byModel, cut, lines, short] = await database.snapshot(function* () {
          return [
            yield* spending(question, []),
            yield* spending(question, ['model', 'key_id']),
            yield* spending({ ...question, filter: { status: 'cut', model: 'm1' } }, []),
            yield* metered(database, question, ['model']),
            yield* charged('a', span),
          ] as const;
        });
        const found = all[0] ?? { requests: 0, cost: 0n };
        expect([found.requests, found.cost]).toEqual([inside.length, sum(inside)]);
        const keys = await database.snapshot(() => spentByKey('a'));
        const ofKey = records.filter(({ account, key }) => account === 'a' && key === 'k1');
        const until = await database.snapshot(rolledUntil);
        const begun = ofKey.flatMap(({ at }) => (at < until ? [] : [at - 700]));
        expect(keys.get('k1')).toEqual({
          ...{ requests: ofKey.length, cost: sum(ofKey) },
          lastAt: begun.length === 0 ? undefined : Math.max(...begun),
        });
        expect(short).toEqual({ requests: inside.length, cost: sum(inside) });
        for (const { of, cost } of byModel)
          expect(cost).toBe(
            sum(inside.filter(({ model, key }) => model === of.model && key === of.key_id)),
          );
        expect(cut[0]?.cost ?? 0n).toBe(
          sum(inside.filter(({ status, model }) => status === 'cut' && model === 'm1')),
        );
        const tokens = lines
          .filter(({ measure }) => measure === 'input')
          .reduce((total, { micros }) => total + micros, 0n);
        expect(tokens).toBe(
          BigInt(inside.reduce((total, { input }) => total + input, 0)) * 1_000_000n,
        );
        const seconds = lines
          .filter(({ measure }) => measure === 'second')
          .reduce((total, { micros }) => total + micros, 0n);
        expect(seconds).toBe(BigInt(inside.length) * 1_500_000n);
      }
    }
  });

  test('figures by day are the same at once and one by one, in zones off the full hour too', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const records = fc.sample(record, { numRuns: 60, seed: 3 });
    await insert(database, records);
    await rollAll(database, start + 9 * hourMs);
    for (const shift of [0, hourMs / 2]) {
      const spans = [0, 2, 4].map((hour) => ({
        from: start + hour * hourMs + shift,
        to: start + (hour + 2) * hourMs + shift,
      }));
      const figures = await database.snapshot(() => chargedBySpan('a', spans));
      for (const [index, { from, to }] of spans.entries()) {
        expect(figures[index]?.cost).toBe(
          sum(records.filter(({ account, at }) => account === 'a' && at >= from && at < to)),
        );
      }
    }
  });

  test('rolling up twice, by two at once, or anew, adds nothing twice', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    await insert(database, fc.sample(record, { numRuns: 60, seed: 4 }));
    const tables = [
      'usage_hour',
      'usage_hour_line',
      'spend_hour',
      'spend_key',
      'speed_hour',
      'usage_day',
      'usage_day_line',
    ];
    const all = async () => {
      const rows = [];
      for (const table of tables)
        rows.push(
          (await database.query(`SELECT * FROM ${table}`))
            .map((row) => JSON.stringify(Object.values(row), (_, v) => String(v)))
            .sort(),
        );
      return rows;
    };
    const now = start + 9 * hourMs;
    await Promise.all([rollAll(database, now), rollAll(database, now)]);
    const once = await all();
    await rollAll(database, now);
    expect(await all()).toEqual(once);
    const until = await database.snapshot(rolledUntil);
    await rewind(database, { from: start + 2 * hourMs, to: until });
    await rollAll(database, now);
    expect(await all()).toEqual(once);
    await rewind(database, { from: start, to: until - 1 });
    expect(await all()).toEqual(once);
    await rewind(database, { from: start, to: until });
    expect((await all()).flat()).toEqual([]);
    await rollAll(database, now);
    expect(await all()).toEqual(once);
  });

  test('what was charged within the last minutes is left to records', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const made = {
      account: 'a',
      cost: 9n,
      shortfall: 0n,
      model: 'm1',
      key: 'k1',
      status: 'ok',
      input: 1,
    };
    await insert(database, [
      { ...made, at: start },
      { ...made, at: start + 3 * hourMs - settledAfterMs + 1 },
    ]);
    await rollAll(database, start + 3 * hourMs);
    const [hours] = await database.query('SELECT SUM(requests) AS n FROM spend_hour');
    expect(Number(hours?.['n'])).toBe(1);
    const found = await database.snapshot(() =>
      charged('a', { from: start, to: start + 4 * hourMs }),
    );
    expect(found).toEqual({ requests: 2, cost: 18n });
  });

  test('a filter with a match in each of many hours is searched for 399 of them at a time', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const hours = 401;
    const made = Array.from({ length: hours }, (_, index) => ({
      ...{ account: 'a', at: start + index * hourMs, cost: 1n, shortfall: 0n },
      ...{ model: 'm', key: 'k', status: 'ok', input: 1 },
    }));
    await insert(database, made);
    await rollAll(database, start + (hours - 0.5) * hourMs);
    const pagesOf = async (order: 'newest' | 'oldest', count: number) => {
      const sizes: number[] = [];
      const span = { from: start, to: start + count * hourMs };
      let after: UsagePosition | undefined;
      do {
        const question = { account: 'a', ...span, filter: { model: 'm' }, order, limit: 500 };
        const page = await database.snapshot(() =>
          usagePage({ ...question, ...(after && { after }) }),
        );
        sizes.push(page.rows.length);
        after = page.next;
      } while (after !== undefined);
      return sizes;
    };
    // The last hour is not rolled up as a whole, and is searched beside them.
    expect(await pagesOf('newest', hours)).toEqual([400, 1]);
    expect(await pagesOf('oldest', hours)).toEqual([399, 2]);
    expect(await pagesOf('oldest', 398)).toEqual([398]);
  }, 60_000);

  test('pages of a filter show each of its records once, in either order', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const records = fc.sample(record, { numRuns: 200, seed: 5 });
    await insert(database, records);
    for (const now of [0, start + 3.3 * hourMs, start + 9 * hourMs]) {
      await rollAll(database, now);
      for (const order of ['newest', 'oldest'] as const) {
        for (const filter of [
          {},
          { model: 'm1', status: 'cut' },
          { costMin: 8_000_000_000n },
          { keyId: 'nobody' },
        ]) {
          const span = { from: start + hourMs / 3, to: start + 5.5 * hourMs };
          const seen: string[] = [];
          let after: UsagePosition | undefined;
          for (let pages = 0; pages < 100; pages++) {
            const question = {
              account: 'a',
              ...span,
              filter,
              order,
              limit: 7,
              ...(after && { after }),
            };
            const page = await database.snapshot(() => usagePage(question));
            seen.push(...page.rows.map((row) => String(row['id'])));
            after = page.next;
            if (after === undefined) break;
          }
          expect(after).toBeUndefined();
          const wanted = records
            .map((made, index) => ({ ...made, id: `r${index}` }))
            .filter(({ account, at }) => account === 'a' && at >= span.from && at < span.to)
            .filter(
              (made) => !('model' in filter) || (made.model === 'm1' && made.status === 'cut'),
            )
            .filter((made) => !('costMin' in filter) || made.cost >= 8_000_000_000n)
            .filter(() => !('keyId' in filter));
          expect([...seen].sort()).toEqual(wanted.map(({ id }) => id).sort());
          const times = seen.map((id) => records[Number(id.slice(1))]?.at ?? 0);
          expect(times).toEqual([...times].sort((a, b) => (order === 'oldest' ? a - b : b - a)));
        }
      }
    }
  });

  test('pages of a filter go on where two hours side by side have too many records for one', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const made = { account: 'a', cost: 9n, shortfall: 0n, model: 'm1', key: 'k1', status: 'ok' };
    const hours = [0, 1, 2, 3].map((hour) => ({ ...made, input: 1, at: start + hour * hourMs }));
    await insert(database, hours);
    await rollAll(database, start + 9 * hourMs);
    await database.query('UPDATE spend_hour SET requests=16000');
    const question = { account: 'a', from: start, to: start + 9 * hourMs, limit: 50 };
    for (const order of ['newest', 'oldest'] as const) {
      const pages: string[][] = [];
      let after: UsagePosition | undefined;
      do {
        const asked = { ...question, order, filter: { model: 'm1' }, ...(after && { after }) };
        const page = await database.snapshot(() => usagePage(asked));
        pages.push(page.rows.map((row) => String(row['id'])));
        after = page.next;
      } while (after !== undefined && pages.length < 9);
      const each = [['r0'], ['r1'], ['r2'], ['r3']];
      expect(pages).toEqual(order === 'oldest' ? each : each.toReversed());
    }
  });

  test('how fast a model was, and how far back records are added up one by one', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const made = { account: 'a', cost: 9n, shortfall: 0n, model: 'm1', key: 'k1', input: 1 };
    await insert(
      database,
      [0, 1, 2, 3].map((n) => ({
        ...made,
        at: start + n * hourMs,
        status: n === 0 ? 'cut' : 'ok',
      })),
    );
    await rollAll(database, start + 9 * hourMs);
    const all = await database.snapshot(() =>
      speedsByHour({ model: 'm1', from: start, to: start + 9 * hourMs }),
    );
    expect(summarizeSpeeds(all)).toEqual({
      requests: 4,
      cut: 1,
      medianMs: 350,
      p95Ms: 395,
      medianDurationMs: 700,
      meanDurationMs: 700,
    });
    const reach = (most: number) =>
      database.snapshot(() => startOfNewest('a', { from: start, to: start + 9 * hourMs }, most));
    expect([await reach(9), await reach(2), await reach(1)]).toEqual([
      start,
      start + 2 * hourMs,
      start + 3 * hourMs,
    ]);
  });

  test('a record that came hours late is found, and its account mended alone', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const records = fc.sample(longer, { numRuns: 80, seed: 6 });
    await insert(database, records);
    await rollAll(database, start + 55.5 * hourMs);
    const late = {
      account: 'a',
      at: start + 2.5 * hourMs,
      cost: 40n,
      shortfall: 0n,
      model: 'm1',
      key: 'k2',
      status: 'ok',
      input: 5,
    };
    await insert(database, [late], 1_000);
    expect(await rebuildHours(database, 'b')).toBe(0);
    expect(await recheckHour(database, start + hourMs)).toBe(0);
    expect(await recheckHour(database, start + 2 * hourMs)).toBe(1);
    expect(await recheckHour(database, start + 2 * hourMs)).toBe(0);
    await insert(database, [{ ...late, at: start + 30.5 * hourMs }], 2_000);
    expect(await rebuildHours(database, 'a')).toBe(1);
    expect(await rebuildHours(database, 'a')).toBe(0);
    const span = { from: start, to: start + 70 * hourMs };
    const [figures, keys, lines] = await database.snapshot(function* () {
      return [
        yield* charged('a', span),
        yield* spentByKey('a'),
        yield* metered(database, { account: 'a', ...span }, []),
      ] as const;
    });
    const all = [...records, late, late].filter(({ account }) => account === 'a');
    expect(figures).toEqual({ requests: all.length, cost: sum(all) });
    expect(keys.get('k2')?.cost).toBe(sum(all.filter(({ key }) => key === 'k2')));
    const tokens = all.reduce((total, { input }) => total + input, 0);
    expect(lines.find(({ measure }) => measure === 'input')?.micros).toBe(
      BigInt(tokens) * 1_000_000n,
    );
  });

  test('an hour that a roll-up goes on with while it is corrected keeps what the roll-up added', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const minute = 60_000;
    const made = (at: number, cost: bigint): Made => ({
      ...{ account: 'a', at: start + at * minute, cost, shortfall: 0n },
      ...{ model: 'm', key: 'k', status: 'ok', input: 1 },
    });
    await insert(database, [made(10, 100n), made(25, 20n)]);
    await rollUp(database, start + 22 * minute);
    await insert(database, [made(12, 3n)], 100);
    // Another process rolls up when the correction knows how far it goes.
    let reads = 0;
    const raced = new Proxy(database, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name === 'snapshot')
          return async (script: () => Transaction<unknown>) => {
            const read = await target.snapshot(script);
            if (++reads === 2) await rollUp(database, start + 32 * minute);
            return read;
          };
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    expect(await rebuildHours(raced, 'a')).toBe(1);
    expect(await database.snapshot(rolledUntil)).toBe(start + 30 * minute);
    const [figures, keys] = await database.snapshot(function* () {
      const span = { from: start, to: start + 2 * hourMs };
      return [yield* charged('a', span), yield* spentByKey('a')] as const;
    });
    expect(figures).toEqual({ requests: 3, cost: 123n });
    expect(keys.get('k')).toMatchObject({ requests: 3, cost: 123n });
  });

  test('figures that a clock has led into the future are taken back, and are those of the records again', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const records = fc.sample(longer, { numRuns: 120, seed: 9 });
    const ahead = start + 10.2 * hourMs;
    const during = start + 40.5 * hourMs;
    const chargedWithin = (from: number, to: number) =>
      records.filter(({ at }) => at >= from && at < to);
    let done = 0;
    const come = async (some: readonly Made[]) => {
      await insert(database, some, done);
      done += some.length;
    };
    await come(chargedWithin(0, ahead));
    await rollAll(database, ahead);
    // For thirty hours some process is two days ahead. Its own charges have that time, too.
    await rollAll(database, ahead + 48 * hourMs);
    await come(chargedWithin(ahead, during));
    const early = { ...(records[0] as Made), account: 'b', at: ahead + 47.5 * hourMs };
    await come([early]);
    await rollAll(database, during + 48 * hourMs);
    const clock = { at: during, ms: 0, now: () => clock.at, monotonicMs: () => clock.ms };
    const watch = new FutureWatch();
    const look = async (afterMs: number) => {
      clock.ms += afterMs;
      await watch.look(database, clock, () => false);
      return database.snapshot(rolledUntil);
    };
    expect(await look(0)).toBeGreaterThan(during + 47 * hourMs);
    // Somebody else moves it on: this process may be the one whose clock is wrong.
    await rollAll(database, during + 48.3 * hourMs);
    expect(await look(900_000)).toBeGreaterThan(during + 47 * hourMs);
    expect(await look(840_000)).toBeGreaterThan(during + 47 * hourMs);
    expect(await look(60_000)).toBe(start + 40 * hourMs);
    await come(chargedWithin(during, Number.POSITIVE_INFINITY));
    for (const now of [during + 6 * hourMs, start + 80 * hourMs]) {
      await rollAll(database, now);
      for (const account of ['a', 'b']) {
        const all = [...records, early].filter((made) => made.account === account);
        const until = start + 90 * hourMs;
        const [hours, days, keys] = await database.snapshot(function* () {
          return [
            yield* charged(account, { from: start, to: until }),
            yield* spending({ account, from: start, to: until }, []),
            yield* spentByKey(account),
          ] as const;
        });
        expect(hours).toEqual({ requests: all.length, cost: sum(all) });
        expect(days).toMatchObject([hours]);
        for (const key of ['k1', 'k2'])
          expect(keys.get(key)?.cost).toBe(sum(all.filter((made) => made.key === key)));
      }
    }
    const [totals] = await database.query('SELECT SUM(requests) AS n FROM model_hour');
    expect(Number(totals?.['n'])).toBe(records.length + 1);
    expect(await look(3_600_000)).toBe(start + 80 * hourMs - settledAfterMs);
  });

  test('everybody together: the last records count at once, rolled up or not, and are left alone where they are too many', async () => {
    const database = await withUsers(await openFresh({ migrations }));
    const minutes = [1, 30, 50, 58, 59];
    const made = minutes.map((minute, index) => ({
      ...{
        account: index % 2 === 0 ? 'a' : 'b',
        at: start + minute * 60_000,
        cost: 10n ** BigInt(index),
        shortfall: index === 4 ? 7n : 0n,
      },
      ...{ model: index < 3 ? 'm' : 'n', key: 'k', status: 'ok', input: 100 },
    }));
    await insert(database, made);
    const span = { from: start, to: start + hourMs };
    const figures = (now: number) =>
      database.snapshot(function* () {
        const { until, tail } = yield* recentOf(span, now);
        const [accounts, hours, sold] = [
          yield* revenueByAccount({ ...span, tail }),
          yield* revenueByHour({ ...span, tail }),
          yield* soldByModel(database, { ...span, tail }),
        ];
        const sum = (rows: readonly Revenue[]) => ({
          requests: rows.reduce((total, { requests }) => total + requests, 0),
          cost: rows.reduce((total, { cost }) => total + cost, 0n),
        });
        const taken = sum(accounts);
        expect(sum(hours)).toEqual(taken);
        const inputs = sold
          .filter(({ measure }) => measure === 'input')
          .map(({ model, micros }) => `${model} ${micros}`);
        return {
          until: until - start,
          ...taken,
          inputs: inputs.sort(),
          shares: (yield* channelShares({ ...span, tail })).length,
        };
      });
    const now = start + 60 * 60_000 - 1;
    // Nothing is rolled up, and the first record is too old for them all to be read.
    expect(await figures(now)).toEqual({
      until: 60_000,
      requests: 0,
      cost: 0n,
      inputs: [],
      shares: 0,
    });
    const all = { requests: 5, cost: 11_104n, inputs: ['m 300000000', 'n 200000000'], shares: 2 };
    expect(await rollUp(database, now - 300_000)).toBeDefined();
    expect(await figures(now)).toEqual({ until: now - start, ...all });
    while (await rollUp(database, now)) continue;
    expect(await figures(now)).toEqual({ until: now - start, ...all });
    while (await rollUp(database, now + hourMs)) continue;
    expect(await figures(now + hourMs)).toMatchObject(all);
  });
});
