import type { AnswerOptions } from './answer.ts';
import type { ProblemKind } from './dialect.ts';

/** A fault in mid-response, after `after` pieces. */
export interface Trouble {
  readonly kind: 'cut' | 'reset' | 'hang' | 'half' | 'error' | 'bad json' | 'silence';
  readonly after: number;
  readonly forMs: number;
}

/** The effects that a model name has on the simulator. */
export interface Scenario extends AnswerOptions {
  readonly firstByteMs: number;
  readonly pieceMs: number;
  readonly refuse: ProblemKind | undefined;
  readonly retryAfterS: number | undefined;
  /** Refuses a prompt the first time, and answers it the next time. */
  readonly once: boolean;
  readonly hang: boolean;
  /** An HTML page with this status instead of a response. */
  readonly page: 200 | 502 | undefined;
  readonly trouble: Trouble | undefined;
  /** An image that the client cannot have: its address gives 404, or its bytes are no image. */
  readonly lost: 'gone' | 'broken' | undefined;
  /** The duration of a task. */
  readonly taskMs: number | undefined;
  /** The end of a task, or the fault in responses to its polls. */
  readonly task: (typeof taskTroubles)[number] | undefined;
}

const plain: Scenario = {
  reasons: false,
  empty: false,
  echo: false,
  filtered: false,
  tokens: undefined,
  usageReported: true,
  cachedShare: 0,
  firstByteMs: 0,
  pieceMs: 0,
  refuse: undefined,
  retryAfterS: undefined,
  once: false,
  hang: false,
  page: undefined,
  trouble: undefined,
  lost: undefined,
  taskMs: undefined,
  task: undefined,
};

interface Row {
  readonly name: RegExp;
  readonly plays: (groups: readonly (string | undefined)[]) => Partial<Scenario>;
}

const piecesBefore = 3;
const tokensMax = 1_000_000;
const byStatus: Readonly<Record<string, ProblemKind>> = {
  400: 'bad_request',
  401: 'wrong_key',
  402: 'quota',
  404: 'unknown_model',
  429: 'rate',
  500: 'server',
  503: 'overloaded',
};

const taskTroubles = [
  'failed',
  'moderated',
  'cancelled',
  'odd',
  'stuck',
  'html',
  '401',
  'hang',
  'gone',
  'late',
] as const;

const trouble = (kind: Trouble['kind'], after = piecesBefore, forMs = 0): Partial<Scenario> => ({
  trouble: { kind, after, forMs },
});

/** The scenarios; README.md describes them, and a test checks that both agree. */
const rows: readonly Row[] = [
  { name: /^chat$/, plays: () => ({}) },
  // On chat a constant response that reads no request (fast.ts); in every other format a normal
  // one.
  { name: /^fast$/, plays: () => ({}) },
  {
    name: /^slow(?:-(\d+)ms)?$/,
    plays: ([ms = '1000']) => ({ firstByteMs: Number(ms), pieceMs: Number(ms) / 10 }),
  },
  {
    name: /^(400|401|402|404|429|500|503)(?:-(\d+)s)?(-once)?$/,
    plays: ([status = '', seconds, once]) => {
      const retryAfterS =
        seconds !== undefined ? Number(seconds) : status === '429' ? 1 : undefined;
      return { refuse: byStatus[status], retryAfterS, once: once !== undefined };
    },
  },
  { name: /^context$/, plays: () => ({ refuse: 'context' }) },
  { name: /^policy$/, plays: () => ({ refuse: 'policy' }) },
  { name: /^html-error$/, plays: () => ({ page: 502 }) },
  { name: /^html-200$/, plays: () => ({ page: 200 }) },
  { name: /^hang$/, plays: () => ({ hang: true }) },
  {
    name: /^(cut|reset|hang)-after-(\d+)$/,
    plays: ([kind, after]) =>
      trouble(kind === 'cut' || kind === 'reset' ? kind : 'hang', Number(after)),
  },
  { name: /^half-event$/, plays: () => trouble('half') },
  { name: /^filtered$/, plays: () => ({ filtered: true }) },
  { name: /^error-in-stream$/, plays: () => trouble('error') },
  { name: /^bad-json$/, plays: () => trouble('bad json') },
  {
    name: /^silent-(\d+)$/,
    plays: ([seconds]) => trouble('silence', piecesBefore, Number(seconds) * 1000),
  },
  {
    name: /^(gone|broken)-picture$/,
    plays: ([how]) => ({ lost: how === 'gone' ? 'gone' : 'broken' }),
  },
  { name: /^no-usage$/, plays: () => ({ usageReported: false }) },
  { name: /^cached$/, plays: () => ({ cachedShare: 0.75 }) },
  { name: /^empty$/, plays: () => ({ empty: true }) },
  { name: /^echo$/, plays: () => ({ echo: true }) },
  { name: /^think$/, plays: () => ({ reasons: true }) },
  { name: /^task-(\d+)ms$/, plays: ([ms]) => ({ taskMs: Number(ms) }) },
  {
    name: /^task-(failed|moderated|cancelled|odd|stuck|html|401|hang|gone|late)$/,
    plays: ([how]) => ({ task: taskTroubles.find((one) => one === how) }),
  },
  { name: /^long-(\d+)$/, plays: ([count]) => ({ tokens: Math.min(Number(count), tokensMax) }) },
];

/** The pattern of each row, for the name after `sim-`. */
export const scenarioNames: readonly RegExp[] = rows.map(({ name }) => name);

/** Models with one of these words in their name exist at no vendor. */
export const existsNowhere = (model: string): boolean =>
  /nonexistent|does-not-exist|no-such/.test(model);

/**
 * Reads `sim-…` parts out of a model name, joined by `+`: `sim-slow`, `sim-429-once+sim-think`,
 * `gpt-4o+sim-cut-after-3`. A `sim-` name without a row is a model that the vendor does not have.
 */
export function scenarioOf(model: string): Scenario {
  if (existsNowhere(model)) return { ...plain, refuse: 'unknown_model' };
  if (!model.includes('sim-')) return plain;
  let scenario = plain;
  for (const part of model.split('+'))
    if (part.startsWith('sim-')) scenario = { ...scenario, ...play(part.slice('sim-'.length)) };
  return scenario;
}

/** The model itself; a scenario alone is its own model. */
export function withoutScenarios(model: string): string {
  if (!model.includes('+')) return model;
  const parts = model.split('+').filter((part) => !part.startsWith('sim-'));
  return parts.length > 0 ? parts.join('+') : model;
}

function play(name: string): Partial<Scenario> {
  for (const row of rows) {
    const match = row.name.exec(name);
    if (match !== null) return row.plays(match.slice(1));
  }
  return { refuse: 'unknown_model' };
}

/**
 * Remembers the prompts that were refused once: the next attempt succeeds, and the one after it is
 * refused again.
 */
export class Once {
  private static readonly promptsMax = 10_000;
  private readonly refused = new Set<string>();

  /** True when this attempt is to be refused. */
  first(prompt: string): boolean {
    if (this.refused.delete(prompt)) return false;
    if (this.refused.size >= Once.promptsMax) this.refused.clear();
    this.refused.add(prompt);
    return true;
  }
}
