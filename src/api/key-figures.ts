import type { Principal } from '../accounts/principal.ts';
import { keyNamesOf } from '../accounts/user-keys.ts';
import { dayMs, dayOf, hourMs, monthOf } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import { type LimitCalendar, windowsOfKey } from '../gateway/key-limits.ts';
import {
  heldInWindows,
  periodOfWindow,
  spentInWindows,
  type WindowKind,
} from '../ledger/limit-windows.ts';
import { fundsOf } from '../ledger/transfers.ts';
import type { Transaction } from '../storage/database.ts';
import type { TimeRange } from '../usage/ranges.ts';
import { paidSince, spending, type SpendingRow, spentByKey } from '../usage/spending.ts';

/** One spend limit of a key, and how much of it is used in its present window. */
export interface LimitFigures {
  readonly period: WindowKind;
  readonly limit: Nano;
  readonly used: Nano;
  /** What is neither used nor held for tasks. */
  readonly remaining: Nano;
  /** Wall clock, ms; undefined: never. */
  readonly resetsAt: number | undefined;
}

/** The money that a key can spend, and what it has spent. */
export interface KeyFigures {
  readonly name: string;
  /** The posted balance of the key's account, and the part of it that tasks hold. */
  readonly balance: Nano;
  readonly held: Nano;
  /** In the order total, month, day. Empty: the balance alone limits the key. */
  readonly limits: readonly LimitFigures[];
  /**
   * What can still be spent: the least of the balance without what is held, and of what each limit
   * leaves.
   */
  readonly available: Nano;
  /** Since the key was made. */
  readonly spent: Nano;
  readonly requests: number;
}

/** Reads them from the ledger and the usage records. Run it in a snapshot. */
export function* keyFigures(
  principal: Principal,
  calendar: LimitCalendar,
): Transaction<KeyFigures> {
  const { keyId, userId } = principal;
  const names = yield* keyNamesOf(userId, [keyId]);
  const funds = yield* fundsOf(userId);
  const spent = (yield* spentByKey(userId)).get(keyId);
  const limits = yield* limitFigures(principal, calendar);
  const { balance, held } = funds ?? { balance: 0n, held: 0n };
  const least = limits.reduce(
    (min, { remaining }) => (remaining < min ? remaining : min),
    balance - held,
  );
  return {
    name: names.get(keyId) ?? '',
    balance,
    held,
    limits,
    available: least < 0n ? 0n : least,
    spent: spent?.cost ?? 0n,
    requests: spent?.requests ?? 0,
  };
}

function* limitFigures(
  principal: Principal,
  calendar: LimitCalendar,
): Transaction<readonly LimitFigures[]> {
  const windows = windowsOfKey(
    { dailyLimit: undefined, monthlyLimit: undefined, ...principal, id: principal.keyId },
    calendar,
  );
  const ids = [...windows.values()].map(({ id }) => id);
  const used = yield* spentInWindows(ids);
  const held = yield* heldInWindows(ids);
  return (['total', 'month', 'day'] as const).flatMap((period) => {
    const window = windows.get(period);
    if (window === undefined) return [];
    const spent = used.get(window.id) ?? 0n;
    const left = window.amount - spent - (held.get(window.id) ?? 0n);
    return {
      period,
      limit: window.amount,
      used: spent,
      remaining: left > 0n ? left : 0n,
      resetsAt: period === 'total' ? undefined : periodOfWindow(window.id)?.to,
    };
  });
}

/** What a key has paid for requests that began in the present day, week (from Monday) and month. */
export function* paidLately(
  { keyId, userId: account }: Principal,
  { at, utcOffsetMinutes }: LimitCalendar,
): Transaction<{ readonly day: Nano; readonly week: Nano; readonly month: Nano }> {
  const today = dayOf(at, utcOffsetMinutes);
  const weekday = (new Date(Date.parse(today.name.slice(0, 10))).getUTCDay() + 6) % 7;
  const key = { account, keyId };
  return {
    day: yield* paidSince(key, today.from, at),
    week: yield* paidSince(key, today.from - weekday * dayMs, at),
    month: yield* paidSince(key, monthOf(at, utcOffsetMinutes).from, at),
  };
}

/** A key's charges within a range, by model. Run it in a snapshot. */
export const paidByModel = (
  { keyId, userId: account }: Principal,
  { from, to }: TimeRange,
): Transaction<readonly SpendingRow[]> =>
  spending({ account, from, to, filter: { keyId } }, ['model']);

/** Charges of nodes whose clocks are ahead count as well. */
export const untilNow = (at: number): number => at + hourMs;
