import { editJson, editJsonBytes, jsonText, isObject, type JsonChange } from '../base/json.ts';
import type { Nano } from '../base/money.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat, ApiRequest } from '../gateway/api-request.ts';
import { chatUsage } from '../providers/conversation/client-usage.ts';
import { chatEnvelope } from './errors.ts';
import { moneyNumber } from './money-json.ts';
import * as schema from './schema.ts';
import {
  addMediaText,
  addMedium,
  checkLength,
  checkOf,
  checksOf,
  collectText,
  costWish,
  fallbackModels,
  noMedia,
  type ParsedJson,
  type ParserContext,
  type PromptMedia,
  readersOf,
  refuseNonText,
  refuseType,
  refuseUnlisted,
  type RequestBody,
  requiredText,
  withCost,
  withFallbacks,
} from './request-body.ts';

/** The most choices of one request, as in the convention. */
export const choicesMax = 128;
const stopsMax = 4;
const topLogprobsMax = 20;

const chatRoles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** An assistant's message needs no content when it has one of these members instead. */
const contentAlternatives = [
  'tool_calls',
  'function_call',
  'refusal',
  'audio',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
];

/** Messages of most roles need `content`. An assistant's message may have calls instead. */
const speaking: schema.Schema = {
  anyOf: [
    { required: ['content'], properties: { content: { type: ['string', 'array'] } } },
    { properties: { role: { const: 'function' } } },
    {
      properties: { role: { const: 'assistant' } },
      anyOf: contentAlternatives.map(schema.present),
    },
  ],
};

/** A part of the type `text` has a `text`. */
const textOfText: schema.Schema = {
  anyOf: [
    { not: { properties: { type: { const: 'text' } } } },
    { required: ['text'], properties: { text: { type: 'string' } } },
  ],
};

const part = schema.request(
  {
    type: schema.string(
      '`text`, `image_url`, `input_audio`, `file` or `video_url`. Other types are forwarded.',
    ),
  },
  {
    text: schema.forwarded('Text of a `text` part.'),
    image_url: schema.forwarded(
      'For an image: `{"url": "https://…"}` or a data URL, and `detail`.',
    ),
  },
  { allOf: [textOfText] },
);

const message = schema.request(
  { role: schema.choice('Role of the author.', chatRoles) },
  {
    content: schema.anyOf(
      'A text, or a list of parts. A message of the assistant needs none if it has tool calls, a refusal, audio or reasoning.',
      { type: 'string' },
      { type: 'array', items: schema.ref('ContentPart') },
    ),
    name: schema.forwarded('Name of the author, to distinguish authors with the same role.'),
    tool_calls: schema.forwarded('Tool calls of the assistant.'),
    tool_call_id: schema.forwarded('ID of the call that a `tool` message answers.'),
  },
  { allOf: [speaking] },
);

const streamOptions = schema.request(
  {},
  { include_usage: schema.boolean('Whether to send a last chunk with `usage` and no choices.') },
);

/** Members of a stream that chat and text completions share. */
export const streamMembers = {
  stream: schema.boolean(
    'Whether to stream chunks as server-sent events, with `data: [DONE]` at the end.',
  ),
  stream_options: {
    ...schema.ref('StreamOptions'),
    description: 'Only with `stream`.',
    check: checkOf(streamOptions, 'stream_options'),
  },
};
export const streaming = schema.onlyWith('stream_options', { stream: { const: true } });
const readStream = readersOf(schema.request({}, streamMembers));

/** Sampling parameters that chat and text completions share. */
export const sampling = {
  temperature: schema.number('Sampling temperature; default 1.', 0, 2),
  top_p: schema.number('Nucleus sampling.', 0, 1),
  frequency_penalty: schema.number('Reduces repetition of frequent tokens.', -2, 2),
  presence_penalty: schema.number('Encourages new topics.', -2, 2),
  seed: { type: 'integer', description: 'For repeatable answers, if the model supports it.' },
  logit_bias: schema.object('Map of token to bias.'),
  stop: schema.checkedBy(
    checkStop,
    schema.anyOf(
      `Where the model stops: a text, or at most ${stopsMax} of them.`,
      { type: 'string' },
      { type: 'array', items: { type: 'string' }, maxItems: stopsMax },
    ),
  ),
  user: schema.forwarded('Your ID for your end user.'),
};

const wishes = {
  top_logprobs: schema.integer(
    'Number of most likely tokens to return for each position.',
    0,
    topLogprobsMax,
  ),
  logprobs: schema.forwarded('Whether to return log probabilities.'),
  tools: schema.checkedBy(
    checkTools,
    schema.array(
      'The functions that the model may call.',
      schema.object('`{"type": "function", "function": {"name", "description", "parameters"}}`'),
    ),
  ),
  tool_choice: schema.forwarded('`auto`, `none`, `required`, or the function that must be called.'),
  parallel_tool_calls: schema.boolean('Whether the model may make several calls at the same time.'),
  response_format: schema.request(
    { type: schema.string('`text`, `json_object` or `json_schema`.') },
    { json_schema: schema.forwarded('The schema.') },
  ),
  reasoning_effort: schema.forwarded('How much the model reasons before it answers.'),
};

const chatRequest = schema.request(
  {
    model: schema.string('The model to use; `GET /v1/models` lists them.', { minLength: 1 }),
    messages: schema.checkedBy(
      checkMessages,
      schema.array('The conversation, oldest first.', schema.ref('ChatMessage'), { minItems: 1 }),
    ),
  },
  {
    ...sampling,
    max_tokens: schema.integer('Maximum number of output tokens.', 1),
    max_completion_tokens: schema.integer(
      'The newer name of `max_tokens`. It wins if both are given.',
      1,
    ),
    n: schema.integer('Number of answers.', 1, choicesMax),
    models: fallbackModels,
    usage: costWish,
    ...streamMembers,
    ...wishes,
  },
  { allOf: [streaming] },
);
const read = readersOf(chatRequest);
const checkOptions = checksOf({ ...sampling, ...wishes });

/** The schemas of a request by the names that the document gives them. */
export const chatSchemas = {
  ContentPart: part,
  ChatMessage: message,
  StreamOptions: streamOptions,
  ChatRequest: chatRequest,
};

/** How a completion ends; `chunks` is the `object` of its chunks. */
export const completionFormat = (chunks: string): ClientFormat => ({
  done: 'data: [DONE]\n\n',
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatEnvelope.event,
  counted: {
    whole: (answer, quantities) =>
      editJsonBytes(answer, [{ path: ['usage'], json: chatUsage(quantities) }]),
    event(request, created, quantities) {
      const head = `{"id":${jsonText(request.answerId)},"object":"${chunks}","created":${created},"model":${jsonText(request.model)}`;
      return `data: ${head},"choices":[],"usage":${chatUsage(quantities)}}\n\n`;
    },
  },
  priced: {
    whole: (answer, cost) => editJsonBytes(answer, costChanges(cost)),
    events(last, cost) {
      const at = `\n${last}`.lastIndexOf('\ndata: ') + 'data: '.length;
      const end = last.length - '\n\n'.length;
      return last.slice(0, at) + editJson(last.slice(at, end), costChanges(cost)) + last.slice(end);
    },
  },
});

/** The amount of the charge with all its digits. What a vendor says of its own price goes. */
const costChanges = (cost: Nano): readonly JsonChange[] => [
  { path: ['usage', 'cost'], json: moneyNumber(cost) },
  { path: ['usage', 'currency'], json: '"CNY"' },
  { path: ['usage', 'cost_details'] },
];

export const chatFormat = completionFormat('chat.completion.chunk');

/** POST /v1/chat/completions */
export function parseChat(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = read.model(body);
  const media = read.messages(body);
  const stream = read.stream(body) ?? false;
  const includeUsage = includesUsage(body, stream);
  checkOptions(body);
  return withCost(
    withFallbacks({
      id,
      principal,
      capability: 'chat',
      model,
      body,
      bytes,
      skeleton,
      stream,
      includeUsage,
      choices: read.n(body) ?? 1,
      outputTokensRequested: read.max_completion_tokens(body) ?? read.max_tokens(body),
      media: media.kinds,
      mediaCount: media.count,
      textBytes: bytes.length - media.bytes,
      addresses: media.addresses,
      text: () => chatText(body),
      answerId: `chatcmpl-${id.slice(4)}`,
    }),
  );
}

/** Checks `stream_options`, which only a stream may have. */
export function includesUsage(body: RequestBody, stream: boolean): boolean {
  if (!stream && isObject(body['stream_options']))
    refuse('invalid_value', {
      param: 'stream_options',
      why: "it is only allowed when 'stream' is true.",
    });
  return readStream.stream_options(body)?.include_usage === true;
}

/** One string or a few. */
function checkStop(stop: unknown): void {
  if (typeof stop === 'string') return;
  if (!Array.isArray(stop)) refuseType('stop', 'a string or an array of strings', stop);
  checkLength(stop, 'stop', stopsMax, 'strings');
  for (let i = 0; i < stop.length; i++)
    if (typeof stop[i] !== 'string') refuseType(`stop[${i}]`, 'a string', stop[i]);
}

/**
 * A function whose members stand beside its type has the form of `/v1/responses`. OpenAI refuses it
 * (bolna-ai/bolna#144, 2025-03). Other vendors' tools are theirs to check.
 */
function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) refuseType('tools', 'an array', tools);
  for (let i = 0; i < tools.length; i++) {
    const tool: unknown = tools[i];
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    if (tool['type'] === 'function' && tool['function'] == null && tool['name'] != null)
      refuse('invalid_value', {
        param: `tools[${i}]`,
        why: 'its form is {"type": "function", "function": {"name": …}}. {"type": "function", "name": …} is that of /v1/responses.',
      });
  }
}

/** Part type → modality, for parts that are not text. */
const modalities: Readonly<Record<string, string>> = {
  image_url: 'image',
  input_audio: 'audio',
  file: 'file',
  video_url: 'video',
};

/**
 * Checks the conversation as far as every vendor agrees on it; where vendors differ, the vendor
 * decides.
 */
function checkMessages(messages: unknown): PromptMedia {
  if (!Array.isArray(messages)) refuseType('messages', 'an array', messages);
  if (messages.length === 0)
    refuse('invalid_value', { param: 'messages', why: 'at least one message is needed.' });
  const media = noMedia();
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], i, media);
  return media;
}

function checkMessage(message: unknown, i: number, media: PromptMedia): void {
  if (!isObject(message)) refuseType(`messages[${i}]`, 'an object', message);
  const { role, content } = message;
  if (typeof role !== 'string') refuseNonText(role, `messages[${i}].role`);
  if (!chatRoles.includes(role)) refuseUnlisted(role, `messages[${i}].role`, chatRoles);
  if (typeof content === 'string') return;
  if (Array.isArray(content)) {
    for (let j = 0; j < content.length; j++)
      checkPart(content[j], `messages[${i}].content[${j}]`, media);
    return;
  }
  if (content !== undefined && content !== null)
    refuseType(`messages[${i}].content`, 'a string or an array of parts', content);
  if (!mayBeSilent(message, role)) refuse('missing_parameter', { param: `messages[${i}].content` });
}

function mayBeSilent(message: RequestBody, role: string): boolean {
  if (role === 'function') return true;
  return role === 'assistant' && contentAlternatives.some((member) => message[member] != null);
}

function checkPart(part: unknown, param: string, media: PromptMedia): void {
  if (!isObject(part)) refuseType(param, 'an object', part);
  const type = requiredText(part, 'type', param);
  if (type === 'text') {
    if (typeof part['text'] !== 'string') refuseType(`${param}.text`, 'a string', part['text']);
    return;
  }
  const modality = modalities[type];
  if (modality === undefined) return;
  addMedium(media, modality, param);
  const inner = part[type];
  if (isObject(inner) && inner['file_id'] != null)
    refuse('kept_at_the_vendor', { param: `${param}.${type}.file_id` });
  if (type === 'image_url') checkImage(inner, param, media);
  else if (type === 'file' && isObject(inner))
    addMediaText(media, inner['file_data'], 'file', inner['filename'], `${param}.file.file_data`);
  else if (type === 'video_url' && isObject(inner))
    addMediaText(media, inner['url'], 'video', undefined, `${param}.video_url.url`);
  else if (isObject(inner) && typeof inner['data'] === 'string')
    media.bytes += inner['data'].length;
}

function checkImage(image: unknown, param: string, media: PromptMedia): void {
  // Some vendors take the URL without its object, and their clients write it so.
  if (typeof image === 'string')
    return addMediaText(media, image, 'image', undefined, `${param}.image_url`);
  if (!isObject(image)) refuseType(`${param}.image_url`, 'an object', image);
  const url = requiredText(image, 'url', `${param}.image_url`);
  if (!/^(https?:\/\/|data:image\/)/i.test(url)) {
    refuse('invalid_value', {
      param: `${param}.image_url.url`,
      why: "expected 'https://…' or 'data:image/…;base64,…'.",
    });
  }
  addMediaText(media, url, 'image', undefined, `${param}.image_url.url`);
}

/** Members that hold media, whose strings are not counted as text. */
const mediaMembers = new Set(['data', 'file_data', 'url', 'image_url']);

/** The text in messages, tools and response format that a model reads, for counting tokens. */
function chatText(body: RequestBody): string {
  const pieces: string[] = [];
  collectText(body['messages'], mediaMembers, pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  if (body['response_format'] !== undefined) pieces.push(JSON.stringify(body['response_format']));
  return pieces.join('\n');
}
