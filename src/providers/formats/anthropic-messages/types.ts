import type { JsonObject } from '../../../base/json.ts';

/**
 * Anthropic's JSON, with the names of its documents. Here are the members that are read.
 */

/** The body of `/v1/messages` (platform.claude.com/docs/en/api/messages, 2026-11). */
export interface CreateMessageParams {
  readonly messages: readonly InputMessage[];
  readonly system?: string | readonly InputContentBlock[];
  readonly max_tokens: number;
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly thinking?: ThinkingConfig;
  readonly output_config?: OutputConfig;
  /** The beta name of `output_config.format`. */
  readonly output_format?: JsonOutputFormat;
  readonly tools?: readonly MessageTool[];
  readonly tool_choice?: MessageToolChoice;
  readonly mcp_servers?: readonly unknown[];
  readonly container?: string | MessageContainer;
  readonly context_management?: ContextManagement;
  readonly fallbacks?: readonly FallbackModel[];
  readonly service_tier?: string;
  readonly speed?: string;
  readonly inference_geo?: string;
}

/** platform.claude.com/docs/en/api/messages, 2026-11. */
export interface InputMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly InputContentBlock[];
}

/**
 * A block of a request, of any type (platform.claude.com/docs/en/api/messages, 2026-11).
 */
export interface InputContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly cache_control?: JsonObject;
  /** Of a text: its citations. Of a document or search result: a request for them. */
  readonly citations?: readonly MessageCitation[] | { readonly enabled?: boolean };
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  /** Of an image or a document. A search result has an address. */
  readonly source?: BlockSource | string;
  readonly title?: string;
  readonly context?: string;
  /** The content of a tool's result or of a search result. */
  readonly content?: string | readonly InputContentBlock[];
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly tool_name?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: JsonObject;
  /** Tollgate's extension: data of another vendor that belong to a call. */
  readonly extra_content?: unknown;
}

/** platform.claude.com/docs/en/build-with-claude/vision and …/pdf-support, 2026-11. */
export interface BlockSource {
  readonly type: string;
  readonly media_type?: string;
  readonly data?: string;
  readonly url?: string;
  readonly content?: string | readonly InputContentBlock[];
}

/** platform.claude.com/docs/en/build-with-claude/extended-thinking, 2026-11. */
export interface ThinkingConfig {
  readonly type: string;
  readonly budget_tokens?: number;
  readonly display?: string;
}

/** platform.claude.com/docs/en/build-with-claude/structured-outputs, 2026-11. */
interface OutputConfig {
  readonly effort?: string;
  readonly format?: JsonOutputFormat;
}

/** platform.claude.com/docs/en/build-with-claude/structured-outputs, 2026-11. */
interface JsonOutputFormat {
  readonly type: string;
  readonly schema: JsonObject;
}

/**
 * A tool of the client or of Anthropic
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/overview, 2026-11).
 */
export interface MessageTool {
  readonly type?: string;
  readonly name?: string;
  readonly description?: string;
  readonly input_schema?: JsonObject;
  readonly strict?: boolean;
  readonly cache_control?: JsonObject;
  readonly max_uses?: number;
  /** Of the advisor. */
  readonly model?: string;
  readonly max_tokens?: number;
}

/** platform.claude.com/docs/en/agents-and-tools/tool-use/overview, 2026-11. */
export interface MessageToolChoice {
  readonly type: string;
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean;
}

/** platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools, 2026-11. */
interface MessageContainer {
  readonly id?: string;
  readonly skills?: readonly { readonly type: string }[];
}

/** platform.claude.com/docs/en/build-with-claude/context-editing, 2026-11. */
interface ContextManagement {
  readonly edits?: readonly { readonly type: string }[];
}

/** platform.claude.com/docs/en/build-with-claude/refusals-and-fallback, 2026-11. */
interface FallbackModel {
  readonly model: string;
}

/** An answer of `/v1/messages` (platform.claude.com/docs/en/api/messages, 2026-11). */
export interface MessageAnswer {
  readonly id: string;
  readonly type: 'message';
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly stop_details?: RefusalStopDetails | null;
  readonly container?: JsonObject | null;
  readonly usage: MessageUsage;
}

/** An answer's block, of any type (platform.claude.com/docs/en/api/messages, 2026-11). */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly citations?: readonly MessageCitation[] | null;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  /** The result of a tool that Anthropic ran: one object, or a list of what was found. */
  readonly content?: { readonly type: string } | readonly unknown[];
}

/** platform.claude.com/docs/en/build-with-claude/citations, 2026-11. */
export interface MessageCitation {
  readonly url?: string;
  readonly source?: string;
  readonly title?: string | null;
  readonly cited_text?: string;
  readonly encrypted_index?: string;
}

/** platform.claude.com/docs/en/build-with-claude/handling-stop-reasons, 2026-11. */
interface RefusalStopDetails {
  readonly explanation?: string | null;
}

/**
 * The counts of an answer, whole or in an event
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11).
 */
export interface MessageUsage extends IterationUsage {
  readonly server_tool_use?: ServerToolUsage | null;
  readonly speed?: string | null;
  readonly iterations?: readonly IterationUsage[] | null;
}

/**
 * The counts of one call of a model (platform.claude.com/docs/en/build-with-claude/compaction,
 * 2026-11).
 */
export interface IterationUsage {
  readonly type?: string;
  readonly model?: string;
  readonly input_tokens: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens: number } | null;
  readonly output_tokens: number;
  readonly output_tokens_details?: { readonly thinking_tokens: number } | null;
}

/** platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools, 2026-11. */
interface ServerToolUsage {
  readonly web_search_requests: number;
  readonly web_fetch_requests: number;
}

/** An event, of any type (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11). */
export interface MessageStreamEvent {
  readonly type: string;
  readonly message?: MessageAnswer;
  readonly index?: number;
  readonly content_block?: ContentBlock;
  readonly delta?: ContentBlockDelta & MessageDelta;
  readonly usage?: MessageUsage;
}

/** platform.claude.com/docs/en/build-with-claude/streaming, 2026-11. */
export interface ContentBlockDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly partial_json?: string;
  readonly signature?: string;
  readonly citation?: MessageCitation;
}

/** platform.claude.com/docs/en/build-with-claude/streaming, 2026-11. */
export type MessageDelta = Pick<MessageAnswer, 'stop_reason' | 'stop_details' | 'container'>;
