import { systemClock } from '../../src/base/clock.ts';
import { type Scenario, scenarioOf } from '../scenario.ts';

/** The video to make. */
export interface VideoRequest {
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

/** The state of a task. `odd` is a state that no vendor documents. */
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
  readonly request: VideoRequest;
  readonly state: TaskState;
  /** 0 to 100. */
  readonly percent: number;
  readonly createdMs: number;
  /** The fault in the response to this poll. */
  readonly poll: 'fine' | 'html' | '401' | '404' | 'hang';
}

/** The duration without a scenario, in ms. */
const usualMs = 600;
/** The share of its duration that a task is queued. */
const waits = 0.25;
const lateMs = 1_000;
const promptChars = 60;

const withdrawn = new Set<string>();
const withdrawnMax = 10_000;

/** The id encodes the whole task, so that every simulator knows every task and none is lost. */
export function newTask({ named, prompt, seconds, width, height }: VideoRequest): string {
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

/** Undefined when the id is no task. */
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
    request: { named, prompt, seconds, width, height },
    state,
    percent: ended ? 100 : Math.min(99, Math.floor((ageMs / totalMs) * 100)),
    createdMs,
    poll: pollAt(ageMs, totalMs, scenario.task),
  };
}

/** Cancels a task that has not ended; false when it is too late. */
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
