import type { Database } from '../src/storage/database.ts';
import { noStatementTimeout } from '../src/storage/sql.ts';
import { countOf, type History, historyModels } from './history.ts';

/** Rows of one statement. */
const chunk = 50_000;
const keptForMs = 7 * 86_400_000;
/** How requests end, the usual ones first; the last one is rare. */
const endings = [
  ['fault:timeout', 503],
  ['fault:overloaded', 503],
  ['rate_limited', 429],
  ['model_not_found', 404],
  ['invalid_body', 400],
  ['ok', 200],
  ['left', 499],
] as const;
const attempts = JSON.stringify([
  ...[1, 2].map((n) => ({
    channel: n === 1 ? 'one' : 'two',
    fault: 'timeout',
    stage: 'waiting',
    status: 503,
    beganMs: n * 10,
    endedMs: n * 400,
    mayRetry: true,
  })),
]);

/** Fills the request log: rows of all users over its last seven days, until there are `rows`. */
export async function makeRequestLog(
  database: Database,
  { users, to }: History,
  rows: number,
): Promise<void> {
  const from = to - keptForMs;
  const known = await countOf(database, 'request_log');
  for (let first = known; first < rows; first += chunk)
    await database.transact(function* () {
      yield* noStatementTimeout(database);
      yield {
        sql: rowsText(database, users, { from, to, rows }, first, Math.min(first + chunk, rows)),
        params: [],
      };
    });
}

function rowsText(
  { dialect }: Database,
  users: readonly string[],
  { from, to, rows }: { readonly from: number; readonly to: number; readonly rows: number },
  first: number,
  end: number,
): string {
  const postgres = dialect === 'postgres';
  const numbers = postgres
    ? `SELECT g AS n FROM generate_series(${first}::bigint, ${end - 1}::bigint) AS s(g)`
    : `WITH RECURSIVE c(n) AS (SELECT ${first} UNION ALL SELECT n+1 FROM c WHERE n<${end - 1}) SELECT n FROM c`;
  const id = postgres
    ? "'req_' || lpad(to_hex(d.at), 12, '0') || lpad(to_hex(d.n), 20, 'f')"
    : "printf('req_%012xf%019x', d.at, d.n)";
  const choice = (of: string, values: readonly (string | number)[]): string =>
    `CASE ${of} ${values.map((value, index) => `WHEN ${index} THEN ${typeof value === 'number' ? value : `'${value}'`}`).join(' ')} END`;
  // One of twenty thousand left; the others share the rest.
  const ending = `CASE WHEN d.h%20000=0 THEN ${endings.length - 1} ELSE d.h%${endings.length - 1} END`;
  const user = choice('d.u', users);
  return `INSERT INTO request_log (id, at, account, key_id, endpoint, model, channel, status, outcome, param, duration_ms, attempts)
    WITH r AS (${numbers}),
    s AS (SELECT n, (n*1103515245+12345)%2147483648/8 AS h, ${from}+n*${to - from}/${rows} AS at FROM r),
    d AS (SELECT n, h, at, (h/10)%${users.length} AS u FROM s)
    SELECT ${id}, d.at, ${user}, 'key_of_' || ${user}, 'POST /v1/chat/completions',
      ${choice(`(d.h/11)%${historyModels.length}`, historyModels)},
      CASE WHEN d.h%2=0 THEN 'one' ELSE 'two' END,
      ${choice(
        ending,
        endings.map(([, status]) => status),
      )},
      ${choice(
        ending,
        endings.map(([name]) => name),
      )}, NULL, 800, '${attempts}'
    FROM d`;
}
