import type { Key } from '../accounts/keys.ts';
import type { KeyPatch } from '../accounts/user-keys.ts';
import type { Nano } from '../base/money.ts';
import {
  closeLimitWindows,
  openLimitWindow,
  periodOfWindow,
  type WindowKind,
} from '../ledger/limit-windows.ts';
import { changeLimitTx } from '../ledger/transactions/account.ts';
import type { Transaction } from '../storage/database.ts';
import { rolledUntil } from '../usage/ranges.ts';
import { paidInRecords, paidSince, spentByKey } from '../usage/spending.ts';
import { limitWindowsOf } from './reserve.ts';

/** Which limits a key has: those of its row, or those of a change. */
type Limits = Pick<Key, 'limit' | 'dailyLimit' | 'monthlyLimit'>;

/** Where a key's days and months begin, and the time (wall clock, ms). */
export interface LimitCalendar {
  readonly utcOffsetMinutes: number;
  readonly at: number;
}

/** The kinds of limits, in the order in which the ledger locks their windows. */
const kinds: readonly (readonly [kind: WindowKind, member: keyof Limits])[] = [
  ['day', 'dailyLimit'],
  ['month', 'monthlyLimit'],
  ['total', 'limit'],
];

/** The present windows of a key by kind, for the limits that it has. */
export function windowsOfKey(
  { id, limit, dailyLimit, monthlyLimit }: Pick<Key, 'id' | keyof Limits>,
  { utcOffsetMinutes, at }: LimitCalendar,
): ReadonlyMap<WindowKind, { readonly id: string; readonly amount: Nano }> {
  const windows = limitWindowsOf(
    { keyId: id, limit, dailyLimit, monthlyLimit },
    at,
    utcOffsetMinutes,
  );
  return new Map(windows.map((window) => [kindOf(window.id.slice(`key:${id}:`.length)), window]));
}

const kindOf = (name: string): WindowKind =>
  name === 'total' ? 'total' : name.startsWith('day:') ? 'day' : 'month';

/** What a key has paid in the windows of limits that a change adds, by the windows' ids. */
export type PaidSoFar = ReadonlyMap<string, Nano>;

/**
 * Reads what `changeKeyLimits` needs of the past. Run it in a snapshot before the transaction of
 * the change, and change nothing if the key's version is another by then.
 */
export function* paidSoFar(
  key: Key,
  wanted: KeyPatch,
  calendar: LimitCalendar,
): Transaction<PaidSoFar> {
  const { id: keyId, userId: account } = key;
  const paid = new Map<string, Nano>();
  for (const [kind, { id }] of windowsOfKey({ id: keyId, ...added(key, wanted) }, calendar)) {
    const from = kind === 'total' ? undefined : periodOfWindow(id)?.from;
    paid.set(id, yield* paidFrom({ account, keyId }, from, calendar.at));
  }
  return paid;
}

/** `from`: undefined for all that the key ever paid. */
function* paidFrom(
  key: { readonly account: string; readonly keyId: string },
  from: number | undefined,
  at: number,
): Transaction<Nano> {
  // A clock that was ahead has led the figures into the future: they lack what was paid since.
  if ((yield* rolledUntil()) > at) return yield* paidInRecords(key, from ?? 0);
  if (from !== undefined) return yield* paidSince(key, from, at);
  return (yield* spentByKey(key.account)).get(key.keyId)?.cost ?? 0n;
}

const added = (key: Key, wanted: KeyPatch): Limits => ({
  limit: key.limit === undefined ? (wanted.limit ?? undefined) : undefined,
  dailyLimit: key.dailyLimit === undefined ? (wanted.dailyLimit ?? undefined) : undefined,
  monthlyLimit: key.monthlyLimit === undefined ? (wanted.monthlyLimit ?? undefined) : undefined,
});

/**
 * Brings the ledger's windows in line with a key's limits: changes, adds or takes away. Belongs in
 * the transaction that changes the key from `before` to `after`.
 */
export function* changeKeyLimits(
  before: Key,
  after: Key,
  paid: PaidSoFar,
  calendar: LimitCalendar,
): Transaction<void> {
  const { id: keyId } = after;
  const windows = windowsOfKey(after, calendar);
  for (const [kind, member] of kinds) {
    const [was, is, window] = [before[member], after[member], windows.get(kind)];
    if (was === is) continue;
    if (is === undefined) yield* closeLimitWindows(keyId, kind, calendar.at);
    else if (was !== undefined) yield* changeLimitTx({ id: `key:${keyId}:${kind}`, amount: is });
    else if (window !== undefined)
      yield* openLimitWindow(keyId, kind, window, paid.get(window.id) ?? 0n, calendar.at);
  }
}
