import type { Quantities } from '../../base/quantities.ts';
import type { VendorCall } from '../adapter.ts';
import {
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  type Unchecked,
} from '../../base/json.ts';
import type {
  CreateResponse,
  ResponseTextFormat,
  ResponseTool,
} from '../formats/openai-responses/types.ts';
import { responsesUsage } from '../conversation/client-usage.ts';

type ResponseObjectStatus =
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'queued'
  | 'cancelled';

export type IncompleteReason = 'max_output_tokens' | 'content_filter';

/** Why an answer with this finish reason of chat is incomplete; undefined: it is complete. */
export function incompleteReason(finish: unknown): IncompleteReason | undefined {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? 'content_filter' : undefined;
}

/** The state of a response: the members that do not come from the request. */
export interface ResponseState {
  readonly status: ResponseObjectStatus;
  readonly output: readonly JsonObject[];
  readonly quantities?: Quantities | undefined;
  readonly incomplete?: IncompleteReason | undefined;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * A response with every member that the format requires, in OpenAI's order: the request's members,
 * with their defaults, and the state.
 */
export function responseObject(
  call: Pick<VendorCall<CreateResponse>, 'answerId' | 'created' | 'publicModel' | 'body'>,
  state: ResponseState,
): JsonObject {
  const { body } = call;
  const { status, output, quantities, incomplete, error } = state;
  const reasoning = objectOf(body.reasoning);
  const text = objectOf(body.text);
  return {
    id: call.answerId,
    object: 'response',
    created_at: call.created,
    status,
    background: body.background === true,
    // Adapters have no clock: the time of the beginning stands for the end.
    completed_at: status === 'completed' ? call.created : null,
    error: error ?? null,
    frequency_penalty: body.frequency_penalty ?? 0,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: call.publicModel,
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier:
      body.service_tier === undefined || body.service_tier === 'auto'
        ? 'default'
        : (body.service_tier ?? 'default'),
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { ...text, format: formatWithDefaults(objectOf(text?.format)) },
    tool_choice: body.tool_choice ?? 'auto',
    tools: listOf(body.tools).map(toolWithDefaults),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    usage: quantities === undefined ? null : responsesUsage(quantities),
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  };
}

function formatWithDefaults(format: Documented<ResponseTextFormat> | undefined): unknown {
  if (format?.type !== 'json_schema') return format ?? { type: 'text' };
  return {
    ...format,
    description: format.description ?? null,
    strict: format.strict ?? false,
  };
}

function toolWithDefaults(value: Unchecked<ResponseTool>): unknown {
  const tool = objectOf(value);
  if (tool?.type !== 'function') return value;
  return { description: null, parameters: null, strict: true, ...tool };
}
