import type { JsonObject } from '../../../base/json.ts';
import { type ReasoningCall, reasoningRequest } from '../../conversation/reasoning-request.ts';

/** What a generation of Claude accepts. */
export interface ClaudeTraits {
  /**
   * The `max_tokens` that is sent when the client sets no limit, because the member is required:
   * all that the model is documented to write, thinking included.
   */
  readonly outputUsual: number;
  /** The highest `max_tokens` that the model has been seen to accept. */
  readonly outputMax: number;
  /** How a request turns thinking on: not at all, by a budget of tokens, or by an effort alone. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /**
   * How a request turns thinking off. `'never'`: the model always thinks, and the least effort is
   * the nearest setting.
   */
  readonly rest: 'disabled' | 'between_tools' | 'never';
  /** The values of `output_config.effort` that the model takes. Undefined: unknown. */
  readonly efforts: readonly string[] | undefined;
  /** The model shows its thinking only when `thinking.display` requests it. */
  readonly silent: boolean;
  /** `temperature`, `top_p` and `top_k`: all of them, one of temperature and top_p, or none. */
  readonly sampling: 'any' | 'one' | 'none';
  /** A conversation may end with an assistant's message, which the model continues. */
  readonly prefill: boolean;
  /** `tool_choice` may be `any` or `tool`. */
  readonly forcing: boolean;
  /** `output_config.format` and `strict` tools. */
  readonly structured: boolean;
}

const toHigh = ['low', 'medium', 'high'] as const;
const old: ClaudeTraits = {
  outputUsual: 4096,
  outputMax: 4096,
  thinking: 'none',
  rest: 'disabled',
  efforts: [],
  silent: false,
  sampling: 'any',
  prefill: true,
  forcing: true,
  structured: false,
};
const stranger: ClaudeTraits = {
  ...old,
  outputMax: Number.POSITIVE_INFINITY,
  efforts: undefined,
};
const claude35: ClaudeTraits = { ...old, outputUsual: 8192, outputMax: 8192 };
const claude37: ClaudeTraits = {
  ...claude35,
  outputUsual: 64_000,
  outputMax: 128_000,
  thinking: 'budget',
};
const sonnet40: ClaudeTraits = { ...claude37, outputMax: 64_000 };
const opus40: ClaudeTraits = { ...sonnet40, outputUsual: 32_000, outputMax: 32_000 };
const opus41: ClaudeTraits = { ...opus40, sampling: 'one', structured: true };
const claude45: ClaudeTraits = { ...opus41, outputUsual: 64_000, outputMax: 64_000 };
const opus45: ClaudeTraits = { ...claude45, efforts: toHigh };
const sonnet46: ClaudeTraits = {
  ...claude45,
  efforts: [...toHigh, 'max'],
  outputMax: 128_000,
  thinking: 'adaptive',
  prefill: false,
};
const opus46: ClaudeTraits = { ...sonnet46, outputUsual: 128_000 };
const claude47: ClaudeTraits = {
  ...opus46,
  efforts: [...toHigh, 'xhigh', 'max'],
  silent: true,
  sampling: 'none',
};
const fable50: ClaudeTraits = { ...claude47, rest: 'never' };
const claude55: ClaudeTraits = { ...fable50, forcing: false };
const sonnet55: ClaudeTraits = { ...claude55, rest: 'between_tools' };

/** Families that came after Opus: their 5.1 belongs to the generation of Opus 5.5. */
const newFamilies = new Set(['fable', 'mythos']);

/**
 * `claude-opus-4-5-20251101`, `anthropic.claude-sonnet-4-20250514-v1:0`, `claude-opus-4@20250514`,
 * `claude-sonnet-4.5`, `claude-3-7-sonnet-latest`.
 */
const named = /claude-(?:([a-z]+)-(\d)(?:[-.](\d{1,2})(?!\d))?|(\d)(?:[-.](\d))?-([a-z]+))/;

/**
 * The traits of a model by its upstream id:
 * platform.claude.com/docs/en/about-claude/models/overview, /build-with-claude/adaptive-thinking,
 * /build-with-claude/structured-outputs, /build-with-claude/effort and what's new in 4.6, 4.7 and
 * 5.5, as of 2026-11. An unknown Claude gets the traits of the newest, which refuses the most; a model that is no Claude
 * gets those of the oldest, whose requests use the fewest features.
 */
export function claudeTraits(model: string): ClaudeTraits {
  const id = model.toLowerCase();
  const match = named.exec(id);
  if (!id.includes('claude')) return stranger;
  if (!match) return /claude-(instant|v?[12])/.test(id) ? old : claude55;
  const family = match[1] ?? match[6] ?? '';
  const version = Number(match[2] ?? match[4]) * 10 + Number(match[3] ?? match[5] ?? 0);
  if (newFamilies.has(family)) return version <= 50 ? fable50 : claude55;
  if (version < 35) return old;
  if (version < 37) return claude35;
  if (version < 40) return claude37;
  if (version < 41) return family === 'opus' ? opus40 : sonnet40;
  if (version < 45) return family === 'opus' ? opus41 : sonnet40;
  if (version < 46) return family === 'opus' ? opus45 : claude45;
  if (version < 47) return family === 'opus' ? opus46 : sonnet46;
  if (version < 55) return claude47;
  return family === 'sonnet'
    ? sonnet55
    : family === 'haiku' && version === 55
      ? claude47
      : claude55;
}

/** The members `thinking` and `output_config.effort` of the vendor's request. */
export interface Thinking {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** Thinking is on: the model then takes no sampling parameters. */
  readonly on: boolean;
}

/** Budgets of models without efforts, in tokens. The vendor takes no less than 1024. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};
const budgetMin = 1024;

/**
 * Writes the client's request for thinking in the form of this model
 * (platform.claude.com/docs/en/api/messages, 2026-11). `forced`: a tool call is forced, which
 * excludes thinking. `interrupted`: the model waits for tool results but its signed thinking before
 * the calls is lost, so that models with budgets refuse to go on thinking.
 */
export function thinkingFor(
  call: ReasoningCall,
  traits: ClaudeTraits,
  maxTokens: number,
  { forced, interrupted }: { readonly forced: boolean; readonly interrupted: boolean },
): Thinking {
  const reasoning = reasoningRequest(call);
  if (traits.thinking === 'none') return { on: false };
  if (traits.thinking === 'budget') {
    if (
      !reasoning ||
      reasoning.effort === 'none' ||
      forced ||
      interrupted ||
      maxTokens <= budgetMin
    )
      return { on: false };
    // The limit counts thinking, too: a fifth of it stays for the answer, unless the client has set
    // the budget itself.
    const wanted = Math.min(
      reasoning.budget ?? budgets[reasoning.effort] ?? budgetMin,
      Math.floor(maxTokens * (reasoning.budget === undefined ? 0.8 : 1)),
    );
    const budget = Math.max(budgetMin, Math.min(wanted, maxTokens - 1));
    return { thinking: { type: 'enabled', budget_tokens: budget }, on: true };
  }
  if (forced && traits.rest === 'disabled') return { thinking: { type: 'disabled' }, on: false };
  if (!reasoning) return { on: false };
  if (reasoning.effort === 'none') return atRest(traits);
  // Without an effort each model thinks with its own: high, for most
  // (platform.claude.com/docs/en/build-with-claude/effort, 2026-11).
  const told = reasoning.unmeasured === true ? {} : { effort: effortOf(reasoning.effort, traits) };
  // A model that always thinks does so beside a forced call, too, but refuses `thinking` there
  // ("Thinking may not be enabled when tool_choice forces tool use.").
  if (forced) return Object.assign(told, { on: false });
  const thinking = { type: 'adaptive', ...(traits.silent ? { display: 'summarized' } : {}) };
  return Object.assign(told, { thinking, on: true });
}

function atRest({ rest }: ClaudeTraits): Thinking {
  return rest === 'never' ? { effort: 'low', on: false } : { thinking: { type: rest }, on: false };
}

const effortOf = (effort: string, traits: ClaudeTraits): string =>
  effort === 'minimal' ? 'low' : nearestEffort(effort, traits);

/** The highest effort of older models is `high`. */
export function nearestEffort(effort: string, { efforts }: ClaudeTraits): string {
  const isHigher = effort === 'xhigh' || effort === 'max';
  return isHigher && efforts?.includes(effort) === false ? 'high' : effort;
}
