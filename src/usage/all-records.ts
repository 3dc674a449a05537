import { firstIdAt } from '../base/random.ts';
import type { Row, Transaction } from '../storage/database.ts';
import { integerColumn, textColumn, WhereClause } from '../storage/sql.ts';
import { hourMs, longestMs } from './ranges.ts';

/** Selects requests of all accounts that were charged. Tasks are not among them. */
export interface AllRecordsQuery {
  readonly account?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly channel?: string | undefined;
  readonly statuses?: readonly string[] | undefined;
  /** False: only requests whose client left before the first byte; true: only the others. */
  readonly answerBegun?: boolean | undefined;
  /** Ids, which begin with the time of the request: from (inclusive) and before (exclusive). */
  readonly fromId: string;
  readonly beforeId: string;
  /** Wall clock, ms: all requests of these ids began from the one to the other. */
  readonly begunFrom: number;
  readonly begunTo: number;
  readonly limit: number;
}

export interface AllRecordsPage {
  readonly rows: readonly Row[];
  /** All matching records from this id on are in `rows`; undefined: all that there are. */
  readonly until: string | undefined;
}

/** The most records read for one page: a filter with few matches shows them over several pages. */
const lookedThroughMax = 30_000;
/** Of one account as many times the page's rows are read at first: it may have millions. */
const lookedThroughFirst = 4;

/** SQL: the client left before the first byte of the answer. */
const leftBefore = `(status='left' AND first_byte_ms IS NULL)`;

/**
 * One page of charged requests by their ids, the newest first. Those of one account come from its
 * index, those of all accounts from the primary key. No other filter has an index: it is looked
 * for among the next records.
 */
export function* allRecordsPage(
  question: AllRecordsQuery,
  { lookedThrough = firstLook(question), most = lookedThroughMax } = {},
): Transaction<AllRecordsPage> {
  const { account, beforeId, limit } = question;
  const within = recordsWithin(question);
  const order = account === undefined ? 'id' : 'finished_at DESC, id';
  const next = `FROM usage${within.text} ORDER BY ${order} DESC LIMIT ${within.place(lookedThrough)}`;
  const filter = filterAfter(within, question);
  const filtered = filter.text !== '';
  const rows = yield {
    sql: `SELECT * FROM (SELECT * ${next}) r${filter.text} ORDER BY id DESC LIMIT ${filter.place(limit)}`,
    params: filter.params,
  };
  const full = rows.length === limit;
  const lastOfPage = full ? textColumn(rows.at(-1), 'id') : undefined;
  // Without a filter and by id, the page has all the records that were read.
  if (account === undefined && (full || !filtered)) return { rows, until: lastOfPage };
  const [read] = yield {
    sql: `SELECT COUNT(*) AS count, MIN(id) AS id, MIN(finished_at) AS charged FROM (SELECT id, finished_at ${next}) r`,
    params: within.params,
  };
  if (Number(read?.['count']) < lookedThrough) return { rows, until: lastOfPage };
  if (account === undefined) return { rows, until: textColumn(read, 'id') };
  // The records that were not read were charged before, and so they began before.
  const complete = firstIdAt(Number(read?.['charged']) + 1);
  const whole = rows.filter((row) => textColumn(row, 'id') >= complete);
  if (whole.length === limit) return { rows: whole, until: lastOfPage };
  // Where as many requests of the account were under way at once, only more records get further.
  if (lookedThrough < most || complete >= beforeId)
    return yield* allRecordsPage(question, { lookedThrough: 2 * lookedThrough, most });
  return { rows: whole, until: complete };
}

const firstLook = ({ account, limit }: AllRecordsQuery): number =>
  account === undefined ? lookedThroughMax : lookedThroughFirst * limit;

function recordsWithin(question: AllRecordsQuery): WhereClause {
  const { account, fromId, beforeId, begunFrom, begunTo } = question;
  const where = new WhereClause();
  where.add('account=?', account);
  where.add('id>=?', fromId);
  where.add('id<?', beforeId);
  // Lets PostgreSQL skip the other months.
  where.add('reserved_at>=?', begunFrom - hourMs);
  where.add('reserved_at<?', begunTo + longestMs);
  if (account === undefined) return where;
  where.add('finished_at>=?', begunFrom);
  where.add('finished_at<?', begunTo + longestMs);
  return where;
}

/** The filter of the records that were read, after the parameters of reading them. */
function filterAfter(
  { params }: WhereClause,
  { keyId, model, channel, statuses, answerBegun }: AllRecordsQuery,
): WhereClause {
  const filter = new WhereClause(params);
  filter.add('key_id=?', keyId);
  filter.add('model=?', model);
  filter.add('channel=?', channel);
  filter.addOneOf('status', statuses);
  if (answerBegun !== undefined) filter.always(answerBegun ? `NOT ${leftBefore}` : leftBefore);
  return filter;
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
