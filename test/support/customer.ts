import type { KeyTerms } from '../../src/accounts/principal.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Nano } from '../../src/base/money.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { enrol } from '../../src/signin/enrol.ts';
import type { Database } from '../../src/storage/database.ts';

export interface KeyWish extends KeyTerms {
  readonly group?: string;
  readonly limit?: Nano;
  readonly dailyLimit?: Nano;
  readonly monthlyLimit?: Nano;
  readonly expiresAt?: number;
}

export interface NewTestKey {
  readonly id: string;
  readonly secret: string;
}

/** A user with money (nano-yuan; 0n: with none) and a key. */
export async function newCustomer(
  database: Database,
  amount: Nano,
  wish?: KeyWish,
): Promise<{ readonly userId: string; readonly key: NewTestKey }> {
  const { id: userId } = await database.transact(() => enrol('test', 'user', systemClock.now()));
  const grant = {
    id: `grant_${userId}`,
    account: userId,
    from: 'grants',
    amount,
    code: 'grant',
    ref: 'test',
    at: systemClock.now(),
  };
  if (amount > 0n) await credit(database, grant);
  return { userId, key: await newTestKey(database, userId, wish) };
}

export async function newTestKey(
  database: Database,
  userId: string,
  { group = 'default', limit, expiresAt, ...periodic }: KeyWish = {},
): Promise<NewTestKey> {
  const made = await database.transact(() =>
    createKey({
      userId,
      name: 'test',
      group,
      limit,
      expiresAt,
      ...periodic,
      at: systemClock.now(),
    }),
  );
  if (made === undefined) throw new Error('no such user');
  return { id: made.key.id, secret: made.secret };
}
