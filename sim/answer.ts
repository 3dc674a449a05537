import { systemClock } from '../src/base/clock.ts';
import { randomText } from '../src/base/random.ts';
import type { ChatRequest } from './request.ts';
import { countTokens, pieces } from './tokens.ts';
import { plannedCalls } from './tools.ts';
import { words } from './words.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments' JSON, in pieces. */
  readonly arguments: readonly string[];
}

/** One choice, in pieces of one token. */
export interface Choice {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** The stop sequence that ended it. */
  readonly stop?: string;
}

/** Tokens. `completion` includes `reasoning`, `prompt` includes `cached`. */
export interface Usage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
  readonly reasoning: number;
}

/** The model's answer, before a vendor's writer formats it. */
export interface Answer {
  /** Random letters and digits for the ids of the response; the vendor adds its prefix. */
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
  /** False when the vendor reports no usage. */
  readonly usageReported: boolean;
}

/** The effects of a scenario on the answer itself. */
export interface AnswerOptions {
  readonly reasons: boolean;
  readonly empty: boolean;
  readonly echo: boolean;
  /** The vendor's filter stops the model after a few words. */
  readonly filtered: boolean;
  /** Exactly this many tokens of text, if the request allows them. */
  readonly tokens: number | undefined;
  readonly usageReported: boolean;
  /** Share of the prompt that was in the vendor's cache. */
  readonly cachedShare: number;
}

const imageTokens = 85;
const fileTokens = 300;
/** Tokens before the filter stops the model. */
const filteredAfter = 9;

export function compose(
  request: ChatRequest,
  options: AnswerOptions,
  callId: () => string,
): Answer {
  const choices = Array.from({ length: request.n }, (_, index) =>
    choose(request, options, index, callId),
  );
  const prompt = promptTokens(request);
  const reasoning = sum(choices, (choice) => choice.reasoning.length);
  const completion = sum(
    choices,
    (choice) => choice.text.length + sum(choice.calls, (call) => call.arguments.length + 1),
  );
  return {
    id: randomText(29),
    created: Math.floor(systemClock.now() / 1000),
    model: request.model,
    choices,
    usage: {
      prompt,
      cached: Math.floor(prompt * options.cachedShare),
      completion: reasoning + completion,
      reasoning,
    },
    usageReported: options.usageReported,
  };
}

export function promptTokens(request: ChatRequest): number {
  const total = sum(
    request.messages,
    (message) =>
      4 +
      countTokens(message.text) +
      message.images.length * imageTokens +
      message.files.length * fileTokens,
  );
  const tools = request.tools.length === 0 ? 0 : countTokens(JSON.stringify(request.raw['tools']));
  return 3 + total + tools;
}

function choose(
  request: ChatRequest,
  options: AnswerOptions,
  index: number,
  callId: () => string,
): Choice {
  if (options.empty) return { reasoning: [], text: [], calls: [], finish: 'stop' };
  let budget = request.outputTokensMax ?? Infinity;
  const thought = options.reasons ? words.reasoning(request) : [];
  const reasoning = thought.slice(0, budget);
  budget -= reasoning.length;
  const calls: ToolCall[] = [];
  let cut = reasoning.length < thought.length;
  for (const call of options.tokens === undefined && !options.echo ? plannedCalls(request) : []) {
    const whole = pieces(call.arguments);
    cut ||= budget < whole.length + 1;
    if (budget <= 0) break;
    calls.push({ id: callId(), name: call.name, arguments: whole.slice(0, budget - 1) });
    budget -= whole.length + 1;
  }
  if (calls.length > 0)
    return { reasoning, text: [], calls, finish: cut ? 'length' : 'tool_calls' };
  const shown = stopped(
    options.tokens === undefined ? words.answer(request, options.echo, index) : '',
    request.stop,
  );
  const whole = options.tokens === undefined ? pieces(shown.text) : words.filler(options.tokens);
  if (options.filtered)
    return {
      reasoning,
      text: whole.slice(0, Math.min(budget, filteredAfter)),
      calls,
      finish: 'content_filter',
    };
  const text = whole.slice(0, Math.max(0, budget));
  if (text.length < whole.length || cut) return { reasoning, text, calls, finish: 'length' };
  return {
    reasoning,
    text,
    calls,
    finish: 'stop',
    ...(shown.by !== undefined && { stop: shown.by }),
  };
}

/** The text before the first stop sequence. */
function stopped(
  text: string,
  stop: readonly string[],
): { readonly text: string; readonly by: string | undefined } {
  let [end, by]: [number, string | undefined] = [text.length, undefined];
  for (const sequence of stop) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at >= 0 && at < end) [end, by] = [at, sequence];
  }
  return { text: text.slice(0, end), by };
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
