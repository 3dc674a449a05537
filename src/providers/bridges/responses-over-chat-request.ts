import { refuse } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { chatMessages } from './responses-over-chat-input.ts';
import { chatChoice, chatTools } from './responses-over-chat-tools.ts';

/** Members that chat knows by the same name and meaning. */
const carried = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
] as const;

/** A request for a response as a chat completion (wire-formats §1.7). What a chat model has no word for is refused by its place. */
export function chatBody(call: Call): JsonObject {
  const { body } = call;
  refuseUncarried(body);
  const { format, verbosity } = objectOf(body['text']) ?? {};
  const effort = textOf(objectOf(body['reasoning'])?.['effort']);
  const tools = chatTools(body);
  const choice = tools.length ? chatChoice(body['tool_choice']) : undefined;
  const sent: Record<string, unknown> = {
    model: call.publicModel,
    messages: chatMessages(body),
    tools: tools.length ? tools : undefined,
    tool_choice: choice,
    response_format: formatOf(format),
    verbosity: typeof verbosity === 'string' ? verbosity : undefined,
    reasoning_effort: effort,
    max_completion_tokens: body['max_output_tokens'] ?? undefined,
    ...logprobs(body),
    stream: call.stream ? true : undefined,
    stream_options: call.stream ? { include_usage: true } : undefined,
  };
  for (const name of carried)
    if (body[name] != null && (name !== 'parallel_tool_calls' || tools.length))
      sent[name] = body[name];
  if (typeof body['service_tier'] === 'string' && body['service_tier'] !== 'auto')
    sent['service_tier'] = body['service_tier'];
  return sent;
}

function refuseUncarried(body: JsonObject): void {
  if (body['prompt'] != null)
    refuse('invalid_value', {
      param: 'prompt',
      why: 'stored prompts are not available for this model.',
    });
  if (body['context_management'] != null && listOf(body['context_management']).length)
    refuse('invalid_value', {
      param: 'context_management',
      why: 'it is not available for this model.',
    });
}

function formatOf(value: unknown): JsonObject | undefined {
  if (!isObject(value) || value['type'] === 'text') return undefined;
  if (value['type'] !== 'json_schema') return value;
  const { type, ...schema } = value;
  return { type, json_schema: schema };
}

function logprobs(body: JsonObject): JsonObject {
  const top = body['top_logprobs'];
  const asked =
    listOf(body['include']).includes('message.output_text.logprobs') ||
    (typeof top === 'number' && top > 0);
  return asked ? { logprobs: true, ...(typeof top === 'number' ? { top_logprobs: top } : {}) } : {};
}
