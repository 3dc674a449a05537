import * as z from 'zod';
import { keyNamesOf } from '../../accounts/user-keys.ts';
import type { Clock } from '../../base/clock.ts';
import { failedTasks, taskKeptMs, taskOf, tasksFrom } from '../../gateway/tasks/queries.ts';
import type { Task } from '../../gateway/tasks/task.ts';
import type { Files } from '../../media/files.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { hoursUpTo } from '../../usage/ranges.ts';
import { linesOf } from '../../usage/record.ts';
import { speedsByHour, summarizeSpeeds } from '../../usage/histogram.ts';
import { lineView } from './charges.ts';
import type { Page, TaskDetail, TaskStateName, TaskView } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { pageInput } from '../input.ts';
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

const listInput = z.object(pageInput);
/** How far back other tasks count for the usual duration, and how many it takes. */
const usualHours = 7 * 24;
const usualMin = 5;

/** Running videos, and those of the last day. */
export function taskRoutes(context: TasksContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'tasks',
      role: 'user',
      input: listInput,
      handle: (request) => list(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'tasks/:id',
      role: 'user',
      handle: async ({ owner, params, headers }): Promise<TaskDetail> =>
        (await taskDetail(context, owner.id, params['id'] ?? '', headers.host)) ??
        throwProblem('not_found'),
    }),
  ];
}

async function list(
  context: TasksContext,
  { owner, input, at, headers }: SignedInRequest<z.output<typeof listInput>>,
): Promise<Page<TaskView>> {
  const { database, cursors } = context;
  const of = ['tasks', owner.id];
  const place = cursors.read(of, input.after);
  const back = place?.towards === 'prev';
  const { found, names } = await database.snapshot(function* () {
    const tasks = yield* tasksFrom(owner.id, {
      createdAfter: at - taskKeptMs,
      position: place,
      back,
      limit: input.limit + 1,
    });
    return { found: tasks, names: yield* keyNamesOf(owner.id, tasks.map(keyIdOf)) };
  });
  const more = found.length > input.limit;
  const kept = found.slice(0, input.limit);
  const tasks = back ? [...kept].reverse() : kept;
  return {
    items: await Promise.all(tasks.map((task) => taskView(context, task, names, headers.host))),
    ...cursors.around(of, place, { items: tasks, more }, ({ id, createdAt }) => ({
      at: createdAt,
      id,
    })),
    as_of: instant(at),
  };
}

const keyIdOf = (task: Task): string => task.keyId;

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
  context: TasksContext,
  ownerId: string,
  id: string,
  host: string | undefined,
): Promise<TaskDetail | undefined> {
  const { database, clock } = context;
  const now = clock.now();
  const found = await database.snapshot(function* () {
    const task = yield* taskOf(ownerId, id, now - taskKeptMs);
    if (task === undefined) return undefined;
    const lately = summarizeSpeeds(
      yield* speedsByHour({ model: task.model, ...hoursUpTo(now, usualHours) }),
    );
    return { task, names: yield* keyNamesOf(ownerId, [task.keyId]), lately };
  });
  if (found === undefined) return undefined;
  const { task, names, lately } = found;
  return {
    ...(await taskView(context, task, names, host)),
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
  ownerId: string,
  from: number,
  to: number,
): Promise<readonly ReleasedTask[]> {
  return database.snapshot(function* (): Transaction<readonly ReleasedTask[]> {
    const tasks = yield* failedTasks(ownerId, from, to);
    const names = yield* keyNamesOf(ownerId, tasks.map(keyIdOf));
    return tasks.map((task) => {
      const { id, model, keyId, cost, createdAt, endedAt = createdAt, error } = task;
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
