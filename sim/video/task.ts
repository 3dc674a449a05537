import { systemClock } from '../../src/base/clock.ts';
import { type Scenario, scenarioOf } from '../scenario.ts';

/** What a video is to show. */
export interface FilmWish {
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

/** How far a task is. `odd` is in no vendor's documents. */
export type TaskState =
  | 'queued'
  | 'running'
  | 'odd'
  | 'done'
  | 'failed'
  | 'moderated'
  | 'cancelled';

export interface SimTask {
  readonly id: string;
  readonly wish: FilmWish;
  readonly state: TaskState;
  /** 0 to 100. */
  readonly percent: number;
  readonly createdMs: number;
  /** What is wrong with the answer to this poll. */
  readonly poll: 'fine' | 'html' | '401' | '404' | 'hang';
}

/** Without a scenario. */
const usualMs = 600;
/** Of its time a task waits so much. */
const waits = 0.25;
const lateMs = 1_000;
const promptChars = 60;

const withdrawn = new Set<string>();
const withdrawnMax = 10_000;

/**
 * A task's id tells all of it, so that tasks are known to every simulator, however many there are,
 * and none is ever lost.
 */
export function newTask({ named, prompt, seconds, width, height }: FilmWish): string {
  const facts = [
    systemClock.now(),
    named,
    seconds,
    width,
    height,
    prompt.slice(0, promptChars),
    systemClock.monotonicMs(),
  ];
  return `t-${Buffer.from(JSON.stringify(facts)).toString('base64url')}`;
}

/** Undefined: no such task was ever made. */
export function taskOf(id: string): SimTask | undefined {
  const facts = factsOf(id);
  if (facts === undefined) return undefined;
  const [createdMs, named, seconds, width, height, prompt] = facts;
  const scenario = scenarioOf(named);
  const ageMs = systemClock.now() - createdMs;
  const totalMs = scenario.taskMs ?? usualMs;
  const state = withdrawn.has(id) ? 'cancelled' : stateAt(ageMs, totalMs, scenario.task);
  const ended = state !== 'queued' && state !== 'running' && state !== 'odd';
  return {
    id,
    wish: { named, prompt, seconds, width, height },
    state,
    percent: ended ? 100 : Math.min(99, Math.floor((ageMs / totalMs) * 100)),
    createdMs,
    poll: pollAt(ageMs, totalMs, scenario.task),
  };
}

/** Stops what has not begun; false when it is too late. */
export function withdraw(task: SimTask): boolean {
  if (task.state !== 'queued' && task.state !== 'running') return false;
  if (withdrawn.size >= withdrawnMax) withdrawn.clear();
  withdrawn.add(task.id);
  return true;
}

function stateAt(ageMs: number, totalMs: number, trouble: Scenario['task']): TaskState {
  if (ageMs < totalMs * waits) return 'queued';
  if (trouble === 'odd' && ageMs < totalMs + lateMs) return 'odd';
  if (ageMs < totalMs || trouble === 'stuck') return 'running';
  return trouble === 'failed' || trouble === 'moderated' || trouble === 'cancelled'
    ? trouble
    : 'done';
}

function pollAt(ageMs: number, totalMs: number, trouble: Scenario['task']): SimTask['poll'] {
  if (trouble === 'gone') return ageMs < totalMs * waits ? 'fine' : '404';
  if (trouble === 'late') return ageMs < lateMs ? '404' : 'fine';
  return (trouble === 'html' || trouble === '401' || trouble === 'hang') && ageMs < totalMs
    ? trouble
    : 'fine';
}

type Facts = readonly [
  createdMs: number,
  named: string,
  seconds: number,
  width: number,
  height: number,
  prompt: string,
];

function factsOf(id: string): Facts | undefined {
  try {
    const value: unknown = id.startsWith('t-')
      ? JSON.parse(Buffer.from(id.slice(2), 'base64url').toString('utf8'))
      : undefined;
    if (!Array.isArray(value)) return undefined;
    const [createdMs, named, seconds, width, height, prompt] = value;
    return [
      Number(createdMs),
      String(named),
      Number(seconds),
      Number(width),
      Number(height),
      String(prompt),
    ];
  } catch {
    return undefined;
  }
}
