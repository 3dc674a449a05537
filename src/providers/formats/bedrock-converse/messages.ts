import { type Documented, type JsonObject, textOf } from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import {
  type Conversation,
  isBlank,
  type ContentPart,
  type ToolResult,
  type ConversationTurn,
  type AudioPart,
  type InlineBytes,
  type FilePart,
  type ImagePart,
  refusePart,
  type VideoPart,
} from '../../conversation/conversation.ts';
import { CallIds } from '../../conversation/call-ids.ts';
import { turnSteps } from '../anthropic-messages/reasoning.ts';
import type { ChatThinkingBlock } from '../openai-chat/types.ts';
import { refuseAddress, textTypes } from '../anthropic-messages/request.ts';
import type { ConverseModel } from './models.ts';

export interface ConverseMessage {
  readonly role: ConversationTurn['role'];
  readonly content: readonly JsonObject[];
}

interface Placed {
  readonly cache: JsonObject | undefined;
}

/**
 * Writes a conversation in Converse's format
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-08).
 */
export class TurnsWriter {
  readonly #model: ConverseModel;
  readonly #media: MediaWriter;
  readonly #ids = new CallIds(/^[a-zA-Z0-9_.:-]{1,64}$/);

  constructor(model: ConverseModel, publicModel: string) {
    this.#model = model;
    this.#media = new MediaWriter(publicModel);
  }

  /** `prefill`: the conversation may end with an assistant's message. */
  messages({ turns }: Conversation, prefill: boolean): ConverseMessage[] {
    const messages = turns.flatMap((turn, i): ConverseMessage[] => {
      const content =
        turn.role === 'user' ? this.#user(turn) : this.#assistant(turn, i === turns.length - 1);
      const message = { role: turn.role, content };
      return this.#model.apart ? takenApart(message) : [message];
    });
    // "A conversation must start with a user message", except for Claude 4 and later. For most
    // models it must end with one, too.
    if (messages[0]?.role === 'assistant' && !this.#model.assistantFirst)
      messages.unshift(nudge('Begin.'));
    if (messages.at(-1)?.role === 'assistant' && !prefill) messages.push(nudge('Continue.'));
    return messages;
  }

  system({ system }: Conversation, told: readonly string[]): JsonObject[] {
    return [
      ...system.flatMap((part) => this.#marked({ text: part.text }, part)),
      ...told.map((text) => ({ text })),
    ];
  }

  #user({ results, parts }: ConversationTurn): JsonObject[] {
    const blocks = [
      ...results.flatMap((result) => this.#marked(this.#result(result), result)),
      ...this.#parts(parts),
    ];
    // A document needs a text beside it.
    if (
      parts.some((part) => part.kind === 'file') &&
      !parts.some((part) => part.kind === 'text' && !isBlank(part))
    )
      blocks.push({ text: 'See the document.' });
    return blocks;
  }

  #result({ id, parts, isError }: ToolResult): JsonObject {
    const content = parts.filter((part) => !isBlank(part)).map((part) => this.#media.block(part));
    const status = isError && this.#model.resultStatus ? { status: 'error' } : {};
    return { toolResult: { toolUseId: this.#ids.of(id), content, ...status } };
  }

  #assistant({ calls, spans }: ConversationTurn, last: boolean): JsonObject[] {
    const thinks = this.#model.claude && this.#model.traits.thinking !== 'none';
    const blocks = turnSteps(spans, thinks).flatMap((step): JsonObject[] => {
      if (step.kind === 'thinking') return [reasoningBlock(step.thought.block)];
      if (step.kind === 'part') return this.#parts([step.part]);
      const { id, name, input } = step.call;
      return this.#marked({ toolUse: { toolUseId: this.#ids.begin(id), name, input } }, step.call);
    });
    const text = textOf(blocks.at(-1)?.['text']);
    // "final assistant content cannot end with trailing whitespace"
    if (last && calls.length === 0 && text !== undefined)
      blocks[blocks.length - 1] = { text: text.trimEnd() };
    return blocks;
  }

  #parts(parts: readonly ContentPart[]): JsonObject[] {
    return parts
      .filter((part) => !isBlank(part))
      .flatMap((part) => this.#marked(this.#media.block(part), part));
  }

  #marked(block: JsonObject, { cache }: Placed): JsonObject[] {
    return cache !== undefined && this.#model.caches !== 'nowhere'
      ? [block, cachePoint(cache)]
      : [block];
  }
}

const nudge = (text: string, role: ConversationTurn['role'] = 'user'): ConverseMessage => ({
  role,
  content: [{ text }],
});

/**
 * Splits a message for Llama, which takes no text beside calls or their results ("Conversation
 * blocks and tool result blocks cannot be provided in the same turn", reported by users of
 * llama4-maverick, 2025-11): each becomes a turn of its own, with a short message of the other role
 * in between.
 */
function takenApart({ role, content }: ConverseMessage): ConverseMessage[] {
  const tooling = content.filter((block) => 'toolUse' in block || 'toolResult' in block);
  const words = content.filter((block) => !tooling.includes(block));
  if (tooling.length === 0 || words.length === 0) return [{ role, content }];
  const [first, second] = role === 'user' ? [tooling, words] : [words, tooling];
  return [
    { role, content: first },
    role === 'user' ? nudge('Understood.', 'assistant') : nudge('Continue.'),
    { role, content: second },
  ];
}

/** Anthropic's `cache_control` as Converse's cache point; five minutes are the default. */
export const cachePoint = ({ ttl }: Documented<{ readonly ttl: string }>): JsonObject => ({
  cachePoint: { type: 'default', ...(ttl === '1h' ? { ttl } : {}) },
});

/**
 * Writes a signed thinking block of Claude. Converse takes redacted ones as bytes: base64 of the
 * text that Anthropic's own API gives.
 */
function reasoningBlock(block: Documented<ChatThinkingBlock>): JsonObject {
  if (block.type === 'redacted_thinking')
    return {
      reasoningContent: {
        redactedContent: Buffer.from(textOf(block.data) ?? '').toString('base64'),
      },
    };
  return {
    reasoningContent: {
      reasoningText: { text: textOf(block.thinking) ?? '', signature: block.signature },
    },
  };
}

/**
 * Media types → Converse's formats
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html, 2026-08).
 */
const images: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const documents: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
};
const videos: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/mpeg': 'mpeg',
  'video/x-flv': 'flv',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
};

/** Writes the parts of one request as Converse's blocks. Every document needs a name of its own. */
class MediaWriter {
  readonly #model: string;
  readonly #names = new Set<string>();

  /** `model`: its public name, for refusals. */
  constructor(model: string) {
    this.#model = model;
  }

  block(part: ContentPart): JsonObject {
    if (part.kind === 'text') return { text: part.text };
    if (part.kind === 'image') return imageBlock(part, bytesOf(part));
    if (part.kind === 'file') return this.#fileBlock(part, bytesOf(part));
    return part.kind === 'video' ? this.#videoBlock(part, bytesOf(part)) : this.#audioBlock(part);
  }

  #fileBlock(part: FilePart, { mime, base64 }: InlineBytes): JsonObject {
    if (mime in images) return imageBlock(part, { mime, base64 });
    const format = documents[mime] ?? (textTypes.test(mime) ? 'txt' : undefined);
    if (format === undefined)
      refuse('invalid_value', {
        param: part.param,
        why: `'${mime}' is no document that this model reads.`,
      });
    return {
      document: { format, name: this.#name(part.name ?? 'document'), source: { bytes: base64 } },
    };
  }

  #audioBlock(part: AudioPart): JsonObject {
    const { mime, base64 } = part.source;
    if (!/^audio\/[a-z0-9-]+$/.test(mime))
      refusePart(part, this.#model, 'text, images, files, videos and audio');
    return { audio: { format: mime.slice('audio/'.length), source: { bytes: base64 } } };
  }

  #videoBlock(part: VideoPart, { mime, base64 }: InlineBytes): JsonObject {
    const format = videos[mime];
    if (format === undefined)
      refuse('invalid_value', {
        param: part.param,
        why: `'${mime}' is not one of ${Object.keys(videos).join(', ')}.`,
      });
    return { video: { format, source: { bytes: base64 } } };
  }

  /**
   * A document's name in Converse's alphabet: letters, digits, single spaces, hyphens, parentheses
   * and brackets, 200 at most. The file ending is removed because its dot is refused.
   */
  #name(name: string): string {
    const plain = name
      .replace(/\.[a-z0-9]{1,5}$/i, '')
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .replace(/[^A-Za-z0-9\s()[\]-]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const base = plain.slice(0, 190) || 'document';
    let unique = base;
    for (let n = 2; this.#names.has(unique); n++) unique = `${base} (${n})`;
    this.#names.add(unique);
    return unique;
  }
}

function imageBlock({ param }: ContentPart, { mime, base64 }: InlineBytes): JsonObject {
  const format = images[mime];
  if (format === undefined)
    refuse('invalid_value', {
      param,
      why: `'${mime}' is not one of image/png, image/jpeg, image/gif, image/webp.`,
    });
  return { image: { format, source: { bytes: base64 } } };
}

const bytesOf = (part: ImagePart | FilePart | VideoPart): InlineBytes =>
  'url' in part.source ? refuseAddress(part) : part.source;
