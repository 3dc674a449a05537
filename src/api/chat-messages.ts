import { refuse } from '../base/refusal.ts';
import { type Body, isObject, refuseType } from './check.ts';
import { addPlace, type Media, noMedia } from './media-address.ts';

export const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Part type → modality, for parts that are not text. */
const modalities: Readonly<Record<string, string>> = {
  image_url: 'image',
  input_audio: 'audio',
  file: 'file',
  video_url: 'video',
};

/**
 * Checks the conversation as far as every vendor agrees on it; what one vendor refuses and another
 * takes is the vendor's to say.
 */
export function checkMessages(messages: unknown): Media {
  if (messages === undefined || messages === null)
    refuse('missing_parameter', { param: 'messages' });
  if (!Array.isArray(messages)) refuseType('messages', 'an array', messages);
  if (messages.length === 0)
    refuse('invalid_value', { param: 'messages', why: 'at least one message is needed.' });
  const media = noMedia();
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], i, media);
  return media;
}

function checkMessage(message: unknown, i: number, media: Media): void {
  if (!isObject(message)) refuseType(`messages[${i}]`, 'an object', message);
  const { role, content } = message;
  if (role === undefined || role === null)
    refuse('missing_parameter', { param: `messages[${i}].role` });
  if (typeof role !== 'string') refuseType(`messages[${i}].role`, 'a string', role);
  if (!roles.includes(role))
    refuse('invalid_value', {
      param: `messages[${i}].role`,
      why: `'${role}' is not one of ${roles.join(', ')}.`,
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

/** An assistant's turn may have no content when it called, refused, spoke or thought instead. */
export const insteadOfContent = [
  ...['tool_calls', 'function_call', 'refusal', 'audio'],
  ...['reasoning_content', 'reasoning', 'reasoning_details'],
];

function mayBeSilent(message: Body, role: string): boolean {
  if (role === 'function') return true;
  return role === 'assistant' && insteadOfContent.some((member) => message[member] != null);
}

function checkPart(part: unknown, param: string, media: Media): void {
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
    addPlace(media, inner['file_data'], 'file', inner['filename'], `${param}.file.file_data`);
  else if (type === 'video_url' && isObject(inner))
    addPlace(media, inner['url'], 'video', undefined, `${param}.video_url.url`);
  else if (isObject(inner)) addBytes(media, inner['data']);
}

function checkImage(image: unknown, param: string, media: Media): void {
  // Some vendors take the URL without its object, and their clients write it so.
  if (typeof image === 'string')
    return addPlace(media, image, 'image', undefined, `${param}.image_url`);
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
  addPlace(media, url, 'image', undefined, `${param}.image_url.url`);
}

function addBytes(media: Media, value: unknown): void {
  if (typeof value === 'string') media.bytes += value.length;
}

/**
 * Text that is shorter than what a model could read at all; longer strings of one member are media.
 */
const mediaMembers = new Set(['data', 'file_data', 'url', 'image_url']);

/** Everything in messages and tools that a model reads as text, for counting. */
export function textOf(body: Body): string {
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
