import type { JsonObject } from '../../../base/json.ts';
import type { ChatRequest } from '../openai-chat/types.ts';

/** A whole answer (docs.cohere.com/v2/reference/chat, 2026-08). */
export interface ChatResponseV2 extends ChatEnd {
  readonly id: string;
  readonly message: AssistantMessageResponse;
  readonly logprobs: readonly LogprobItem[];
}

/** How an answer ended: members of the answer, or the `delta` of `message-end` (same page). */
interface ChatEnd {
  readonly finish_reason: string;
  readonly error: string;
  readonly usage: CohereUsage;
}

/** The message of an answer (same page). */
interface AssistantMessageResponse {
  readonly content: readonly AssistantContent[] | string;
  readonly tool_plan: string;
  readonly tool_calls: readonly ToolCallV2[];
  readonly citations: readonly unknown[];
}

/** A piece of a message: text or thinking, as `type` says (same page). */
interface AssistantContent {
  readonly type: string;
  readonly text: string;
  readonly thinking: string;
}

/** A call; `arguments` is JSON text (same page). */
export interface ToolCallV2 {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A piece of text and the probabilities of its tokens (same page). */
export interface LogprobItem {
  readonly text: string;
  readonly logprobs: readonly number[];
}

/** The tokens of an answer, and those that are billed (same page). */
export interface CohereUsage {
  readonly tokens: CohereTokens;
  readonly billed_units: CohereTokens;
  readonly cached_tokens: number;
}

/** `UsageTokens` (same page; models that reason count `reasoning_tokens`). */
interface CohereTokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

/** An event of a stream (docs.cohere.com/v2/docs/streaming, 2026-08). */
export interface CohereEvent {
  readonly type: string;
  readonly id: string;
  readonly index: number;
  readonly delta: CohereDelta;
  readonly logprobs: LogprobItem;
}

/** What an event adds: one piece, one call or one citation, or the end (same page). */
export interface CohereDelta extends ChatEnd {
  readonly message: {
    readonly content: AssistantContent;
    readonly tool_plan: string;
    readonly tool_calls: ToolCallV2;
    readonly citations: unknown;
  };
}

/** An error; some replies have it in OpenAI's form (docs.cohere.com/reference/errors, 2026-08). */
export interface CohereError {
  readonly message: string;
  readonly error: { readonly message: string } | string;
}

/** A client's request, with Cohere's own members (docs.cohere.com/v2/reference/chat, 2026-08). */
export interface CohereChatRequest extends ChatRequest {
  readonly thinking?: CohereThinking;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly logprobs?: boolean;
  readonly k?: number;
  readonly documents?: readonly unknown[];
  readonly citation_options?: unknown;
  readonly safety_mode?: string;
  readonly strict_tools?: boolean;
  readonly priority?: number;
}

/** docs.cohere.com/docs/reasoning, 2026-08. Clients write Anthropic's name of the budget, too. */
interface CohereThinking {
  readonly type?: string;
  readonly token_budget?: number;
  readonly budget_tokens?: number;
}

/** A client's schema for the answer (docs.cohere.com/docs/structured-outputs, 2026-08). */
export interface CohereSchema {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: JsonObject;
  readonly $defs?: JsonObject;
  readonly definitions?: JsonObject;
  readonly anyOf?: readonly unknown[];
  readonly items?: unknown;
}
