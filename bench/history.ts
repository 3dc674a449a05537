import { dayMs } from '../src/base/calendar.ts';
import { createKey } from '../src/accounts/keys.ts';
import { createUser } from '../src/accounts/users.ts';
import { createAccountTx } from '../src/ledger/transactions/account.ts';
import type { Database } from '../src/storage/database.ts';
import { noStatementTimeout } from '../src/storage/sql.ts';
import { recordColumns } from '../src/usage/record.ts';

/**
 * A history for the console: many users' charges over two months, as the ledger would have written
 * them. The first user has three of ten.
 */
export interface History {
  readonly users: readonly string[];
  /** The first and the last moment, wall clock ms. */
  readonly from: number;
  readonly to: number;
}

const userCount = 200;
const keysEach = 5;
export const historyDays = 60;
export const historyModels = [
  'glm',
  'deep',
  'large',
  'small',
  'fast',
  'thinker',
  'painter',
  'reader',
];
/** Rows of one statement. */
const chunk = 50_000;

interface Spread extends History {
  readonly keys: readonly string[];
}

/**
 * Makes records until there are `records` of them; may be called again with more. `whole` is the
 * final number, which spreads them over the time.
 */
export async function makeHistory(
  database: Database,
  to: number,
  records: number,
  whole = records,
  days = historyDays,
): Promise<History> {
  const from = to - days * dayMs;
  const spread = { from, to, ...(await people(database, from)) };
  await writeLists(database, { users: spread.users, keys: spread.keys, models: historyModels });
  const counted = await countOf(database, 'usage');
  for (let first = counted; first < records; first += chunk) {
    const last = Math.min(first + chunk, records);
    await database.transact(function* () {
      yield* noStatementTimeout(database);
      yield { sql: recordsText(database, spread, first, last, whole), params: [] };
      yield {
        sql: `INSERT INTO transfer (id, debit, credit, amount, code, at) SELECT id, account, 'revenue', cost-shortfall, capability, finished_at
          FROM usage WHERE id>=${idText(database, String(timeOf(spread, first, whole)), String(first))}
          AND id<=${idText(database, String(timeOf(spread, last - 1, whole)), String(last - 1))}`,
        params: [],
      };
    });
  }
  await database.query('DROP TABLE bench_list');
  if (records === whole && counted < records) await fund(database, spread);
  return spread;
}

/** Counts rows, without a time limit. */
export function countOf(database: Database, table: string): Promise<number> {
  return database.transact(function* () {
    yield* noStatementTimeout(database);
    const [row] = yield { sql: `SELECT COUNT(*) AS n FROM ${table}`, params: [] };
    return Number(row?.['n']);
  });
}

const timeOf = ({ from, to }: History, n: number, whole: number): number =>
  from + Math.floor((n * (to - from)) / whole);

/** Creates users, accounts and keys, or finds those of an earlier call. */
async function people(database: Database, at: number): Promise<Pick<Spread, 'users' | 'keys'>> {
  const known = await database.query('SELECT id FROM users ORDER BY id');
  if (known.length === 0) {
    await database.transact(function* () {
      for (let n = 0; n < userCount; n++) {
        const user = yield* createUser({ name: `user ${n}`, role: 'user', at: at + n });
        yield* createAccountTx({ id: user.id, kind: 'user' });
        for (let key = 0; key < keysEach; key++)
          yield* createKey({
            userId: user.id,
            name: `key ${key}`,
            group: 'default',
            limit: undefined,
            expiresAt: undefined,
            at: at + n * 10 + key,
          });
      }
    });
  }
  const rows = await database.query('SELECT id, user_id FROM api_keys ORDER BY user_id, id');
  return {
    users: [...new Set(rows.map((row) => String(row['user_id'])))],
    keys: rows.map((row) => String(row['id'])),
  };
}

/** `req_` and 32 hexadecimal digits, time first, like the ids of requests. */
const idText = ({ dialect }: Database, at: string, n: string): string =>
  dialect === 'postgres'
    ? `'req_' || lpad(to_hex((${at})::bigint), 12, '0') || lpad(to_hex((${n})::bigint), 20, '0')`
    : `printf('req_%012x%020x', ${at}, ${n})`;

/** The item of a list at an SQL index, as text. */
const itemText = (list: string, index: string): string =>
  `(SELECT x.value FROM bench_list x WHERE x.list='${list}' AND x.n=${index})`;

/** Lists that records refer to, in a form that statements read fast. */
async function writeLists(
  database: Database,
  lists: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  await database.query(
    'CREATE TABLE IF NOT EXISTS bench_list (list TEXT, n BIGINT, value TEXT, PRIMARY KEY (list, n))',
  );
  await database.query('DELETE FROM bench_list');
  for (const [list, values] of Object.entries(lists)) {
    const rows = values.map((value, n) => `('${list}', ${n}, '${value}')`).join();
    await database.query(`INSERT INTO bench_list (list, n, value) VALUES ${rows}`);
  }
}

/**
 * One statement for the records from `first` to before `last`. `h` is the scrambled number, so that
 * no pattern appears.
 */
function recordsText(
  database: Database,
  spread: Spread,
  first: number,
  last: number,
  whole: number,
): string {
  const numbers =
    database.dialect === 'postgres'
      ? `SELECT g AS n FROM generate_series(${first}::bigint, ${last - 1}::bigint) AS s(g)`
      : `WITH RECURSIVE c(n) AS (SELECT ${first} UNION ALL SELECT n+1 FROM c WHERE n<${last - 1}) SELECT n FROM c`;
  const values: Readonly<Record<string, string>> = {
    key_id: itemText('keys', 'd.u*5+(d.h/7)%5'),
    reserved_at: 'd.at-700',
    finished_at: 'd.at',
    capability: "'chat'",
    model: itemText('models', '(d.h/11)%8'),
    group_name: "'default'",
    channel: "CASE WHEN d.h%2=0 THEN 'one' ELSE 'two' END",
    upstream_id: "'up'",
    status: "CASE WHEN d.h%97=0 THEN 'cut' WHEN d.h%53=0 THEN 'left' ELSE 'ok' END",
    stream: 'd.h%2',
    estimated: 'CASE WHEN d.h%211=0 THEN 1 ELSE 0 END',
    first_byte_ms: '100+d.h%900',
    duration_ms: '700',
    attempts: '1',
    input_tokens: 'd.i+d.c',
    output_tokens: 'd.o',
    lines: `'[["input",' || d.i || ',"2000000000","' || (d.i*2000) || '"],["cached_input",' || d.c || ',"200000000","' || (d.c*200) ||
      '"],["output",' || d.o || ',"3000000000","' || (d.o*3000) || '"]]'`,
  };
  const names = recordColumns.map(({ name }) => name);
  return `INSERT INTO usage (id, account, cost, shortfall, ${names.join()})
    WITH r AS (${numbers}),
    s AS (SELECT n, (n*1103515245+12345)%2147483648/8 AS h, ${spread.from}+n*${spread.to - spread.from}/${whole} AS at FROM r),
    d AS (SELECT n, h, at, CASE WHEN h%10<3 THEN 0 ELSE (h/10)%${userCount} END AS u, 100+h%5000 AS i, h%3*1500 AS c, 20+h%800 AS o FROM s)
    SELECT ${idText(database, 'd.at', 'd.n')}, ${itemText('users', 'd.u')}, d.i*2000+d.c*200+d.o*3000, 0, ${names.map((name) => values[name] ?? 'NULL').join()}
    FROM d`;
}

/** Each user has paid for the history before, and has a hundred yuan left. */
async function fund(database: Database, { users, from }: History): Promise<void> {
  const left = 100_000_000_000n;
  await database.transact(function* () {
    yield* noStatementTimeout(database);
    for (const user of users) {
      const [sum] = yield {
        sql: 'SELECT COALESCE(SUM(cost-shortfall), 0) AS cost FROM usage WHERE account=$1',
        params: [user],
      };
      const [before] = yield {
        sql: "SELECT COALESCE(SUM(amount), 0) AS paid FROM transfer WHERE credit=$1 AND credit<>'revenue'",
        params: [user],
      };
      const cost = BigInt(sum?.['cost'] ?? 0);
      const paid = BigInt(before?.['paid'] ?? 0);
      const more = cost + left - paid;
      if (more > 0n)
        yield {
          sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, 'wallet:bench', $2, $3, 'topup', $4)",
          params: [`pay_${user}_${cost}`, user, more, from - 1],
        };
      yield {
        sql: 'UPDATE account SET credits=$2, debits=$3 WHERE id=$1',
        params: [user, paid + (more > 0n ? more : 0n), cost],
      };
    }
  });
}
