import { hourMs } from '../base/calendar.ts';
import { firstIdAt, timeOfId } from '../base/random.ts';
import type { Row, SqlValue, Transaction } from '../storage/database.ts';
import { integerColumn, textColumn, WhereClause } from '../storage/sql.ts';
import { longestMs } from './ranges.ts';

interface AllRecordsFilter {
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly channel?: string | undefined;
  readonly statuses?: readonly string[] | undefined;
  /** False: only requests whose client left before the first byte; true: only the others. */
  readonly answerBegun?: boolean | undefined;
}

/** Selects charged requests. Tasks are not among them. */
export interface AllRecordsQuery extends AllRecordsFilter {
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

/**
 * The most records that a filter looks through for one page: it has no index, and one with few
 * matches shows them over several pages.
 */
const lookedThroughMax = 30_000;
/** Those of one account lie apart from each other: each takes longer to read. */
const lookedThroughOfAccount = 10_000;

/** SQL: the client left before the first byte of the answer. */
const leftBefore = `(status='left' AND first_byte_ms IS NULL)`;

/** One page of charged requests of all accounts by their ids, the newest first. */
export function* recordsOfAll(
  question: AllRecordsQuery,
  lookedThrough = lookedThroughMax,
): Transaction<AllRecordsPage> {
  if (!isFiltered(question)) return yield* pageOf(question, withinIds(question));
  const next = withinIds(question);
  const [read] = yield {
    sql: `SELECT COUNT(*) AS count, MIN(id) AS id
      FROM (SELECT id FROM usage${next.text} ORDER BY id DESC LIMIT ${next.place(lookedThrough)}) n`,
    params: next.params,
  };
  const end = Number(read?.['count']) < lookedThrough ? undefined : textColumn(read, 'id');
  return yield* pageOf(question, withinIds(startingAt(question, end)), end);
}

/**
 * The same of one account, by its index, which is in the order of charges: a request that ran for
 * long was charged among those that began later.
 */
export function* recordsOfAccount(
  account: string,
  question: AllRecordsQuery,
  lookedThrough = lookedThroughOfAccount,
): Transaction<AllRecordsPage> {
  const filtered = isFiltered(question);
  const most = filtered ? lookedThrough : question.limit;
  const next = chargedWithin(account, question, question.begunTo);
  const [read] = yield {
    sql: `SELECT COUNT(*) AS count, MIN(id) AS id, MIN(finished_at) AS charged
      FROM (SELECT id, finished_at FROM usage${next.text} ORDER BY finished_at DESC, id DESC LIMIT ${next.place(most)}) n`,
    params: next.params,
  };
  if (Number(read?.['count']) < most) return yield* pageOfAccount(account, question);
  // Where as many as the page has rows were charged, it ends with the first of them or before.
  // What a filter does not look through was charged earlier, and so it began earlier.
  const end = filtered ? firstIdAt(Number(read?.['charged'])) : textColumn(read, 'id');
  return yield* pageOfAccount(account, question, end);
}

/** The page of the account's records from the id `end` on. */
function* pageOfAccount(
  account: string,
  question: AllRecordsQuery,
  end?: string,
): Transaction<AllRecordsPage> {
  const rest = startingAt(question, end);
  const charged = chargedWithin(account, rest, rest.begunTo + longestMs);
  const where = withinIds(rest, charged.params);
  // SQLite reads a record itself before it compares its id, unless only the index is asked for.
  where.always(`id IN (SELECT id FROM usage${charged.text})`);
  return yield* pageOf(question, where, end);
}

/** The matching records, as many as fit. Before the id `end` none was looked at. */
function* pageOf(
  question: AllRecordsQuery,
  where: WhereClause,
  end?: string,
): Transaction<AllRecordsPage> {
  addFilter(where, question);
  const rows = yield {
    sql: `SELECT * FROM usage${where.text} ORDER BY id DESC LIMIT ${where.place(question.limit)}`,
    params: where.params,
  };
  return { rows, until: rows.length === question.limit ? textColumn(rows.at(-1), 'id') : end };
}

const startingAt = (question: AllRecordsQuery, id: string | undefined): AllRecordsQuery =>
  id === undefined ? question : { ...question, fromId: id, begunFrom: timeOfId(id) };

function withinIds(
  { fromId, beforeId, begunFrom, begunTo }: AllRecordsQuery,
  params: readonly SqlValue[] = [],
): WhereClause {
  const where = new WhereClause(params);
  where.add('id>=?', fromId);
  where.add('id<?', beforeId);
  // Lets PostgreSQL skip the other months.
  where.add('reserved_at>=?', begunFrom - hourMs);
  where.add('reserved_at<?', begunTo + longestMs);
  return where;
}

/** Asks for columns of the account's index alone. */
function chargedWithin(
  account: string,
  { fromId, beforeId, begunFrom }: AllRecordsQuery,
  before: number,
): WhereClause {
  const where = new WhereClause();
  where.add('account=?', account);
  where.add('finished_at>=?', begunFrom);
  where.add('finished_at<?', before);
  where.add('id>=?', fromId);
  where.add('id<?', beforeId);
  return where;
}

function addFilter(
  where: WhereClause,
  { keyId, model, channel, statuses, answerBegun }: AllRecordsFilter,
): void {
  where.add('key_id=?', keyId);
  where.add('model=?', model);
  where.add('channel=?', channel);
  where.addOneOf('status', statuses);
  if (answerBegun !== undefined) where.always(answerBegun ? `NOT ${leftBefore}` : leftBefore);
}

function isFiltered(question: AllRecordsFilter): boolean {
  const filter = new WhereClause();
  addFilter(filter, question);
  return filter.text !== '';
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
