import { keyNamesOf } from '../../accounts/user-keys.ts';
import { endOfTime, type ZoneDay, zoneDays } from '../../base/calendar.ts';
import type { Nano } from '../../base/money.ts';
import {
  fundsOf,
  type AccountTransfer,
  type Funds,
  transferSum,
  transfersOf,
} from '../../ledger/transfers.ts';
import type { Row, Transaction } from '../../storage/database.ts';
import { paidBefore, type UsagePage, type UsagePosition, usagePage } from '../../usage/page.ts';
import type { TimeRange } from '../../usage/ranges.ts';
import { charged, chargedBySpan } from '../../usage/spending.ts';
import type { ChargeView } from '../contract.ts';
import { chargeViews } from './charges.ts';

/*
 * All that a statement asks of the database. The SQL stays with the tables: transfers in
 * src/ledger/transfers.ts, charges in src/usage/spending.ts, single charges in src/usage/page.ts.
 * Run each of these functions in a snapshot.
 */

export interface StatementQuery {
  readonly account: string;
  readonly zone: string;
  /** Both included. */
  readonly first: string;
  readonly last: string;
  readonly now: number;
}

/** A day, or a part of it that begins or ends at a move. */
export interface DayPart extends TimeRange {
  readonly day: string;
}

interface Spent {
  readonly requests: number;
  readonly cost: Nano;
}

export interface StatementFigures extends TimeRange {
  /** The account's funds now, by the ledger's own counters. */
  readonly funds: Funds;
  /** The transfers of the period that are no charges. */
  readonly moves: readonly AccountTransfer[];
  /** The balance at the beginning of the period. */
  readonly opening: Nano;
  /** By how much the balance has changed since the end of the period. */
  readonly after: Nano;
  /** The period's charges: a figure for each day, or for each part of a day with moves. */
  readonly spent: ReadonlyMap<DayPart, Spent>;
}

const noFunds: Funds = { balance: 0n, credited: 0n, held: 0n, holds: 0 };

export function* statementFigures({
  account,
  zone,
  first,
  last,
  now,
}: StatementQuery): Transaction<StatementFigures> {
  const days = zoneDays(zone, first, last);
  const from = days[0]?.from ?? now;
  const to = days.at(-1)?.to ?? now;
  const funds = (yield* fundsOf(account)) ?? noFunds;
  const moves = yield* transfersOf(account, { from, to });
  const opening = yield* changeWithin(account, { from: 0, to: from });
  const spent = yield* spentByPart(account, days, moves);
  const after = yield* changeWithin(account, { from: to, to: endOfTime });
  return { from, to, funds, moves, opening, after, spent };
}

/** What came in less what was charged. */
function* changeWithin(account: string, range: TimeRange): Transaction<Nano> {
  const moved = yield* transferSum(account, range);
  return moved - (yield* charged(account, range)).cost;
}

/** All whole days in one query, those with moves part by part. */
function* spentByPart(
  account: string,
  days: readonly ZoneDay[],
  moves: readonly AccountTransfer[],
): Transaction<ReadonlyMap<DayPart, Spent>> {
  const daily = yield* chargedBySpan(account, days);
  const spent = new Map<DayPart, Spent>();
  for (const [index, day] of days.entries()) {
    const all = daily[index] ?? { requests: 0, cost: 0n };
    const parts = splitDayAt(day, moves);
    // A day without charges has none in its parts.
    const known = parts.length === 1 || all.requests === 0;
    for (const part of parts) spent.set(part, known ? all : yield* charged(account, part));
  }
  return spent;
}

/** Splits a day at its moves: a charge at the exact moment of a move comes after it. */
function splitDayAt(
  { day, from, to }: ZoneDay,
  moves: readonly AccountTransfer[],
): readonly DayPart[] {
  const cuts = [...new Set(moves.map(({ at }) => at).filter((at) => at > from && at < to))];
  const edges = [from, ...cuts, to];
  return edges.slice(1).map((end, index) => ({ day, from: edges[index] ?? from, to: end }));
}

/** A page of the period's charges, the oldest first. */
export interface ChargesQuery extends TimeRange {
  readonly account: string;
  readonly after: UsagePosition | undefined;
  readonly limit: number;
}

const pageOfCharges = ({ after, ...query }: ChargesQuery): Transaction<UsagePage> =>
  usagePage({ ...query, order: 'oldest', ...(after && { after }) });

/** The charges for a table by request, with the names of their keys. */
export function* statementRecords(
  query: ChargesQuery,
): Transaction<UsagePage & { readonly names: ReadonlyMap<string, string> }> {
  const page = yield* pageOfCharges(query);
  const names = yield* keyNamesOf(
    query.account,
    page.rows.map((row) => String(row['key_id'])),
  );
  return { ...page, names };
}

export interface DayCharges extends Pick<UsagePage, 'next'> {
  readonly charges: readonly ChargeView[];
  /** The balance before the first of the charges. */
  readonly before: Nano;
  /** The moves since the first of the charges. */
  readonly moves: readonly AccountTransfer[];
}

export function* chargesOfDay(query: ChargesQuery): Transaction<DayCharges> {
  const { account, to } = query;
  const { rows, next } = yield* pageOfCharges(query);
  const charges = yield* chargeViews(account, rows);
  const [first] = rows;
  if (first === undefined) return { next, charges, before: 0n, moves: [] };
  const before = yield* balanceBefore(account, first);
  const moves = yield* transfersOf(account, { from: Number(first['finished_at']), to });
  return { next, charges, before, moves };
}

/** The balance before this charge. Moves of the same moment are not yet in it. */
function* balanceBefore(account: string, charge: Row): Transaction<Nano> {
  const at = Number(charge['finished_at']);
  const change = yield* changeWithin(account, { from: 0, to: at });
  return change - (yield* paidBefore(account, at, String(charge['id'])));
}
