import type { Ask, Call } from '../adapter.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';
import { inputItems } from './openai-responses-chat-input.ts';
import { reasoningItems } from './openai-responses-reasoning.ts';
import { unsignedCalls, withSignatures } from './signatures.ts';
import { effortFor, foreignWish, isEffort } from '../takes/effort.ts';
import { openaisChoice } from '../takes/tools.ts';
import { note, type Rules, type Taken, takeMembers } from '../takes/rules.ts';

const headers = { 'content-type': 'application/json' } as const;
/**
 * The least that the endpoint takes (developers.openai.com/api/docs/api-reference/responses/create,
 * 2026-08).
 */
const outputTokensLeast = 16;

/** Members that both endpoints know by the same name and meaning. */
const carried = [
  'metadata',
  'parallel_tool_calls',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'user',
] as const;

/**
 * A chat request as one of `/responses` (wire-formats §5.2). Nothing is kept at the vendor;
 * reasoning comes sealed instead, for the client to bring back. Sampling is left out: where this
 * way is taken, the model reasons and refuses it (row 62c).
 */
export function askResponses(call: Call, rules: Rules): Ask {
  const { body } = call;
  const taken: Taken = { changes: [], dropped: [] };
  takeMembers(body, call.publicModel, rules.members, taken);
  const wish = rules.effort && foreignWish(body, rules.effort);
  const effort = effortOf(body['reasoning_effort'] ?? wish?.effort, rules);
  const text = textMembers(body);
  const choice = toolChoice(openaisChoice(body['tool_choice'], undefined) ?? body['function_call']);
  const limit = limitOf(call);
  const sent: JsonObject = {
    model: call.upstreamModel,
    input: inputItems(withSignatures(body['messages'], call.signatures)),
    tools: [
      ...listOf(body['tools']).map(tool),
      ...listOf(body['functions']).map((fn) => tool({ type: 'function', function: fn })),
    ],
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(Object.keys(text).length ? { text } : {}),
    ...(limit === undefined ? {} : { max_output_tokens: limit }),
    ...Object.fromEntries(
      carried.filter((name) => body[name] != null).map((name) => [name, body[name]]),
    ),
    ...(body['service_tier'] === 'auto' ? { service_tier: 'default' } : {}),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(call.streamUpstream ? { stream: true } : {}),
  };
  noteThoughts(body['messages'], taken);
  const { dropped } = taken;
  return {
    path: '/responses',
    headers,
    body: Buffer.from(JSON.stringify(sent)),
    ...(dropped.length === 0 ? {} : { dropped }),
  };
}

/** Thoughts of other vendors' models are no item here. */
function noteThoughts(messages: unknown, taken: Taken): void {
  for (const message of listOf(messages)) {
    if (!isObject(message) || message['role'] !== 'assistant' || reasoningItems(message).length > 0)
      continue;
    for (const name of ['reasoning_content', 'reasoning'] as const)
      if (textOf(message[name])) note(`messages[].${name}`, taken);
    if (listOf(message['reasoning_details']).length > 0)
      note('messages[].reasoning_details', taken);
  }
}

/** Calls that came back without the sealed reasoning before them. */
export const unsignedResponses = ({ body }: Call): readonly string[] =>
  unsignedCalls(body['messages'], (message) => reasoningItems(message).length > 0);

const effortOf = (asked: unknown, { effort }: Rules): string | undefined =>
  effort !== undefined && isEffort(asked) ? effortFor(effort, asked) : textOf(asked);

/** Of two limits `max_completion_tokens` wins (row 16); money may be the tighter one. */
function limitOf({ body, outputTokensMax }: Call): number | undefined {
  const asked = countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']);
  const limit = asked === undefined ? outputTokensMax : Math.min(asked, outputTokensMax ?? asked);
  return limit === undefined ? undefined : Math.max(outputTokensLeast, limit);
}

function textMembers(body: JsonObject): JsonObject {
  const asked = objectOf(body['response_format']);
  const format =
    asked?.['type'] === 'json_schema'
      ? { type: 'json_schema', ...objectOf(asked['json_schema']) }
      : asked;
  const verbosity = textOf(body['verbosity']);
  return { ...(format ? { format } : {}), ...(verbosity ? { verbosity } : {}) };
}

/** Tools lie flat here; chat keeps them in a member of their type's name. */
function tool(value: unknown): unknown {
  if (!isObject(value)) return value;
  const type = textOf(value['type']) ?? 'function';
  const inner = objectOf(value[type]);
  if (!inner) return value;
  // Chat takes a function as it is unless told to be strict; here it is the other way round.
  if (type === 'function') return { type, strict: false, parameters: {}, ...inner };
  const format = objectOf(inner['format']);
  const grammar = objectOf(format?.['grammar']);
  return { type, ...inner, ...(grammar ? { format: { type: 'grammar', ...grammar } } : {}) };
}

function toolChoice(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const type = textOf(value['type']) ?? 'function';
  const inner = objectOf(value[type]);
  if (type === 'allowed_tools' && inner)
    return {
      type,
      mode: inner['mode'],
      tools: listOf(inner['tools']).map((one) => toolChoice(one)),
    };
  return { type, name: textOf(inner?.['name']) ?? textOf(value['name']) ?? '' };
}
