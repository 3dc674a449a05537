import type { Complaints } from '../anthropic/complaints.ts';
import { decodeImage } from '../image.ts';
import { type Json, list, object, shown, text } from '../json.ts';
import type { ConverseModel } from './model.ts';

/** AWS's error text for a value that violates a constraint of its schema. */
export const violated = (value: unknown, place: string, constraint: string): string =>
  `1 validation error detected: Value '${value === undefined ? 'null' : shown(value)}' at '${place}' failed to satisfy constraint: ${constraint}`;

/** Recorded for unknown members. */
export function* only(value: Json, place: string, known: string): Complaints {
  const extra = Object.keys(value).find((name) => !known.split(' ').includes(name));
  if (extra !== undefined)
    yield `Malformed input request: ${place}: extraneous key [${extra}] is not permitted, please reformat your input and try again.`;
}

const ofUser = 'text image document video toolResult cachePoint guardContent searchResult audio';
const ofAssistant = 'text toolUse toolResult reasoningContent cachePoint citationsContent image';
const idPattern = /^[a-zA-Z0-9_.:-]{1,64}$/;
const documentFormats = ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'];

export function* blockComplaints(message: Json, index: number, model: ConverseModel): Complaints {
  const blocks = list(message['content']).map(object);
  const mine = message['role'] === 'user' ? ofUser : ofAssistant;
  for (const [j, block] of blocks.entries()) {
    const place = `messages.${index}.content.${j}`;
    const member = `messages.${index + 1}.member.content.${j + 1}.member`;
    yield* only(block, `#/messages/${index}/content/${j}`, mine);
    if (Object.keys(block).length !== 1)
      yield `The ContentBlock object at ${place} must set one of the following keys: ${mine.split(' ').join(', ')}.`;
    if (typeof block['text'] === 'string' && block['text'].trim() === '')
      yield `The text field in the ContentBlock object at ${place} is blank. Add text to the text field, and try again.`;
    if (block['image'] !== undefined) yield* image(object(block['image']), member, model.images);
    if (block['document'] !== undefined) yield* document(object(block['document']), member);
    if (block['toolUse'] !== undefined) yield* call(object(block['toolUse']), member);
    if (block['toolResult'] !== undefined)
      yield* result(object(block['toolResult']), member, model);
    if (block['reasoningContent'] !== undefined && !model.remembersThoughts)
      yield `This model doesn't support the reasoningContent field. Remove reasoningContent and try again.`;
  }
  if (
    blocks.some((block) => block['document'] !== undefined) &&
    !blocks.some((block) => block['text'] !== undefined)
  )
    yield `The ContentBlock at messages.${index} contains a document without text. Add a text block and try again.`;
}

function* image({ format, source }: Json, place: string, images: boolean): Complaints {
  if (!images) yield "This model doesn't support the image field. Remove image and try again.";
  if (!['png', 'jpeg', 'gif', 'webp'].includes(String(format)))
    yield violated(
      format,
      `${place}.image.format`,
      'Member must satisfy enum value set: [png, jpeg, gif, webp]',
    );
  if (object(source)['s3Location'] !== undefined) return;
  const real = decodeImage(
    `data:image/${String(format)};base64,${text(object(source)['bytes']) ?? ''}`,
  );
  if (real === undefined) yield 'The model returned the following errors: Could not process image';
  if (real !== undefined && real.format.toLowerCase() !== format)
    yield `The provided image does not match the specified image format.`;
}

function* document({ format, name, source }: Json, place: string): Complaints {
  if (!documentFormats.includes(String(format)))
    yield violated(
      format,
      `${place}.document.format`,
      `Member must satisfy enum value set: [${documentFormats.join(', ')}]`,
    );
  if (!/^[a-zA-Z0-9\s()[\]-]{1,200}$/.test(String(name)) || /\s\s/.test(String(name)))
    yield "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.";
  if (Object.keys(object(source)).length !== 1)
    yield violated(source, `${place}.document.source`, 'Member must not be null');
}

function* call({ toolUseId, name, input }: Json, place: string): Complaints {
  if (!idPattern.test(String(toolUseId)))
    yield violated(
      toolUseId,
      `${place}.toolUse.toolUseId`,
      'Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+',
    );
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)))
    yield violated(
      name,
      `${place}.toolUse.name`,
      'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+',
    );
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    yield `The format of the value at ${place}.toolUse.input is invalid. Provide a json object for the field and try again.`;
}

function* result(
  { toolUseId, content, status }: Json,
  place: string,
  { images }: ConverseModel,
): Complaints {
  if (!idPattern.test(String(toolUseId)))
    yield violated(
      toolUseId,
      `${place}.toolResult.toolUseId`,
      'Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+',
    );
  if (!Array.isArray(content))
    yield violated(content, `${place}.toolResult.content`, 'Member must not be null');
  if (status !== undefined && status !== 'success' && status !== 'error')
    yield violated(
      status,
      `${place}.toolResult.status`,
      'Member must satisfy enum value set: [success, error]',
    );
  for (const part of list(content).map(object)) {
    yield* only(part, '#/toolResult/content', 'text json image document video searchResult');
    if (part['image'] !== undefined) yield* image(object(part['image']), place, images);
  }
}
