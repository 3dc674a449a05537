import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Nano } from '../base/money.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import {
  createAccountTx,
  type Credit,
  type CreditResult,
  creditTx,
  NoSuchAccount,
  payBackTx,
  type Refund,
  type RefundResult,
  refundTx,
} from './transactions/account.ts';
import { endPayout, openPayout } from './transactions/hold.ts';
import { fenceAllProcesses, sweepProcess } from './transactions/process.ts';
import { integerColumn, placeholders, textColumn } from '../storage/sql.ts';
import { tillSettings } from './settings.ts';
import { accountBalance, lockAccount, payerOf } from './transfers.ts';

/**
 * Money of one account. The user sees `balance`; `spendable` is the part that no process or task
 * holds at this moment.
 */
export interface Balance {
  readonly account: string;
  readonly balance: Nano;
  readonly spendable: Nano;
  readonly frozen: boolean;
}

/**
 * Creates a user's account, or the other side of the operator's transfers (`wallet:…`). Does
 * nothing when the account exists.
 */
export function createAccount(
  database: Database,
  id: string,
  kind: 'user' | 'operator' = 'user',
): Promise<void> {
  return database.transact(() => createAccountTx({ id, kind }));
}

/**
 * Credits a user's account, once for each `id`. `beside` runs in the same transaction, only when
 * this call makes the credit. Throws a `DatabaseError`; the caller may repeat it with the same id.
 */
export async function credit(
  database: Database,
  input: Credit,
  beside?: () => Transaction<unknown>,
): Promise<CreditResult> {
  try {
    return await database.transact(function* () {
      const done = yield* creditTx(input);
      if (done === 'created' && beside !== undefined) yield* beside();
      return done;
    });
  } catch (error) {
    if (error instanceof NoSuchAccount) return 'no_account';
    throw error;
  }
}

/** Running processes give idle floats back within seconds after they are called in. */
const floatsWaitMs = 3_000;
const floatsLookMs = 200;

export interface Debit {
  /** Makes the debit happen once. */
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly ref: string;
  /** Wall clock, ms. */
  readonly at: number;
}

/** `exists_different`: the id belongs to another transfer. Only `created` changes anything. */
export type DebitResult = 'created' | 'exists' | 'exists_different' | 'insufficient';

/**
 * Takes money back to `grants`, once for each `id`, and never more than is free: waits for idle
 * floats, at most three seconds. `beside` runs in the same transaction, only when this call makes
 * the debit.
 */
export async function debit(
  database: Database,
  clock: Clock,
  input: Debit,
  beside: () => Transaction<unknown>,
): Promise<DebitResult> {
  const untilMs = clock.monotonicMs() + floatsWaitMs;
  for (;;) {
    const done = await database.transact(() => debiting(input, beside));
    if (done !== 'insufficient' || clock.monotonicMs() > untilMs) return done;
    await wait(floatsLookMs);
  }
}

function* debiting(
  { id, account, amount, ref, at }: Debit,
  beside: () => Transaction<unknown>,
): Transaction<DebitResult> {
  // The account's lock makes the same debit, sent twice at once, take turns.
  yield* lockAccount(account);
  const known = yield* payerOf(id);
  if (known !== undefined)
    return known.account === account && known.amount === amount ? 'exists' : 'exists_different';
  if ((yield* openPayout({ id, account, amount, at })) === 'insufficient') return 'insufficient';
  yield* endPayout(id, { kind: 'paid', to: 'grants', code: 'debit', ref, at });
  yield* beside();
  return 'created';
}

/** Pays a charge back, wholly or in part, once for each `id`, and never more than was charged. */
export function refund(database: Database, input: Refund): Promise<RefundResult> {
  return database.transact(() => refundTx(input));
}

/** Pays a whole charge back, once. Does nothing when there is no such charge. */
export function payBack(database: Database, id: string, at: number): Promise<void> {
  return database.transact(() => payBackTx({ id, at }));
}

const selectBalances = `SELECT a.id, a.frozen, a.credits-a.debits-a.held AS spendable, ${accountBalance} AS balance
  FROM account a WHERE a.kind='user'`;

/** Undefined when there is no such user's account. */
export async function balance(database: Database, account: string): Promise<Balance | undefined> {
  const [row] = await database.query(`${selectBalances} AND a.id=$1`, [account]);
  return row && balanceOf(row);
}

/** All users' accounts, by id. */
export async function balances(database: Database): Promise<readonly Balance[]> {
  return (await database.query(`${selectBalances} ORDER BY a.id`)).map(balanceOf);
}

function balanceOf(row: Row): Balance {
  return {
    account: textColumn(row, 'id'),
    balance: integerColumn(row, 'balance'),
    spendable: integerColumn(row, 'spendable'),
    frozen: integerColumn(row, 'frozen') !== 0n,
  };
}

/**
 * Gives back all floats before the first request. Only for a caller that knows that no process
 * lives: it holds the only lock on a SQLite file, or has restored a backup.
 */
export async function releaseAllProcesses(database: Database): Promise<void> {
  const { sweepFloatsMax: floatsMax } = tillSettings;
  for (const id of await database.transact(fenceAllProcesses))
    while (!(await database.transact(() => sweepProcess({ id, floatsMax })))) continue;
}

/**
 * Whether each of these accounts has `amount` unspent, idle floats of all processes included: then
 * a hold may succeed soon.
 */
export async function couldHold(
  database: Database,
  accounts: readonly string[],
  amount: Nano,
): Promise<boolean> {
  const sql = `SELECT a.id FROM account a WHERE a.id IN (${placeholders(accounts, 2)}) AND a.frozen=0
    AND a.credits-a.debits-a.held+COALESCE((SELECT SUM(f.granted-f.spent) FROM till_float f WHERE f.account=a.id), 0)>=$1`;
  return (await database.query(sql, [amount, ...accounts])).length === accounts.length;
}
