import {
  type Hold,
  type HoldEnd,
  type HoldResult,
  endHold,
  openHold,
} from '../../ledger/transactions/hold.ts';
import type { Database, Statement, Transaction, SqlValue } from '../../storage/database.ts';
import { placeholders, skipLocked } from '../../storage/sql.ts';
import {
  channelNameOf,
  type NewTask,
  readTask,
  type Task,
  type TaskError,
  type TaskStatus,
} from './task.ts';

/** How long a task's id is valid: wall clock, milliseconds. */
export const taskKeptMs = 86_400_000;

/**
 * The outcome of inserting a submission: `known` holds the task of an earlier submission with the
 * same idempotency key.
 */
export type TaskInsertResult =
  | { readonly kind: 'inserted' | 'insufficient' }
  | { readonly kind: 'known'; readonly task: Task };

/**
 * Inserts the task and its hold in one transaction, before any vendor gets the request. Until
 * `leaseUntil` the task belongs to its submitter.
 */
export function* insertTask(
  task: NewTask,
  hold: Hold,
  leaseUntil: number,
): Transaction<TaskInsertResult> {
  const known =
    task.idempotencyKey === undefined
      ? undefined
      : yield* submittedBefore(task, task.idempotencyKey);
  if (known !== undefined) return { kind: 'known', task: known };
  if ((yield* openHold(hold)) === 'insufficient') return { kind: 'insufficient' };
  const values: Readonly<Record<string, SqlValue>> = {
    id: task.id,
    account: task.account,
    key_id: task.keyId,
    limits: JSON.stringify(
      task.limits.map(({ id, amount }) => ({ id, amount: amount.toString() })),
    ),
    capability: 'video',
    model: task.model,
    group_name: task.group,
    channel: task.channel,
    upstream_model: task.upstreamModel,
    idempotency_key: task.idempotencyKey ?? null,
    state: 'new',
    seconds: task.seconds,
    size: task.size ?? null,
    variants: JSON.stringify(task.variants),
    bill: task.bill,
    cost: task.cost,
    created_at: task.createdAt,
    next_poll_at: leaseUntil,
  };
  const columns = Object.keys(values);
  yield {
    sql: `INSERT INTO task (${columns.join(', ')}) VALUES (${placeholders(columns)})`,
    params: Object.values(values),
  };
  return { kind: 'inserted' };
}

/**
 * The task of an earlier submission with this key; undefined if no vendor has it: then the new one
 * takes its place.
 */
function* submittedBefore(
  { account, createdAt }: NewTask,
  key: string,
): Transaction<Task | undefined> {
  const [row] = yield {
    sql: 'SELECT * FROM task WHERE account=$1 AND idempotency_key=$2 AND created_at>$3 ORDER BY created_at DESC LIMIT 1',
    params: [account, key, createdAt - taskKeptMs],
  };
  const task = row && readTask(row);
  return task?.state === 'failed' && task.upstreamId === undefined ? undefined : task;
}

/** The channel that is to make a task, and the price that holds there. */
export type ChannelAssignment = Pick<
  Task,
  'channel' | 'upstreamModel' | 'variants' | 'cost' | 'bill'
>;

/** Records the next channel to call. False: another process has given the task up. */
export async function assignChannel(
  database: Database,
  id: string,
  { channel, upstreamModel, variants, cost, bill }: ChannelAssignment,
  leaseUntil: number,
): Promise<boolean> {
  const sql = `UPDATE task SET channel=$2, upstream_model=$3, variants=$4, cost=$5, bill=$6, next_poll_at=$7
    WHERE id=$1 AND state='new' AND claims=0 RETURNING id`;
  const rows = await database.query(sql, [
    id,
    channel,
    upstreamModel,
    JSON.stringify(variants),
    cost,
    bill,
    leaseUntil,
  ]);
  return rows.length > 0;
}

/**
 * Records that a vendor has the task. False: another process has given the task up. May be
 * repeated.
 */
export async function acceptTask(
  database: Database,
  id: string,
  upstreamId: string,
  nextPollAt: number,
): Promise<boolean> {
  const sql = `UPDATE task SET state=CASE WHEN state='new' THEN 'queued' ELSE state END, upstream_id=$2, next_poll_at=$3
    WHERE id=$1 AND claims=0 AND (state='new' OR upstream_id=$2) RETURNING id`;
  return (await database.query(sql, [id, upstreamId, nextPollAt])).length > 0;
}

/**
 * Deletes a task that no vendor has, when the client gets a refusal, and frees its money. False:
 * another process has given the task up.
 */
export function* withdrawTask(task: Pick<NewTask, 'id' | 'limits'>): Transaction<boolean> {
  const rows = yield {
    sql: "DELETE FROM task WHERE id=$1 AND state='new' AND claims=0 RETURNING id",
    params: [task.id],
  };
  if (rows.length === 0) return false;
  yield* endHold(task.id, { state: 'voided' }, task.limits);
  return true;
}

export interface DueChannel {
  readonly channel: string;
  readonly count: number;
}

/** The channels with tasks that are due for a poll. */
export async function dueTasks(database: Database, now: number): Promise<readonly DueChannel[]> {
  const sql =
    'SELECT channel, COUNT(*) AS due FROM task WHERE ended_at IS NULL AND next_poll_at<=$1 GROUP BY channel';
  return (await database.query(sql, [now])).map((row) => ({
    channel: String(row['channel']),
    count: Number(row['due']),
  }));
}

/**
 * Claims up to `most` tasks of a channel, the longest waiting first. Until `leaseUntil` they belong
 * to the latest claimer.
 */
export async function claimTasks(
  database: Database,
  channel: string,
  most: number,
  now: number,
  leaseUntil: number,
): Promise<readonly Task[]> {
  const sql = `UPDATE task SET next_poll_at=$4, claims=claims+1 WHERE id IN (SELECT id FROM task
    WHERE channel=$1 AND ended_at IS NULL AND next_poll_at<=$2 ORDER BY next_poll_at LIMIT $3${skipLocked(database)}) RETURNING *`;
  return (await database.query(sql, [channel, now, most, leaseUntil])).map(readTask);
}

/** Renews a claim. */
export async function renewClaim(
  database: Database,
  { id, claims }: Task,
  leaseUntil: number,
): Promise<void> {
  await database.query(
    'UPDATE task SET next_poll_at=$3 WHERE id=$1 AND claims=$2 AND ended_at IS NULL',
    [id, claims, leaseUntil],
  );
}

/** Makes every unfinished task due now, whether it was claimed or about to be submitted. */
export async function releaseTasks(database: Database): Promise<void> {
  await database.query('UPDATE task SET next_poll_at=0 WHERE ended_at IS NULL');
}

/** The progress of a task after a poll, and the time of its next poll. */
export interface PollResult {
  readonly id: string;
  readonly claims: bigint;
  readonly state: Extract<TaskStatus, 'queued' | 'running'>;
  readonly percent: number;
  readonly faults: number;
  readonly nextPollAt: number;
}

const batchSizes = [64, 16, 4, 1];
const batchSql = new Map(batchSizes.map((size) => [size, pollResultsSql(size)]));

/**
 * Writes many results in few statements. Results whose claim has passed to another process change
 * nothing.
 */
export async function writePollResults(
  database: Database,
  results: readonly PollResult[],
): Promise<void> {
  let from = 0;
  for (const size of batchSizes) {
    for (; results.length - from >= size; from += size) {
      const some = results.slice(from, from + size);
      await database.query(
        batchSql.get(size) ?? '',
        some.flatMap(({ id, claims, state, percent, faults, nextPollAt }) => [
          id,
          claims,
          state,
          percent,
          faults,
          nextPollAt,
        ]),
      );
    }
  }
}

function pollResultsSql(count: number): string {
  const types = ['TEXT', 'BIGINT', 'TEXT', 'BIGINT', 'BIGINT', 'BIGINT'];
  const row = (n: number): string =>
    `(${types.map((type, i) => `CAST($${n * types.length + i + 1} AS ${type})`).join(', ')})`;
  return `WITH s(id, claims, state, percent, faults, next) AS (VALUES ${Array.from({ length: count }, (_, n) => row(n)).join(', ')})
    UPDATE task SET state=s.state, percent=s.percent, faults=s.faults, next_poll_at=s.next FROM s
    WHERE task.id=s.id AND task.claims=s.claims AND task.ended_at IS NULL`;
}

export type TaskEnd =
  | {
      readonly state: 'completed';
      readonly file: string;
      readonly hold: Extract<HoldEnd, { readonly state: 'posted' }>;
    }
  | { readonly state: 'failed'; readonly error: TaskError };

/**
 * Ends a task and its hold. Undefined: the task had ended before, or another process has claimed
 * it.
 */
export function* endTask(
  { id, claims, limits }: Task,
  end: TaskEnd,
  at: number,
): Transaction<HoldResult | undefined> {
  const file = end.state === 'completed' ? end.file : null;
  const error = end.state === 'failed' ? end.error : undefined;
  const ended = yield {
    sql: `UPDATE task SET state=$3, file=$4, error_code=$5, error=$6, ended_at=$7, percent=CASE WHEN $3='completed' THEN 100 ELSE percent END
      WHERE id=$1 AND claims=$2 AND ended_at IS NULL RETURNING id`,
    params: [id, claims, end.state, file, error?.code ?? null, error?.message ?? null, at],
  };
  if (ended.length === 0) return undefined;
  return yield* endHold(id, end.state === 'completed' ? end.hold : { state: 'voided' }, limits);
}

export interface TaskPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of the last task on the previous page. */
  readonly after: string | undefined;
}

/** Rows outlive the validity of their ids: an operator may look for them. */
const rowsKeptMs = 7 * taskKeptMs;
const expiredMax = 500;
const tasksSinceMax = 200;
const failedMax = 200;

export async function findTask(
  database: Database,
  account: string,
  id: string,
  now: number,
): Promise<Task | undefined> {
  const { sql, params } = taskStatement(account, id, now - taskKeptMs);
  const [row] = await database.query(sql, params);
  return row && readTask(row);
}

const taskStatement = (account: string, id: string, createdAfter: number): Statement => ({
  sql: 'SELECT * FROM task WHERE id=$1 AND account=$2 AND created_at>$3',
  params: [id, account, createdAfter],
});

/** A task of this account that was created after this time, by default whenever. */
export function* taskOf(
  account: string,
  id: string,
  createdAfter = -1,
): Transaction<Task | undefined> {
  const [row] = yield taskStatement(account, id, createdAfter);
  return row && readTask(row);
}

/** Tasks created after a time, latest first, from after a position or, backwards, before it. */
export interface TaskSearch {
  readonly createdAfter: number;
  readonly position: { readonly at: number; readonly id: string } | undefined;
  /** From the position to later tasks, the next of them first. */
  readonly back: boolean;
  readonly limit: number;
}

export function* tasksFrom(
  account: string,
  { createdAfter, position, back, limit }: TaskSearch,
): Transaction<readonly Task[]> {
  const beyond = position === undefined ? '' : ` AND (created_at, id)${back ? '>' : '<'}($4, $5)`;
  const order = back ? '' : ' DESC';
  const rows = yield {
    sql: `SELECT * FROM task WHERE account=$1 AND created_at>$2${beyond} ORDER BY created_at${order}, id${order} LIMIT $3`,
    params: [
      account,
      createdAfter,
      limit,
      ...(position === undefined ? [] : [position.at, position.id]),
    ],
  };
  return rows.map(readTask);
}

/** Unfinished tasks and those that ended at `since` or later, oldest first. */
export function* tasksSince(account: string, since: number): Transaction<readonly Task[]> {
  const rows = yield {
    sql: `SELECT * FROM task WHERE account=$1 AND created_at>$2 AND (ended_at IS NULL OR ended_at>=$3) ORDER BY created_at, id LIMIT ${tasksSinceMax}`,
    params: [account, since - taskKeptMs, since],
  };
  return rows.map(readTask);
}

/** Tasks that failed within a period, in that order. Deleted rows are missing. */
export function* failedTasks(
  account: string,
  from: number,
  to: number,
): Transaction<readonly Task[]> {
  const rows = yield {
    sql: `SELECT * FROM task WHERE account=$1 AND state='failed' AND ended_at>=$2 AND ended_at<$3 ORDER BY ended_at, id LIMIT ${failedMax}`,
    params: [account, from, to],
  };
  return rows.map(readTask);
}

/** Ordered by creation time; returns `limit` tasks, and one more if there is one. */
export async function listTasks(
  database: Database,
  account: string,
  { limit, order, after }: TaskPage,
  now: number,
): Promise<readonly Task[] | 'no such task'> {
  const before = after === undefined ? undefined : await findTask(database, account, after, now);
  if (after !== undefined && before === undefined) return 'no such task';
  const beyond =
    before === undefined ? '' : `AND (created_at, id) ${order === 'asc' ? '>' : '<'} ($4, $5)`;
  const sql = `SELECT * FROM task WHERE account=$1 AND created_at>$2 ${beyond} ORDER BY created_at ${order}, id ${order} LIMIT $3`;
  const place = before === undefined ? [] : [before.createdAt, before.id];
  return (await database.query(sql, [account, now - taskKeptMs, limit + 1, ...place])).map(
    readTask,
  );
}

export async function deleteTask(database: Database, { account, id }: Task): Promise<void> {
  await database.query('DELETE FROM task WHERE id=$1 AND account=$2', [id, account]);
}

/** Deletes expired tasks, at most `expiredMax` at a time; returns how many. */
export async function expireTasks(database: Database, now: number): Promise<number> {
  const sql = `DELETE FROM task WHERE id IN (SELECT id FROM task WHERE created_at<=$1 AND ended_at IS NOT NULL ORDER BY created_at LIMIT ${expiredMax}) RETURNING id`;
  return (await database.query(sql, [now - rowsKeptMs])).length;
}

/** The number of this account's unfinished tasks, without one that was submitted with this key. */
export async function openTasksOf(
  database: Database,
  account: string,
  idempotencyKey: string | undefined,
  now: number,
): Promise<number> {
  const sql = `SELECT COUNT(*) AS tasks FROM task WHERE account=$1 AND created_at>$2
    AND ended_at IS NULL AND (idempotency_key IS NULL OR idempotency_key<>$3)`;
  const [row] = await database.query(sql, [account, now - taskKeptMs, idempotencyKey ?? '']);
  return Number(row?.['tasks']);
}

/** The number of unfinished tasks, by channel name. */
export async function openTasksByChannel(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query(
    'SELECT channel, COUNT(*) AS tasks FROM task WHERE ended_at IS NULL GROUP BY channel',
  );
  const open = new Map<string, number>();
  for (const row of rows) {
    const name = channelNameOf(String(row['channel']));
    open.set(name, (open.get(name) ?? 0) + Number(row['tasks']));
  }
  return open;
}
