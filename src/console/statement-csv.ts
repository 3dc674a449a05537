import type { Nano } from '../base/money.ts';
import { localTime } from '../base/zone.ts';
import type { Database } from '../storage/database.ts';
import { type UsagePlace, paging } from '../usage/page.ts';
import { linesOf } from '../usage/record-lines.ts';
import { keyNamesOf } from './charge-row.ts';
import type { MoveRow, StatementView } from './contract.ts';
import { csvLine, csvStart } from './csv.ts';
import { perOf, unitPrice } from './prices.ts';
import { statement, type StatementQuestion } from './statement.ts';
import { nanoOf, yuan } from './written.ts';

export type StatementLevel = 'day' | 'request' | 'line';

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
 * A statement as a table. Whatever the level, its amounts add up from the opening to the closing
 * balance: a charge of the period that is committed while the table is written is in both.
 */
export async function* statementCsv(
  database: Database,
  question: StatementQuestion,
  level: StatementLevel,
): AsyncGenerator<string> {
  const view = await database.snapshot(() => statement(question));
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
  const when = (at: number): readonly string[] => Object.values(localTime(zone, at));
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

/** Returns what they come to. */
async function* chargesWithin(
  database: Database,
  { account, zone, now }: StatementQuestion,
  level: 'request' | 'line',
  { from, to }: { readonly from: string; readonly to: string },
): AsyncGenerator<string, Nano> {
  const span = { from: Date.parse(from), to: Math.min(Date.parse(to), now + 1) };
  let paid = 0n;
  let after: UsagePlace | undefined;
  do {
    const place = after;
    const page = await database.snapshot(function* () {
      const found = yield* paging({
        account,
        ...span,
        order: 'oldest',
        limit: pageRows,
        ...(place && { after: place }),
      });
      const names = yield* keyNamesOf(
        account,
        found.rows.map((row) => String(row['key_id'])),
      );
      return { ...found, names };
    });
    after = page.next;
    let text = '';
    for (const row of page.rows) {
      const id = String(row['id']);
      const { time, offset } = localTime(zone, Number(row['finished_at']));
      const head = [time, offset, 'charge', id, String(row['model']), String(row['capability'])];
      const cells = [...head, page.names.get(String(row['key_id'])) ?? null, String(row['status'])];
      const shortfall = BigInt(row['shortfall'] ?? 0);
      const cost = BigInt(row['cost'] ?? 0) - shortfall;
      paid += cost;
      if (level === 'request') text += csvLine([...cells, yuan(-cost)]);
      else text += linesText(cells, String(row['lines']), shortfall);
    }
    if (text !== '') yield text;
  } while (after !== undefined);
  return paid;
}

/** Each line of the bill; what was forgiven because the money had ended is a line of its own. */
function linesText(cells: readonly (string | null)[], written: string, shortfall: bigint): string {
  const lines = linesOf(written).map((line) => {
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
