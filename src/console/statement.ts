import type { Nano } from '../base/money.ts';
import { type ZoneDay, zoneDays } from '../base/zone.ts';
import { fundsOf, type Move, movedWithin, movesOf } from '../ledger/moves.ts';
import type { Script } from '../storage/database.ts';
import { endOfTime, type Span } from '../usage/cover.ts';
import { charged, chargedBySpan } from '../usage/spending.ts';
import type { MoveRow, StatementRow, StatementView } from './contract.ts';
import { instant, yuan } from './written.ts';

export interface StatementQuestion {
  readonly account: string;
  readonly zone: string;
  /** Both included. */
  readonly first: string;
  readonly last: string;
  readonly now: number;
}

interface Sum {
  readonly count: number;
  readonly amount: Nano;
}

/**
 * Where an account's money came from and went, day by day, adding up to the nano. To be run in a
 * snapshot.
 */
export function* statement({
  account,
  zone,
  first,
  last,
  now,
}: StatementQuestion): Script<StatementView> {
  const days = zoneDays(zone, first, last);
  const from = days[0]?.from ?? now;
  const to = days.at(-1)?.to ?? now;
  const funds = (yield* fundsOf(account)) ?? { balance: 0n, credited: 0n, held: 0n, holds: 0 };
  const moves = yield* movesOf(account, { from, to });
  const opening =
    (yield* movedWithin(account, { from: 0, to: from })) -
    (yield* charged(account, { from: 0, to: from })).cost;
  const spans = days.flatMap((day) => cutAt(day, moves));
  const spent = yield* spentBySpan(account, days, spans);
  const { rows, balance, charges } = rowsOf(spans, spent, moves, opening);
  const after =
    (yield* movedWithin(account, { from: to, to: endOfTime })) -
    (yield* charged(account, { from: to, to: endOfTime })).cost;
  const sums = sumsOf(moves);
  const sum = ({ count, amount }: Sum) => ({ count, amount: yuan(amount) });
  return {
    from: first,
    to: last,
    zone,
    opening: { at: instant(from), balance: yuan(opening) },
    top_ups: sum(sums.top_up),
    charges: sum({ count: charges.count, amount: -charges.amount }),
    refunds: sum(sums.refund),
    adjustments: sum(sums.other),
    closing: { at: instant(Math.min(to, now)), balance: yuan(balance) },
    adds_up: balance + after === funds.balance,
    held: yuan(funds.held),
    available: yuan(funds.balance - funds.held),
    rows,
    as_of: instant(now),
  };
}

interface Cut extends Span {
  readonly day: string;
}

/**
 * A day in the pieces between that day's moves: what was charged at a move's own moment comes after
 * it.
 */
export function cutAt({ day, from, to }: ZoneDay, moves: readonly Move[]): readonly Cut[] {
  const cuts = [...new Set(moves.map(({ at }) => at).filter((at) => at > from && at < to))];
  const edges = [from, ...cuts, to];
  return edges.slice(1).map((end, index) => ({ day, from: edges[index] ?? from, to: end }));
}

/** Days that are whole at once, those with moves in them piece by piece. */
function* spentBySpan(
  account: string,
  days: readonly ZoneDay[],
  spans: readonly Cut[],
): Script<ReadonlyMap<Cut, { readonly requests: number; readonly cost: Nano }>> {
  const daily = yield* chargedBySpan(account, days);
  const whole = new Map(
    days.map((day, index) => [day.day, { day, spent: daily[index] ?? { requests: 0, cost: 0n } }]),
  );
  const spent = new Map<Cut, { readonly requests: number; readonly cost: Nano }>();
  for (const span of spans) {
    const day = whole.get(span.day);
    const isWhole = day?.day.from === span.from && day.day.to === span.to;
    // Nothing was charged that day, so nothing in its pieces.
    const known = isWhole || day?.spent.requests === 0 ? day?.spent : undefined;
    spent.set(span, known ?? (yield* charged(account, span)));
  }
  return spent;
}

function rowsOf(
  spans: readonly Cut[],
  spent: ReadonlyMap<Cut, { readonly requests: number; readonly cost: Nano }>,
  moves: readonly Move[],
  opening: Nano,
): { readonly rows: readonly StatementRow[]; readonly balance: Nano; readonly charges: Sum } {
  const rows: StatementRow[] = [];
  let balance = opening;
  let [count, amount] = [0, 0n];
  for (const span of spans) {
    for (const move of moves.filter(({ at }) => at === span.from))
      rows.push(moveRow(move, span.day, (balance += move.amount)));
    const { requests, cost } = spent.get(span) ?? { requests: 0, cost: 0n };
    if (requests === 0) continue;
    balance -= cost;
    count += requests;
    amount += cost;
    rows.push({
      kind: 'charges',
      day: span.day,
      from: instant(span.from),
      to: instant(span.to),
      requests,
      amount: yuan(-cost),
      balance: yuan(balance),
    });
  }
  return { rows, balance, charges: { count, amount } };
}

const moveRow = (move: Move, day: string, balance: Nano): MoveRow => ({
  kind: kindOf(move),
  day,
  at: instant(move.at),
  id: move.id,
  // What an operator gives or takes refers to nothing but its reason.
  ref: move.other === 'grants' ? null : (move.ref ?? null),
  wallet: move.other.startsWith('wallet:') ? move.other.slice('wallet:'.length) : null,
  reason: move.other === 'grants' ? (move.ref ?? null) : null,
  amount: yuan(move.amount),
  balance: yuan(balance),
});

export function kindOf({
  amount,
  code,
  other,
}: Pick<Move, 'amount' | 'code' | 'other'>): MoveRow['kind'] {
  const wallet = other.startsWith('wallet:');
  if (amount < 0n) return wallet ? 'withdrawal' : 'debit';
  if (code === 'refund') return 'refund';
  return wallet ? 'top_up' : 'credit';
}

function sumsOf(moves: readonly Move[]): Readonly<Record<'top_up' | 'refund' | 'other', Sum>> {
  const of = (fits: (kind: MoveRow['kind']) => boolean): Sum => {
    const some = moves.filter((move) => fits(kindOf(move)));
    return { count: some.length, amount: some.reduce((total, { amount }) => total + amount, 0n) };
  };
  return {
    top_up: of((kind) => kind === 'top_up'),
    refund: of((kind) => kind === 'refund'),
    other: of((kind) => kind !== 'top_up' && kind !== 'refund'),
  };
}

/** Days of a statement when none are named: this month so far. */
export const monthSoFar = (today: string): { readonly first: string; readonly last: string } => ({
  first: `${today.slice(0, 7)}-01`,
  last: today,
});

export const daysBetween = (first: string, last: string): number =>
  Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
