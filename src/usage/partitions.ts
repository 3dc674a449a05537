import type { Clock } from '../base/clock.ts';
import { monthOf } from '../base/calendar.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { type OnError, repeat, type Repeated, WorkOutcomes } from '../storage/repeat.ts';
import { noTimeoutStatement } from '../storage/sql.ts';

/**
 * Months made before they begin. After a longer pause of the gateway, records go to the default
 * partition, and are moved at the next start.
 */
const monthsAhead = 2;
const keepEveryMs = 6 * 3_600_000;
/** Any constant will do, as long as it stays the same: it makes nodes take turns. */
const advisoryLock = 7_461_003_920n;

interface Month {
  readonly table: string;
  readonly from: number;
  readonly to: number;
}

/** The month, in UTC, in which `at` (wall clock, ms) lies. */
export function partitionAt(at: number): Month {
  const { name, from, to } = monthOf(at, 0);
  return { table: `usage_${name.slice(0, 'YYYY-MM'.length).replace('-', '_')}`, from, to };
}

/**
 * On PostgreSQL the usage records of each month are a table of their own: its indexes stay small.
 * Makes the partitions of this month, of the next ones, and of records that were written before
 * their month had one, each in a transaction of its own.
 */
export async function createPartitions(database: Database, clock: Clock): Promise<void> {
  if (database.dialect !== 'postgres') return;
  for (const month of await database.transact(() => monthsWanted(clock.now())))
    await database.transact(() => make(month));
}

/**
 * `createPartitions` now and every few hours. A failure, for instance a lock that is not free, is
 * tried again the next time: the default partition takes the records meanwhile.
 */
export async function keepPartitions(
  database: Database,
  clock: Clock,
  onError: OnError,
): Promise<Repeated> {
  const keep = () => createPartitions(database, clock);
  const name = 'partitions of usage records';
  await keep().catch(new WorkOutcomes(name, onError).failed);
  return repeat(name, keep, { firstMs: keepEveryMs, everyMs: keepEveryMs }, onError);
}

function* monthsWanted(now: number): Transaction<readonly Month[]> {
  yield noTimeoutStatement;
  const strays = yield {
    sql: `SELECT DISTINCT (extract(epoch FROM date_trunc('month', to_timestamp(reserved_at / 1000.0) AT TIME ZONE 'UTC')) * 1000)::bigint AS at
      FROM usage_default`,
    params: [],
  };
  const wanted = [...strays.map((row) => partitionAt(Number(row['at']))), partitionAt(now)];
  for (let i = 0; i < monthsAhead; i++) wanted.push(partitionAt(wanted.at(-1)?.to ?? now));
  return wanted;
}

/**
 * Makes one month and moves its records over from the default partition, where the month has no
 * table: neither one of another node, nor one that an operator has detached. The lock keeps other
 * writes out of the partition, or the month could not be attached.
 */
function* make({ table, from, to }: Month): Transaction<void> {
  // Moving many records out of the default partition takes time.
  yield noTimeoutStatement;
  yield { sql: 'SELECT pg_advisory_xact_lock($1)', params: [advisoryLock] };
  const [known] = yield { sql: 'SELECT CAST(to_regclass($1) AS TEXT) AS name', params: [table] };
  if (known?.['name'] !== null) return;
  yield { sql: 'LOCK TABLE usage_default IN ACCESS EXCLUSIVE MODE', params: [] };
  yield { sql: `CREATE TABLE ${table} (LIKE usage INCLUDING ALL)`, params: [] };
  yield {
    sql: `WITH moved AS (DELETE FROM usage_default WHERE reserved_at>=$1 AND reserved_at<$2 RETURNING *) INSERT INTO ${table} SELECT * FROM moved`,
    params: [from, to],
  };
  yield {
    sql: `ALTER TABLE usage ATTACH PARTITION ${table} FOR VALUES FROM (${from}) TO (${to})`,
    params: [],
  };
}
