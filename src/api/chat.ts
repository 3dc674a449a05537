import type { Principal } from '../accounts/principal.ts';
import { editJsonBytes, jsonText, isObject } from '../base/json.ts';
import type { Skeleton } from '../base/long-strings.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat, ApiRequest } from '../gateway/accept.ts';
import { chatUsage } from '../providers/conversation/client-usage.ts';
import { chatEnvelope } from './errors.ts';
import {
  addMediaText,
  type PromptMedia,
  noMedia,
  type RequestBody,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalObject,
  refuseType,
  requiredString,
} from './request-body.ts';

/** The most choices of one request, as in the convention. */
export const choicesMax = 128;
export const chatStopsMax = 4;
export const chatTopLogprobsMax = 20;

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
});

export const chatFormat = completionFormat('chat.completion.chunk');

/**
 * POST /v1/chat/completions: the request as the pipeline takes it. Throws the Refusal that names
 * what is wrong.
 */
export function parseChat(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model = requiredString(body, 'model');
  const media = checkMessages(body['messages']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const streamOptions = checkStreamOptions(body, stream);
  checkSampling(body);
  optionalInteger(body, 'top_logprobs', 0, chatTopLogprobsMax);
  checkTools(body);
  const outputParam =
    body['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens';
  return {
    id,
    principal,
    capability: 'chat',
    model,
    body,
    bytes,
    skeleton,
    stream,
    includeUsage: streamOptions?.['include_usage'] === true,
    choices: optionalInteger(body, 'n', 1, choicesMax) ?? 1,
    outputTokensRequested: optionalInteger(body, outputParam, 1, Number.MAX_SAFE_INTEGER),
    media: media.kinds,
    mediaCount: media.count,
    mediaBytes: media.bytes,
    addresses: media.addresses,
    text: () => chatText(body),
    answerId: `chatcmpl-${id.slice(4)}`,
  };
}

/** Checks `stream_options`, which only a stream may have. */
export function checkStreamOptions(body: RequestBody, stream: boolean): RequestBody | undefined {
  const options = optionalObject(body, 'stream_options');
  if (options === undefined) return undefined;
  if (!stream)
    refuse('invalid_value', {
      param: 'stream_options',
      why: "it is only allowed when 'stream' is true.",
    });
  const includeUsage = options['include_usage'];
  if (includeUsage !== undefined && includeUsage !== null && typeof includeUsage !== 'boolean')
    refuseType('stream_options.include_usage', 'a boolean', includeUsage);
  return options;
}

/** Checks the sampling parameters that chat and text completions share. */
export function checkSampling(body: RequestBody): void {
  optionalNumber(body, 'temperature', 0, 2);
  optionalNumber(body, 'top_p', 0, 1);
  optionalNumber(body, 'frequency_penalty', -2, 2);
  optionalNumber(body, 'presence_penalty', -2, 2);
  optionalInteger(body, 'seed', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  optionalObject(body, 'logit_bias');
  checkStop(body);
}

/** Checks `stop`: one string or a few. */
function checkStop(body: RequestBody): void {
  const stop = body['stop'];
  if (stop === undefined || stop === null || typeof stop === 'string') return;
  if (!Array.isArray(stop)) refuseType('stop', 'a string or an array of strings', stop);
  if (stop.length > chatStopsMax)
    refuse('out_of_range', {
      param: 'stop',
      expected: `of at most ${chatStopsMax} strings`,
      got: stop.length,
    });
  for (const [i, one] of stop.entries())
    if (typeof one !== 'string') refuseType(`stop[${i}]`, 'a string', one);
}

function checkTools(body: RequestBody): void {
  const tools = optionalArray(body, 'tools') ?? [];
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
  }
  optionalBoolean(body, 'parallel_tool_calls');
  const format = optionalObject(body, 'response_format');
  if (format !== undefined && typeof format['type'] !== 'string')
    refuseType('response_format.type', 'a string', format['type']);
}

export const chatRoles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

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
  if (messages === undefined || messages === null)
    refuse('missing_parameter', { param: 'messages' });
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
  if (role === undefined || role === null)
    refuse('missing_parameter', { param: `messages[${i}].role` });
  if (typeof role !== 'string') refuseType(`messages[${i}].role`, 'a string', role);
  if (!chatRoles.includes(role))
    refuse('invalid_value', {
      param: `messages[${i}].role`,
      why: `'${role}' is not one of ${chatRoles.join(', ')}.`,
    });
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

/** An assistant's message needs no content when it has one of these members instead. */
export const contentAlternatives = [
  ...['tool_calls', 'function_call', 'refusal', 'audio'],
  ...['reasoning_content', 'reasoning', 'reasoning_details'],
];

function mayBeSilent(message: RequestBody, role: string): boolean {
  if (role === 'function') return true;
  return role === 'assistant' && contentAlternatives.some((member) => message[member] != null);
}

function checkPart(part: unknown, param: string, media: PromptMedia): void {
  if (!isObject(part)) refuseType(param, 'an object', part);
  const { type } = part;
  if (type === undefined || type === null) refuse('missing_parameter', { param: `${param}.type` });
  if (typeof type !== 'string') refuseType(`${param}.type`, 'a string', type);
  if (type === 'text') {
    if (typeof part['text'] !== 'string') refuseType(`${param}.text`, 'a string', part['text']);
    return;
  }
  const modality = modalities[type];
  if (modality === undefined) return;
  media.count += 1;
  if (!media.kinds.has(modality)) media.kinds.set(modality, param);
  const inner = part[type];
  if (isObject(inner) && inner['file_id'] != null)
    refuse('kept_at_the_vendor', { param: `${param}.${type}.file_id` });
  if (type === 'image_url') checkImage(inner, param, media);
  else if (type === 'file' && isObject(inner))
    addMediaText(media, inner['file_data'], 'file', inner['filename'], `${param}.file.file_data`);
  else if (type === 'video_url' && isObject(inner))
    addMediaText(media, inner['url'], 'video', undefined, `${param}.video_url.url`);
  else if (isObject(inner)) addBytes(media, inner['data']);
}

function checkImage(image: unknown, param: string, media: PromptMedia): void {
  // Some vendors take the URL without its object, and their clients write it so.
  if (typeof image === 'string')
    return addMediaText(media, image, 'image', undefined, `${param}.image_url`);
  if (!isObject(image)) refuseType(`${param}.image_url`, 'an object', image);
  const { url } = image;
  if (url === undefined || url === null)
    refuse('missing_parameter', { param: `${param}.image_url.url` });
  if (typeof url !== 'string') refuseType(`${param}.image_url.url`, 'a string', url);
  if (!/^(https?:\/\/|data:image\/)/i.test(url)) {
    refuse('invalid_value', {
      param: `${param}.image_url.url`,
      why: "expected 'https://…' or 'data:image/…;base64,…'.",
    });
  }
  addMediaText(media, url, 'image', undefined, `${param}.image_url.url`);
}

function addBytes(media: PromptMedia, value: unknown): void {
  if (typeof value === 'string') media.bytes += value.length;
}

/** Members that hold media, whose strings are not counted as text. */
const mediaMembers = new Set(['data', 'file_data', 'url', 'image_url']);

/** The text in messages, tools and response format that a model reads, for counting tokens. */
function chatText(body: RequestBody): string {
  const pieces: string[] = [];
  collect(body['messages'], pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  if (body['response_format'] !== undefined) pieces.push(JSON.stringify(body['response_format']));
  return pieces.join('\n');
}

function collect(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, pieces);
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      if (!mediaMembers.has(member)) collect(inner, pieces);
}
