import type { JsonObject } from '../../../base/json.ts';
import type { ChatAnnotation, LiveSearch } from '../openai-chat/types.ts';

/**
 * The JSON of OpenAI's Responses, and of the vendors that extend it. Here are the members that are
 * read.
 */

/**
 * The body of `/v1/responses` (developers.openai.com/api/docs/api-reference/responses/create,
 * 2026-08).
 */
export interface CreateResponse {
  readonly input?: string | readonly ResponseItem[];
  readonly instructions?: string | null;
  readonly tools?: readonly ResponseTool[];
  readonly tool_choice?: string | ResponseToolChoice;
  readonly parallel_tool_calls?: boolean | null;
  readonly max_tool_calls?: number | null;
  readonly max_output_tokens?: number | null;
  readonly reasoning?: ResponseReasoning | null;
  readonly text?: ResponseText;
  readonly include?: readonly string[] | null;
  readonly top_logprobs?: number | null;
  readonly store?: boolean | null;
  readonly background?: boolean | null;
  readonly previous_response_id?: string | null;
  readonly service_tier?: string | null;
  readonly prompt?: JsonObject | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly presence_penalty?: number | null;
  readonly frequency_penalty?: number | null;
  readonly truncation?: string | null;
  readonly prompt_cache_key?: string | null;
  readonly prompt_cache_retention?: string | null;
  readonly safety_identifier?: string | null;
  readonly user?: string | null;
  readonly metadata?: JsonObject | null;
  /** xAI's (docs.x.ai/docs/guides/live-search, 2026-08). */
  readonly search_parameters?: LiveSearch;
}

/** developers.openai.com/api/docs/guides/reasoning, 2026-08. */
interface ResponseReasoning {
  readonly effort?: string | null;
  readonly summary?: string | null;
  /** The older name of `summary`. */
  readonly generate_summary?: string | null;
}

/** developers.openai.com/api/docs/api-reference/responses/create, 2026-08. */
interface ResponseText {
  readonly format?: ResponseTextFormat;
  readonly verbosity?: string | null;
}

/** developers.openai.com/api/docs/api-reference/responses/create, 2026-08. */
export interface ResponseTextFormat {
  readonly type: string;
  readonly description?: string | null;
  readonly strict?: boolean | null;
}

/** A tool, of any type (developers.openai.com/api/docs/guides/tools, 2026-08). */
export interface ResponseTool {
  readonly type: string;
  readonly name?: string;
  readonly description?: string;
  readonly parameters?: JsonObject | null;
  readonly strict?: boolean | null;
  /** Of a custom tool. */
  readonly format?: {
    readonly type: string;
    readonly syntax?: string;
    readonly definition?: string;
  };
  /** Of a search for tools. */
  readonly execution?: string;
  /** Of a namespace. */
  readonly tools?: readonly ResponseTool[];
  readonly container?: string | ResponseContainer;
  readonly environment?: ResponseContainer;
  /** Of the tool that makes images. */
  readonly model?: string;
  readonly input_image_mask?: { readonly file_id?: string };
}

/** developers.openai.com/api/docs/guides/tools, 2026-08. */
export interface ResponseContainer {
  readonly type?: string;
  readonly container_id?: string;
  readonly file_ids?: readonly string[];
  readonly skills?: readonly unknown[];
  readonly memory_limit?: string | null;
}

/** developers.openai.com/api/docs/api-reference/responses/create, 2026-08. */
export interface ResponseToolChoice {
  readonly type: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly mode?: string;
  readonly tools?: readonly ResponseToolChoice[];
}

/**
 * An item of the input or the output, of any type
 * (developers.openai.com/api/docs/api-reference/responses, 2026-08).
 */
export interface ResponseItem {
  readonly id?: string;
  readonly type?: string;
  readonly status?: string;
  readonly role?: string;
  readonly content?: string | readonly ResponsePart[];
  readonly phase?: string;
  /** Of a call and its result. */
  readonly call_id?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly arguments?: string;
  readonly input?: string;
  /** Of the code interpreter. */
  readonly code?: string | null;
  readonly output?: string | readonly ResponsePart[];
  /** Of reasoning. */
  readonly summary?: readonly ResponsePart[];
  readonly encrypted_content?: string | null;
  /** OpenRouter's (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08). */
  readonly format?: string;
  /** Of items that bring tools. */
  readonly tools?: readonly ResponseTool[];
  /** Of calls of the vendor's tools. */
  readonly action?: { readonly type: string };
  readonly container_id?: string;
  readonly environment?: ResponseContainer;
  readonly size?: string;
  readonly quality?: string;
  /** Tollgate's extension: data of another vendor that belong to a call. */
  readonly extra_content?: unknown;
  /** The place of a stream's item, which some vendors leave in the item. */
  readonly item_id?: string;
  readonly output_index?: number;
}

/**
 * A part of an item's content, of any type
 * (developers.openai.com/api/docs/api-reference/responses, 2026-08).
 */
export interface ResponsePart {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly annotations?: readonly ChatAnnotation[];
  readonly image_url?: string | null;
  readonly detail?: string;
  readonly file_data?: string | null;
  readonly file_url?: string | null;
  readonly filename?: string | null;
  readonly input_audio?: JsonObject;
  readonly prompt_cache_breakpoint?: JsonObject | null;
}

/** An answer (developers.openai.com/api/docs/api-reference/responses, 2026-08). */
export interface ResponseResource {
  readonly id: string;
  readonly created_at: number;
  readonly status: string;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly output: readonly ResponseItem[];
  readonly usage?: ResponseUsage | null;
  readonly service_tier?: string;
  readonly tool_usage?: ResponseToolUsage | null;
}

/** The OpenAPI description (ResponseUsage, 2026-11), with chat's names at some vendors. */
export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details?: ResponseTokensDetails;
  readonly output_tokens: number;
  readonly output_tokens_details?: ResponseTokensDetails;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: ResponseTokensDetails;
  readonly completion_tokens_details?: ResponseTokensDetails;
  /** docs.x.ai/docs/guides/tools/overview, recorded 2026-08. */
  readonly server_side_tool_usage_details?: ServerSideToolUsage;
}

/** The OpenAPI description (ResponseUsage, 2026-11). */
interface ResponseTokensDetails {
  readonly image_tokens?: number;
  readonly text_tokens?: number;
}

/** docs.x.ai/docs/guides/tools/overview, recorded 2026-08. */
export interface ServerSideToolUsage {
  readonly web_search_calls?: number;
  readonly x_search_calls?: number;
  readonly file_search_calls?: number;
  readonly document_search_calls?: number;
  readonly code_interpreter_calls?: number;
  readonly mcp_calls?: number;
  readonly image_generation_calls?: number;
}

/** The OpenAPI description (Response, 2026-11; recorded 2026-08). */
interface ResponseToolUsage {
  readonly web_search?: { readonly num_requests: number };
  readonly image_gen?: ResponseUsage;
}

/** A stream's event, of any type (developers.openai.com/api/reference/responses, 2026-08). */
export interface ResponseStreamEvent {
  readonly type: string;
  readonly response?: ResponseResource;
  readonly item?: ResponseItem;
  readonly output_index?: number;
  readonly summary_index?: number;
  readonly content_index?: number;
  readonly item_id?: string;
  readonly delta?: string;
  readonly arguments?: string;
  readonly annotation?: ChatAnnotation;
  readonly error?: JsonObject;
}
