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
} from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';
import { writeRequests } from '../../request-log/queries.ts';
import type { Database } from '../../storage/database.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { ChargeView } from '../contract.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };
const yuan = 1_000_000_000n;

const ids = ({ json }: { json: { items: readonly ChargeView[] } }): readonly string[] =>
  json.items.map(({ id }) => id);

/** Six charges, an hour apart, whose values are in another order each. */
async function six(database: Database, account: string): Promise<void> {
  const values = [
    [30n, 5, 900, 2_000],
    [10n, 50, null, 500],
    [60n, 20, 100, 9_000],
    [20n, 5, 300, 1_000],
    [50n, 70, 50, 4_000],
    [40n, 1, 700, 3_000],
  ] as const;
  await topUp(database, account, 100n * yuan, noon - 24 * hourMs);
  await charges(
    database,
    values.map(
      ([cost, input, firstByteMs, totalMs], n): TestCharge => ({
        account,
        id: `req_${n}`,
        keyId: 'key_1',
        at: noon - (6 - n) * hourMs,
        lines: [['input', input, 1n, cost]],
        inputTokens: input,
        firstByteMs,
        totalMs,
        ...(n === 2 && { model: 'other' }),
        ...(n === 3 && { status: 'cut' }),
      }),
    ),
  );
}

async function logFailure(database: Database, account: string, at: number, status: number) {
  const id = `req_${at.toString(16).padStart(12, '0')}${status}`;
  await database.transact(() =>
    writeRequests([
      {
        ...{ id, at, account, keyId: 'key_1', endpoint: undefined, model: 'glm' },
        ...{ channel: undefined, status, outcome: 'rate_limited', param: undefined },
        ...{ durationMs: 3, attempts: [] },
      },
    ]),
  );
}

forEachDatabase((_name, openFresh) => {
  test('charges are put in the order of a value, page by page, and back', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await six(database, browser.userId);
    const order = async (query: string): Promise<string> =>
      ids(await browser.ask(`usage?${query}`))
        .map((id) => id.slice(4))
        .join('');
    expect(await order('sort=time')).toBe('012345');
    expect(await order('sort=-time')).toBe('543210');
    expect(await order('sort=-cost')).toBe('245031');
    expect(await order('sort=cost')).toBe('130542');
    expect(await order('sort=-input')).toBe('412305');
    expect(await order('sort=total')).toBe('130542');
    // Charges without a first byte come last either way.
    expect(await order('sort=first_byte')).toBe('423501');
    expect(await order('sort=-first_byte')).toBe('053241');
    expect(await order('sort=-cost&model=glm')).toBe('45031');
    expect((await browser.ask('usage?sort=luck')).status).toBe(400);

    const first = (await browser.ask('usage?sort=-cost&limit=2')).json;
    expect([first.prev, first.sorted_from]).toEqual([null, null]);
    const second = await browser.ask(`usage?sort=-cost&limit=2&after=${first.next}`);
    expect(ids(second)).toEqual(['req_5', 'req_0']);
    const third = await browser.ask(`usage?sort=-cost&limit=2&after=${second.json.next}`);
    expect([ids(third), third.json.next]).toEqual([['req_3', 'req_1'], null]);
    const back = await browser.ask(`usage?sort=-cost&limit=2&after=${third.json.prev}`);
    expect([ids(back), back.json.next !== null]).toEqual([['req_5', 'req_0'], true]);
    const start = await browser.ask(`usage?sort=-cost&limit=2&after=${back.json.prev}`);
    expect([ids(start), start.json.prev]).toEqual([['req_2', 'req_4'], null]);
    const mixed = await browser.ask(`usage?sort=cost&limit=2&after=${first.next}`);
    expect(mixed.json.error.code).toBe('invalid_cursor');
  });

  test('of more charges than are put in order, the latest are, and the answer says since when', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await six(database, browser.userId);
    while (await rollUp(database, noon)) continue;
    await database.query(
      'UPDATE spend_hour SET requests=20000 WHERE account=$1 AND hour=(SELECT MIN(hour)+2*3600000 FROM spend_hour WHERE account=$1)',
      [browser.userId],
    );
    const { json } = await browser.ask('usage?sort=-cost');
    expect(json.sorted_from).toBe(new Date(noon - (noon % hourMs) - 3 * hourMs).toISOString());
    expect(ids({ json })).toEqual(['req_4', 'req_5', 'req_3']);
  });

  test('the course of latency and errors: median and 95th percentile, interrupted and failed', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser: Browser = await newUser();
    const other = await newUser();
    await six(database, browser.userId);
    for (const [at, status] of [
      [noon - 2 * hourMs, 429],
      [noon - 2 * hourMs + 1, 503],
      [noon - 2 * hourMs + 2, 200],
    ] as const)
      await logFailure(database, browser.userId, at, status);
    const ask = async (query: string) => (await browser.ask(`usage/course?${query}`)).json;
    for (const rolled of [false, true]) {
      if (rolled) while (await rollUp(database, noon)) continue;
      const days = await ask('from=-3d');
      expect(days.unit).toBe('day');
      expect(days.points).toHaveLength(4);
      expect(days.points.at(-1)).toMatchObject({
        requests: 6,
        interrupted: 1,
        failed: 2,
        first_byte: { median_ms: 300, p95_ms: 900 },
        total: { median_ms: 2_000, p95_ms: 9_000 },
      });
      expect(days.points[0]).toMatchObject({ requests: 0, failed: 0, total: null });
      const hours = await ask('from=-6h');
      expect(hours.unit).toBe('hour');
      expect(hours.points.map(({ requests }: { requests: number }) => requests).join('')).toMatch(
        /^1{6}0?$/,
      );
      const ofModel = await ask('from=-3d&model=other');
      expect(ofModel.points.at(-1)).toMatchObject({
        ...{ requests: 1, failed: 0, total: { median_ms: 9_000 } },
      });
      const ofStatus = await ask('from=-3d&status=cut');
      expect(ofStatus.failed_since).toBeNull();
      expect(ofStatus.points.at(-1)).toMatchObject({ requests: 1, failed: null });
    }
    const long = await ask('from=-90d');
    expect(long.points[0].failed).toBeNull();
    expect(long.points.at(-1).failed).toBe(2);
    const theirs = (await other.ask('usage/course?from=-3d')).json;
    expect(theirs.points.at(-1)).toMatchObject({ requests: 0, failed: 0, total: null });
  });
});
