import type { Row, Transaction } from '../storage/database.ts';
import { integerColumn, textColumn, WhereClause } from '../storage/sql.ts';
import { hourMs } from './ranges.ts';

/** Selects requests of all accounts that were charged. Tasks are not among them. */
export interface AllRecordsQuery {
  readonly account?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly channel?: string | undefined;
  readonly statuses?: readonly string[] | undefined;
  /** Ids, which begin with the time of the request: from (inclusive) and before (exclusive). */
  readonly fromId: string;
  readonly beforeId: string;
  /** Wall clock, ms: no request of these ids began earlier. */
  readonly begunFrom: number;
  readonly limit: number;
}

export interface AllRecordsPage {
  readonly rows: readonly Row[];
  /** The id of the last record that was read for a page with fewer; undefined: all were read. */
  readonly until: string | undefined;
}

/** The most records read for one page: a filter with few matches shows them over several pages. */
const lookedThroughMax = 30_000;

/**
 * One page of charged requests by their ids, the newest first, from the primary key. A filter has
 * no index: it is looked for among the next records.
 */
export function* allRecordsPage(
  question: AllRecordsQuery,
  { lookedThrough = lookedThroughMax } = {},
): Transaction<AllRecordsPage> {
  const { fromId, beforeId, begunFrom, limit } = question;
  const next = (columns: string, where: WhereClause): string => {
    where.add('id>=?', fromId);
    where.add('id<?', beforeId);
    // Lets PostgreSQL skip the months before.
    where.add('reserved_at>=?', begunFrom - hourMs);
    return `SELECT ${columns} FROM usage${where.text} ORDER BY id DESC LIMIT ${where.place(lookedThrough)}`;
  };
  const within = new WhereClause();
  const records = next('*', within);
  const params = within.params.length;
  const filter = new WhereClause();
  filter.params.push(...within.params);
  filter.add('account=?', question.account);
  filter.add('key_id=?', question.keyId);
  filter.add('model=?', question.model);
  filter.add('channel=?', question.channel);
  filter.addOneOf('status', question.statuses);
  const rows = yield {
    sql: `SELECT * FROM (${records}) r${filter.text} ORDER BY id DESC LIMIT ${filter.place(limit)}`,
    params: filter.params,
  };
  if (rows.length === limit || filter.params.length === params + 1)
    return { rows, until: undefined };
  const looked = new WhereClause();
  const [last] = yield {
    sql: `SELECT MIN(id) AS id, COUNT(*) AS count FROM (${next('id', looked)}) r`,
    params: looked.params,
  };
  const all = Number(last?.['count'] ?? 0) < lookedThrough;
  return { rows, until: all ? undefined : textColumn(last, 'id') };
}

/** The time from the beginning of each request to its charge; one without a charge is absent. */
export function* chargedAfterMs(ids: readonly string[]): Transaction<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const where = new WhereClause();
  where.addOneOf('id', ids);
  const rows = yield {
    sql: `SELECT id, duration_ms FROM usage${where.text}`,
    params: where.params,
  };
  return new Map(
    rows.map((row) => [textColumn(row, 'id'), Number(integerColumn(row, 'duration_ms'))]),
  );
}
