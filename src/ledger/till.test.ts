import { setMaxListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { forEachDatabase, type FreshOptions } from '../../test/databases.ts';
import { migrations, records } from '../../test/ledger/records.ts';
import { systemClock } from '../base/clock.ts';
import { nanoPerYuan } from '../base/money.ts';
import { systemRandom } from '../base/random.ts';
import type { Database } from '../storage/database.ts';
import { check } from './check.ts';
import type { Charge, Reservation, ReserveRequest } from './contract.ts';
import { balance, createAccount, credit } from './ledger.ts';
import { ledgerProcedures } from './procedures.ts';
import { type LiveTill, openTill } from './till.ts';

const yuan = (amount: number): bigint =>
  BigInt(Math.round(amount * 1_000_000)) * (nanoPerYuan / 1_000_000n);
const never = new AbortController().signal;
setMaxListeners(0, never);

function ask(
  account: string,
  want: number,
  minimum = want / 10,
  shape: ReserveRequest['shape'] = 'stream',
): ReserveRequest {
  return { account, limits: [], want: yuan(want), minimum: yuan(minimum), shape };
}

function chargeOf(id: string, cost: number): Charge {
  return { id, cost: yuan(cost), code: 'chat', at: 1, record: ['k', 1, null, null] };
}

function granted(result: Reservation | string | undefined): Reservation {
  if (result === undefined || typeof result === 'string')
    throw new Error(`not reserved: ${result}`);
  return result;
}

async function open(db: Database): Promise<LiveTill> {
  const till = await openTill({ db, clock: systemClock, random: systemRandom, records });
  onTestFinished(() => till.close());
  return till;
}

forEachDatabase((_name, openFresh) => {
  const fresh = async (options: FreshOptions = {}): Promise<Database> => {
    const db = await openFresh({ migrations, procedures: ledgerProcedures, ...options });
    await createAccount(db, 'A');
    await credit(db, {
      id: 'w1',
      account: 'A',
      amount: yuan(1),
      from: 'wallet:test',
      code: 'topup',
      at: 1,
    });
    return db;
  };

  test('a request is reserved, settled with its record, and the rest comes back at the end', async () => {
    const db = await fresh();
    const till = await open(db);
    expect(till.tryReserve(ask('A', 0.1))).toBeUndefined();
    const first = granted(await till.reserve(ask('A', 0.1), never));
    expect(first.amount).toBe(yuan(0.1));
    expect(await first.settle(chargeOf('r1', 0.04))).toEqual({
      outcome: 'paid',
      amount: yuan(0.04),
      shortfall: 0n,
    });
    const second = granted(till.tryReserve(ask('A', 0.05)));
    second.release();
    expect((await balance(db, 'A'))?.balance).toBe(yuan(0.96));
    await till.close();
    expect(await balance(db, 'A')).toMatchObject({ balance: yuan(0.96), spendable: yuan(0.96) });
    expect(await check(db)).toEqual({
      ok: true,
      accounts: 3,
      transfers: 2,
      holds: 0,
      problems: [],
    });
  });

  test('many at once never spend more than there is, and spend it all', async () => {
    const db = await fresh();
    const till = await open(db);
    let paid = 0n;
    let refused = 0;
    await Promise.all(
      Array.from({ length: 250 }, async (_, i) => {
        const got = await till.reserve(ask('A', 0.01, 0.01, 'fixed'), never);
        if (typeof got === 'string') return void refused++;
        const { amount } = await got.settle(chargeOf(`r${i}`, 0.01));
        paid += amount;
      }),
    );
    expect({ paid, refused }).toEqual({ paid: yuan(1), refused: 150 });
    await till.close();
    expect(await check(db)).toMatchObject({ ok: true, problems: [] });
    expect((await balance(db, 'A'))?.balance).toBe(0n);
  });
});
