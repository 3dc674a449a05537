import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import type { Browser } from '../../../test/support/console.ts';
import { charge, noon, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { check } from '../../ledger/check.ts';
import { credit, refund } from '../../ledger/ledger.ts';
import { migrations } from '../../app/schema.ts';
import type { Database } from '../../storage/database.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { StatementLine, StatementRow, StatementView } from '../contract.ts';
import { statementCsv } from './statement.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };
const at = (text: string): number => Date.parse(`2026-11-${text}+08:00`);
const nanos = (text: string): bigint => BigInt(text.replace('.', ''));

async function newKey(browser: Browser, name = 'ci-key'): Promise<string> {
  const body = { name, group: 'economy' };
  return (
    await browser.ask('keys', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': `form-${name}-1` },
    })
  ).json.key.id;
}

const rollAll = async (database: Database): Promise<void> => {
  while (await rollUp(database, noon)) continue;
};

/** The sum of a column of a table, without its first and last line (the balances). */
function csvSum(text: string, column: string): bigint {
  const [head = '', ...lines] = text.replace('\uFEFF', '').trim().split('\r\n');
  const index = head.split(',').indexOf(column);
  return lines.slice(1, -1).reduce((sum, line) => sum + nanos(line.split(',')[index] ?? '0'), 0n);
}

forEachDatabase((_name, openFresh) => {
  test('a month as it is drawn: every balance was once true, and all adds up to the nano', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const keyId = await newKey(browser);
    const account = browser.userId;
    await topUp(database, account, 412_907_550n, at('01T00:00:00') - 1);
    await topUp(database, account, 1_000_000_000n, at('19T08:00:00'));
    const made = { account, keyId, group: 'economy' };
    await charge(database, {
      ...made,
      id: 'req_a',
      at: at('19T09:00:00'),
      lines: [['output', 1, 1n, 836_114_902n]],
    });
    await topUp(database, account, 50_000_000_000n, at('20T10:00:00'));
    await charge(database, {
      ...made,
      id: 'req_b',
      at: at('20T10:00:00'),
      lines: [['output', 1, 1n, 21_480_336_718n]],
    });
    const lines = [
      ['input', 1155, 2_125_000_000n, 2_454_375n],
      ['cached_input', 11_263, 212_500_000n, 2_393_388n],
      ['output', 1027, 8_500_000_000n, 8_729_500n],
    ] as const;
    await charge(database, {
      ...made,
      id: 'req_c',
      at: at('21T09:14:07'),
      lines,
      inputTokens: 12_418,
      outputTokens: 1027,
    });
    await charge(database, {
      ...{
        ...made,
        id: 'req_d',
        at: at('21T10:02:41'),
        model: 'vendor/painter',
        capability: 'images',
      },
      lines: [['image', 2, 357_000_000_000_000n, 714_000_000n]],
    });
    await refund(database, {
      id: 'req_d/refund',
      original: 'req_d',
      amount: 100_000_000n,
      at: at('21T12:00:00'),
    });
    await rollAll(database);

    const { json } = await browser.ask('statement');
    const view: StatementView = json;
    expect(view).toMatchObject({
      from: '2026-11-01',
      to: '2026-11-21',
      zone: 'Asia/Shanghai',
      opening: { at: '2026-10-31T16:00:00.000Z', balance: '0.412907550' },
      top_ups: { count: 2, amount: '51.000000000' },
      charges: { count: 4, amount: '-23.044028883' },
      refunds: { count: 1, amount: '0.100000000' },
      adjustments: { count: 0, amount: '0.000000000' },
      closing: { balance: '28.468878667' },
      adds_up: true,
      available: '28.468878667',
    });
    expect(view.rows.map((row) => [row.day.slice(8), row.kind, row.amount, row.balance])).toEqual([
      ['19', 'top_up', '1.000000000', '1.412907550'],
      ['19', 'charges', '-0.836114902', '0.576792648'],
      ['20', 'top_up', '50.000000000', '50.576792648'],
      ['20', 'charges', '-21.480336718', '29.096455930'],
      ['21', 'charges', '-0.727577263', '28.368878667'],
      ['21', 'refund', '0.100000000', '28.468878667'],
    ]);

    const day = await browser.ask('statement/2026-11-21');
    expect(
      day.json.items.map((line: StatementLine) => [
        line.id,
        line.what === 'charge' && line.balance,
      ]),
    ).toEqual([
      ['req_c', '29.082878667'],
      ['req_d', '28.368878667'],
    ]);
    const detail = await browser.ask('usage/req_c');
    expect(detail.json).toMatchObject({
      key_name: 'ci-key',
      multiplier: '0.85',
      price_version: { version: 1 },
      without_cache: '0.026388250',
      transfer: { id: 'req_c', amount: '0.013577263', equal: true },
      lines: [
        {
          class: 'input',
          quantity: '1155',
          price: { amount: '2.125', per: 1_000_000, unit: 'token' },
          base_price: { amount: '2.50' },
          exact: '0.002454375',
          charged: '0.002454375',
          rounded_up: false,
        },
        {
          class: 'cached_input',
          quantity: '11263',
          exact: '0.0023933875',
          charged: '0.002393388',
          rounded_up: true,
        },
        { class: 'output', charged: '0.008729500' },
      ],
      attempts: null,
    });
    const image = await browser.ask('usage/req_d');
    expect(image.json).toMatchObject({
      lines: [
        {
          class: 'image',
          price: { amount: '0.357', per: 1, unit: 'image' },
          base_price: { amount: '0.42' },
        },
      ],
      refunds: [{ amount: '0.100000000' }],
    });

    const proof = await browser.ask('statement/verify', { method: 'POST', body: {} });
    expect(proof.json).toMatchObject({
      ok: true,
      lines: 7,
      opening: '0.412907550',
      closing: '28.468878667',
      differs: null,
    });
    for (const level of ['day', 'request', 'line']) {
      const csv = await browser.ask(`statement.csv?level=${level}`);
      expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
      expect(csv.text.startsWith('\uFEFFtime,utc_offset,')).toBe(true);
      expect(csvSum(csv.text, 'amount_yuan')).toBe(28_468_878_667n - 412_907_550n);
    }
  });

  test('a range at the end of the calendar is answered, one before 1970 is refused', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 1_000_000_000n, at('19T08:00:00'));
    const last = await browser.ask('statement?from=9999-12-31&to=9999-12-31');
    expect(last.json).toMatchObject({ opening: { balance: '1.000000000' }, adds_up: true });
    const evening = 'from=9999-12-31T20:00:00Z&to=9999-12-31T21:00:00Z';
    for (const path of [
      `usage/series?${evening}`,
      `usage/course?${evening}`,
      'statement/9999-12-31',
    ])
      expect((await browser.ask(path)).status, path).toBe(200);
    const early = 'from=0050-01-01T00:00:00Z&to=0050-01-02T00:00:00Z';
    for (const path of ['statement?from=0050-01-01&to=0050-01-02', `usage/series?${early}`])
      expect((await browser.ask(path)).status, path).toBe(400);
  });

  test("another's statement, charge and day are not there", async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const [owner, other] = [await newUser(), await newUser()];
    const keyId = await newKey(owner);
    await topUp(database, owner.userId, 9_000_000_000n, noon - 1_000_000);
    await charge(database, {
      account: owner.userId,
      keyId,
      id: 'req_a',
      at: noon - 500_000,
      lines: [['input', 1, 1n, 5n]],
    });
    expect((await other.ask('usage/req_a')).status).toBe(404);
    expect((await other.ask('usage?request=req_a')).json.items).toEqual([]);
    expect((await other.ask('statement/2026-11-21')).json.items).toEqual([]);
    expect((await other.ask('statement')).json).toMatchObject({
      rows: [],
      closing: { balance: '0.000000000' },
      adds_up: true,
    });
  });

  test('a charge that its transfer does not say is found, and named', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const keyId = await newKey(browser);
    await topUp(database, browser.userId, 9_000_000_000n, noon - 1_000_000);
    await charge(database, {
      account: browser.userId,
      keyId,
      id: 'req_a',
      at: noon - 500_000,
      lines: [['input', 1, 1n, 5n]],
    });
    await database.query("UPDATE usage SET cost=7 WHERE id='req_a'");
    const proof = await browser.ask('statement/verify', { method: 'POST', body: {} });
    expect(proof.json).toMatchObject({
      ok: false,
      differs: { id: 'req_a', recorded: '0.000000007', transferred: '0.000000005' },
    });
    expect((await browser.ask('statement')).json.adds_up).toBe(false);
  });

  test('whatever happened, summary, days and lines are the same sum, in every zone and however far figures are rolled up', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const from = at('17T00:00:00');
    const event = fc.record({
      what: fc.constantFrom(
        'charge',
        'charge',
        'charge',
        'charge',
        'top up',
        'grant',
        'refund',
        'debit',
      ),
      at: fc.integer({ min: from, max: noon }).map((time) => time - (time % 1_800_000)),
      amount: fc.bigInt({ min: 1n, max: 400_000_000n }),
      short: fc.boolean(),
    });
    for (const [run, events] of fc
      .sample(fc.array(event, { minLength: 20, maxLength: 60 }), { numRuns: 4, seed: 11 })
      .entries()) {
      const browser = await newUser();
      const account = browser.userId;
      const keyId = await newKey(browser);
      await topUp(database, account, 100_000_000_000n, from - 1_000, `first_${run}`);
      for (const [index, one] of events.entries()) {
        const id = `${run}_${index}`;
        if (one.what === 'charge') {
          const shortfall = one.short ? one.amount / 3n : 0n;
          await charge(database, {
            account,
            keyId,
            id: `req_${id}`,
            at: one.at,
            shortfall,
            lines: [
              ['input', 7, 1n, one.amount],
              ['output', 3, 1n, 3n],
            ],
          });
        } else if (one.what === 'top up') await topUp(database, account, one.amount, one.at, id);
        else if (one.what === 'grant')
          await credit(database, {
            id,
            account,
            amount: one.amount,
            from: 'grants',
            code: 'grant',
            at: one.at,
          });
        else if (one.what === 'debit') await withdraw(database, id, account, one.amount, one.at);
        else {
          const [charged] = await database.query(
            "SELECT id FROM transfer WHERE debit=$1 AND credit='revenue' AND amount>=$2 LIMIT 1",
            [account, one.amount],
          );
          if (charged !== undefined)
            await refund(database, {
              id,
              original: String(charged['id']),
              amount: one.amount,
              at: Math.max(one.at, noon - 1),
            });
        }
      }
      for (const zone of ['Asia/Shanghai', 'Asia/Kolkata', 'America/New_York']) {
        await database.query('UPDATE users SET zone=$2 WHERE id=$1', [account, zone]);
        await expectSums(browser, database);
        if (zone === 'Asia/Shanghai') await rollAll(database);
      }
    }
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  });
});

forEachDatabase((_name, openFresh) => {
  test('what an operator gives has its reason beside it', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const grant = {
      id: 'grant_1',
      account: browser.userId,
      from: 'grants',
      amount: 7n,
      code: 'grant',
      ref: 'compensation',
      at: noon - 1,
    };
    await credit(database, grant);
    const view: StatementView = (await browser.ask('statement')).json;
    expect(view.rows).toMatchObject([{ kind: 'credit', reason: 'compensation', ref: null }]);
  });

  test.each(['request', 'line'] as const)(
    'a table by %s that is saved while requests go on adds up all the same',
    async (level) => {
      const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
      const browser = await newUser();
      const of = { account: browser.userId, keyId: await newKey(browser) };
      await topUp(database, of.account, 5_000_000_000n, noon - 60_000);
      const cost = [['input', 7, 1n, 3_000_000n]] as const;
      await charge(database, { ...of, id: 'req_there', at: noon - 50_000, lines: cost });
      const csv = statementCsv(
        database,
        {
          account: of.account,
          zone: 'Asia/Shanghai',
          first: '2026-11-21',
          last: '2026-11-21',
          now: noon,
        },
        level,
      );
      let text = String((await csv.next()).value) + String((await csv.next()).value);
      await charge(database, { ...of, id: 'req_committed_late', at: noon - 40_000, lines: cost });
      await charge(database, { ...of, id: 'req_after_all', at: noon + 40_000, lines: cost });
      for await (const part of csv) text += part;
      expect(text).toContain('req_committed_late');
      expect(text).not.toContain('req_after_all');
      expect(csvSum(text, 'amount_yuan')).toBe(4_994_000_000n);
      expect(text.trim().split(',').at(-1)).toBe('4.994000000');
    },
  );
});

/** A withdrawal by the operator, as the ledger has it. */
async function withdraw(
  database: Database,
  id: string,
  account: string,
  amount: bigint,
  time: number,
): Promise<void> {
  await database.transact(function* () {
    yield {
      sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, $2, 'grants', $3, 'debit', $4)",
      params: [id, account, amount, time],
    };
    yield { sql: 'UPDATE account SET debits=debits+$2 WHERE id=$1', params: [account, amount] };
  });
}

async function expectSums(browser: Browser, database: Database): Promise<void> {
  const view: StatementView = (await browser.ask('statement?from=2026-11-15&to=2026-11-22')).json;
  const [opening, closing] = [nanos(view.opening.balance), nanos(view.closing.balance)];
  expect(view.adds_up).toBe(true);
  expect(opening).toBe(0n);
  const parts = [view.top_ups, view.charges, view.refunds, view.adjustments].reduce(
    (sum, { amount }) => sum + nanos(amount),
    0n,
  );
  expect(opening + parts).toBe(closing);
  let balance = opening;
  for (const row of view.rows) {
    balance += nanos(row.amount);
    expect(nanos(row.balance)).toBe(balance);
    if (row.kind === 'charges') await expectLines(browser, row);
  }
  expect(balance).toBe(closing);
  for (const level of ['day', 'request', 'line'])
    expect(
      csvSum(
        (await browser.ask(`statement.csv?from=2026-11-15&to=2026-11-22&level=${level}`)).text,
        'amount_yuan',
      ),
    ).toBe(closing - opening);
  const [truth] = await database.query(
    'SELECT credits-debits AS balance FROM account WHERE id=$1',
    [browser.userId],
  );
  expect(closing).toBe(truth?.['balance']);
}

/**
 * Reads the lines of one row page by page: they must add up to it, and their balances must lead to
 * its balance.
 */
async function expectLines(
  browser: Browser,
  row: Extract<StatementRow, { kind: 'charges' }>,
): Promise<void> {
  let [sum, count, after, last] = [0n, 0, '', ''];
  do {
    const query = `from=${row.from}&to=${row.to}&limit=7${after === '' ? '' : `&after=${after}`}`;
    const { json } = await browser.ask(`statement/${row.day}?${query}`);
    for (const line of json.items as readonly Extract<StatementLine, { what: 'charge' }>[]) {
      sum += nanos(line.amount);
      count++;
      last = line.balance;
    }
    after = json.next ?? '';
  } while (after !== '');
  expect([sum, count, last]).toEqual([nanos(row.amount), row.requests, row.balance]);
}
