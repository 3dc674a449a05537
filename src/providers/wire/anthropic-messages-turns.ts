import { refuse } from '../../base/refusal.ts';
import {
  type Bytes,
  type Conversation,
  type FilePart,
  type ImagePart,
  isBlank,
  type Part,
  refusePart,
  type ToolCall,
  type ToolResult,
  type Turn,
} from './chat-conversation.ts';
import { CallIds } from './call-ids.ts';
import type { JsonObject } from './json.ts';
import { stepsOf } from './signed-order.ts';

/** `tool_use` takes ids of these characters. */
const callId = /^[a-zA-Z0-9_-]+$/;

/** What the writer of a conversation has to know of the request. */
export interface Writing {
  /** As the client calls it, for refusals. */
  readonly model: string;
  /** The vendor fetches images and files by URL itself. */
  readonly fetches: boolean;
  /** The model knows thinking: it is given its thoughts back. */
  readonly thinks: boolean;
}

type Block = Readonly<Record<string, unknown>>;
export interface Message {
  readonly role: Turn['role'];
  readonly content: readonly Block[];
}

/**
 * The conversation in Anthropic's words (platform.claude.com/docs/en/api/messages, 2026-11).
 * `prefill`: it may end with the assistant's words.
 */
export function writeMessages(
  { turns }: Conversation,
  writing: Writing,
  prefill: boolean,
): Message[] {
  const ids = new CallIds(callId);
  const messages = turns.map(({ role, ...turn }, i): Message => {
    const last = i === turns.length - 1;
    return {
      role,
      content:
        role === 'user'
          ? userBlocks(turn, writing, ids)
          : assistantBlocks(turn, writing, ids, last),
    };
  });
  if (turns.at(-1)?.role === 'assistant' && !prefill)
    messages.push({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] });
  return messages;
}

export const writeSystem = ({ system }: Conversation, told: readonly string[]): Block[] => [
  ...system.map((part) => cached({ type: 'text', text: part.text }, part)),
  ...told.map((text) => ({ type: 'text', text })),
];

type Said = Omit<Turn, 'role'>;

/** All results of a turn are in one message, before anything else. */
function userBlocks({ results, parts }: Said, writing: Writing, ids: CallIds): Block[] {
  return [
    ...results.map((result) => resultBlock(result, writing, ids)),
    ...partBlocks(parts, writing),
  ];
}

function resultBlock(result: ToolResult, writing: Writing, ids: CallIds): Block {
  const parts = result.parts.filter((part) => !isBlank(part));
  const only = parts.length === 1 ? parts[0] : undefined;
  const content =
    only?.kind === 'text' && !only.cache
      ? only.text
      : parts.length === 0
        ? ''
        : partBlocks(parts, writing);
  return cached(
    {
      type: 'tool_result',
      tool_use_id: ids.of(result.id),
      content,
      ...(result.isError ? { is_error: true } : {}),
    },
    result,
  );
}

/** The last words of a conversation may not end in white space. */
function assistantBlocks(
  { calls, spans }: Said,
  writing: Writing,
  ids: CallIds,
  last: boolean,
): Block[] {
  const text = asText(writing);
  const blocks = stepsOf(spans, writing.thinks).flatMap((step): Block[] => {
    if (step.kind === 'thinking') return [step.block];
    return step.kind === 'call'
      ? [callBlock(step.call, ids)]
      : partBlocks([text(step.part)], writing);
  });
  const end = blocks.at(-1);
  if (last && calls.length === 0 && typeof end?.['text'] === 'string')
    blocks[blocks.length - 1] = { ...end, text: end['text'].trimEnd() };
  return blocks;
}

const asText =
  ({ model }: Writing) =>
  (part: Part): Part =>
    part.kind === 'text' ? part : refusePart(part, model, 'text in the assistant’s turns');

function callBlock(call: ToolCall, ids: CallIds): Block {
  return cached(
    { type: 'tool_use', id: ids.begin(call.id), name: call.name, input: call.input },
    call,
  );
}

function partBlocks(parts: readonly Part[], writing: Writing): Block[] {
  return parts
    .filter((part) => !isBlank(part))
    .map((part) => cached(partBlock(part, writing), part));
}

function partBlock(part: Part, writing: Writing): Block {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind === 'image') return { type: 'image', source: imageSource(part, writing) };
  if (part.kind === 'file') return fileBlock(part, writing);
  return refusePart(part, writing.model, 'text, images and files');
}

const cached = (block: Block, { cache }: { readonly cache: JsonObject | undefined }): Block =>
  cache ? { ...block, cache_control: cache } : block;

const imageMime = ({ mime }: Bytes): string => (mime === 'image/jpg' ? 'image/jpeg' : mime);
const images = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(part: ImagePart, writing: Writing): Block {
  if ('url' in part.source) return urlSource(part, part.source, writing);
  const mime = imageMime(part.source);
  if (!images.has(mime))
    refuse('invalid_value', {
      param: part.param,
      why: `'${mime}' is not one of ${[...images].join(', ')}.`,
    });
  return { type: 'base64', media_type: mime, data: part.source.base64 };
}

function urlSource(
  part: ImagePart | FilePart,
  { url }: { readonly url: string },
  writing: Writing,
): Block {
  if (!writing.fetches)
    refuse('invalid_value', {
      param: part.param,
      why: `this model takes the ${part.kind} itself, as 'data:…;base64,…', not its address.`,
    });
  return { type: 'url', url };
}

function fileBlock(part: FilePart, writing: Writing): Block {
  if (!('url' in part.source) && images.has(imageMime(part.source)))
    return { type: 'image', source: imageSource({ ...part, kind: 'image' }, writing) };
  const source =
    'url' in part.source
      ? urlSource(part, part.source, writing)
      : documentSource(part, part.source);
  return { type: 'document', source, ...(part.name ? { title: part.name } : {}) };
}

const texts = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript)$)/;

function documentSource({ param }: FilePart, { mime, base64 }: Bytes): Block {
  if (mime === 'application/pdf') return { type: 'base64', media_type: mime, data: base64 };
  if (texts.test(mime))
    return {
      type: 'text',
      media_type: 'text/plain',
      data: Buffer.from(base64, 'base64').toString('utf8'),
    };
  return refuse('invalid_value', { param, why: `'${mime}' is not a PDF, a text or an image.` });
}
