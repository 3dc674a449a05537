import { firstIdAt, timeOfId } from '../base/random.ts';
import { bump } from '../storage/changes.ts';
import type { Row, SqlValue, Transaction } from '../storage/database.ts';
import {
  integerColumn,
  optionalText,
  placeholders,
  sqlHour,
  textColumn,
  WhereClause,
} from '../storage/sql.ts';
import { answeredOutcomes } from '../telemetry/request-metrics.ts';
import {
  type LoggedAttempt,
  type LoggedRequest,
  outcomesNamed,
  requestLogLimits,
} from './entry.ts';

/** Columns in the order in which `writeRequests` fills them. */
const columns = [
  'id',
  'at',
  'account',
  'key_id',
  'endpoint',
  'model',
  'channel',
  'status',
  'outcome',
  'param',
  'duration_ms',
  'attempts',
];

/** Writes the requests. One that is written already stays as it is. */
export function* writeRequests(requests: readonly LoggedRequest[]): Transaction<void> {
  const params: SqlValue[] = requests.flatMap((request) => [
    request.id,
    request.at,
    request.account,
    request.keyId,
    request.endpoint ?? null,
    request.model ?? null,
    request.channel ?? null,
    request.status,
    request.outcome,
    request.param ?? null,
    request.durationMs,
    JSON.stringify(request.attempts),
  ]);
  const places = requests.map((_, i) => `(${placeholders(columns, i * columns.length + 1)})`);
  yield {
    sql: `INSERT INTO request_log (${columns.join()}) VALUES ${places.join()} ON CONFLICT (id) DO NOTHING`,
    params,
  };
}

export interface RequestLogQuery {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly channel?: string | undefined;
  /** A status, or a class of them: `4xx`. */
  readonly status?: string | undefined;
  /** A refusal's name, an error code, or an outcome. */
  readonly code?: string | undefined;
  readonly id?: string | undefined;
  /** Wall clock, ms: from (inclusive) and to (exclusive). */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Only requests that got no answer; otherwise also those that a later attempt answered. */
  readonly failedOnly?: boolean | undefined;
  /** The id of the last request of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * SQL: the status of a request that got no answer, else NULL. An index of this expression serves
 * only queries with the same words.
 */
const failedStatus = `(CASE WHEN outcome IN (${answeredOutcomes.map((name) => `'${name}'`).join(', ')}) THEN NULL ELSE status END)`;

/**
 * A page of the log, newest first. Of a class of statuses, each status is read by its index: a
 * range of it would be sorted as a whole.
 */
export function* requestLogPage(question: RequestLogQuery): Transaction<readonly LoggedRequest[]> {
  const family = /^([1-5])xx$/.exec(question.status ?? '')?.[1];
  if (family === undefined) return yield* pageOf(question);
  const found: LoggedRequest[] = [];
  for (const status of yield* statusesWithin(Number(family) * 100))
    found.push(...(yield* pageOf({ ...question, status: String(status) })));
  return found.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, question.limit);
}

/** The statuses of the log from this hundred to the next. */
function* statusesWithin(hundred: number): Transaction<readonly number[]> {
  const statuses: number[] = [];
  for (let after = hundred - 1; ; ) {
    const [row] = yield {
      sql: 'SELECT MIN(status) AS status FROM request_log WHERE status>$1 AND status<$2',
      params: [after, hundred + 100],
    };
    const next = row?.['status'] ?? null;
    if (next === null) return statuses;
    after = Number(next);
    statuses.push(after);
  }
}

function* pageOf(question: RequestLogQuery): Transaction<readonly LoggedRequest[]> {
  const where = new WhereClause();
  where.add('account=?', question.account);
  where.add('key_id=?', question.key);
  where.add('model=?', question.model);
  where.add('channel=?', question.channel);
  where.add('id=?', question.id);
  where.add('id<?', question.before);
  where.add('id>=?', question.from === undefined ? undefined : firstIdAt(question.from));
  where.add('id<?', question.to === undefined ? undefined : firstIdAt(question.to));
  const status = question.status === undefined ? undefined : Number(question.status);
  where.add(`${question.failedOnly === true ? failedStatus : 'status'}=?`, status);
  if (question.failedOnly === true) where.always(`${failedStatus} IS NOT NULL`);
  where.addOneOf('outcome', question.code === undefined ? undefined : outcomesNamed(question.code));
  const rows = yield {
    sql: `SELECT * FROM request_log${where.text} ORDER BY id DESC LIMIT ${where.place(question.limit)}`,
    params: where.params,
  };
  return rows.map(requestOf);
}

/** One request of the log; undefined also when `account` is given and it is another account's. */
export function* loggedRequest(
  id: string,
  account?: string,
): Transaction<LoggedRequest | undefined> {
  const [found] = yield* requestLogPage({ id, account, limit: 1 });
  return found;
}

/** Those of the ids that the log has. */
export function* loggedAmong(ids: readonly string[]): Transaction<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const where = new WhereClause();
  where.addOneOf('id', ids);
  const rows = yield { sql: `SELECT id FROM request_log${where.text}`, params: where.params };
  return new Set(rows.map((row) => textColumn(row, 'id')));
}

/** Deletes at most `limit` requests older than `before` (wall clock, ms); returns how many. */
export function* forgetRequestsBefore(before: number, limit: number): Transaction<number> {
  const rows = yield {
    sql: 'DELETE FROM request_log WHERE id IN (SELECT id FROM request_log WHERE id<$1 ORDER BY id LIMIT $2) RETURNING id',
    params: [firstIdAt(before), limit],
  };
  return rows.length;
}

/** Deletes what is recorded of accounts that have all requests since `before` (wall clock, ms). */
export function* forgetCutsBefore(before: number): Transaction<void> {
  yield { sql: 'DELETE FROM request_log_cut WHERE complete_from<$1', params: [before] };
}

/** A model's requests in one hour that ended with a status of 500 or more. */
export interface ModelFailures {
  readonly model: string;
  readonly hour: number;
  readonly requests: number;
}

/** The failures by model and hour; of one model where `model` is given. */
export function* failuresByHour(range: {
  readonly model?: string;
  readonly from: number;
  readonly to: number;
}): Transaction<readonly ModelFailures[]> {
  const where = new WhereClause();
  where.add('model=?', range.model);
  where.add('id>=?', firstIdAt(range.from));
  where.add('id<?', firstIdAt(range.to));
  // The index of failures serves only these words.
  const rows = yield {
    sql: `SELECT model, ${sqlHour('at')} AS hour, COUNT(*) AS requests FROM request_log${where.text}
      AND status >= 500 AND model IS NOT NULL GROUP BY model, ${sqlHour('at')}`,
    params: where.params,
  };
  return rows.map((row) => ({
    model: textColumn(row, 'model'),
    hour: Number(integerColumn(row, 'hour')),
    requests: Number(integerColumn(row, 'requests')),
  }));
}

/** An account's requests in one hour that got an error instead of an answer. */
export interface HourOfFailures {
  readonly hour: number;
  readonly requests: number;
}

/**
 * The failed requests of an account by hour; streams that broke off are not among them. Key and
 * model are looked at here: their own indexes have the rows of all accounts.
 */
export function* failedByHour(range: {
  readonly account: string;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly from: number;
  readonly to: number;
}): Transaction<readonly HourOfFailures[]> {
  const where = new WhereClause();
  where.add('account=?', range.account);
  where.add('id>=?', firstIdAt(range.from));
  where.add('id<?', firstIdAt(range.to));
  const rows = yield {
    sql: `SELECT ${sqlHour('at')} AS hour, key_id, model, ${failedStatus} AS failed,
        COUNT(*) AS requests
      FROM request_log${where.text} GROUP BY ${sqlHour('at')}, key_id, model, ${failedStatus}`,
    params: where.params,
  };
  return rows
    .filter(
      (row) =>
        Number(row['failed']) >= 400 &&
        (range.keyId === undefined || row['key_id'] === range.keyId) &&
        (range.model === undefined || row['model'] === range.model),
    )
    .map((row) => ({
      hour: Number(integerColumn(row, 'hour')),
      requests: Number(integerColumn(row, 'requests')),
    }));
}

/**
 * The time from which the log has all failed requests of an account: wall clock, ms. Without an
 * account, the time from which it has them of accounts that have no more than it keeps of each.
 */
export function* loggedSince(account: string | undefined, now: number): Transaction<number> {
  if (account === undefined) return now - requestLogLimits.keptForMs;
  const [cut] = yield {
    sql: 'SELECT complete_from FROM request_log_cut WHERE account=$1',
    params: [account],
  };
  return Math.max(now - requestLogLimits.keptForMs, Number(cut?.['complete_from'] ?? 0));
}

/** How many requests each account has in the log. */
export function* requestsByAccount(): Transaction<ReadonlyMap<string, number>> {
  const rows = yield {
    sql: 'SELECT account, COUNT(*) AS requests FROM request_log GROUP BY account',
    params: [],
  };
  return new Map(
    rows.map((row) => [textColumn(row, 'account'), Number(integerColumn(row, 'requests'))]),
  );
}

/**
 * Deletes the account's oldest requests beyond `kept`, at most `limit`, and records from when on it
 * has all; returns how many.
 */
export function* forgetExcess(account: string, kept: number, limit: number): Transaction<number> {
  // Nodes take turns: else each would delete what several have counted.
  yield bump('request-log');
  const [row] = yield {
    sql: 'SELECT COUNT(*) AS requests FROM request_log WHERE account=$1',
    params: [account],
  };
  const excess = Number(integerColumn(row, 'requests')) - kept;
  if (excess <= 0) return 0;
  const deleted = yield {
    sql: 'DELETE FROM request_log WHERE id IN (SELECT id FROM request_log WHERE account=$1 ORDER BY id LIMIT $2) RETURNING id',
    params: [account, Math.min(excess, limit)],
  };
  const last = deleted
    .map((row) => textColumn(row, 'id'))
    .toSorted()
    .at(-1);
  if (last === undefined) return 0;
  yield {
    sql: 'INSERT INTO request_log_cut (account, complete_from) VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET complete_from=excluded.complete_from',
    params: [account, timeOfId(last) + 1],
  };
  return deleted.length;
}

const requestOf = (row: Row): LoggedRequest => ({
  id: textColumn(row, 'id'),
  at: Number(integerColumn(row, 'at')),
  account: textColumn(row, 'account'),
  keyId: textColumn(row, 'key_id'),
  endpoint: optionalText(row, 'endpoint'),
  model: optionalText(row, 'model'),
  channel: optionalText(row, 'channel'),
  status: Number(integerColumn(row, 'status')),
  outcome: textColumn(row, 'outcome'),
  param: optionalText(row, 'param'),
  durationMs: Number(integerColumn(row, 'duration_ms')),
  // Written by `writeRequests`.
  attempts: JSON.parse(textColumn(row, 'attempts')) as readonly LoggedAttempt[],
});
