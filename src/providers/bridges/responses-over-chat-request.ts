import type { Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { andDropped, leftOut, responsesToChat } from '../takes/translated.ts';
import { chatMessages, itemsLeftOut } from './responses-over-chat-input.ts';
import { chatChoice, chatTools, isToolSearch } from './responses-over-chat-tools.ts';

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

/**
 * The members that chat has no word for, and the items of another vendor's tools. Throws the
 * Refusal of a member that changes the meaning.
 */
export const leftOutOfChat = ({ body, publicModel }: Call): readonly string[] | undefined =>
  andDropped(leftOut(body, publicModel, responsesToChat), [
    ...searchesLeftOut(body['tools']),
    ...itemsLeftOut(body['input']),
    ...reasoningLeftOut(body['reasoning']),
  ]);

/** Of `reasoning` chat has the effort. A model that is told one tells its thoughts: the summary. */
function reasoningLeftOut(reasoning: unknown): string[] {
  const wishes = Object.entries(objectOf(reasoning) ?? {}).filter(([, value]) => value != null);
  const has = new Set(
    wishes.some(([name]) => name === 'effort') ? ['effort', 'summary', 'generate_summary'] : [],
  );
  return wishes
    .filter(([name, value]) => !has.has(name) && !(name === 'context' && value === 'auto'))
    .map(([name]) => `reasoning.${name}`);
}

const searchesLeftOut = (tools: unknown): string[] =>
  listOf(tools).some((tool) => isObject(tool) && isToolSearch(tool)) ? ['tools[].tool_search'] : [];

/**
 * A request for a response as a chat completion (wire-formats §1.7). What a chat model has no word
 * for is refused by its place.
 */
export function chatBody(call: Call): JsonObject {
  const { body } = call;
  const { format, verbosity } = objectOf(body['text']) ?? {};
  const effort = textOf(objectOf(body['reasoning'])?.['effort']);
  const tools = chatTools(call);
  const choice = tools.length ? chatChoice(body['tool_choice'], call.publicModel) : undefined;
  const sent: Record<string, unknown> = {
    model: call.publicModel,
    messages: chatMessages(call),
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
