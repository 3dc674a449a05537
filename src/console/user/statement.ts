import { dayMs, zoneTimeAt } from '../../base/calendar.ts';
import type { Nano } from '../../base/money.ts';
import type { AccountTransfer } from '../../ledger/transfers.ts';
import type { Database, Row } from '../../storage/database.ts';
import { integerColumn } from '../../storage/sql.ts';
import type { UsagePosition } from '../../usage/page.ts';
import { linesOf, paidFor } from '../../usage/record.ts';
import type { MoveRow, StatementRow, StatementView } from '../contract.ts';
import { csvLine, csvStart } from '../csv.ts';
import { instant, yuan, nanoOf } from '../format.ts';
import { perOf, unitPrice } from '../prices.ts';
import {
  statementFigures,
  type StatementFigures,
  type StatementQuery,
  statementRecords,
} from './statement-queries.ts';

interface Sum {
  readonly count: number;
  readonly amount: Nano;
}

/** The movements of an account's money, day by day, adding up to the nano. */
export async function statement(
  database: Database,
  question: StatementQuery,
): Promise<StatementView> {
  const { first, last, zone, now } = question;
  const figures = await database.snapshot(() => statementFigures(question));
  const { from, to, funds, moves, opening, after } = figures;
  const { rows, balance, charges } = rowsOf(figures);
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

function rowsOf({ spent, moves, opening }: StatementFigures): {
  readonly rows: readonly StatementRow[];
  readonly balance: Nano;
  readonly charges: Sum;
} {
  const rows: StatementRow[] = [];
  let balance = opening;
  let [count, amount] = [0, 0n];
  for (const [{ day, from, to }, { requests, cost }] of spent) {
    for (const move of moves.filter(({ at }) => at === from))
      rows.push(moveRow(move, day, (balance += move.amount)));
    if (requests === 0) continue;
    balance -= cost;
    count += requests;
    amount += cost;
    rows.push({
      kind: 'charges',
      day,
      from: instant(from),
      to: instant(to),
      requests,
      amount: yuan(-cost),
      balance: yuan(balance),
    });
  }
  return { rows, balance, charges: { count, amount } };
}

const moveRow = (move: AccountTransfer, day: string, balance: Nano): MoveRow => ({
  kind: moveKind(move),
  day,
  at: instant(move.at),
  id: move.id,
  // An operator's credit or debit has only a reason, no reference.
  ref: move.other === 'grants' ? null : (move.ref ?? null),
  wallet: move.other.startsWith('wallet:') ? move.other.slice('wallet:'.length) : null,
  reason: move.other === 'grants' ? (move.ref ?? null) : null,
  amount: yuan(move.amount),
  balance: yuan(balance),
});

function moveKind({
  amount,
  code,
  other,
}: Pick<AccountTransfer, 'amount' | 'code' | 'other'>): MoveRow['kind'] {
  const wallet = other.startsWith('wallet:');
  if (amount < 0n) return wallet ? 'withdrawal' : 'debit';
  if (code === 'refund') return 'refund';
  return wallet ? 'top_up' : 'credit';
}

function sumsOf(
  moves: readonly AccountTransfer[],
): Readonly<Record<'top_up' | 'refund' | 'other', Sum>> {
  const of = (fits: (kind: MoveRow['kind']) => boolean): Sum => {
    const some = moves.filter((move) => fits(moveKind(move)));
    return { count: some.length, amount: some.reduce((total, { amount }) => total + amount, 0n) };
  };
  return {
    top_up: of((kind) => kind === 'top_up'),
    refund: of((kind) => kind === 'refund'),
    other: of((kind) => kind !== 'top_up' && kind !== 'refund'),
  };
}

/** The default range of a statement: this month so far. */
export const monthSoFar = (today: string): { readonly first: string; readonly last: string } => ({
  first: `${today.slice(0, 7)}-01`,
  last: today,
});

export const daysBetween = (first: string, last: string): number =>
  Math.round((Date.parse(last) - Date.parse(first)) / dayMs) + 1;

type StatementLevel = 'day' | 'request' | 'line';

const pageRows = 500;
const dayHeader = ['time', 'utc_offset', 'what', 'id', 'requests', 'amount_yuan', 'balance_yuan'];
const requestHeader = [
  'time',
  'utc_offset',
  'what',
  'id',
  'model',
  'kind',
  'key',
  'status',
  'amount_yuan',
];
const lineHeader = [
  ...requestHeader.slice(0, -1),
  'class',
  'quantity',
  'price_yuan',
  'per',
  'unit',
  'amount_yuan',
];

/**
 * A statement as a table. At every level its amounts add up from the opening to the closing
 * balance: a charge of the period that is committed while the table is written is in both.
 */
export async function* statementCsv(
  database: Database,
  question: StatementQuery,
  level: StatementLevel,
): AsyncGenerator<string> {
  const view = await statement(database, question);
  yield csvStart +
    csvLine(level === 'day' ? dayHeader : level === 'request' ? requestHeader : lineHeader);
  const write = writerOf(question.zone, level);
  yield write.edge('opening', Date.parse(view.opening.at), view.opening.balance);
  let late = 0n;
  for (const row of view.rows) {
    if (row.kind !== 'charges') yield write.move(row);
    else if (level === 'day') yield write.charges(row);
    else late += (yield* chargesWithin(database, question, level, row)) + nanoOf(row.amount);
  }
  yield write.edge(
    'closing',
    Date.parse(view.closing.at),
    yuan(nanoOf(view.closing.balance) - late),
  );
}

function writerOf(zone: string, level: StatementLevel) {
  const when = (at: number): readonly string[] => Object.values(zoneTimeAt(zone, at));
  const empty = (count: number): readonly null[] => Array.from({ length: count }, () => null);
  const gap = level === 'request' ? 4 : 9;
  const edge = (what: string, at: number, balance: string): string =>
    csvLine(
      level === 'day'
        ? [...when(at), what, null, null, null, balance]
        : [...when(at), what, null, ...empty(gap), balance],
    );
  return {
    edge,
    move: (row: MoveRow): string =>
      csvLine([
        ...when(Date.parse(row.at)),
        row.kind,
        row.id,
        ...(level === 'day' ? [null, row.amount, row.balance] : [...empty(gap), row.amount]),
      ]),
    charges: (row: Extract<StatementView['rows'][number], { readonly kind: 'charges' }>): string =>
      csvLine([
        ...when(Date.parse(row.from)),
        'charges',
        null,
        row.requests,
        row.amount,
        row.balance,
      ]),
  };
}

/** Returns their sum. */
async function* chargesWithin(
  database: Database,
  { account, zone, now }: StatementQuery,
  level: 'request' | 'line',
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<string, Nano> {
  const span = { from: Date.parse(from), to: Math.min(Date.parse(to), now + 1) };
  let paid = 0n;
  let after: UsagePosition | undefined;
  do {
    const query = { account, ...span, after, limit: pageRows };
    const page = await database.snapshot(() => statementRecords(query));
    after = page.next;
    let text = '';
    for (const row of page.rows) {
      const id = String(row['id']);
      const { time, offset } = zoneTimeAt(zone, Number(row['finished_at']));
      const head = [time, offset, 'charge', id, String(row['model']), String(row['capability'])];
      const cells = [...head, page.names.get(String(row['key_id'])) ?? null, String(row['status'])];
      const cost = paidFor(row);
      paid += cost;
      text += level === 'request' ? csvLine([...cells, yuan(-cost)]) : linesText(cells, row);
    }
    if (text !== '') yield text;
  } while (after !== undefined);
  return paid;
}

/** Each line of the bill; the part forgiven because the money had ended is a line of its own. */
function linesText(cells: readonly (string | null)[], row: Row): string {
  const shortfall = integerColumn(row, 'shortfall');
  const lines = linesOf(String(row['lines'])).map((line) => {
    const { amount, unit } = unitPrice(line.measure, line.rate);
    return csvLine([
      ...cells,
      line.measure,
      String(line.quantity),
      amount,
      perOf(line.measure),
      unit,
      yuan(-line.cost),
    ]);
  });
  const forgiven =
    shortfall === 0n
      ? ''
      : csvLine([...cells, 'forgiven', null, null, null, null, yuan(shortfall)]);
  return lines.join('') + forgiven;
}
