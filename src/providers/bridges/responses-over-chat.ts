import {
  type Documented,
  objectOf,
  objectsOf,
  isObject,
  type JsonObject,
  listOf,
  stringOf,
  textOf,
  type Unchecked,
} from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';
import type { Adapter, VendorCall } from '../adapter.ts';
import type {
  CreateResponse,
  ResponseItem,
  ResponsePart,
  ResponseTextFormat,
} from '../formats/openai-responses/types.ts';
import { movedDetail } from '../formats/anthropic-messages/reasoning.ts';
import { characters } from '../conversation/citations.ts';
import { refuseParam } from '../support/rules.ts';
import { withDropped, droppedMembers, responsesToChat } from '../support/unsupported.ts';
import { bridgeOver, type PathNames } from './bridge.ts';
import { responseAnswer } from './responses-over-chat-answer.ts';
import {
  openReasoning,
  chatChoice,
  chatTools,
  isToolSearch,
  toolBearingItems,
  chatName,
  customInput,
} from './responses-over-chat-items.ts';
import { ResponsesOverChatStream } from './responses-over-chat-stream.ts';

/** `/v1/responses` for models whose vendor has chat. `marks`: its chat reads `cache_control`. */
export function responsesOverChat(chat: Adapter, marks = false): Adapter {
  return bridgeOver(chat, {
    toChat: (call) => responsesAsChat(call, marks),
    answer: responseAnswer,
    stream: (call, translator) => new ResponsesOverChatStream(call, translator),
    names: namesOf,
  });
}

const names = {
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
  messages: 'input',
  'messages[].reasoning_content': 'input[].reasoning',
  'messages[].reasoning_details': 'input[].reasoning',
};

/** A vendor that drops the effort also drops the summary of the reasoning. */
const namesOf = ({ body }: VendorCall<CreateResponse>): PathNames => {
  const { summary, generate_summary: older } = objectOf(body.reasoning) ?? {};
  return summary == null && older == null ? names : { ...names, reasoning_effort: 'reasoning' };
};

/**
 * The same request as a chat completion. Throws the Refusal of a member that chat cannot express.
 */
export function responsesAsChat(call: VendorCall<CreateResponse>, marks = false): VendorCall {
  const body = chatBody(call, marks);
  const answerId = call.answerId.replace(/^resp_/, 'chatcmpl-');
  const dropped = droppedFromResponses(call);
  return {
    ...call,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    includeUsage: true,
    answerId,
    dropped,
  };
}

/**
 * Items of tools that a vendor ran for an earlier answer, whose text holds their results. A
 * conversation that continues on another vendor is sent without them
 * (developers.openai.com/api/docs/guides/tools, 2026-08).
 */
const hostedToolItems = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'tool_search_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/** The items of the input that are left out, by name. */
function droppedItems(input: Documented<CreateResponse>['input']): string[] {
  const paths = new Set<string>();
  for (const item of objectsOf(input)) {
    if (hostedToolItems.has(stringOf(item.type))) paths.add(`input[].${stringOf(item.type)}`);
    if (typeof item.phase === 'string') paths.add('input[].phase');
    // This vendor cannot read content that another vendor has encrypted.
    const sealed = item.type === 'reasoning' ? textOf(item.encrypted_content) : undefined;
    if (sealed && openReasoning(sealed).length === 0) paths.add('input[].encrypted_content');
  }
  return [...paths];
}

/** A message of an assistant while items are added to it. */
type Draft = Record<string, unknown> & { readonly role: string };

/** Chat's messages while items are added to them. */
interface Conversation {
  readonly messages: Draft[];
  /** By the id of a call: the message with the latest call of this id, and how many it has. */
  readonly callers: Map<string, { readonly message: Draft; count: number }>;
  /** The results of a message's calls, by the id of the call. */
  readonly results: Map<Draft, Map<string, Draft[]>>;
}

/** The characters in the text of a message: counted once, since its items may be many. */
const textLengths = new WeakMap<Draft, number>();

function listIn(into: Draft, name: 'tool_calls' | 'reasoning_details'): unknown[] {
  const list = into[name];
  if (Array.isArray(list)) return list;
  const made: unknown[] = [];
  into[name] = made;
  return made;
}

/**
 * `instructions` and `input` as chat's messages. Consecutive reasoning, text and calls of the
 * assistant become one message.
 */
function chatMessages(
  { body, publicModel: model }: Pick<VendorCall<CreateResponse>, 'body' | 'publicModel'>,
  marks: boolean,
): JsonObject[] {
  const messages: Draft[] = [];
  const instructions = textOf(body.instructions);
  if (instructions) messages.push({ role: 'system', content: instructions });
  const { input } = body;
  if (typeof input === 'string') messages.push({ role: 'user', content: input });
  const conversation: Conversation = { messages, callers: new Map(), results: new Map() };
  listOf(input).forEach((item, i) => {
    if (isObject(item)) addItem(conversation, item, { param: `input[${i}]`, model, marks });
  });
  const { results } = conversation;
  if (results.size === 0) return messages;
  return messages.flatMap((message) => [
    message,
    ...[...(results.get(message)?.values() ?? [])].flat(),
  ]);
}

interface ItemPlace {
  readonly param: string;
  /** The model's public name, for refusals. */
  readonly model: string;
  /** Marks of the cache are written. */
  readonly marks: boolean;
}

function addItem(into: Conversation, item: Documented<ResponseItem>, place: ItemPlace): void {
  const type = textOf(item.type) ?? (item.role === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message':
      return addMessage(into, item, place);
    case 'reasoning':
      return addReasoning(into, item);
    case 'function_call':
      return addCall(into, item, textOf(item.arguments) ?? '{}');
    case 'custom_tool_call':
      return addCall(into, item, JSON.stringify({ [customInput]: textOf(item.input) ?? '' }));
    case 'function_call_output':
    case 'custom_tool_call_output':
      return addResult(into, item, place);
    default:
      if (!hostedToolItems.has(type) && !toolBearingItems.has(type))
        refuseParam(`${place.param}.type`, place.model, `it knows no items of type '${type}'.`);
  }
}

/** The assistant's message to which items are added: the last one, until its calls have results. */
function assistant({ messages, results }: Conversation): Draft {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !results.has(last)) return last;
  const made: Draft = { role: 'assistant', content: null };
  messages.push(made);
  return made;
}

function addMessage(
  conversation: Conversation,
  item: Documented<ResponseItem>,
  place: ItemPlace,
): void {
  const role = textOf(item.role) ?? 'user';
  const { content } = item;
  if (role !== 'assistant') {
    conversation.messages.push({
      // Not every vendor knows the role `developer` in chat (api-docs.deepseek.com,
      // create-chat-completion, 2026-11: refused); all know `system`.
      role: role === 'developer' ? 'system' : role,
      content: typeof content === 'string' ? content : partsFrom(content, 'content', place),
    });
    return;
  }
  const into = assistant(conversation);
  const parts: readonly Documented<ResponsePart>[] =
    typeof content === 'string' ? [{ text: content }] : objectsOf(content);
  const text = parts.map((part) => textOf(part.text) ?? '').join('');
  const refusal = parts.map((part) => textOf(part.refusal) ?? '').join('');
  if (text) {
    into['content'] = (textOf(into['content']) ?? '') + text;
    textLengths.set(into, (textLengths.get(into) ?? 0) + characters(text));
  }
  if (refusal) into['refusal'] = refusal;
  else into['content'] ??= '';
}

function addCall(conversation: Conversation, item: Documented<ResponseItem>, args: string): void {
  const into = assistant(conversation);
  const id = textOf(item.call_id) ?? '';
  const before = conversation.callers.get(id);
  if (before?.message === into) before.count++;
  else conversation.callers.set(id, { message: into, count: 1 });
  const extra = item.extra_content === undefined ? {} : { extra_content: item.extra_content };
  const call = {
    id,
    type: 'function',
    function: { name: chatName(item), arguments: args },
    ...extra,
  };
  listIn(into, 'tool_calls').push(call);
}

/**
 * Responses take the result of a call anywhere after the call, and again; chat takes it directly
 * after the message with the call, once. Calls of one message may have one id. Semantic Kernel 1.45
 * continues a stored response with the question and all results so far
 * (responses_agent_thread_actions.py: `invoke`).
 */
function addResult(
  { messages, callers, results }: Conversation,
  item: Documented<ResponseItem>,
  place: ItemPlace,
): void {
  const { output } = item;
  const content = typeof output === 'string' ? output : partsFrom(output, 'output', place);
  const id = textOf(item.call_id) ?? '';
  const result = { role: 'tool', tool_call_id: id, content };
  const caller = callers.get(id);
  if (caller === undefined) {
    messages.push(result);
    return;
  }
  const all = results.get(caller.message) ?? new Map<string, Draft[]>();
  const same = all.get(id) ?? [];
  if (same.length === caller.count) same.pop();
  same.push(result);
  results.set(caller.message, all.set(id, same));
}

/** Adds reasoning from earlier answers, with the details that Tollgate sealed. */
function addReasoning(conversation: Conversation, item: Documented<ResponseItem>): void {
  const parts = [...objectsOf(item.content), ...objectsOf(item.summary)];
  const text = parts.map((part) => textOf(part.text) ?? '').join('\n\n');
  const details = openReasoning(textOf(item.encrypted_content));
  if (text === '' && details.length === 0) return;
  const into = assistant(conversation);
  if (text) into['reasoning_content'] = (textOf(into['reasoning_content']) ?? '') + text;
  if (details.length === 0) return;
  const at = textLengths.get(into) ?? 0;
  const calls = listOf(into['tool_calls']).length;
  const all = listIn(into, 'reasoning_details');
  for (const detail of details) all.push(movedDetail(detail, at, calls));
}

/**
 * The parts of a content in chat's form. OpenAI's marks of the cache are written as Anthropic's,
 * which vendors with such marks read.
 */
function partsFrom(
  content: unknown,
  member: 'content' | 'output',
  { param, marks }: ItemPlace,
): JsonObject[] {
  return listOf(content).map((value, i) => {
    const part: Documented<ResponsePart> = objectOf(value) ?? {};
    const written = chatPart(part, `${param}.${member}[${i}]`);
    return marks && isObject(part.prompt_cache_breakpoint)
      ? Object.assign(written, { cache_control: { type: 'ephemeral' } })
      : written;
  });
}

function chatPart(part: Documented<ResponsePart>, param: string): Record<string, unknown> {
  const { type } = part;
  if (type === 'input_text' || type === 'output_text' || type === 'text')
    return { type: 'text', text: textOf(part.text) ?? '' };
  if (type === 'input_image') {
    if (part.image_url == null)
      refuse('invalid_value', {
        param: `${param}.file_id`,
        why: 'this model takes images as `image_url` only.',
      });
    const detail = textOf(part.detail);
    return {
      type: 'image_url',
      image_url: { url: part.image_url, ...(detail && detail !== 'auto' ? { detail } : {}) },
    };
  }
  if (type === 'input_file') {
    const data = part.file_data ?? part.file_url;
    if (data == null)
      refuse('invalid_value', {
        param: `${param}.file_id`,
        why: 'this model takes files as `file_data` or `file_url` only.',
      });
    return {
      type: 'file',
      file: {
        file_data: data,
        ...(part.filename == null ? {} : { filename: part.filename }),
      },
    };
  }
  if (type === 'input_audio') return { type, input_audio: part.input_audio };
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `content of type '${stringOf(type)}' is not available for this model.`,
  });
}

/** Members that chat knows by the same name and meaning. */
const translatedMembers = [
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
 * The members that chat cannot express, and the items of another vendor's tools. Throws the Refusal
 * of a member that changes the meaning.
 */
const droppedFromResponses = ({
  body,
  publicModel,
}: VendorCall<CreateResponse>): readonly string[] | undefined =>
  withDropped(droppedMembers(body, publicModel, responsesToChat), [
    ...droppedToolSearches(body.tools),
    ...droppedItems(body.input),
    ...droppedReasoning(body.reasoning),
  ]);

/**
 * The members of `reasoning` that are dropped. Chat has the effort, and a model that gets an effort
 * returns its reasoning, which is the summary.
 */
function droppedReasoning(reasoning: unknown): string[] {
  const wishes = Object.entries(objectOf(reasoning) ?? {}).filter(([, value]) => value != null);
  const has = new Set(
    wishes.some(([name]) => name === 'effort') ? ['effort', 'summary', 'generate_summary'] : [],
  );
  return wishes
    .filter(([name, value]) => !has.has(name) && !(name === 'context' && value === 'auto'))
    .map(([name]) => `reasoning.${name}`);
}

const droppedToolSearches = (tools: Documented<CreateResponse>['tools']): string[] =>
  objectsOf(tools).some(isToolSearch) ? ['tools[].tool_search'] : [];

/**
 * A request for a response as a chat completion (developers.openai.com/api/reference/responses,
 * 2026-08). Tools, items and content that chat cannot express are refused, by their path.
 */
function chatBody(call: VendorCall<CreateResponse>, marks: boolean): JsonObject {
  const { body } = call;
  const { format, verbosity } = objectOf(body.text) ?? {};
  const effort = textOf(objectOf(body.reasoning)?.effort);
  const tools = chatTools(call);
  const choice = tools.length ? chatChoice(body.tool_choice, call.publicModel) : undefined;
  const sent: Record<string, unknown> = {
    model: call.publicModel,
    messages: chatMessages(call, marks),
    tools: tools.length ? tools : undefined,
    tool_choice: choice,
    response_format: formatOf(format),
    verbosity: typeof verbosity === 'string' ? verbosity : undefined,
    reasoning_effort: effort,
    max_completion_tokens: body.max_output_tokens ?? undefined,
    ...logprobs(body),
    stream: call.stream ? true : undefined,
    stream_options: call.stream ? { include_usage: true } : undefined,
  };
  for (const name of translatedMembers)
    if (body[name] != null && (name !== 'parallel_tool_calls' || tools.length))
      sent[name] = body[name];
  if (typeof body.service_tier === 'string' && body.service_tier !== 'auto')
    sent['service_tier'] = body.service_tier;
  return sent;
}

function formatOf(value: Unchecked<ResponseTextFormat>): JsonObject | undefined {
  if (!isObject(value) || value.type === 'text') return undefined;
  if (value.type !== 'json_schema') return value;
  const { type, ...schema } = value;
  return { type, json_schema: schema };
}

function logprobs(body: Documented<CreateResponse>): JsonObject {
  const top = body.top_logprobs;
  const includesLogprobs =
    listOf(body.include).includes('message.output_text.logprobs') ||
    (typeof top === 'number' && top > 0);
  return includesLogprobs
    ? { logprobs: true, ...(typeof top === 'number' ? { top_logprobs: top } : {}) }
    : {};
}
