import type { Call } from '../adapter.ts';
import type { Traits } from './anthropic-messages-models.ts';
import { countOf, type JsonObject, objectOf, textOf } from './json.ts';

/** What the client wants of thinking; undefined is the model's own way. */
export interface Wish {
  readonly effort: string;
  readonly budget: number | undefined;
}

/** `thinking` and `output_config.effort`, as far as they are to be sent. */
export interface Thinking {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** The model is told to think: it takes no sampling parameters then. */
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
 * OpenAI's `reasoning_effort`; the objects by which OpenRouter (`reasoning`) and Anthropic itself
 * (`thinking`) say the same.
 */
export function wishOf({ body, beside }: Pick<Call, 'body' | 'beside'>): Wish | undefined {
  const reasoning = objectOf(body['reasoning']);
  const thinking = objectOf(body['thinking']);
  const effort = textOf(body['reasoning_effort']) ?? textOf(reasoning?.['effort']);
  const budget =
    beside?.budget ?? countOf(thinking?.['budget_tokens']) ?? countOf(reasoning?.['max_tokens']);
  if (effort !== undefined) return { effort, budget };
  // Qwen's switch is a boolean.
  const isOff =
    thinking?.['type'] === 'disabled' ||
    reasoning?.['enabled'] === false ||
    body['enable_thinking'] === false;
  if (isOff) return { effort: 'none', budget };
  if (budget !== undefined)
    return { effort: budget > 16_000 ? 'high' : budget > 4000 ? 'medium' : 'low', budget };
  const isOn =
    thinking?.['type'] !== undefined ||
    reasoning?.['enabled'] === true ||
    body['enable_thinking'] === true;
  return isOn ? { effort: 'medium', budget } : undefined;
}

/**
 * The members by which the client asks for thinking, where the model is `told` nothing of it.
 * A wish for no thinking is fulfilled then.
 */
export function unthought(call: Pick<Call, 'body' | 'beside'>, told: boolean): readonly string[] {
  const wish = wishOf(call);
  if (told || wish === undefined || wish.effort === 'none') return [];
  return ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking'].filter(
    (name) => call.body[name] != null,
  );
}

/**
 * How the client's wish is said to this model (wire-formats §4.2). `forced`: a tool call is forced,
 * which excludes thinking. `interrupted`: the model waits for tool results but its signed thinking
 * before the calls is lost, so that models with budgets refuse to go on thinking.
 */
export function thinkingFor(
  call: Pick<Call, 'body' | 'beside'>,
  traits: Traits,
  maxTokens: number,
  { forced, interrupted }: { readonly forced: boolean; readonly interrupted: boolean },
): Thinking {
  const wish = wishOf(call);
  if (traits.thinking === 'none') return { on: false };
  if (traits.thinking === 'budget') {
    if (!wish || wish.effort === 'none' || forced || interrupted || maxTokens <= budgetMin)
      return { on: false };
    // The limit counts thinking, too: some of it stays for the answer, unless the client has
    // divided it itself.
    const wanted = Math.min(
      wish.budget ?? budgets[wish.effort] ?? budgetMin,
      Math.floor(maxTokens * (wish.budget === undefined ? 0.8 : 1)),
    );
    const budget = Math.max(budgetMin, Math.min(wanted, maxTokens - 1));
    return { thinking: { type: 'enabled', budget_tokens: budget }, on: true };
  }
  if (forced && traits.rest === 'disabled') return { thinking: { type: 'disabled' }, on: false };
  if (!wish) return { on: false };
  if (wish.effort === 'none') return atRest(traits);
  // Who always thinks does so beside a forced call, but may not be asked to ("Thinking may not be
  // enabled when tool_choice forces tool use.").
  if (forced) return { effort: effortOf(wish.effort, traits), on: false };
  const display = traits.silent ? { display: 'summarized' } : {};
  return {
    thinking: { type: 'adaptive', ...display },
    effort: effortOf(wish.effort, traits),
    on: true,
  };
}

function atRest({ rest }: Traits): Thinking {
  return rest === 'never' ? { effort: 'low', on: false } : { thinking: { type: rest }, on: false };
}

function effortOf(effort: string, { xhigh }: Traits): string {
  if (effort === 'xhigh') return xhigh ? 'xhigh' : 'high';
  return effort === 'minimal' ? 'low' : effort;
}
