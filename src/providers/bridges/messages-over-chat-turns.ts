import { refuse } from '../../base/refusal.ts';
import { characters } from '../conversation/citations.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  stringOf,
  textOf,
} from '../../base/json.ts';
import { redactedDetail, signedDetail } from '../formats/anthropic-messages/reasoning.ts';
import type {
  BlockSource,
  CreateMessageParams,
  InputContentBlock,
  InputMessage,
} from '../formats/anthropic-messages/types.ts';
import { extraContentOf } from './messages-over-chat-answer.ts';

/**
 * `system` and `messages` of Anthropic's format as OpenAI's messages
 * (platform.claude.com/docs/en/api/messages, 2026-11, in the other direction).
 */
export function chatMessages(
  body: Documented<CreateMessageParams>,
  model: string,
  marks: boolean,
  errors: boolean,
): JsonObject[] {
  const messages: JsonObject[] = [];
  const system = instructions(body.system, marks);
  if (system !== '') messages.push({ role: 'system', content: system });
  listOf(body.messages).forEach((message, i) => {
    if (!isObject(message)) return;
    const place: BlockPosition = { param: `messages[${i}].content`, model, marks, errors };
    if (message.role === 'assistant') messages.push(assistant(message.content, place));
    else if (message.role === 'system')
      messages.push({ role: 'system', content: instructions(message.content, marks) });
    else messages.push(...user(message.content, place));
  });
  return messages;
}

/**
 * The path of content in the client's request, the requested model, and whether its vendor reads
 * `cache_control`, and its adapter `is_error`.
 */
interface BlockPosition {
  readonly param: string;
  readonly model: string;
  readonly marks: boolean;
  readonly errors: boolean;
}

const itemPosition = (place: BlockPosition, i: number): BlockPosition => ({
  ...place,
  param: `${place.param}[${i}]`,
});

/** The client's mark that the prompt may be cached up to here. */
export const cacheMarkOf = (
  { cache_control }: Documented<Pick<InputContentBlock, 'cache_control'>>,
  marks: boolean,
): JsonObject => (marks && isObject(cache_control) ? { cache_control } : {});

/**
 * Claude Code sends its version in a block of its own, with a mark that changes on each request: it
 * would make every other model's cache useless.
 */
const forAnthropicAlone = /^x-anthropic-billing-header:/;

function instructions(system: Documented<CreateMessageParams>['system'], marks: boolean): unknown {
  if (typeof system === 'string') return system;
  const parts = objectsOf(system).map((block) =>
    textPart(textOf(block.text) ?? '', cacheMarkOf(block, marks)),
  );
  return joined(
    parts.filter(({ text }) => text !== '' && !forAnthropicAlone.test(String(text))),
    '\n\n',
  );
}

/** Tool results become messages of their own and come first; the user's other content follows. */
function user(content: Documented<InputMessage>['content'], place: BlockPosition): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  listOf(content).forEach((block, i) => {
    if (!isObject(block)) return;
    if (block.type === 'tool_result') results.push(toolResult(block, itemPosition(place, i)));
    else parts.push(...partsOf(block, itemPosition(place, i)));
  });
  return parts.length || results.length === 0
    ? [...results, { role: 'user', content: joined(parts, '\n\n') }]
    : results;
}

/** Content that is only text becomes a string: not every vendor takes parts. */
function joined(parts: readonly JsonObject[], between: string): unknown {
  const plain = parts.every(
    (part) => part['type'] === 'text' && part['cache_control'] === undefined,
  );
  return plain ? parts.map((part) => part['text']).join(between) : parts;
}

function toolResult(block: Documented<InputContentBlock>, place: BlockPosition): JsonObject {
  const { tool_use_id: id, content, is_error: failed } = block;
  const inside: BlockPosition = { ...place, param: `${place.param}.content` };
  const parts =
    typeof content === 'string'
      ? [textPart(content)]
      : listOf(content).flatMap((part, i) =>
          isObject(part) ? partsOf(part, itemPosition(inside, i)) : [],
        );
  const text = parts.flatMap((part) => textOf(part['text']) ?? []).join('\n\n');
  const tells = failed === true && !place.errors && !/error/i.test(text.slice(0, 200));
  const told = tells ? `Error: ${text}` : text;
  const media = parts.filter((part) => part['type'] !== 'text');
  return {
    role: 'tool',
    tool_call_id: id,
    content: media.length === 0 ? told : tells ? [textPart(told), ...media] : parts,
    ...(failed === true && place.errors ? { is_error: true } : {}),
    ...cacheMarkOf(block, place.marks),
  };
}

const textPart = (text: string, mark: JsonObject = {}): JsonObject => ({
  type: 'text',
  text,
  ...mark,
});

function partsOf(block: Documented<InputContentBlock>, place: BlockPosition): JsonObject[] {
  const parts = partsWithoutMark(block, place);
  const last = parts.at(-1);
  return last === undefined
    ? parts
    : [...parts.slice(0, -1), { ...last, ...cacheMarkOf(block, place.marks) }];
}

function partsWithoutMark(
  block: Documented<InputContentBlock>,
  place: BlockPosition,
): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [textPart(textOf(block.text) ?? '')];
    case 'image':
      return [imagePart(objectOf(block.source) ?? {}, place)];
    case 'document':
      return documentParts(block, objectOf(block.source) ?? {}, place);
    case 'search_result': {
      const texts = listOf(block.content).map((part) => textOf(objectOf(part)?.text) ?? '');
      const all: readonly unknown[] = [block.title, block.source, ...texts];
      return [textPart(all.filter(Boolean).join('\n'))];
    }
    case 'tool_reference':
      return [textPart(chatToolName(textOf(block.tool_name) ?? ''))];
    default:
      return unsupported(stringOf(block.type), place);
  }
}

/** Documents and search results may request citations; only Claude gives them. */
const asksForCitations = (block: Documented<InputContentBlock>): boolean =>
  objectOf(block.citations)?.enabled === true;

function unsupported(content: string, { param, model }: BlockPosition): never {
  refuse('unsupported_content', {
    param,
    model,
    content,
    accepted: 'text, image, document, tool_use, tool_result',
  });
}

function imagePart(source: Documented<BlockSource>, place: BlockPosition): JsonObject {
  const url = urlOf(source);
  return url === undefined
    ? unsupported('an image by file id as', place)
    : { type: 'image_url', image_url: { url } };
}

function urlOf(source: Documented<BlockSource>): string | undefined {
  if (source.type === 'base64')
    return `data:${stringOf(source.media_type)};base64,${stringOf(source.data)}`;
  return source.type === 'url' ? textOf(source.url) : undefined;
}

function documentParts(
  block: Documented<InputContentBlock>,
  source: Documented<BlockSource>,
  place: BlockPosition,
): JsonObject[] {
  const title = textOf(block.title);
  const context = textOf(block.context);
  const about = [title, context].filter(Boolean).join('\n');
  const introduction = about === '' ? [] : [textPart(about)];
  if (source.type === 'text') return [...introduction, textPart(textOf(source.data) ?? '')];
  if (source.type === 'content') {
    const { content } = source;
    if (typeof content === 'string') return [...introduction, textPart(content)];
    const inside: BlockPosition = { ...place, param: `${place.param}.source.content` };
    return [
      ...introduction,
      ...listOf(content).flatMap((part, i) =>
        isObject(part) ? partsOf(part, itemPosition(inside, i)) : [],
      ),
    ];
  }
  const data = urlOf(source);
  if (data === undefined) return unsupported('a document by file id as', place);
  const file = { filename: title ?? 'document.pdf', file_data: data };
  return [...(context ? [textPart(context)] : []), { type: 'file', file }];
}

/** The assistant's blocks that chat can express, or that are refused. */
const carriedBlocks = new Set<unknown>([
  'text',
  'tool_use',
  'thinking',
  'redacted_thinking',
  'image',
  'document',
]);

/**
 * The paths of content that is dropped: requests for citations, and blocks of tools that Anthropic
 * runs itself, whose results are in the text that follows.
 */
export function droppedBlocks(messages: Documented<CreateMessageParams>['messages']): string[] {
  const paths = new Set<string>();
  for (const message of objectsOf(messages)) {
    if (objectsOf(message.content).some(asksForCitations))
      paths.add('messages[].content[].citations');
    if (message.role !== 'assistant') continue;
    for (const block of objectsOf(message.content))
      if (!carriedBlocks.has(block.type)) paths.add(`messages[].content[].${stringOf(block.type)}`);
  }
  return [...paths];
}

/** A message of the assistant while blocks are added to it. */
interface Draft {
  readonly texts: JsonObject[];
  /** The number of characters of the texts. */
  length: number;
  reasoning: string;
  readonly details: JsonObject[];
  readonly calls: JsonObject[];
}

function assistant(content: Documented<InputMessage>['content'], place: BlockPosition): JsonObject {
  if (typeof content === 'string') return { role: 'assistant', content };
  const draft: Draft = { texts: [], length: 0, reasoning: '', details: [], calls: [] };
  listOf(content).forEach((block, i) => {
    if (isObject(block)) addBlock(draft, block, itemPosition(place, i));
  });
  const { texts, reasoning, details, calls } = draft;
  const text = joined(texts, '');
  return {
    role: 'assistant',
    content: text === '' && calls.length ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length ? { reasoning_details: details } : {}),
    ...(calls.length ? { tool_calls: calls } : {}),
  };
}

function addBlock(draft: Draft, block: Documented<InputContentBlock>, place: BlockPosition): void {
  const { type } = block;
  const { details, calls, length } = draft;
  if (type === 'text') {
    const text = textOf(block.text) ?? '';
    draft.texts.push(textPart(text, cacheMarkOf(block, place.marks)));
    draft.length += characters(text);
  } else if (type === 'tool_use')
    calls.push({ ...toolCall(block), ...cacheMarkOf(block, place.marks) });
  else if (type === 'redacted_thinking')
    details.push({
      ...redactedDetail(details.length, stringOf(block.data), length, calls.length),
    });
  else if (type === 'thinking') {
    const thought = textOf(block.thinking) ?? '';
    draft.reasoning += thought;
    const signature = textOf(block.signature);
    if (signature)
      details.push({
        ...signedDetail(details.length, thought, signature, length, calls.length),
      });
  } else if (type === 'image' || type === 'document')
    unsupported(`the assistant's ${type} as`, place);
}

function toolCall(block: Documented<InputContentBlock>): JsonObject {
  const { id, name, input = {} } = block;
  return {
    id,
    type: 'function',
    function: { name: chatToolName(name), arguments: JSON.stringify(input) },
    ...extraContentOf(block),
  };
}
