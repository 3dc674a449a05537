import { editJsonBytes, jsonText, isObject } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat, ApiRequest } from '../gateway/api-request.ts';
import { messageUsage } from '../providers/conversation/client-usage.ts';
import type { HttpRequest } from './endpoint.ts';
import { messagesEnvelope } from './errors.ts';
import * as schema from './schema.ts';
import {
  addAddress,
  addMedium,
  isAddress,
  type ParsedJson,
  type ParserContext,
  type PromptMedia,
  noMedia,
  type RequestBody,
  checkOf,
  checksOf,
  readersOf,
  refuseType,
  requiredText,
  fallbackModels,
  withFallbacks,
} from './request-body.ts';

/** Some models take `system` messages in the middle of a conversation. */
const messagesRoles = ['user', 'assistant', 'system'];
const toolChoices = ['auto', 'any', 'tool', 'none'];

const block = schema.request(
  {
    type: schema.string(
      '`text`, `image`, `document`, `tool_use`, `tool_result`, `thinking`, … Other types are forwarded.',
    ),
  },
  {
    text: schema.forwarded('Text of a `text` block.'),
    source: schema.forwarded('For an image or a document: base64 or a URL.'),
  },
);

const content = (description: string) =>
  schema.anyOf(
    description,
    { type: 'string' },
    { type: 'array', items: schema.ref('MessageBlock') },
  );

const question = {
  model: schema.string('Any chat model of any vendor.', { minLength: 1 }),
  messages: schema.checkedBy(
    checkMessages,
    schema.array('The conversation, oldest first.', schema.ref('MessageTurn'), {
      minItems: 1,
    }),
  ),
};

const around = {
  system: content('Instructions before the conversation.'),
  tools: schema.checkedBy(
    checkTools,
    schema.array(
      'The tools that the model may call: `{"name", "description", "input_schema"}`, or a tool of the vendor by its `type`.',
      {
        anyOf: [
          schema.request(
            {
              name: schema.string('Name of the tool.'),
              input_schema: schema.object('Schema of the tool’s input.'),
            },
            { type: schema.choice('Optional.', ['custom']) },
          ),
          {
            type: 'object',
            required: ['type'],
            properties: { type: { type: 'string', not: { const: 'custom' } } },
          },
        ],
      },
    ),
  ),
  tool_choice: schema.request(
    { type: schema.choice('Whether the model calls a tool.', toolChoices) },
    { name: schema.forwarded('Name of the tool, if the type is `tool`.') },
  ),
  thinking: schema.request(
    { type: schema.string('`enabled`, `adaptive` or `disabled`.') },
    { budget_tokens: schema.forwarded('Maximum number of reasoning tokens.') },
  ),
  output_config: schema.object('Effort and schema of the answer.'),
};

/** Older LangChain sends it with every request: see `switchedOff`. */
const off = schema.integer(
  'Not set: the gateway leaves the member out and names it in `x-tollgate-dropped`.',
  -1,
  -1,
);
const orOff = (param: string, description: string, usual: schema.SchemaOf<number>) =>
  schema.checkedBy(checkOf(usual, param), schema.anyOf(description, usual, off));

const sampling = {
  temperature: schema.number('Sampling temperature.', 0, 1),
  top_p: orOff('top_p', 'Nucleus sampling.', schema.number('The share.', 0, 1)),
  top_k: orOff('top_k', 'Number of tokens to consider.', schema.integer('The number.', 0)),
};

const messageRequest = schema.request(
  { ...question, max_tokens: schema.integer('Maximum number of output tokens.', 0) },
  {
    ...around,
    stream: schema.boolean('Whether to stream events.'),
    ...sampling,
    stop_sequences: schema.array('Sequences at which the model stops.', { type: 'string' }),
    metadata: schema.object('`user_id`: your ID for your end user.'),
    models: fallbackModels,
  },
);
const read = readersOf(messageRequest);
const checkSampling = checksOf(sampling);

export const tokenCountRequestSchema = schema.request(question, around);

/** The schemas of a request by the names that the document gives them. */
export const messagesSchemas = {
  MessageBlock: block,
  MessageTurn: schema.request({
    role: schema.choice('Role of the author.', messagesRoles),
    content: content('Text or blocks.'),
  }),
  MessageRequest: messageRequest,
};

/**
 * How a message ends: its last event is held back until the charge is committed. Pings keep a
 * stream open.
 */
export const messagesFormat: ClientFormat = {
  done: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  errorEvent: messagesEnvelope.event,
  counted: {
    whole: (answer, quantities) =>
      editJsonBytes(answer, [{ path: ['usage'], json: jsonText(messageUsage(quantities)) }]),
    // A stream has its usage in the event with the stop reason.
    event: () => '',
  },
};

/** A vendor of the same format reads some of the headers. */
type MessagesContext = ParserContext & { readonly request: Pick<HttpRequest, 'headers'> };

/** POST /v1/messages */
export function parseMessages(context: MessagesContext, given: ParsedJson): ApiRequest {
  const off =
    given.body['top_k'] === -1 || given.body['top_p'] === -1
      ? switchedOff.filter((name) => given.body[name] === -1)
      : undefined;
  const sent = off === undefined ? given : without(given, off);
  const { body } = sent;
  const counted = parseTokenCount(context, sent);
  if (body['max_tokens'] === undefined || body['max_tokens'] === null)
    refuse('missing_parameter', { param: 'max_tokens' });
  checkSampling(body);
  read.metadata(body);
  read.stop_sequences(body);
  return withFallbacks({
    ...counted,
    stream: read.stream(body) ?? false,
    outputTokensRequested: read.max_tokens(body),
    dropped: off,
  });
}

/**
 * @langchain/anthropic before 1.0 sends -1 with every request to say that they are not set
 * (github.com/langchain-ai/langchainjs, libs/langchain-anthropic 0.3).
 */
const switchedOff = ['top_k', 'top_p'];

const without = ({ body, bytes, skeleton }: ParsedJson, names: readonly string[]): ParsedJson => ({
  body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
  bytes: editJsonBytes(
    bytes,
    names.map((name) => ({ path: [name] })),
    skeleton,
  ),
  skeleton,
});

/** POST /v1/messages/count_tokens: as `parseMessages`, without the parameters of the response. */
export function parseTokenCount(
  { id, principal, request: { headers } }: MessagesContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = read.model(body);
  const media = read.messages(body);
  const { system } = body;
  if (system !== undefined && system !== null) checkContent(system, 'system', media);
  read.tools(body);
  const choice = read.tool_choice(body);
  if (choice?.type === 'tool' && typeof choice.name !== 'string')
    refuseType('tool_choice.name', 'a string', choice.name);
  read.thinking(body);
  read.output_config(body);
  return {
    id,
    principal,
    capability: 'messages',
    model,
    body,
    bytes,
    skeleton,
    headers,
    stream: false,
    includeUsage: true,
    choices: 1,
    outputTokensRequested: undefined,
    media: media.kinds,
    mediaCount: media.count,
    textBytes: bytes.length - media.bytes,
    addresses: media.addresses,
    dropped: undefined,
    text: () => messagesText(body),
    answerId: `msg_${id.slice(4)}`,
  };
}

/** The response body of a token count. */
export const renderTokenCount = (tokens: number): string =>
  JSON.stringify({ input_tokens: tokens });

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) refuseType('tools', 'an array', tools);
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    // Tools of other types have other members than a name.
    if (tool['type'] !== undefined && tool['type'] !== null && tool['type'] !== 'custom') continue;
    if (typeof tool['name'] !== 'string') refuseType(`tools[${i}].name`, 'a string', tool['name']);
    if (!isObject(tool['input_schema']))
      refuseType(`tools[${i}].input_schema`, 'an object', tool['input_schema']);
  }
}

/**
 * Checks `messages` as far as every model agrees on them; the vendor judges blocks of unknown
 * types.
 */
function checkMessages(messages: unknown): PromptMedia {
  const media = noMedia();
  if (!Array.isArray(messages)) refuseType('messages', 'an array', messages);
  if (messages.length === 0)
    refuse('invalid_value', { param: 'messages', why: 'at least one message is needed.' });
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], `messages[${i}]`, media);
  return media;
}

function checkMessage(message: unknown, param: string, media: PromptMedia): void {
  if (!isObject(message)) refuseType(param, 'an object', message);
  const { content } = message;
  const role = requiredText(message, 'role', param);
  if (!messagesRoles.includes(role))
    refuse('invalid_value', {
      param: `${param}.role`,
      why: `'${role}' is not one of user, assistant.`,
    });
  if (content === undefined || content === null)
    refuse('missing_parameter', { param: `${param}.content` });
  checkContent(content, `${param}.content`, media);
}

function checkContent(content: unknown, param: string, media: PromptMedia): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) refuseType(param, 'a string or an array of blocks', content);
  for (let i = 0; i < content.length; i++) checkBlock(content[i], `${param}[${i}]`, media);
}

/** The string members that a block of each type must have. */
const needed: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
};

function checkBlock(block: unknown, param: string, media: PromptMedia): void {
  if (!isObject(block)) refuseType(param, 'an object', block);
  const type = requiredText(block, 'type', param);
  for (const member of needed[type] ?? []) requiredText(block, member, param);
  // Clients keep no empty signature, which thinking has that another vendor's model wrote.
  if (type === 'thinking' && block['signature'] != null) requiredText(block, 'signature', param);
  if (type === 'tool_use' && !isObject(block['input']))
    refuseType(`${param}.input`, 'an object', block['input']);
  if (type === 'tool_result' && block['content'] !== undefined && block['content'] !== null)
    checkContent(block['content'], `${param}.content`, media);
  if (type === 'container_upload') refuse('kept_at_the_vendor', { param: `${param}.file_id` });
  if (type === 'image' || type === 'document')
    checkSource(block['source'], block['title'], type, param, media);
}

function checkSource(
  source: unknown,
  title: unknown,
  type: 'image' | 'document',
  param: string,
  media: PromptMedia,
): void {
  if (source === undefined || source === null)
    refuse('missing_parameter', { param: `${param}.source` });
  if (!isObject(source)) refuseType(`${param}.source`, 'an object', source);
  if (typeof source['type'] !== 'string')
    refuseType(`${param}.source.type`, 'a string', source['type']);
  if (source['type'] === 'file') refuse('kept_at_the_vendor', { param: `${param}.source.file_id` });
  if (source['type'] === 'text') return;
  if (source['type'] === 'content')
    return checkContent(source['content'], `${param}.source.content`, media);
  if (source['type'] === 'base64') checkBytes(source, param, media);
  const modality = type === 'image' ? 'image' : 'file';
  if (source['type'] === 'url') {
    const place = `${param}.source`;
    const url = requiredText(source, 'url', place);
    if (!isAddress(url))
      refuse('invalid_value', { param: `${place}.url`, why: "expected 'https://…'." });
    const name = typeof title === 'string' ? title : undefined;
    addAddress(media, {
      url,
      kind: modality,
      name,
      param: `${place}.url`,
      place,
      written: bytesSource,
    });
  }
  addMedium(media, modality, param);
}

/** The source with the downloaded bytes in place of its URL; text stays text. */
function bytesSource(type: string, base64: string): RequestBody {
  if (!type.startsWith('text/')) return { type: 'base64', media_type: type, data: base64 };
  return {
    type: 'text',
    media_type: 'text/plain',
    data: Buffer.from(base64, 'base64').toString('utf8'),
  };
}

function checkBytes(source: RequestBody, param: string, media: PromptMedia): void {
  const { media_type: mediaType } = source;
  const data = requiredText(source, 'data', `${param}.source`);
  if (typeof mediaType !== 'string')
    refuseType(`${param}.source.media_type`, 'a string', mediaType);
  if (data.startsWith('data:'))
    refuse('invalid_value', {
      param: `${param}.source.data`,
      why: "expected base64 alone, without 'data:…;base64,' before it.",
    });
  media.bytes += data.length;
}

/** Members whose strings no model reads as text. */
const unread = new Set([
  'data',
  'url',
  'signature',
  'type',
  'media_type',
  'cache_control',
  'encrypted_content',
]);

/** Everything that a model reads as text, for counting. */
function messagesText(body: RequestBody): string {
  const pieces: string[] = [];
  collect(body['system'], pieces);
  collect(body['messages'], pieces);
  for (const member of ['tools', 'output_config'])
    if (body[member] !== undefined) pieces.push(JSON.stringify(body[member]));
  return pieces.join('\n');
}

function collect(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, pieces);
  else if (isObject(value)) {
    const bytes = value['type'] === 'base64' || value['type'] === 'redacted_thinking';
    // What a tool was called with is the client's own JSON, its names too.
    for (const [member, inner] of Object.entries(value))
      if (member === 'input' && isObject(inner)) pieces.push(JSON.stringify(inner));
      else if (!unread.has(member) || (member === 'data' && !bytes)) collect(inner, pieces);
  }
}
