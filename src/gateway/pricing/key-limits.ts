import type { Principal } from '../../accounts/principal.ts';
import type { Nano } from '../../base/money.ts';
import { dayOf, monthOf } from '../../base/calendar.ts';
import type { LimitWindow } from '../../ledger/contract.ts';
import { changeLimitTx } from '../../ledger/transactions/account.ts';
import type { Transaction } from '../../storage/database.ts';

const none: readonly LimitWindow[] = [];

/**
 * The limit windows charged by a request that reserves its money at `at` (wall clock, ms). The
 * first draw makes their accounts in the ledger.
 */
export function limitWindowsOf(
  { keyId, limit, dailyLimit, monthlyLimit }: Principal,
  at: number,
  offsetMinutes: number,
): readonly LimitWindow[] {
  if (limit === undefined && dailyLimit === undefined && monthlyLimit === undefined) return none;
  const windows: LimitWindow[] = [];
  if (limit !== undefined) windows.push({ id: `key:${keyId}:total`, amount: limit });
  if (dailyLimit !== undefined)
    windows.push({ id: `key:${keyId}:day:${dayOf(at, offsetMinutes).name}`, amount: dailyLimit });
  if (monthlyLimit !== undefined)
    windows.push({
      id: `key:${keyId}:month:${monthOf(at, offsetMinutes).name}`,
      amount: monthlyLimit,
    });
  return windows;
}

/**
 * Sets what a key may spend from now on, in the windows that it has; undefined: as before. Belongs
 * in the transaction that changes the key.
 */
export function* changeKeyLimits(
  keyId: string,
  {
    limit,
    dailyLimit,
    monthlyLimit,
  }: { readonly [limit in 'limit' | 'dailyLimit' | 'monthlyLimit']?: Nano | undefined },
): Transaction<void> {
  for (const [window, amount] of Object.entries({
    total: limit,
    day: dailyLimit,
    month: monthlyLimit,
  }))
    if (amount !== undefined) yield* changeLimitTx({ id: `key:${keyId}:${window}`, amount });
}
