import {
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  stringOf,
  textOf,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import { unsignedCalls, withCallSignatures } from '../../conversation/call-signatures.ts';
import {
  effortFor,
  foreignEffort,
  isEffort,
  noteDropped,
  type ModelRules,
  type RequestEdits,
  fitMembers,
  refuseParam,
} from '../../support/rules.ts';
import { openaiToolChoice } from '../../support/fit.ts';
import type {
  ChatFunction,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatToolCall,
} from '../openai-chat/types.ts';
import { jsonHeaders } from '../json-request.ts';
import { chatTokensMax } from '../chat-limit.ts';
import type { ResponseItem } from './types.ts';

/**
 * OpenRouter's name for reasoning that OpenAI has sealed
 * (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08).
 */
const format = 'openai-responses-v1';

/**
 * The sealed part of a reasoning item as `reasoning_details`: a chat client that sends it back
 * gives the model its reasoning back. The readable part is sent as reasoning text.
 */
export function reasoningDetails(item: Documented<ResponseItem>, index: number): JsonObject[] {
  const id = textOf(item.id);
  const data = textOf(item.encrypted_content);
  return data ? [{ type: 'reasoning.encrypted', data, id, format, index }] : [];
}

/**
 * The reasoning items that an assistant's message brings back, in their order. Unsealed reasoning
 * is left out: the model cannot use it.
 */
function reasoningItems(message: Documented<ChatMessage>): JsonObject[] {
  const items: JsonObject[] = [];
  let summary: JsonObject[] = [];
  for (const detail of objectsOf(message.reasoning_details)) {
    if (detail.format !== format) continue;
    if (detail.type === 'reasoning.summary')
      summary.push({ type: 'summary_text', text: textOf(detail.summary) ?? '' });
    const data = textOf(detail.data);
    if (detail.type !== 'reasoning.encrypted' || !data) continue;
    const id = textOf(detail.id);
    items.push({ type: 'reasoning', ...(id ? { id } : {}), summary, encrypted_content: data });
    summary = [];
  }
  return items;
}

/**
 * The least that the endpoint takes (developers.openai.com/api/docs/api-reference/responses/create,
 * 2026-08).
 */
export const responsesOutputTokensMin = 16;

/** Members with the same name and meaning at both endpoints. */
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

/** Clients that send `functions` read calls from `function_call`, of which a turn has one. */
const whyNoFunctions = 'while it reasons, it takes functions as `tools` only.';

/**
 * Writes a chat request as one of `/responses`. The vendor stores nothing; the client gets sealed
 * reasoning to send back instead. Sampling is left out: models on this path reason and refuse it.
 */
export function chatOverResponsesRequest(
  call: VendorCall<ChatRequest>,
  rules: ModelRules,
): VendorRequest {
  const { body } = call;
  if (listOf(body.functions).length > 0) refuseParam('functions', call.publicModel, whyNoFunctions);
  const taken: RequestEdits = { changes: [], dropped: [] };
  fitMembers(body, call.publicModel, rules.members, taken);
  const foreign = rules.effort && foreignEffort(body, rules.effort);
  const effort = effortOf(body.reasoning_effort ?? foreign?.effort, rules);
  const text = textMembers(body);
  const choice = toolChoice(openaiToolChoice(body.tool_choice, undefined));
  const limit = chatTokensMax(call);
  const sent: JsonObject = {
    model: call.upstreamModel,
    input: inputItems(withCallSignatures(body.messages, call.signatures)),
    tools: listOf(body.tools).map(tool),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(Object.keys(text).length ? { text } : {}),
    ...(limit === undefined
      ? {}
      : { max_output_tokens: Math.max(responsesOutputTokensMin, limit) }),
    ...Object.fromEntries(
      carried.filter((name) => body[name] != null).map((name) => [name, body[name]]),
    ),
    ...(body.service_tier === 'auto' ? { service_tier: 'default' } : {}),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(call.streamUpstream ? { stream: true } : {}),
  };
  noteThoughts(body.messages, taken);
  noteNames(body.messages, taken);
  const { dropped } = taken;
  return {
    path: '/responses',
    headers: jsonHeaders,
    body: Buffer.from(JSON.stringify(sent)),
    ...(dropped.length === 0 ? {} : { dropped }),
  };
}

/** Notes reasoning of other vendors' models as dropped: it becomes no item here. */
function noteThoughts(messages: Documented<ChatRequest>['messages'], taken: RequestEdits): void {
  for (const message of objectsOf(messages)) {
    if (message.role !== 'assistant' || reasoningItems(message).length > 0) continue;
    for (const name of ['reasoning_content', 'reasoning'] as const)
      if (textOf(message[name])) noteDropped(`messages[].${name}`, taken);
    if (listOf(message.reasoning_details).length > 0)
      noteDropped('messages[].reasoning_details', taken);
  }
}

/** Notes the names of speakers as dropped: an item has none. */
function noteNames(messages: Documented<ChatRequest>['messages'], taken: RequestEdits): void {
  for (const { role, name } of objectsOf(messages))
    if (role !== 'tool' && role !== 'function' && textOf(name))
      noteDropped('messages[].name', taken);
}

/** The keys of calls that came back without the sealed reasoning before them. */
export const unsignedResponses = ({ body }: VendorCall<ChatRequest>): readonly string[] =>
  unsignedCalls(body.messages, (message) => reasoningItems(message).length > 0);

const effortOf = (requested: unknown, { effort }: ModelRules): string | undefined =>
  effort !== undefined && isEffort(requested) ? effortFor(effort, requested) : textOf(requested);

function textMembers(body: Documented<ChatRequest>): JsonObject {
  const requested = objectOf(body.response_format);
  const format =
    requested?.type === 'json_schema'
      ? { type: 'json_schema', ...objectOf(requested.json_schema) }
      : requested;
  const verbosity = textOf(body.verbosity);
  return { ...(format ? { format } : {}), ...(verbosity ? { verbosity } : {}) };
}

/** A tool of chat as one of Responses, whose members stand on the top level. */
function tool(value: unknown): unknown {
  if (!isObject(value)) return value;
  const type = textOf(value['type']) ?? 'function';
  const inner = objectOf(value[type]);
  if (!inner) return value;
  // Functions are not strict by default in chat, but strict in Responses.
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

/**
 * Chat's `messages` as a response's input items: instructions keep their place, calls and results
 * become items.
 */
function inputItems(messages: unknown): JsonObject[] {
  const custom = new Set<string>();
  const items: JsonObject[] = [];
  listOf(messages).forEach((message, i) => {
    if (!isObject(message)) return;
    const param = `messages[${i}]`;
    const { role } = message;
    if (role === 'assistant') items.push(...assistantItems(message, param, custom));
    else if (role === 'tool' || role === 'function') items.push(resultItem(message, param, custom));
    else
      items.push({
        type: 'message',
        role: role === 'system' || role === 'developer' ? role : 'user',
        content: contentOf(message, param),
      });
  });
  return items;
}

function assistantItems(
  message: Documented<ChatMessage>,
  param: string,
  custom: Set<string>,
): JsonObject[] {
  const items: JsonObject[] = reasoningItems(message);
  const said = spoken(message, param);
  items.push(...spokenItems(message, said));
  for (const call of objectsOf(message.tool_calls)) items.push(callItem(call, custom));
  const legacy = objectOf(message.function_call);
  if (legacy && textOf(legacy.name) !== '')
    items.push(functionCall(textOf(legacy.name) ?? '', legacy));
  return items;
}

/**
 * The content of an assistant's turn, divided into the model's own messages, each with its phase.
 */
function spokenItems(message: Documented<ChatMessage>, said: readonly JsonObject[]): JsonObject[] {
  if (said.length === 0) return [];
  const item = (phase: unknown, content: readonly JsonObject[]): JsonObject => ({
    type: 'message',
    role: 'assistant',
    ...(typeof phase === 'string' ? { phase } : {}),
    content,
  });
  const { content, phase } = message;
  const later = objectsOf(message.phases);
  if (later.length === 0 || typeof content !== 'string') return [item(phase, said)];
  const letters = [...content];
  const starts = [0, ...later.map(({ at }) => countOf(at) ?? 0)];
  return [phase, ...later.map((one) => one.phase)].flatMap((one, i) => {
    const text = letters.slice(starts[i], starts[i + 1]).join('');
    return text === '' ? [] : [item(one, [{ type: 'output_text', text }])];
  });
}

const functionCall = (callId: string, called: Documented<ChatFunction>): JsonObject => ({
  type: 'function_call',
  call_id: callId,
  name: textOf(called.name) ?? '',
  arguments: textOf(called.arguments) ?? '{}',
});

function callItem(call: Documented<ChatToolCall>, custom: Set<string>): JsonObject {
  const id = textOf(call.id) ?? '';
  const own = objectOf(call.custom);
  // Some servers write both members and leave one of them empty.
  if (!own || textOf(own.name) === '') return functionCall(id, objectOf(call.function) ?? {});
  custom.add(id);
  return {
    type: 'custom_tool_call',
    call_id: id,
    name: textOf(own.name) ?? '',
    input: textOf(own.input) ?? '',
  };
}

function resultItem(
  message: Documented<ChatMessage>,
  param: string,
  custom: ReadonlySet<string>,
): JsonObject {
  const callId = textOf(message.tool_call_id) ?? textOf(message.name) ?? '';
  const type = custom.has(callId) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: callId, output: contentOf(message, param) };
}

/** An assistant's content as the parts of an output message. */
function spoken(message: Documented<ChatMessage>, param: string): JsonObject[] {
  const { content } = message;
  const parts: JsonObject[] = [];
  if (typeof content === 'string' && content !== '')
    parts.push({ type: 'output_text', text: content });
  listOf(content).forEach((part, i) => {
    if (!isObject(part)) return;
    if (part.type === 'text') parts.push({ type: 'output_text', text: textOf(part.text) ?? '' });
    else if (part.type === 'refusal')
      parts.push({ type: 'refusal', refusal: textOf(part.refusal) ?? '' });
    else if (part.type !== 'thinking' && part.type !== 'redacted_thinking')
      refuseType(part, `${param}.content[${i}]`);
  });
  const refusal = textOf(message.refusal);
  if (refusal) parts.push({ type: 'refusal', refusal });
  return parts;
}

function contentOf({ content }: Documented<ChatMessage>, param: string): string | JsonObject[] {
  if (!Array.isArray(content)) return textOf(content) ?? '';
  return objectsOf(content).map((part, i) => inputPart(part, `${param}.content[${i}]`));
}

function inputPart(part: Documented<ChatPart>, param: string): JsonObject {
  const mark =
    part.prompt_cache_breakpoint === undefined
      ? {}
      : { prompt_cache_breakpoint: part.prompt_cache_breakpoint };
  if (part.type === 'text') return { type: 'input_text', text: textOf(part.text) ?? '', ...mark };
  if (part.type === 'image_url') {
    const image = objectOf(part.image_url);
    return {
      type: 'input_image',
      image_url: image?.url ?? part.image_url,
      detail: textOf(image?.detail) ?? 'auto',
      ...mark,
    };
  }
  if (part.type === 'file') return { type: 'input_file', ...objectOf(part.file), ...mark };
  return refuseType(part, param);
}

function refuseType(part: Documented<ChatPart>, param: string): never {
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `this model takes no content of type '${stringOf(part.type)}' beside tools.`,
  });
}
