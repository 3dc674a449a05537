import { localTime } from '../base/zone.ts';
import type { Database, Script } from '../storage/database.ts';
import { type UsagePlace, type UsageQuestion, paging } from '../usage/page.ts';
import { chargeRows } from './charge-row.ts';
import type { ChargeRow } from './contract.ts';
import { csvLine, csvStart } from './csv.ts';

const pageRows = 500;

/** Charges a page at a time, oldest first: each page is read when the last one was taken. */
export async function* chargesOf(
  database: Database,
  question: Omit<UsageQuestion, 'limit' | 'after' | 'order'>,
): AsyncGenerator<readonly ChargeRow[]> {
  let after: UsagePlace | undefined;
  do {
    const from = after;
    const page = await database.snapshot(function* (): Script<{
      rows: readonly ChargeRow[];
      next: UsagePlace | undefined;
    }> {
      const { rows, next } = yield* paging({
        ...question,
        order: 'oldest',
        limit: pageRows,
        ...(from && { after: from }),
      });
      return { rows: yield* chargeRows(question.account, rows), next };
    });
    yield page.rows;
    after = page.next;
  } while (after !== undefined);
}

const header = [
  'time',
  'utc_offset',
  'request_id',
  'model',
  'kind',
  'key',
  'group',
  'status',
  'estimated',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'quantity',
  'unit',
  'first_byte_ms',
  'total_ms',
  'cost_yuan',
];

/** The filter's charges as a table, however many. Times are the account's, with their offset. */
export async function* usageCsv(
  database: Database,
  question: Omit<UsageQuestion, 'limit' | 'after' | 'order'>,
  zone: string,
): AsyncGenerator<string> {
  yield csvStart + csvLine(header);
  for await (const rows of chargesOf(database, question)) {
    if (rows.length > 0) yield rows.map((charge) => csvLine(cellsOf(charge, zone))).join('');
  }
}

function cellsOf(
  { at, tokens, quantity, ...charge }: ChargeRow,
  zone: string,
): readonly (string | number | null)[] {
  const { time, offset } = localTime(zone, Date.parse(at));
  return [
    ...[
      time,
      offset,
      charge.id,
      charge.model,
      charge.kind,
      charge.key_name,
      charge.group,
      charge.status,
      charge.estimated ? 'yes' : 'no',
    ],
    ...[
      tokens?.input ?? null,
      tokens?.cached_input ?? null,
      tokens?.cache_write ?? null,
      tokens?.output ?? null,
      tokens?.reasoning ?? null,
    ],
    ...[
      quantity?.amount ?? null,
      quantity?.unit ?? null,
      charge.first_byte_ms,
      charge.total_ms,
      charge.cost,
    ],
  ];
}
