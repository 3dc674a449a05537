import {
  objectOf,
  objectsOf,
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  stringOf,
  textOf,
} from '../../base/json.ts';
import type { Adapter, VendorAnswer, VendorCall, MessagesOptions } from '../adapter.ts';
import { refuseServiceTier } from '../billable-features.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import type {
  CreateMessageParams,
  MessageTool,
  MessageToolChoice,
  ThinkingConfig,
} from '../formats/anthropic-messages/types.ts';
import { isClosedSchema } from '../support/fit.ts';
import { effortOfBudget, refuseParam } from '../support/rules.ts';
import { withDropped, droppedMembers, messagesToChat } from '../support/unsupported.ts';
import { bridgeOver, given, type PathNames } from './bridge.ts';
import { messageFrom, MessagesOverChatStream } from './messages-over-chat-answer.ts';
import { droppedBlocks, chatMessages, cacheMarkOf } from './messages-over-chat-turns.ts';

/**
 * `/v1/messages` for models whose vendor has chat (platform.claude.com/docs/en/api/messages,
 * 2026-11, in the other direction). `marks`: the vendor reads `cache_control`.
 */
export function messagesOverChat(chat: Adapter, marks = false): Adapter {
  return bridgeOver(chat, {
    toChat: (call) => messagesAsChat(call, marks, chat),
    answer: messageAnswer,
    stream: (call, translator) => new MessagesOverChatStream(call, translator),
    names: namesOf,
  });
}

const names = {
  response_format: 'output_config.format',
  stop: 'stop_sequences',
  'messages[].reasoning_content': 'messages[].content[].thinking',
  'messages[].reasoning_details': 'messages[].content[].thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
};
const byEffort = { ...names, reasoning_effort: 'output_config.effort' };
const byThinking = { ...names, reasoning_effort: 'thinking' };

/** Clients set the amount of thinking in one of two members. */
const namesOf = ({ body }: VendorCall<CreateMessageParams>): PathNames =>
  objectOf(body.output_config)?.effort === undefined ? byThinking : byEffort;

/**
 * The same request as a chat completion. Throws the Refusal of a member that chat cannot express.
 */
export function messagesAsChat(
  call: VendorCall<CreateMessageParams>,
  marks: boolean,
  chat: Pick<Adapter, 'readsMessagesOptions' | 'readsResultErrors'> = {},
): VendorCall {
  const body = chatBodyFrom(call, marks, chat.readsResultErrors?.(call) === true);
  const options = messagesOptionsOf(call);
  const dropped = droppedFromMessages(call, options, chat.readsMessagesOptions);
  const answerId = call.answerId.replace(/^msg_/, 'chatcmpl-');
  return {
    ...call,
    clientHeaders: undefined,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    answerId,
    includeUsage: false,
    messagesOptions: options,
    dropped,
  };
}

function messageAnswer(answer: VendorAnswer, call: VendorCall): VendorAnswer {
  return { ...answer, body: Buffer.from(JSON.stringify(messageFrom(answer, call))) };
}

/**
 * A request to `/v1/messages` as a chat completion. Members that tune only Claude are left out
 * (`cache_control` too, unless `marks` are read); a member that would change the answer and that
 * chat cannot express is refused. For the others see `messagesOptionsOf` and
 * `droppedFromMessages`.
 */
function chatBodyFrom(
  call: VendorCall<CreateMessageParams>,
  marks: boolean,
  errors: boolean,
): JsonObject {
  const { body } = call;
  refuseServiceTier(call);
  const tools = listOf(body.tools).flatMap((tool, i) =>
    isObject(tool) && !isToolSearch(tool)
      ? [{ ...chatTool(tool, i, call.publicModel), ...cacheMarkOf(tool, marks) }]
      : [],
  );
  return {
    model: call.publicModel,
    messages: chatMessages(body, call.publicModel, marks, errors),
    // A request to count tokens has no `max_tokens`.
    ...(body.max_tokens === undefined
      ? {}
      : { max_tokens: Math.max(1, countOf(body.max_tokens) ?? 1) }),
    ...(call.outputTokensMax === undefined ? {} : { max_tokens: call.outputTokensMax }),
    ...(call.stream ? { stream: true } : {}),
    ...given('temperature', body.temperature),
    ...given('top_p', body.top_p),
    ...stops(body),
    ...(tools.length ? { tools, ...toolChoice(objectOf(body.tool_choice)) } : {}),
    ...given('reasoning_effort', effortOf(body)),
    ...given('response_format', formatOf(body)),
  };
}

/** What chat has no word for, for adapters that read it. */
function messagesOptionsOf({
  body,
  clientHeaders,
}: VendorCall<CreateMessageParams>): MessagesOptions | undefined {
  const topK = countOf(body.top_k);
  const thinking = objectOf(body.thinking);
  const budget = isOff(thinking) ? undefined : countOf(thinking?.budget_tokens);
  const betas = betasIn(clientHeaders?.['anthropic-beta']);
  const told = textOf(objectOf(body.output_config)?.effort) !== undefined;
  const adaptive = !told && thinking?.type === 'adaptive' ? true : undefined;
  return (topK ?? budget ?? betas ?? adaptive) === undefined
    ? undefined
    : { topK, budget, adaptive, betas };
}

function betasIn(header: string | string[] | undefined): readonly string[] | undefined {
  if (header === undefined) return undefined;
  const betas = String(header)
    .split(',')
    .map((beta) => beta.trim());
  return betas.filter((beta) => beta !== '');
}

/**
 * The names of the members that chat cannot express and the adapter does not read. Throws the
 * Refusal of a member that changes the meaning.
 */
function droppedFromMessages(
  { body, publicModel }: VendorCall<CreateMessageParams>,
  options: MessagesOptions | undefined,
  reads: Adapter['readsMessagesOptions'] = [],
): readonly string[] | undefined {
  const unread = [
    ...(options?.topK === undefined || reads.includes('topK') ? [] : ['top_k']),
    ...(options?.betas === undefined || reads.includes('betas') ? [] : ['anthropic-beta']),
    ...droppedBlocks(body.messages),
    ...new Set(
      objectsOf(body.tools).flatMap((tool) =>
        isToolSearch(tool) ? [`tools[].${stringOf(tool.type)}`] : [],
      ),
    ),
  ];
  return withDropped(droppedMembers(body, publicModel, messagesToChat), unread);
}

function stops(body: Documented<CreateMessageParams>): JsonObject {
  const stop = listOf(body.stop_sequences);
  return stop.length ? { stop } : {};
}

/** Tools that only Anthropic runs have no schema of their own. */
function chatTool(tool: Documented<MessageTool>, i: number, model: string): JsonObject {
  const { description, input_schema: parameters, strict } = tool;
  const name = chatToolName(tool.name);
  const taught = isObject(parameters) ? undefined : anthropicToolFunction(tool.type);
  if (taught !== undefined)
    return {
      type: 'function',
      function: { name, description: taught.description, parameters: taught.schema },
    };
  if (!isObject(parameters))
    refuseParam(`tools[${i}].type`, model, `it knows no tools of type '${stringOf(tool.type)}'.`);
  return {
    type: 'function',
    function: {
      name,
      ...given('description', description),
      parameters,
      ...given('strict', strict),
    },
  };
}

function toolChoice(choice: Documented<MessageToolChoice> | undefined): JsonObject {
  if (choice === undefined) return {};
  const named = { type: 'function', function: { name: chatToolName(choice.name) } };
  const said: Readonly<Record<string, unknown>> = {
    auto: 'auto',
    any: 'required',
    none: 'none',
    tool: named,
  };
  return {
    ...given('tool_choice', said[textOf(choice.type) ?? '']),
    ...(choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  };
}

const isOff = (thinking: Documented<ThinkingConfig> | undefined): boolean =>
  thinking?.type === 'disabled';

/**
 * The effort that stands for a thinking budget, and `none` for thinking that is off. The vendor's
 * table decides which efforts the model takes.
 */
function effortOf(body: Documented<CreateMessageParams>): string | undefined {
  const thinking = objectOf(body.thinking);
  if (isOff(thinking)) return 'none';
  const effort = textOf(objectOf(body.output_config)?.effort);
  if (effort !== undefined) return effort;
  if (thinking === undefined) return undefined;
  const budget = countOf(thinking.budget_tokens);
  return budget === undefined ? 'medium' : effortOfBudget(budget);
}

function formatOf(body: Documented<CreateMessageParams>): JsonObject | undefined {
  const format = objectOf(objectOf(body.output_config)?.format) ?? objectOf(body.output_format);
  if (format?.type !== 'json_schema') return undefined;
  const { schema } = format;
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: isStrict(schema) } };
}

/**
 * What OpenAI's strict mode takes, beside what holds schemas and has rules of its own
 * (developers.openai.com/api/docs/guides/structured-outputs#supported-schemas, 2026-08; `default` and
 * formats of numbers are recorded, 2026-08). With any other keyword it refuses the schema, which it
 * takes without `strict`.
 */
const strictKeywords: ReadonlySet<string> = new Set([
  '$schema',
  'title',
  'description',
  'default',
  'type',
  'enum',
  'const',
  'required',
  'additionalProperties',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
]);
/** The formats of strings. */
const strictFormats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Whether OpenAI takes the schema of an answer with `strict`. */
const isStrict = (schema: unknown): boolean =>
  isObject(schema) &&
  schema['type'] === 'object' &&
  schema['anyOf'] === undefined &&
  isClosedSchema(schema) &&
  isStrictPart(schema);

function isStrictPart(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { $ref, type, properties, additionalProperties } = schema;
  if ($ref !== undefined) return Object.keys(schema).length === 1;
  if (properties !== undefined && additionalProperties !== false) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === 'properties' || keyword === '$defs')
      return Object.values(objectOf(value) ?? {}).every(isStrictPart);
    if (keyword === 'items') return isStrictPart(value);
    if (keyword === 'anyOf') return listOf(value).every(isStrictPart);
    if (keyword === 'format') return type !== 'string' || strictFormats.has(value);
    // Groups that look around or name themselves are refused.
    if (keyword === 'pattern') return textOf(value)?.includes('(?') === false;
    return strictKeywords.has(keyword);
  });
}

/**
 * Tools that clients run, and whose schema only Claude knows, since Anthropic has trained it:
 * requests do not hold the schema, and other models get this one
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool, /text-editor-tool,
 * /memory-tool, 2026-11). A type ends in a date, which the patterns leave open.
 */
const anthropicToolSchemas: readonly (readonly [RegExp, string, JsonObject])[] = [
  [
    /^bash_\d+$/,
    'Runs a command in a shell that keeps its state between calls.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          description: 'The command to run. Required unless the shell is restarted.',
        },
        restart: { type: 'boolean', description: 'True: the shell is started anew.' },
      },
    },
  ],
  [
    /^text_editor_\d+$/,
    'Views, creates and edits text files.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert'],
          description: 'What to do.',
        },
        path: { type: 'string', description: 'The path of the file or folder.' },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description:
            'view: the first and the last line, counted from 1; -1 is the end of the file.',
        },
        file_text: { type: 'string', description: 'create: the content of the file.' },
        old_str: {
          type: 'string',
          description: 'str_replace: the text to replace, which must occur exactly once.',
        },
        new_str: { type: 'string', description: 'str_replace: the new text.' },
        insert_line: {
          type: 'integer',
          description: 'insert: the line after which the text is inserted; 0 is the beginning.',
        },
        insert_text: { type: 'string', description: 'insert: the text to insert.' },
      },
      required: ['command', 'path'],
    },
  ],
  [
    /^memory_\d+$/,
    'Keeps notes in files under /memories, which stay from one conversation to the next. View the folder before you begin.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
          description: 'What to do.',
        },
        path: { type: 'string', description: 'The path under /memories; for rename see old_path.' },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description: 'view: the first and the last line of a file.',
        },
        file_text: { type: 'string', description: 'create: the content of the file.' },
        old_str: { type: 'string', description: 'str_replace: the text to replace.' },
        new_str: { type: 'string', description: 'str_replace: the new text.' },
        insert_line: {
          type: 'integer',
          description: 'insert: the line at which the text is inserted.',
        },
        insert_text: { type: 'string', description: 'insert: the text to insert.' },
        old_path: { type: 'string', description: 'rename: the path as it is.' },
        new_path: { type: 'string', description: 'rename: the path as it is to be.' },
      },
      required: ['command'],
    },
  ],
];

/** Description and schema of such a tool; undefined for any other. */
function anthropicToolFunction(
  type: unknown,
): { readonly description: string; readonly schema: JsonObject } | undefined {
  const found = anthropicToolSchemas.find(([types]) => types.test(String(type)));
  return found && { description: found[1], schema: found[2] };
}

/**
 * Whether the tool searches for tools that are loaded later. Other models get all tools at once,
 * and no search.
 */
const isToolSearch = ({ type }: Documented<MessageTool>): boolean =>
  stringOf(type).startsWith('tool_search_tool_');
