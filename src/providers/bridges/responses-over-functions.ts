import {
  type Documented,
  editJson,
  editJsonBytes,
  isObject,
  type JsonChange,
  type JsonObject,
  type JsonPath,
  jsonText,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Adapter, StreamMeter, StreamTranslator, VendorCall } from '../adapter.ts';
import { memberText } from '../formats/openai-responses/response.ts';
import type {
  CreateResponse,
  ResponseItem,
  ResponseStreamEvent,
  ResponseToolChoice,
} from '../formats/openai-responses/types.ts';
import { bridgeOver } from './bridge.ts';
import {
  chatName,
  type ClientTool,
  customInput,
  customToolInput,
  flatTools,
  isFlatTool,
  isToolSearch,
  toolBearingItems,
  toolsByChatName,
} from './responses-over-chat-items.ts';

/**
 * `/v1/responses` for a vendor whose own endpoint has functions as the only tools that clients run.
 * Namespaces, custom tools and their calls, which Codex sends, become functions under the names
 * that chat has for them, and the calls of an answer become the client's again. A request without
 * such tools and items is passed on as it is.
 */
export function responsesOverFunctions(responses: Adapter): Adapter {
  return bridgeOver(responses, {
    toChat: asFunctions,
    answer: (answer, call) => {
      const tools = clientTools(call);
      if (tools === undefined) return answer;
      const text = clientResponse(answer.body.toString('latin1'), [], call, tools);
      return { ...answer, body: Buffer.from(text, 'latin1') };
    },
    stream: (call, translator) => {
      const tools = clientTools(call);
      return tools === undefined ? translator : new ClientToolsStream(call, translator, tools);
    },
  });
}

type Tools = ReadonlyMap<string, ClientTool>;

/** The client's tools by the vendor's names; undefined where all have their own names. */
function clientTools({ body }: VendorCall<CreateResponse>): Tools | undefined {
  return isTranslated(body) ? toolsByChatName(body) : undefined;
}

/** Whether the request has tools, or items that bring tools, which the vendor does not know. */
const isTranslated = ({ tools, input }: Documented<CreateResponse>): boolean =>
  objectsOf(tools).some((tool) => !isFlatTool(tool)) ||
  objectsOf(input).some(({ type }) => toolBearingItems.has(type));

function asFunctions(client: VendorCall<CreateResponse>): VendorCall {
  const translatesTools = isTranslated(client.body);
  if (!translatesTools && !objectsOf(client.body.input).some(isForeign)) return client;
  const call = withNamedModels(client);
  const { body } = call;
  const dropped: string[] = [];
  const members = translatesTools ? flatMembers(call, dropped) : {};
  const changes: JsonChange[] = Object.entries(members).map(([name, value]) => ({
    path: [name],
    json: value === undefined ? undefined : jsonText(value),
  }));
  const input: unknown[] = [];
  listOf(body.input).forEach((item, i) => {
    const isKept = !isObject(item) || !isForeign(item);
    const flat = isKept ? item : flatItem(item);
    if (!isKept)
      changes.push({ path: ['input', i], json: flat === undefined ? undefined : jsonText(flat) });
    if (flat !== undefined) input.push(flat);
  });
  if (objectsOf(body.input).some(({ type }) => type === 'tool_search_call'))
    dropped.push('input[].tool_search_call');
  return {
    ...call,
    body: { ...body, ...members, ...(Array.isArray(body.input) ? { input } : {}) },
    bytes: editJsonBytes(call.bytes, changes, call.skeleton),
    dropped: dropped.length === 0 ? undefined : dropped,
  };
}

/** The members that name tools; undefined where they are left out. */
function flatMembers(call: VendorCall<CreateResponse>, dropped: string[]): JsonObject {
  const { tools: own, tool_choice: choice } = call.body;
  if (objectsOf(own).some(isToolSearch)) dropped.push('tools[].tool_search');
  const tools = flatTools(call);
  // "A tool_choice was set on the request but no tools were specified."
  // (router-for-me/CLIProxyAPI#3704, 2026-06)
  if (tools.length === 0) return { tools: undefined, tool_choice: undefined };
  return isObject(choice) ? { tools, tool_choice: flatChoice(choice) } : { tools };
}

/** The call with the vendor's names of models in its tools, whose places will be others. */
function withNamedModels(call: VendorCall<CreateResponse>): VendorCall<CreateResponse> {
  const isMoved = ({ path: [first] }: JsonChange): boolean =>
    first === 'tools' || first === 'input';
  const moved = call.bounds?.filter(isMoved) ?? [];
  if (moved.length === 0) return call;
  const bytes = editJsonBytes(call.bytes, moved, call.skeleton);
  return {
    ...call,
    bytes,
    body: objectOf(parse(bytes.toString('utf8'))) ?? {},
    bounds: call.bounds?.filter((one) => !isMoved(one)),
  };
}

function flatChoice(choice: Documented<ResponseToolChoice>): JsonObject {
  if (choice.type === 'allowed_tools')
    return { ...choice, tools: objectsOf(choice.tools).map(flatChoice) };
  const isNamed = choice.type === 'function' && choice.namespace === undefined;
  return choice.type === 'custom' || (choice.type === 'function' && !isNamed)
    ? { type: 'function', name: chatName(choice) }
    : choice;
}

const codexItems: ReadonlySet<unknown> = new Set([
  ...toolBearingItems,
  'tool_search_call',
  'custom_tool_call',
  'custom_tool_call_output',
]);

const calls: ReadonlySet<unknown> = new Set(['function_call', 'function_call_output']);

/**
 * Whether the vendor refuses the item. Of reasoning, it refuses a seal beside `content: null`, as
 * Codex writes it, or without a summary: "Could not decode the compaction blob"
 * (makecindy/cindy#1345, chenyme/grok2api#689, 2026-07).
 */
const isForeign = (item: Documented<ResponseItem>): boolean =>
  codexItems.has(item.type) ||
  (item.namespace !== undefined && calls.has(item.type)) ||
  (item.type === 'reasoning' && (item.content === null || item.summary === undefined));

/** The vendor's item for one that it refuses; undefined where it has none. */
function flatItem(item: Documented<ResponseItem>): JsonObject | undefined {
  const { type, id, call_id, summary = [], encrypted_content, format } = item;
  switch (type) {
    case 'reasoning':
      return { type, id, summary, encrypted_content, format };
    case 'function_call':
      return { type, call_id, name: chatName(item), arguments: textOf(item.arguments) ?? '{}' };
    case 'custom_tool_call': {
      const args = JSON.stringify({ [customInput]: textOf(item.input) ?? '' });
      return { type: 'function_call', call_id, name: chatName(item), arguments: args };
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { type: 'function_call_output', call_id, output: item.output };
    default:
      return undefined;
  }
}

/** The client's item for the vendor's; undefined where they are the same. */
function clientItem(item: Documented<ResponseItem>, tools: Tools): JsonObject | undefined {
  const tool = item.type === 'function_call' ? tools.get(textOf(item.name) ?? '') : undefined;
  if (tool === undefined) return undefined;
  const { name, namespace, custom } = tool;
  if (!custom && namespace === undefined && name === item.name) return undefined;
  const named = { ...item, name, ...(namespace === undefined ? {} : { namespace }) };
  if (!custom) return named;
  const { arguments: args, ...rest } = named;
  const id = customCallId(item.id);
  return { ...rest, id, type: 'custom_tool_call', input: customToolInput(textOf(args) ?? '') };
}

/** OpenAI, with which the conversation may go on, wants ids that begin by the item's type. */
const customCallId = (id: unknown): string | undefined => textOf(id)?.replace(/^fc/, 'ctc');

/**
 * The vendor's response at `path` of `text` (`latin1` JSON) with the client's calls, and its tools
 * as it sent them.
 */
function clientResponse(
  text: string,
  path: JsonPath,
  { body }: VendorCall<CreateResponse>,
  tools: Tools,
): string {
  const root = objectOf(parse(utf8(text)));
  const response = path.length === 0 ? root : objectOf(root?.['response']);
  const changes: JsonChange[] = [{ path: [...path, 'tools'], json: jsonText(body.tools ?? []) }];
  if (body.tool_choice !== undefined)
    changes.push({ path: [...path, 'tool_choice'], json: jsonText(body.tool_choice) });
  listOf(response?.['output']).forEach((item, i) => {
    const own = isObject(item) ? clientItem(item, tools) : undefined;
    if (own !== undefined) changes.push({ path: [...path, 'output', i], json: jsonText(own) });
  });
  return editJson(text, changes);
}

/** A call of a custom tool while its arguments are coming. */
interface OpenCustomCall {
  args: string;
  /** The input was sent. */
  told: boolean;
}

/** Turns the events of a response with flat tools into those that the client's tools have. */
class ClientToolsStream implements StreamTranslator {
  readonly meter: StreamMeter;
  readonly #call: VendorCall;
  readonly #responses: StreamTranslator;
  readonly #tools: Tools;
  readonly #custom = new Map<unknown, OpenCustomCall>();

  constructor(call: VendorCall, responses: StreamTranslator, tools: Tools) {
    this.#call = call;
    this.#responses = responses;
    this.meter = responses.meter;
    this.#tools = tools;
  }

  push(piece: Buffer): string {
    return this.#map(this.#responses.push(piece));
  }

  end(): string {
    return this.#map(this.#responses.end());
  }

  cutShort(quantities: Quantities): string {
    return this.#map(this.#responses.cutShort(quantities));
  }

  /** The events are whole, each with its type and one line of data. */
  #map(events: string): string {
    let out = '';
    for (let at = 0; at < events.length; ) {
      const end = events.indexOf('\n\n', at) + 2;
      out += this.#event(events.slice(at, end < 2 ? events.length : end));
      at = end < 2 ? events.length : end;
    }
    return out;
  }

  #event(event: string): string {
    const type = event.slice('event: '.length, event.indexOf('\n'));
    const data = event.slice(event.indexOf('\n') + '\ndata: '.length, -2);
    if (type.startsWith('response.function_call_arguments.')) return this.#argue(event, type, data);
    if (type.startsWith('response.output_item.')) return eventOf(type, this.#item(data));
    if (!responseEvents.has(type)) return event;
    return eventOf(type, clientResponse(data, ['response'], this.#call, this.#tools));
  }

  #item(data: string): string {
    const body: Documented<ResponseStreamEvent> = objectOf(parse(utf8(data))) ?? {};
    const own = clientItem(objectOf(body.item) ?? {}, this.#tools);
    if (own === undefined) return data;
    if (own['type'] === 'custom_tool_call' && !this.#custom.has(body.output_index))
      this.#custom.set(body.output_index, { args: '', told: false });
    return editJson(data, [{ path: ['item'], json: jsonText(own) }]);
  }

  /**
   * The input of a custom tool is sent when its arguments are whole. Each event stays one event, so
   * that their numbers stay, too.
   */
  #argue(event: string, type: string, data: string): string {
    const body: Documented<ResponseStreamEvent> = objectOf(parse(utf8(data))) ?? {};
    const open = this.#custom.get(body.output_index);
    if (open === undefined) return type.endsWith('.done') ? eventOf(type, this.#name(data)) : event;
    if (type.endsWith('.done')) open.args = textOf(body.arguments) ?? open.args;
    else open.args += textOf(body.delta) ?? '';
    // The arguments are read where they may end, and not with each delta.
    const isWhole = !open.told && /\}\s*$/.test(open.args) && isObject(parse(open.args));
    const input = customToolInput(open.args);
    const told = type.replace('function_call_arguments', 'custom_tool_call_input');
    const text = type.endsWith('.done')
      ? { path: ['arguments'], name: 'input', json: jsonText(input) }
      : { path: ['delta'], json: jsonText(isWhole ? input : '') };
    open.told ||= isWhole;
    return eventOf(
      told,
      editJson(data, [
        { path: ['type'], json: jsonText(told) },
        { path: ['item_id'], json: jsonText(customCallId(body.item_id) ?? '') },
        text,
      ]),
    );
  }

  /** The client's name, where the event repeats the tool's. */
  #name(data: string): string {
    const tool = this.#tools.get(textOf(parse(memberText(data, 'name') || 'null')) ?? '');
    return tool === undefined
      ? data
      : editJson(data, [{ path: ['name'], json: jsonText(tool.name) }]);
  }
}

const eventOf = (type: string, data: string): string => `event: ${type}\ndata: ${data}\n\n`;

/** The events with a response, which repeats the request's tools. */
const responseEvents: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.completed',
  'response.incomplete',
]);
