import { expect, test } from 'vitest';
import { forEachDatabase, onPostgres } from '../../test/databases.ts';
import {
  askFor,
  chargeOf,
  CounterHall,
  granted,
  never,
  yuan,
} from '../../test/ledger/counter-hall.ts';
import { migrations, records } from '../../test/ledger/records.ts';
import { systemClock } from '../base/clock.ts';
import { check } from './check.ts';
import { balance, createAccount, credit } from './ledger.ts';
import { ledgerProcedures } from './procedures.ts';
import { type LiveTill, openTill } from './till.ts';

/** Settles fixed amounts at random tills until the account refuses; returns what was paid. */
async function spendAll(
  room: CounterHall,
  tills: readonly LiveTill[],
  atOnce: number,
  amount: number,
): Promise<bigint> {
  let paid = 0n;
  let next = 0;
  const client = async (first: number): Promise<void> => {
    for (let till = first; ; till++) {
      const id = `r${next++}`;
      const got = await tills[till % tills.length]?.reserve(
        askFor('A', amount, amount, { shape: 'fixed' }),
        never,
      );
      if (got === undefined || typeof got === 'string') return;
      await room.time.wait(20);
      const { amount: charged } = await got.settle(chargeOf(id, amount));
      paid += charged;
    }
  };
  await room.until(Promise.all(Array.from({ length: atOnce }, (_, i) => client(i))));
  return paid;
}

forEachDatabase((name, openFresh) => {
  test('one yuan over fifty tills is used to its last hundredth, and nobody is refused before', async () => {
    const room = await CounterHall.open(openFresh);
    await room.account('A', 1);
    const tills = await room.tills(50);
    expect(await spendAll(room, tills, 50, 0.01)).toBe(yuan(1));
    await room.close();
    expect((await balance(room.database, 'A'))?.balance).toBe(0n);
    expect(await check(room.database)).toMatchObject({ ok: true, problems: [] });
  });

  test('sixteen tills share one busy account', async () => {
    const room = await CounterHall.open(openFresh);
    await room.account('A', 5);
    const tills = await room.tills(16);
    expect(await spendAll(room, tills, 64, 0.01)).toBe(yuan(5));
    await room.close();
    expect(await check(room.database)).toMatchObject({ ok: true, problems: [], transfers: 501 });
  });

  const many = name === 'sqlite' ? 10_000 : 2_000;
  test(`${many} accounts used once give their money back within fifteen seconds`, {
    timeout: 120_000,
  }, async () => {
    const room = await CounterHall.open(openFresh);
    await room.database.transact(function* () {
      for (let i = 0; i < many; i++) {
        yield {
          sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'user', 1000000)",
          params: [`user-${i}`],
        };
        yield {
          sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, 'grants', $2, 1000000, 'grant', 1)",
          params: [`grant-${i}`, `user-${i}`],
        };
      }
    });
    const till = await room.till({ accountsHeldMax: many / 2 });
    await room.until(
      Promise.all(
        Array.from({ length: many }, async (_, i) => {
          await room.time.wait(i / 5);
          const got = granted(
            await till.reserve(askFor(`user-${i}`, 0.0001, 0.0001, { shape: 'fixed' }), never),
          );
          await got.settle(chargeOf(`r${i}`, 0.0001));
        }),
      ),
    );
    await room.pass(2_000);
    expect([...till.held].length).toBeLessThanOrEqual(many / 2);
    await room.pass(13_000);
    expect(await room.number('SELECT COUNT(*) FROM till_float')).toBe(0n);
    expect([...till.held]).toEqual([]);
    expect(await room.number('SELECT SUM(held) FROM account')).toBe(0n);
    expect(await check(room.database)).toMatchObject({ ok: true, problems: [] });
  });
});

onPostgres((_name, _openFresh, fresh) => {
  test('connections killed inside batches lose nothing and charge nothing twice', {
    timeout: 60_000,
  }, async () => {
    const server = await fresh(migrations);
    const db = await server.open({ procedures: ledgerProcedures });
    await createAccount(db, 'A');
    await credit(db, {
      id: 'w1',
      account: 'A',
      amount: yuan(1_000),
      from: 'wallet:test',
      code: 'topup',
      at: 1,
    });
    const tills = await Promise.all(
      [1, 2].map(async () =>
        openTill({
          db: await server.open({ procedures: ledgerProcedures }),
          clock: systemClock,
          records,
        }),
      ),
    );
    let running = true;
    let killed = 0n;
    const killer = (async () => {
      while (running) {
        const rows = await db.query(
          `SELECT COUNT(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
            WHERE datname=current_database() AND pid<>pg_backend_pid() AND (state='active' OR state LIKE 'idle in%')`,
        );
        killed += BigInt(rows[0]?.['n'] ?? 0);
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60));
      }
    })();
    let paid = 0n;
    const until = performance.now() + 4_000;
    const client = async (n: number): Promise<void> => {
      for (let i = 0; performance.now() < until; i++) {
        const got = await tills[n % 2]?.reserve(askFor('A', 0.002), never);
        if (got === undefined || typeof got === 'string') continue;
        const { outcome, amount } = await got.settle(chargeOf(`r${n}-${i}`, 0.001));
        expect(outcome).toBe('paid');
        paid += amount;
      }
    };
    await Promise.all(Array.from({ length: 40 }, (_, n) => client(n)));
    running = false;
    await killer;
    const unknown = tills.reduce((sum, { stats }) => sum + stats.unknownBatches, 0);
    process.stdout.write(
      `killed ${killed} connections: ${unknown} outcomes unknown at first, ${paid / yuan(0.001)} charges\n`,
    );
    await Promise.all(tills.map((till) => till.close()));
    expect(killed).toBeGreaterThan(10n);
    expect(tills.map(({ stats }) => [stats.broken, stats.refused])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(await check(db)).toMatchObject({ ok: true, problems: [] });
    expect((await balance(db, 'A'))?.balance).toBe(yuan(1_000) - paid);
    expect(await db.query('SELECT id FROM process')).toEqual([]);
  });
});
