import { describe, expect, test, vi } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import {
  askFor,
  chargeOf,
  CounterHall,
  granted,
  never,
  yuan,
} from '../../test/ledger/counter-hall.ts';
import { seededRandom } from '../base/random.ts';
import { check } from './check.ts';
import type { Charge, LimitWindow, ReserveRequest } from './contract.ts';
import { balance } from './ledger.ts';
import { changeLimitTx, freezeTx } from './transactions/account.ts';
import { forgetWindows } from './limit-windows.ts';

/** The price of a token in these tests, in yuan. */
const token = 0.000002;

forEachDatabase((_name, openFresh) => {
  async function hall(amount: number): Promise<CounterHall> {
    const hall = await CounterHall.open(openFresh);
    await hall.account('A', amount);
    return hall;
  }

  async function isWhole(room: CounterHall): Promise<void> {
    await room.close();
    expect(await check(room.database)).toMatchObject({ ok: true, problems: [] });
    expect(await room.held('A')).toBe(0n);
  }

  const whole = (tokens: number): ReserveRequest =>
    askFor('A', tokens * token, 16 * token, { shape: 'whole' });

  test('a hundred whole answers of up to 64,000 tokens on a tenth of a yuan are served in turns, none refused', async () => {
    const room = await hall(0.1);
    const till = await room.till();
    const answers = Array.from({ length: 100 }, async (_, i) => {
      const got = granted(await till.reserve(whole(64_000), never));
      await room.time.wait(3_000);
      return got.settle(chargeOf(`r${i}`, 300 * token));
    });
    const settled = await room.until(Promise.all(answers));
    expect(
      settled.filter(({ outcome, shortfall }) => outcome !== 'paid' || shortfall > 0n),
    ).toEqual([]);
    await isWhole(room);
  });

  test('one whole answer alone gets half of what there is', async () => {
    const room = await hall(0.1);
    const till = await room.till();
    const first = granted(await room.until(till.reserve(whole(64_000), never)));
    expect(first.amount).toBeGreaterThanOrEqual(yuan(0.05));
    first.release();
    const again = granted(await room.until(till.reserve(whole(64_000), never)));
    expect(again.amount).toBeGreaterThanOrEqual(yuan(0.05));
    again.release();
    await isWhole(room);
  });

  test.each([1, 2, 3])(
    'a burst of 100 answers on 1.3 times what they cost is served whole (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const lengths = Array.from({ length: 100 }, () => 100 + Math.floor(random() * 301));
      const cost = lengths.reduce((sum, length) => sum + length * token, 0);
      const room = await hall(cost * 1.3);
      const till = await room.till();
      const cut: number[] = [];
      const answers = lengths.map(async (length, i) => {
        const got = granted(await till.reserve(askFor('A', 256 * token, 16 * token), never));
        for (let tokens = 64; tokens < length; tokens += 64) {
          await room.time.wait(640);
          const missing = yuan(Math.min(length, tokens + 64) * token) - got.amount;
          if (
            missing > 0n &&
            got.extend(missing) < missing &&
            (await got.extendOrWait(missing, missing, 1_500)) === 0n
          )
            cut.push(i);
        }
        return got.settle(chargeOf(`r${i}`, length * token));
      });
      const settled = await room.until(Promise.all(answers));
      expect(cut).toEqual([]);
      expect(settled.filter(({ shortfall }) => shortfall > 0n)).toEqual([]);
      await isWhole(room);
    },
  );

  describe('two models that wait for money for one request', () => {
    /** A request that has reserved all of its account, waits twice, and what its till has reserved. */
    async function waitTwice() {
      const room = await hall(0.1);
      const till = await room.till();
      const got = granted(
        await room.until(till.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never)),
      );
      const waits = Promise.all([
        got.extendOrWait(yuan(0.01), 1n, 1_500),
        got.extendOrWait(yuan(0.02), 1n, 1_500),
      ]);
      await room.pass(500);
      const reserved = (): bigint =>
        [...till.held].reduce((sum, float) => sum + float.reserved, 0n);
      return { room, till, got, waits, reserved };
    }

    test('reserve no more than the request is charged or gives back', async () => {
      const { room, got, waits, reserved } = await waitTwice();
      await room.credit('A', 1);
      // What the first wait brings counts for the second, too.
      expect(await room.until(waits)).toEqual([yuan(0.01), yuan(0.02)]);
      expect(got.amount).toBe(yuan(0.12));
      expect(reserved()).toBe(got.amount);
      expect(await room.until(got.settle(chargeOf('r1', 0.11)))).toMatchObject({
        amount: yuan(0.11),
      });
      expect(reserved()).toBe(0n);
      await isWhole(room);
    });

    test('wait no longer than the request runs', async () => {
      const { room, got, waits, reserved } = await waitTwice();
      const settled = got.settle(chargeOf('r1', 0.05));
      expect(await room.until(waits)).toEqual([0n, 0n]);
      await room.until(settled);
      expect(reserved()).toBe(0n);
      await isWhole(room);
    });

    test('wait no longer than the request runs, though its process is fenced as it ends', async () => {
      const { room, got, waits, reserved } = await waitTwice();
      vi.spyOn(room.events, 'push').mockImplementationOnce(() => {
        got.release();
        return 1;
      });
      await room.database.query('UPDATE process SET fenced=1');
      await room.pass(500);
      await room.credit('A', 1);
      expect(await room.until(waits)).toEqual([0n, 0n]);
      await room.pass(10_000);
      expect(reserved()).toBe(0n);
      await isWhole(room);
    });
  });

  test('a stream on almost nothing ends, and costs no more than there is', async () => {
    const room = await hall(0.001);
    const till = await room.till();
    const got = granted(
      await room.until(till.reserve(askFor('A', 256 * token, 16 * token), never)),
    );
    let more = got.amount;
    while (more > 0n)
      more =
        got.extend(yuan(0.0005)) || (await room.until(got.extendOrWait(yuan(0.0005), 1n, 1_500)));
    expect(got.amount).toBe(yuan(0.001));
    expect(await room.until(got.settle(chargeOf('r1', 0.001)))).toEqual({
      outcome: 'paid',
      amount: yuan(0.001),
      shortfall: 0n,
    });
    expect(await room.until(till.reserve(askFor('A', 16 * token), never))).toBe('insufficient');
    await isWhole(room);
  });

  test('a waiting request is served within a second of a credit', async () => {
    const room = await hall(0.1);
    const till = await room.till();
    const all = granted(
      await room.until(till.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never)),
    );
    const waiting = till.reserve(askFor('A', 0.1), never);
    await room.pass(700);
    await room.credit('A', 1);
    const creditedMs = room.time.now;
    granted(await room.until(waiting)).release();
    expect(room.time.now - creditedMs).toBeLessThan(1_000);
    all.release();
    await isWhole(room);
  });

  test('a full queue refuses with its own reason, not as an absent database', async () => {
    const room = await hall(1);
    const till = await room.till({ waitersMax: 2 });
    const reservations = Array.from({ length: 3 }, () => till.reserve(askFor('A', 0.1), never));
    expect(await reservations[2]).toBe('crowded');
    for (const got of await room.until(Promise.all(reservations.slice(0, 2))))
      granted(got).release();
    await isWhole(room);
  });

  test.each(['stream', 'whole', 'fixed'] as const)(
    'an empty account is refused after one draw (%s)',
    async (shape) => {
      const room = await hall(0);
      const till = await room.till();
      const request = askFor('A', 0.1, 0.1, { shape });
      expect(await room.until(till.reserve(request, never))).toBe('insufficient');
      expect(room.time.now).toBeLessThan(200);
      // A better estimate that is still too much needs no second draw.
      const startedMs = room.time.now;
      expect(
        await room.until(
          till.reserve(
            { ...request, minimum: yuan(0.05), want: yuan(0.05), requestedMsAgo: startedMs },
            never,
          ),
        ),
      ).toBe('insufficient');
      expect(room.time.now - startedMs).toBeLessThan(50);
      expect(
        await room.until(till.reserve(askFor('nobody', 0.1, 0.1, { shape: 'fixed' }), never)),
      ).toBe('insufficient');
      await isWhole(room);
    },
  );

  test('a stream waits for what runs only when that would suffice, and not before it is counted', async () => {
    const room = await hall(0.1);
    const till = await room.till();
    const all = granted(
      await room.until(till.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never)),
    );
    let startedMs = room.time.now;
    expect(await room.until(till.reserve(askFor('A', 0.2, 0.11), never))).toBe('insufficient');
    expect(room.time.now - startedMs).toBeLessThan(500);
    startedMs = room.time.now;
    expect(await room.until(till.reserve(askFor('A', 0.2, 0.1), never))).toBe('insufficient');
    expect(room.time.now - startedMs).toBeGreaterThanOrEqual(1_500);
    // A second wait of one request lasts as long as is left of the first.
    startedMs = room.time.now;
    const second = { requestedMsAgo: 1_000 };
    expect(await room.until(till.reserve(askFor('A', 0.2, 0.1, second), never))).toBe(
      'insufficient',
    );
    expect(room.time.now - startedMs).toBeGreaterThanOrEqual(500);
    expect(room.time.now - startedMs).toBeLessThan(1_000);
    startedMs = room.time.now;
    expect(await room.until(till.reserve(askFor('A', 0.1, 0.09, { once: true }), never))).toBe(
      'insufficient',
    );
    expect(room.time.now - startedMs).toBeLessThan(700);
    const waiting = till.reserve(askFor('A', 0.2, 0.1), never);
    await room.pass(500);
    all.release();
    granted(await room.until(waiting)).release();
    await isWhole(room);
  });

  test('money on its way back to the account counts for those who wait for it', async () => {
    const room = await hall(0.05);
    const till = await room.till();
    const running = granted(
      await room.until(till.reserve(askFor('A', 0.04, 0.04, { shape: 'fixed' }), never)),
    );
    const waiting = till.reserve(askFor('A', 0.022, 0.022, { shape: 'fixed' }), never);
    // The waiter's first draw gets nothing. Its second gives back the little that is free here.
    while ([...till.held].every(({ returning }) => returning === 0n)) await room.pass(0.1);
    const settled = running.settle(chargeOf('r1', 0.025));
    granted(await room.until(waiting)).release();
    expect(await room.until(settled)).toMatchObject({ outcome: 'paid', shortfall: 0n });
    await isWhole(room);
  });

  test('others give back what is idle when the account runs out', async () => {
    const room = await hall(1);
    const tills = await room.tills(4);
    for (const till of tills)
      granted(await room.until(till.reserve(askFor('A', 0.25, 0.01), never))).release();
    const fifth = await room.till();
    granted(await room.until(fifth.reserve(askFor('A', 0.9, 0.9), never))).release();
    await isWhole(room);
  });

  test.each([
    ['all there was', 0.1, [0.1]],
    ['all that it drew', 0.15, [0.1, 0.025]],
  ] as const)(
    'nobody waits for money that another process has spent: %s',
    async (_, amount, costs) => {
      const room = await hall(amount);
      const first = await room.till();
      const second = await room.till();
      for (const [i, cost] of costs.entries()) {
        const request = askFor('A', cost, cost, { shape: 'fixed' });
        const got = granted(await room.until(first.reserve(request, never)));
        await room.until(got.settle(chargeOf(`r${i}`, cost)));
      }
      const askedMs = room.time.now;
      const refused = second.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never);
      expect(await room.until(refused)).toBe('insufficient');
      expect(room.time.now - askedMs).toBeLessThan(2_000);
      await isWhole(room);
    },
  );

  test('a request that leaves the queue is not drawn for', async () => {
    const room = await hall(1);
    const till = await room.till();
    const all = granted(
      await room.until(till.reserve(askFor('A', 1, 1, { shape: 'fixed' }), never)),
    );
    const leaving = new AbortController();
    const waiting = till.reserve(askFor('A', 0.5), leaving.signal);
    await room.pass(500);
    leaving.abort();
    expect(await room.until(waiting)).toBe('left');
    all.release();
    await room.pass(2_000);
    expect([...till.held].every(({ waiters }) => waiters.length === 0)).toBe(true);
    expect(await till.reserve(askFor('A', 0.5), AbortSignal.abort())).toBe('left');
    await isWhole(room);
  });

  test('a key’s limit holds over four processes, to the error of the estimates', async () => {
    const room = await hall(10);
    const tills = await room.tills(4);
    const limits: LimitWindow[] = [{ id: 'key:K:total', amount: yuan(0.5) }];
    const record = ['K', 1, null, null];
    const answers = Array.from({ length: 100 }, async (_, i) => {
      const got = await tills[i % 4]?.reserve(
        askFor('A', 0.02, 0.02, { limits, shape: 'fixed' }),
        never,
      );
      if (got === undefined || typeof got === 'string') return 0n;
      await room.time.wait(100);
      return (await got.settle(chargeOf(`r${i}`, 0.02, { record }))).amount;
    });
    const paid = (await room.until(Promise.all(answers))).filter((amount) => amount > 0n);
    expect(paid.length).toBe(25);
    expect((await balance(room.database, 'A'))?.balance).toBe(yuan(9.5));
    await isWhole(room);
  });

  test('a limit that lacks money at the end is charged all the same: it never makes a shortfall', async () => {
    const room = await hall(10);
    const till = await room.till();
    const limits: LimitWindow[] = [{ id: 'key:K:total', amount: yuan(0.01) }];
    const got = granted(await room.until(till.reserve(askFor('A', 0.01, 0.01, { limits }), never)));
    expect(
      await room.until(got.settle(chargeOf('r1', 0.03, { record: ['K', 1, null, null] }))),
    ).toEqual({
      outcome: 'paid',
      amount: yuan(0.03),
      shortfall: 0n,
    });
    expect(
      await room.until(till.reserve(askFor('A', 0.01, 0.01, { limits, shape: 'fixed' }), never)),
    ).toBe('insufficient');
    expect(await room.number("SELECT debits FROM account WHERE id='key:K:total'")).toBe(yuan(0.03));
    await room.database.transact(() => changeLimitTx({ id: 'key:K:total', amount: yuan(1) }));
    granted(
      await room.until(till.reserve(askFor('A', 0.01, 0.01, { limits, shape: 'fixed' }), never)),
    ).release();
    await isWhole(room);
  });

  test('a charge goes to the window in which it was reserved', async () => {
    const room = await hall(1);
    const till = await room.till();
    const day = (date: string): LimitWindow[] => [{ id: `key:K:day:${date}`, amount: yuan(0.5) }];
    const before = granted(
      await room.until(till.reserve(askFor('A', 0.1, 0.1, { limits: day('2026-11-21') }), never)),
    );
    const after = granted(
      await room.until(till.reserve(askFor('A', 0.1, 0.1, { limits: day('2026-11-22') }), never)),
    );
    const reserved = (date: string): Partial<Charge> => ({
      record: ['K', Date.parse(date) + 3_600_000, null, null],
    });
    await room.until(
      Promise.all([
        before.settle(chargeOf('r1', 0.1, reserved('2026-11-21'))),
        after.settle(chargeOf('r2', 0.05, reserved('2026-11-22'))),
      ]),
    );
    await isWhole(room);
    const rows = await room.database.query(
      "SELECT id, debits FROM account WHERE kind='limit' ORDER BY id",
    );
    expect(rows.map(({ debits }) => debits)).toEqual([yuan(0.1), yuan(0.05)]);
    // The proof sees a record in another day's window, and a window that is of no kind.
    await room.database.query("UPDATE usage SET reserved_at=$1 WHERE id='r1'", [
      Date.parse('2026-11-22'),
    ]);
    await room.database.query(
      "INSERT INTO account (id, kind) VALUES ('key:K:week:2026-11', 'limit')",
    );
    const { problems } = await check(room.database);
    expect(problems.map(({ query, row }) => [query, row['id']]).sort()).toEqual([
      ['limits', 'key:K:day:2026-11-21'],
      ['limits', 'key:K:day:2026-11-22'],
      ['limits', 'key:K:week:2026-11'],
    ]);
    expect(await forgetWindows(room.database, Date.parse('2026-12-30'))).toBe(0);
    expect(await forgetWindows(room.database, Date.parse('2027-01-01T12:00Z'))).toBe(1);
  });

  test('a frozen account is called in, ends its streams and pays for what was delivered', async () => {
    const room = await hall(1);
    const till = await room.till();
    const got = granted(await room.until(till.reserve(askFor('A', 0.1), never)));
    await room.database.transact(() => freezeTx({ account: 'A', frozen: true }));
    await room.pass(1_100);
    expect(got.extend(1n)).toBe(0n);
    expect(await room.held('A')).toBe(yuan(0.1));
    expect(await room.until(till.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never))).toBe(
      'insufficient',
    );
    expect(await room.until(got.settle(chargeOf('r1', 0.07)))).toMatchObject({
      outcome: 'paid',
      amount: yuan(0.07),
    });
    await room.credit('A', 1);
    await room.database.transact(() => freezeTx({ account: 'A', frozen: false }));
    granted(
      await room.until(till.reserve(askFor('A', 0.1, 0.1, { shape: 'fixed' }), never)),
    ).release();
    await isWhole(room);
  });
});
