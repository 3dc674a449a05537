import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { taskKeptMs } from '../../gateway/tasks/queries.ts';
import { readTask, type Task } from '../../gateway/tasks/task.ts';
import type { Files } from '../../media/files.ts';
import type { Database, Row, Transaction } from '../../storage/database.ts';
import { hourMs } from '../../usage/ranges.ts';
import { linesOf } from '../../usage/record.ts';
import { speedsByHour, summarizeSpeeds } from '../../usage/histogram.ts';
import { lineView, keyNamesOf } from './charges.ts';
import type { Page, TaskDetail, TaskStateName, TaskView } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { pageLimit } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import type { ReleasedTask } from './statement-routes.ts';
import { instant, instantOrNull, yuan } from '../format.ts';

export interface TasksContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly files: Pick<Files, 'find' | 'urlOf'>;
  readonly cursors: Cursors;
}

const listed = z.object({ limit: pageLimit, after: z.string().optional() });
/** How far back other tasks count for the usual duration, and how many it takes. */
const usualHours = 7 * 24;
const usualMin = 5;
const releasedMax = 200;

/** Running videos, and those of the last day. */
export function taskRoutes(rooms: TasksContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'tasks',
      role: 'user',
      input: listed,
      handle: (visit) => list(rooms, visit),
    }),
    defineRoute({
      method: 'GET',
      path: 'tasks/:id',
      role: 'user',
      handle: async ({ user, params, headers }): Promise<TaskDetail> =>
        (await taskDetail(rooms, user.id, params['id'] ?? '', headers.host)) ??
        throwProblem('not_found'),
    }),
  ];
}

async function list(
  rooms: TasksContext,
  { user, input, at, headers }: SignedInRequest<z.output<typeof listed>>,
): Promise<Page<TaskView>> {
  const { database, cursors } = rooms;
  const of = ['tasks', user.id];
  const place = input.after === undefined ? undefined : cursors.read(of, input.after);
  const back = place?.towards === 'prev';
  const { rows, names } = await database.snapshot(function* () {
    const beyond = place === undefined ? '' : ` AND (created_at, id)${back ? '>' : '<'}($4, $5)`;
    const found = yield {
      sql: `SELECT * FROM task WHERE account=$1 AND created_at>$2${beyond} ORDER BY created_at${back ? '' : ' DESC'}, id${back ? '' : ' DESC'} LIMIT $3`,
      params: [
        user.id,
        at - taskKeptMs,
        input.limit + 1,
        ...(place === undefined ? [] : [place.at, place.id]),
      ],
    };
    return {
      rows: found,
      names: yield* keyNamesOf(
        user.id,
        found.map((one) => String(one['key_id'])),
      ),
    };
  });
  const more = rows.length > input.limit;
  const kept = rows.slice(0, input.limit).map(readTask);
  const tasks = back ? [...kept].reverse() : kept;
  const cursor = (towards: 'next' | 'prev', task: Task | undefined): string | null =>
    task === undefined ? null : cursors.write(of, { towards, at: task.createdAt, id: task.id });
  return {
    items: await Promise.all(tasks.map((task) => taskView(rooms, task, names, headers.host))),
    next: back || more ? cursor('next', tasks.at(-1)) : null,
    prev: (back ? more : place !== undefined) ? cursor('prev', tasks[0]) : null,
    as_of: instant(at),
  };
}

const states: Readonly<Record<Task['state'], TaskStateName>> = {
  new: 'pending',
  queued: 'pending',
  running: 'processing',
  completed: 'completed',
  failed: 'failed',
};

/** A task as its owner sees it. `host`: the host name of the owner's request. */
export async function taskView(
  { files }: Pick<TasksContext, 'files'>,
  task: Task,
  names: ReadonlyMap<string, string>,
  host: string | undefined,
): Promise<TaskView> {
  const file = task.file === undefined ? undefined : await files.find(task.account, task.file);
  const running = task.endedAt === undefined;
  return {
    id: task.id,
    model: task.model,
    key_id: task.keyId,
    key_name: names.get(task.keyId) ?? task.keyId,
    seconds: task.seconds,
    size: task.size ?? null,
    state: states[task.state],
    progress: running && task.percent === 0 ? null : task.percent,
    held: yuan(running ? task.cost : 0n),
    charged: yuan(task.state === 'completed' ? task.cost : 0n),
    submitted_at: instant(task.createdAt),
    ended_at: instantOrNull(task.endedAt),
    expires_at: instant(task.createdAt + taskKeptMs),
    video_url: file === undefined ? null : files.urlOf(file, host),
    error: task.error === undefined ? null : { code: task.error.code, message: task.error.message },
  };
}

/** Undefined when this user has no such task, or it is more than a day old. */
async function taskDetail(
  rooms: TasksContext,
  userId: string,
  id: string,
  host: string | undefined,
): Promise<TaskDetail | undefined> {
  const { database, clock } = rooms;
  const now = clock.now();
  const found = await database.snapshot(function* () {
    const [task] = yield {
      sql: 'SELECT * FROM task WHERE id=$1 AND account=$2 AND created_at>$3',
      params: [id, userId, now - taskKeptMs],
    };
    if (task === undefined) return undefined;
    const to = Math.ceil(now / hourMs) * hourMs;
    const lately = summarizeSpeeds(
      yield* speedsByHour({ model: String(task['model']), from: to - usualHours * hourMs, to }),
    );
    return {
      task: readTask(task),
      names: yield* keyNamesOf(userId, [String(task['key_id'])]),
      lately,
    };
  });
  if (found === undefined) return undefined;
  const { task, names, lately } = found;
  return {
    ...(await taskView(rooms, task, names, host)),
    lines: linesOf(task.bill).map((line) => lineView(line)),
    usual_ms: lately.requests < usualMin ? null : (lately.meanDurationMs ?? null),
  };
}

/**
 * Tasks that failed within a period, whose holds were released. Only as long as their rows are
 * kept.
 */
export function releasedTasks(
  database: Database,
  userId: string,
  from: number,
  to: number,
): Promise<readonly ReleasedTask[]> {
  return database.snapshot(function* (): Transaction<readonly ReleasedTask[]> {
    const rows = yield {
      sql: `SELECT * FROM task WHERE account=$1 AND state='failed' AND ended_at>=$2 AND ended_at<$3 ORDER BY ended_at, id LIMIT ${releasedMax}`,
      params: [userId, from, to],
    };
    const names = yield* keyNamesOf(
      userId,
      rows.map((one) => String(one['key_id'])),
    );
    return rows.map((one: Row) => {
      const { id, model, keyId, cost, createdAt, endedAt = createdAt, error } = readTask(one);
      return {
        id,
        model,
        capability: 'video',
        keyName: names.get(keyId) ?? keyId,
        held: cost,
        heldAt: createdAt,
        releasedAt: endedAt,
        error: error?.message,
      };
    });
  });
}
