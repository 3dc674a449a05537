import { refuse } from '../base/refusal.ts';
import { type Body, isObject, refuseType } from './check.ts';
import { addAddress, type Media, noMedia } from './media-address.ts';

/**
 * Instructions in the middle of a conversation are a role of their own for models that take them.
 */
export const roles = ['user', 'assistant', 'system'];

/**
 * Checks `messages` and `system` as far as every model agrees on them; blocks of types that we do
 * not know are the model's to judge.
 */
export function checkConversation(body: Body): Media {
  const media = noMedia();
  const { messages, system } = body;
  if (messages === undefined || messages === null)
    refuse('missing_parameter', { param: 'messages' });
  if (!Array.isArray(messages)) refuseType('messages', 'an array', messages);
  if (messages.length === 0)
    refuse('invalid_value', { param: 'messages', why: 'at least one message is needed.' });
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], `messages[${i}]`, media);
  if (system !== undefined && system !== null) checkContent(system, 'system', media);
  return media;
}

function checkMessage(message: unknown, param: string, media: Media): void {
  if (!isObject(message)) refuseType(param, 'an object', message);
  const { role, content } = message;
  if (role === undefined || role === null) refuse('missing_parameter', { param: `${param}.role` });
  if (typeof role !== 'string') refuseType(`${param}.role`, 'a string', role);
  if (!roles.includes(role))
    refuse('invalid_value', {
      param: `${param}.role`,
      why: `'${role}' is not one of user, assistant.`,
    });
  if (content === undefined || content === null)
    refuse('missing_parameter', { param: `${param}.content` });
  checkContent(content, `${param}.content`, media);
}

function checkContent(content: unknown, param: string, media: Media): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) refuseType(param, 'a string or an array of blocks', content);
  for (let i = 0; i < content.length; i++) checkBlock(content[i], `${param}[${i}]`, media);
}

/**
 * The members that a block cannot do without, all of them strings but where something else is said.
 */
const needed: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
};

function checkBlock(block: unknown, param: string, media: Media): void {
  if (!isObject(block)) refuseType(param, 'an object', block);
  const { type } = block;
  if (type === undefined || type === null) refuse('missing_parameter', { param: `${param}.type` });
  if (typeof type !== 'string') refuseType(`${param}.type`, 'a string', type);
  for (const member of needed[type] ?? []) {
    const value = block[member];
    if (value === undefined || value === null)
      refuse('missing_parameter', { param: `${param}.${member}` });
    if (typeof value !== 'string') refuseType(`${param}.${member}`, 'a string', value);
  }
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
  media: Media,
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
    const url = checkedUrl(source['url'], `${place}.url`);
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
  media.count += 1;
  if (!media.kinds.has(modality)) media.kinds.set(modality, param);
}

function checkedUrl(url: unknown, param: string): string {
  if (url === undefined || url === null) refuse('missing_parameter', { param });
  if (typeof url !== 'string') refuseType(param, 'a string', url);
  if (!/^https?:\/\//i.test(url)) refuse('invalid_value', { param, why: "expected 'https://…'." });
  return url;
}

/** The same source with its bytes in place: those of a text as text. */
function bytesSource(type: string, base64: string): Body {
  if (!type.startsWith('text/')) return { type: 'base64', media_type: type, data: base64 };
  return {
    type: 'text',
    media_type: 'text/plain',
    data: Buffer.from(base64, 'base64').toString('utf8'),
  };
}

function checkBytes(source: Body, param: string, media: Media): void {
  const { data, media_type: mediaType } = source;
  if (data === undefined || data === null)
    refuse('missing_parameter', { param: `${param}.source.data` });
  if (typeof data !== 'string') refuseType(`${param}.source.data`, 'a string', data);
  if (typeof mediaType !== 'string')
    refuseType(`${param}.source.media_type`, 'a string', mediaType);
  if (data.startsWith('data:'))
    refuse('invalid_value', {
      param: `${param}.source.data`,
      why: "expected base64 alone, without 'data:…;base64,' before it.",
    });
  media.bytes += data.length;
}

/** Strings that no model reads as text. */
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
export function textOf(body: Body): string {
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
    for (const [member, inner] of Object.entries(value))
      if (!unread.has(member) || (member === 'data' && !bytes)) collect(inner, pieces);
  }
}
