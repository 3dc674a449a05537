import type { JsonObject } from '../../../base/json.ts';

/**
 * The JSON of OpenAI's chat, and of the vendors that extend it. Here are the members that are read.
 */

/**
 * The body of `/v1/chat/completions` (developers.openai.com/api/reference/chat-completions,
 * 2026-08).
 */
export interface ChatRequest extends ReasoningMembers, ChatExtensions {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: string | ChatToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly functions?: readonly ChatFunction[];
  readonly function_call?: string | ChatFunction;
  readonly response_format?: ChatResponseFormat;
  readonly stop?: string | readonly string[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly verbosity?: string;
  readonly service_tier?: string;
  readonly user?: string;
  readonly metadata?: JsonObject;
  readonly prompt_cache_key?: string;
  readonly prompt_cache_retention?: string;
  readonly prompt_cache_options?: JsonObject;
  readonly safety_identifier?: string;
  readonly stream_options?: JsonObject | null;
  /** OpenRouter's (openrouter.ai/docs/use-cases/usage-accounting, 2026-08): asks for the cost. */
  readonly usage?: JsonObject | null;
  /** Anthropic's (platform.claude.com/docs/en/api/messages, 2026-11), at several vendors. */
  readonly top_k?: number;
  readonly cache_control?: JsonObject;
}

/**
 * Members of some vendors' chat that OpenAI's does not have, and OpenAI's own search: their
 * features have prices.
 */
export interface ChatExtensions {
  readonly web_search_options?: JsonObject;
  /** Perplexity's (docs.perplexity.ai/guides/pricing, 2026-08). */
  readonly search_context_size?: string;
  /** xAI's, in Responses too (docs.x.ai/docs/guides/live-search, 2026-08). */
  readonly search_parameters?: LiveSearch;
  /** Qwen's (help.aliyun.com/zh/model-studio/web-search, 2026-08). */
  readonly enable_search?: boolean;
  /** Venice's. */
  readonly venice_parameters?: { readonly enable_web_search?: string | boolean };
  /** OpenRouter's (openrouter.ai/docs/features/web-search and …/presets, 2026-08). */
  readonly plugins?: readonly ChatPlugin[];
  readonly preset?: string;
  readonly models?: readonly (string | ModelReference)[];
  readonly fallbacks?: readonly (string | ModelReference)[];
  /** Groq's (console.groq.com/docs/compound, 2026-08). */
  readonly compound_custom?: { readonly models?: JsonObject };
}

/** docs.x.ai/docs/guides/live-search, 2026-08. */
export interface LiveSearch {
  readonly mode?: string;
  readonly max_search_results?: number;
}

/** openrouter.ai/docs/features/web-search, 2026-08. */
interface ChatPlugin extends SearchOptions {
  readonly id: string;
}

/** openrouter.ai/docs/features/web-search, 2026-08. */
export interface SearchOptions {
  readonly max_results?: number;
  readonly max_uses?: number;
}

/** openrouter.ai/docs/guides/routing/model-fallbacks, 2026-08. */
interface ModelReference {
  readonly model: string;
}

/**
 * The members by which requests ask for reasoning: OpenAI's, OpenRouter's
 * (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08), Anthropic's and Qwen's.
 */
export interface ReasoningMembers {
  readonly reasoning_effort?: string;
  readonly reasoning?: ChatReasoning;
  readonly thinking?: { readonly type?: string; readonly budget_tokens?: number };
  readonly enable_thinking?: boolean;
}

/** openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08. */
interface ChatReasoning {
  readonly effort?: string;
  readonly max_tokens?: number;
  readonly enabled?: boolean;
}

/**
 * A completion, or a stream's chunk of one
 * (developers.openai.com/api/reference/chat-completions, 2026-08).
 */
export interface ChatCompletion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ChatChoice[];
  readonly usage?: CompletionUsage | null;
  readonly service_tier?: string | null;
  readonly system_fingerprint?: string | null;
  /** Perplexity's and xAI's sources, which stand beside the choices. */
  readonly search_results?: readonly ChatSource[];
  readonly citations?: readonly (string | ChatSource)[];
}

/** docs.perplexity.ai/api-reference/chat-completions-post, 2026-08. */
export interface ChatSource {
  readonly url: string;
  readonly title?: string;
  readonly snippet?: string;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
export interface ChatChoice {
  readonly index: number;
  readonly message?: ChatMessage;
  readonly delta?: ChatMessage;
  readonly logprobs?: ChatLogprobs | null;
  readonly finish_reason: string | null;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
export interface ChatLogprobs {
  readonly content?: readonly ChatTokenLogprob[] | null;
  readonly refusal?: readonly ChatTokenLogprob[] | null;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface ChatTokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly top_logprobs?: readonly ChatTokenLogprob[];
}

/** The counts, with other vendors' names for them. */
export interface CompletionUsage {
  readonly prompt_tokens: number;
  readonly prompt_tokens_details?: PromptTokensDetails | null;
  readonly completion_tokens: number;
  readonly completion_tokens_details?: CompletionTokensDetails | null;
  readonly total_tokens: number;
  /** DeepSeek's (api-docs.deepseek.com/guides/kv_cache). */
  readonly prompt_cache_hit_tokens?: number;
  /** Moonshot's and Together's. */
  readonly cached_tokens?: number;
  /** Mistral's; seconds of sound come with audio tokens, told or not (recorded 2026-08). */
  readonly num_cached_tokens?: number;
  readonly prompt_audio_seconds?: number;
  /** Inception's (recorded 2026-08). */
  readonly reasoning_tokens?: number;
  /** xAI's. */
  readonly num_sources_used?: number;
  /** OpenRouter's (recorded 2026-08). */
  readonly server_tool_use_details?: ChatServerToolUse;
  readonly server_tool_use?: ChatServerToolUse;
}

/** OpenRouter's (recorded 2026-08). */
interface ChatServerToolUse {
  readonly web_search_requests?: number;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface PromptTokensDetails {
  readonly cached_tokens?: number;
  readonly audio_tokens?: number;
  readonly image_tokens?: number;
  /** OpenAI's and OpenRouter's. */
  readonly cache_write_tokens?: number;
  /** Qwen's (help.aliyun.com/zh/model-studio/context-cache, 2026-06). */
  readonly cache_creation_input_tokens?: number;
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: number };
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface CompletionTokensDetails {
  readonly reasoning_tokens?: number;
  readonly audio_tokens?: number;
  readonly image_tokens?: number;
}

/**
 * A message of a request or an answer, or a stream's delta of one
 * (developers.openai.com/api/reference/chat-completions, 2026-08).
 */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ChatPart[] | null;
  readonly refusal?: string | null;
  readonly name?: string;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly tool_call_id?: string;
  readonly function_call?: ChatFunction;
  readonly annotations?: readonly ChatAnnotation[];
  /** Cohere's citations, and Anthropic's of places in documents. */
  readonly citations?: readonly unknown[];
  /** The members of other vendors and formats. */
  readonly is_error?: boolean;
  readonly cache_control?: JsonObject;
  readonly prompt_cache_breakpoint?: JsonObject;
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly ChatReasoningDetail[];
  /** LiteLLM's. */
  readonly thinking_blocks?: readonly ChatThinkingBlock[];
  /** The phase of the message in `/responses`, and of those that follow it in the same answer. */
  readonly phase?: string;
  readonly phases?: readonly { readonly phase: string; readonly at: number }[];
  /** Pictures that the model made (openrouter.ai/docs/features/multimodal, 2026-08). */
  readonly images?: readonly { readonly image_url: ChatAddress }[];
}

/**
 * A part of a message, of any type (developers.openai.com/api/reference/chat-completions,
 * 2026-08).
 */
export interface ChatPart {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly image_url?: string | ChatAddress;
  readonly video_url?: string | ChatAddress;
  readonly file?: { readonly file_data?: string; readonly filename?: string };
  readonly input_audio?: { readonly data: string; readonly format: string };
  /** Mistral's (docs.mistral.ai/capabilities/document_ai, 2026-08). */
  readonly document_url?: string | ChatAddress;
  readonly document_name?: string;
  readonly cache_control?: JsonObject;
  readonly prompt_cache_breakpoint?: JsonObject;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface ChatAddress {
  readonly url: string;
  readonly detail?: string;
}

/**
 * A call, or a stream's delta of one (developers.openai.com/api/reference/chat-completions,
 * 2026-08).
 */
export interface ChatToolCall {
  readonly index?: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: ChatFunction;
  readonly custom?: ChatCustomCall;
  /** Data that the vendor wants back with the call (Gemini, for one). */
  readonly extra_content?: unknown;
  readonly cache_control?: JsonObject;
  readonly prompt_cache_breakpoint?: JsonObject;
}

/** A function or a call of one (developers.openai.com/api/reference/chat-completions, 2026-08). */
export interface ChatFunction {
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly strict?: boolean | null;
  readonly cache_control?: JsonObject;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
interface ChatCustomCall {
  readonly name: string;
  readonly input: string;
  readonly arguments?: string;
}

/** A tool, of any type (developers.openai.com/api/reference/chat-completions, 2026-08). */
export interface ChatTool {
  readonly type: string;
  readonly function?: ChatFunction;
  readonly cache_control?: JsonObject;
  /** The options of OpenRouter's tools. */
  readonly parameters?: SearchOptions;
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
export interface ChatToolChoice {
  readonly type: string;
  readonly name?: string;
  readonly function?: { readonly name: string };
  readonly allowed_tools?: {
    readonly mode: string;
    readonly tools: readonly ChatToolChoice[];
  };
}

/** developers.openai.com/api/reference/chat-completions, 2026-08. */
export interface ChatResponseFormat {
  readonly type: string;
  readonly json_schema?: { readonly schema?: JsonObject };
}

/** Signed or sealed thinking (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08). */
export interface ChatReasoningDetail {
  readonly type: string;
  readonly format?: string | null;
  readonly index?: number;
  readonly id?: string | null;
  readonly text?: string;
  readonly summary?: string;
  readonly signature?: string | null;
  readonly data?: string;
  /** Tollgate's: the numbers of characters of text and of calls before it. */
  readonly at?: number;
  readonly calls?: number;
}

/** Anthropic's thinking in LiteLLM's answers. */
export interface ChatThinkingBlock {
  readonly type: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
}

/**
 * The annotation of a page (developers.openai.com/api/reference/chat-completions, 2026-08).
 * Responses and some vendors have no member `url_citation`.
 */
export interface ChatAnnotation extends UrlCitation {
  readonly url_citation?: UrlCitation;
}

/** `content` is OpenRouter's. */
interface UrlCitation {
  readonly url: string;
  readonly title?: string;
  readonly start_index?: number;
  readonly end_index?: number;
  readonly content?: string;
}
