import type { JsonObject } from '../../../base/json.ts';
import type { ChatRequest, ChatResponseFormat } from '../openai-chat/types.ts';

/**
 * A whole answer
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08). `Output`
 * holds the exception of a service in front of Converse.
 */
export interface ConverseAnswer extends ConverseError {
  readonly stopReason: string;
  readonly usage: TokenUsage;
  readonly Output: ConverseError;
}

/** An exception: its name, under either member, and its text (…/CommonErrors.html, 2026-08). */
export interface ConverseError {
  readonly __type: string;
  readonly code: string;
  readonly message: string;
  readonly Message: string;
}

/** An exception inside a stream (…/API_runtime_ModelStreamErrorException.html, 2026-08). */
export interface ConverseException {
  readonly message: string;
  readonly originalMessage: string;
}

/** Limits and sampling of a request (…/API_runtime_InferenceConfiguration.html, 2026-08). */
export interface InferenceConfiguration {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly unknown[];
}

/** A block of an answer (…/API_runtime_ContentBlock.html, 2026-08). */
export interface ConverseBlock {
  readonly text: string;
  readonly citationsContent: CitationsContentBlock;
  readonly reasoningContent: ReasoningContentBlock;
  readonly toolUse: ConverseToolUse;
}

/** A text with its sources (…/API_runtime_CitationsContentBlock.html, 2026-08). */
export interface CitationsContentBlock {
  readonly content: readonly { readonly text: string }[];
  readonly citations: readonly unknown[];
}

/** Thinking (…/API_runtime_ReasoningContentBlock.html, 2026-08). */
export interface ReasoningContentBlock {
  readonly reasoningText: { readonly text: string; readonly signature: string };
  readonly redactedContent: string;
}

/** A call, without its input (…/API_runtime_ToolUseBlock.html, 2026-08). */
interface ConverseToolUse {
  readonly type: string;
  readonly toolUseId: string;
  readonly name: string;
}

/** An event, or an exception, of a stream (…/API_runtime_ConverseStreamOutput.html, 2026-08). */
export interface ConverseEvent extends ConverseException {
  readonly contentBlockIndex: number;
  readonly start: { readonly toolUse: ConverseToolUse };
  readonly stopReason: string;
  readonly usage: TokenUsage;
}

/** The tokens of an answer (…/API_runtime_TokenUsage.html, 2026-08). */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheWriteInputTokens: number;
  readonly cacheDetails: readonly CacheDetail[];
}

/** The tokens written for one lifetime of the cache (…/API_runtime_CacheDetail.html, 2026-08). */
interface CacheDetail {
  readonly ttl: string;
  readonly inputTokens: number;
}

/**
 * A client's request; a schema's name and description are Converse's, too
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08).
 */
export interface ConverseChatRequest extends ChatRequest {
  readonly response_format?: ChatResponseFormat & { readonly json_schema?: NamedSchema };
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface NamedSchema {
  readonly name?: string;
  readonly description?: string;
  readonly schema?: JsonObject;
}

/** The names that models have for `top_k` (model-parameters.html, 2026-11). */
export interface TopKFields {
  readonly top_k: number;
  readonly k: number;
  readonly inferenceConfig: { readonly topK: number };
}
