import { countOf, objectOf, textOf } from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import type { ReasoningMembers } from '../formats/openai-chat/types.ts';
import { effortOfBudget } from '../support/rules.ts';

/** The members of a call that say how much the model is to think. */
export type ReasoningCall = Pick<VendorCall<ReasoningMembers>, 'body' | 'messagesOptions'>;

/** How much the client wants the model to think. */
interface ReasoningRequest {
  readonly effort: string;
  /** In tokens. */
  readonly budget: number | undefined;
  /**
   * The client only wants the model to think, and has not said how much. `effort` is for models
   * that have to be told.
   */
  readonly unmeasured?: boolean;
}

/**
 * Reads the request for thinking from OpenAI's `reasoning_effort`, OpenRouter's `reasoning` or
 * Anthropic's `thinking`. Undefined: the client asks for nothing, and the model decides.
 */
export function reasoningRequest({
  body,
  messagesOptions: options,
}: ReasoningCall): ReasoningRequest | undefined {
  const reasoning = objectOf(body.reasoning);
  const thinking = objectOf(body.thinking);
  const effort = textOf(body.reasoning_effort) ?? textOf(reasoning?.effort);
  const budget =
    options?.budget ?? countOf(thinking?.budget_tokens) ?? countOf(reasoning?.max_tokens);
  if (effort !== undefined) return { effort, budget, unmeasured: options?.adaptive === true };
  // Qwen's switch for thinking is a boolean.
  const isOff =
    thinking?.type === 'disabled' || reasoning?.enabled === false || body.enable_thinking === false;
  if (isOff) return { effort: 'none', budget };
  if (budget !== undefined) return { effort: effortOfBudget(budget), budget };
  const isOn =
    thinking?.type !== undefined || reasoning?.enabled === true || body.enable_thinking === true;
  return isOn ? { effort: 'medium', budget, unmeasured: true } : undefined;
}

const reasoningMembers = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking'] as const;

/**
 * The members of the client's request for thinking that the vendor's request drops. `told`: the
 * model gets the request. Without it, a request for no thinking is fulfilled and nothing is
 * dropped.
 */
export function droppedReasoning(call: ReasoningCall, told: boolean): readonly string[] {
  const reasoning = reasoningRequest(call);
  if (told || reasoning === undefined || reasoning.effort === 'none') return [];
  return reasoningMembers.filter((name) => call.body[name] != null);
}
