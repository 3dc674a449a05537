import {
  type Documented,
  type JsonObject,
  parse,
  objectOf,
  textOf,
  isObject,
  listOf,
  stringOf,
  type Unchecked,
} from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import type { MadePicture } from './bridge.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import { ownSeal } from '../formats/openai-responses/adapter.ts';
import type { ChatReasoningDetail } from '../formats/openai-chat/types.ts';
import type { CreateResponse, ResponseTool } from '../formats/openai-responses/types.ts';
import { refuseParam } from '../support/rules.ts';

/** Ids of a response's items: its own random part and their place in it. */
export class ItemIds {
  readonly #part: string;
  #next = 0;

  constructor(answerId: string) {
    this.#part = answerId.replace(/^resp_/, '');
  }

  next(kind: 'msg' | 'rs' | 'fc' | 'ctc' | 'ig'): string {
    return `${kind}_${this.#part}_${this.#next++}`;
  }
}

/** A picture that the model made (developers.openai.com/api/reference/responses, 2026-08). */
export const pictureItem = (id: string, { mimeType, data }: MadePicture): JsonObject => ({
  id,
  type: 'image_generation_call',
  status: 'completed',
  output_format: mimeType.replace('image/', ''),
  result: data,
});

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const textPart = (
  text: string,
  logprobs: readonly unknown[] = [],
  annotations: readonly unknown[] = [],
): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
  logprobs,
});
export const refusalPart = (refusal: string): JsonObject => ({ type: 'refusal', refusal });

export function messageItem(
  id: string,
  content: readonly JsonObject[],
  status: ItemStatus,
): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function reasoningItem(id: string, text: string, details: readonly unknown[]): JsonObject {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(details.length ? { encrypted_content: sealReasoning(details) } : {}),
  };
}

export interface FunctionCall {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly arguments: string;
  /** Data that the vendor added to the call and requires back with it. */
  readonly extra: unknown;
}

export function callItem(
  id: string,
  called: FunctionCall,
  status: ItemStatus,
  custom: boolean,
): JsonObject {
  const beside = {
    ...(called.namespace === undefined ? {} : { namespace: called.namespace }),
    ...(called.extra === undefined ? {} : { extra_content: called.extra }),
  };
  if (custom)
    return {
      id,
      type: 'custom_tool_call',
      status,
      call_id: called.callId,
      name: called.name,
      input: customToolInput(called.arguments),
      ...beside,
    };
  return {
    id,
    type: 'function_call',
    status,
    arguments: called.arguments,
    call_id: called.callId,
    name: called.name,
    ...beside,
  };
}

/**
 * The client's tool that chat calls `chatName`. A model may call a tool that the request does not
 * have.
 */
export function clientToolOf(chatName: string, tools: ReadonlyMap<string, ClientTool>): ClientTool {
  return tools.get(chatName) ?? { name: chatName, namespace: undefined, custom: false };
}

/** The input text of a custom tool, from the arguments of the function that stands for it. */
export function customToolInput(args: string): string {
  const value = parse(args);
  return textOf(objectOf(value)?.[customInput]) ?? (typeof value === 'string' ? value : args);
}

/**
 * Signatures and other data that a chat vendor requires back are sent as a reasoning item's
 * `encrypted_content`: clients keep that member unchanged. It is no secret: the client could read
 * the same data in a chat completion.
 */
const mark = ownSeal;

const sealReasoning = (details: readonly unknown[]): string =>
  mark + Buffer.from(JSON.stringify(details)).toString('base64url');

const isOurs = (seal: unknown): boolean => typeof seal === 'string' && seal.startsWith(mark);

/** The details that Tollgate sealed; none for content that a vendor has sealed. */
export function openReasoning(
  seal: string | undefined,
): readonly Documented<ChatReasoningDetail>[] {
  if (seal === undefined || !isOurs(seal)) return [];
  return listOf(parse(Buffer.from(seal.slice(mark.length), 'base64url').toString('utf8'))).filter(
    isObject,
  );
}

/** A custom tool takes one text; for chat it is a function with one of this name. */
export const customInput = 'input';

/** A tool of the request, in the client's names. */
export interface ClientTool {
  readonly name: string;
  /**
   * The namespace that contains the tool (Codex CLI 0.169 sends its own tools and those of MCP so,
   * 2026-11).
   */
  readonly namespace: string | undefined;
  readonly custom: boolean;
}

/** Chat has no namespaces: the name of a tool in a namespace is made of both names. */
export function chatName({
  namespace,
  name,
}: Documented<{ readonly namespace?: string; readonly name?: string }>): string {
  const [within, own] = [textOf(namespace) ?? '', textOf(name) ?? ''];
  if (within === '') return chatToolName(own);
  return chatToolName(within.endsWith('__') ? within + own : `${within}__${own}`);
}

/** The tools of a request by the names that chat has for them. */
export function toolsByChatName(body: Documented<CreateResponse>): ReadonlyMap<string, ClientTool> {
  return new Map(
    allTools(body).map(({ tool, namespace }) => [
      chatName({ ...tool, namespace }),
      { name: textOf(tool.name) ?? '', namespace, custom: tool.type === 'custom' },
    ]),
  );
}

export const chatTools = ({
  body,
  publicModel,
}: Pick<VendorCall<CreateResponse>, 'body' | 'publicModel'>): JsonObject[] =>
  allTools(body).map((placed) => chatTool(placed, publicModel));

/** Whether the tool is a function beside the others, or one that a vendor runs. */
export const isFlatTool = ({ type }: Documented<ResponseTool>): boolean =>
  type !== 'namespace' && type !== 'custom' && type !== 'tool_search';

/** The tools for a vendor of Responses that has functions as its only tools of clients. */
export const flatTools = ({
  body,
  publicModel,
}: Pick<VendorCall<CreateResponse>, 'body' | 'publicModel'>): JsonObject[] =>
  allTools(body).map((placed) =>
    placed.namespace === undefined && isFlatTool(placed.tool)
      ? placed.tool
      : { type: 'function', ...objectOf(chatTool(placed, publicModel)['function']) },
  );

interface PositionedTool {
  readonly tool: Documented<ResponseTool>;
  readonly namespace: string | undefined;
  readonly param: string;
}

/**
 * The vendor's search for tools that are loaded later. Other models get all tools at once, and no
 * search.
 */
export const isToolSearch = (tool: Documented<ResponseTool>): boolean =>
  tool.type === 'tool_search' && tool.execution !== 'client';

/** The tools of the request, and those that items of its input add: one of each name. */
function allTools(body: Documented<CreateResponse>): readonly PositionedTool[] {
  const placed = positionedTools(body.tools, 'tools');
  const names = new Set(placed.map(({ tool, namespace }) => chatName({ ...tool, namespace })));
  listOf(body.input).forEach((item, i) => {
    if (!isObject(item) || !toolBearingItems.has(item.type)) return;
    for (const one of positionedTools(item.tools, `input[${i}].tools`)) {
      const name = chatName({ ...one.tool, namespace: one.namespace });
      if (!names.has(name)) placed.push(one);
      names.add(name);
    }
  });
  return placed;
}

/**
 * Items that add further tools (developers.openai.com/api/docs/guides/tools-tool-search, 2026-11).
 */
export const toolBearingItems: ReadonlySet<unknown> = new Set([
  'additional_tools',
  'tool_search_output',
]);

function positionedTools(tools: Unchecked<readonly ResponseTool[]>, at: string): PositionedTool[] {
  return listOf(tools).flatMap((value, i): readonly PositionedTool[] => {
    const tool = objectOf(value) ?? {};
    const param = `${at}[${i}]`;
    if (isToolSearch(tool)) return [];
    if (tool.type !== 'namespace') return [{ tool, namespace: undefined, param }];
    const namespace = textOf(tool.name);
    return listOf(tool.tools).map((one, j) => ({
      tool: objectOf(one) ?? {},
      namespace,
      param: `${param}.tools[${j}]`,
    }));
  });
}

function chatTool({ tool, namespace, param }: PositionedTool, model: string): JsonObject {
  const { type, description } = tool;
  const name = chatName({ ...tool, namespace });
  const told = typeof description === 'string' ? { description } : {};
  if (type === 'function') {
    const strict = tool.strict == null ? {} : { strict: tool.strict };
    return {
      type,
      function: {
        name,
        ...told,
        parameters: tool.parameters ?? { type: 'object', properties: {} },
        ...strict,
      },
    };
  }
  if (type === 'custom') {
    const parameters = {
      type: 'object',
      properties: { [customInput]: { type: 'string' } },
      required: [customInput],
      additionalProperties: false,
    };
    const described = [textOf(description), grammarOf(tool)].filter(Boolean).join('\n\n');
    const about = described === '' ? {} : { description: described };
    return { type: 'function', function: { name, ...about, parameters } };
  }
  return refuseParam(`${param}.type`, model, `it knows no tools of type '${stringOf(type)}'.`);
}

/** The grammar of a custom tool's input, which a function cannot have, in words. */
function grammarOf({ format }: Documented<ResponseTool>): string | undefined {
  const { type, syntax, definition } = objectOf(format) ?? {};
  return type === 'grammar' && typeof definition === 'string'
    ? `The input must fit this grammar (${stringOf(syntax)}):\n${definition}`
    : undefined;
}

export function chatChoice(
  value: Documented<CreateResponse>['tool_choice'],
  model: string,
): unknown {
  if (!isObject(value)) return value ?? undefined;
  const { type } = value;
  if (type === 'function' || type === 'custom')
    return { type: 'function', function: { name: chatName(value) } };
  if (type === 'allowed_tools') {
    const tools = listOf(value.tools).map((one) => ({
      type: 'function',
      function: { name: chatName(objectOf(one) ?? {}) },
    }));
    return { type, allowed_tools: { mode: value.mode ?? 'auto', tools } };
  }
  return refuseParam('tool_choice.type', model, `it knows no tools of type '${stringOf(type)}'.`);
}
