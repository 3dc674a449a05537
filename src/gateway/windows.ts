import type { Principal } from '../accounts/principal.ts';
import { dayOf, monthOf } from '../base/period.ts';
import type { LimitWindow } from '../ledger/contract.ts';

const none: readonly LimitWindow[] = [];

/** The windows that a request which reserves its money at `at` (wall clock, ms) is charged to; their accounts in the ledger are made by the first draw. */
export function windowsOf(
  { keyId, limit, dailyLimit, monthlyLimit }: Principal,
  at: number,
  offsetMinutes: number,
): readonly LimitWindow[] {
  if (limit === undefined && dailyLimit === undefined && monthlyLimit === undefined) return none;
  const windows: LimitWindow[] = [];
  if (limit !== undefined) windows.push({ id: `key:${keyId}:total`, amount: limit });
  if (dailyLimit !== undefined) windows.push({ id: `key:${keyId}:day:${dayOf(at, offsetMinutes).name}`, amount: dailyLimit });
  if (monthlyLimit !== undefined) windows.push({ id: `key:${keyId}:month:${monthOf(at, offsetMinutes).name}`, amount: monthlyLimit });
  return windows;
}
