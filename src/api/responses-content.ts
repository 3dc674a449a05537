import { refuse } from '../base/refusal.ts';
import { type Body, isObject, refuseType } from './check.ts';
import { addPlace, type Media, noMedia } from './media-address.ts';

export const roles = ['user', 'assistant', 'system', 'developer'];

/** Part type → modality, for parts that are not text. */
const modalities: Readonly<Record<string, string>> = {
  input_image: 'image',
  input_audio: 'audio',
  input_file: 'file',
};

/**
 * Checks `input` as far as every model agrees on it; what one refuses and another takes is theirs
 * to say.
 */
export function checkInput(input: unknown): Media {
  const media = noMedia();
  if (typeof input === 'string' || input === undefined || input === null) return media;
  if (!Array.isArray(input)) refuseType('input', 'a string or an array of items', input);
  input.forEach((item, i) => checkItem(item, `input[${i}]`, media));
  return media;
}

function checkItem(item: unknown, param: string, media: Media): void {
  if (!isObject(item)) refuseType(param, 'an object', item);
  const { type, role, content, output } = item;
  if (type !== undefined && type !== null && typeof type !== 'string')
    refuseType(`${param}.type`, 'a string', type);
  if (type === 'message' || (type == null && role !== undefined)) {
    if (typeof role !== 'string') refuseType(`${param}.role`, 'a string', role);
    if (!roles.includes(role))
      refuse('invalid_value', {
        param: `${param}.role`,
        why: `'${role}' is not one of ${roles.join(', ')}.`,
      });
    if (content === undefined || content === null)
      refuse('missing_parameter', { param: `${param}.content` });
    if (typeof content !== 'string' && !Array.isArray(content))
      refuseType(`${param}.content`, 'a string or an array of parts', content);
  }
  if (
    (type === 'function_call_output' || type === 'function_call') &&
    typeof item['call_id'] !== 'string'
  )
    refuse('missing_parameter', { param: `${param}.call_id` });
  checkParts(content, `${param}.content`, media);
  checkParts(output, `${param}.output`, media);
}

function checkParts(parts: unknown, param: string, media: Media): void {
  if (!Array.isArray(parts)) return;
  parts.forEach((part: unknown, i) => {
    if (!isObject(part)) refuseType(`${param}[${i}]`, 'an object', part);
    const modality = modalities[String(part['type'])];
    if (modality === undefined) return;
    media.count += 1;
    if (!media.kinds.has(modality)) media.kinds.set(modality, `${param}[${i}]`);
    if (part['file_id'] != null) refuse('kept_at_the_vendor', { param: `${param}[${i}].file_id` });
    for (const name of ['image_url', 'file_url'] as const)
      addPlace(
        media,
        part[name],
        name === 'image_url' ? 'image' : 'file',
        part['filename'],
        `${param}[${i}].${name}`,
      );
    for (const name of ['file_data', 'data', 'encrypted_content']) {
      const value = part[name];
      if (typeof value === 'string') media.bytes += value.length;
    }
  });
}

const mediaMembers = new Set(['image_url', 'file_data', 'file_url', 'data', 'encrypted_content']);

/** Everything in instructions, input and tools that a model reads as text, for counting. */
export function textOf(body: Body): string {
  const pieces: string[] = [];
  collect(body['instructions'], pieces);
  collect(body['input'], pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  if (body['text'] !== undefined) pieces.push(JSON.stringify(body['text']));
  return pieces.join('\n');
}

function collect(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, pieces);
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      if (!mediaMembers.has(member)) collect(inner, pieces);
}
