import type { Database } from '../../storage/database.ts';
import { taskKeptMs } from './rows.ts';
import { readTask, type Task } from './task.ts';

export interface TaskPage {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of the last task of the page before. */
  readonly after: string | undefined;
}

/** Rows outlive their ids: an operator may look for them. */
const rowsKeptMs = 7 * taskKeptMs;
const expiredMax = 500;

export async function findTask(
  database: Database,
  account: string,
  id: string,
  now: number,
): Promise<Task | undefined> {
  const sql = 'SELECT * FROM task WHERE id=$1 AND account=$2 AND created_at>$3';
  const [row] = await database.query(sql, [id, account, now - taskKeptMs]);
  return row && readTask(row);
}

/** By the time of their creation, `limit` and one more, if there is one. */
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

export async function removeTask(
  database: Database,
  account: string,
  id: string,
  now: number,
): Promise<Pick<Task, 'file'> | 'unknown' | 'running'> {
  const task = await findTask(database, account, id, now);
  if (task === undefined) return 'unknown';
  const gone = await database.query(
    'DELETE FROM task WHERE id=$1 AND account=$2 AND ended_at IS NOT NULL RETURNING id',
    [id, account],
  );
  return gone.length > 0 ? task : 'running';
}

/** Returns how many rows, `expiredMax` at most at a time. */
export async function expireTasks(database: Database, now: number): Promise<number> {
  const sql = `DELETE FROM task WHERE id IN (SELECT id FROM task WHERE created_at<=$1 AND ended_at IS NOT NULL ORDER BY created_at LIMIT ${expiredMax}) RETURNING id`;
  return (await database.query(sql, [now - rowsKeptMs])).length;
}
