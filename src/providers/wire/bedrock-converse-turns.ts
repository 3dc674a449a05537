import { MediaWriter } from './bedrock-converse-media.ts';
import type { ConverseModel } from './bedrock-converse-models.ts';
import { CallIds } from './call-ids.ts';
import {
  type Conversation,
  isBlank,
  type Part,
  type ToolResult,
  type Turn,
} from './chat-conversation.ts';
import { type JsonObject, textOf } from './json.ts';
import { stepsOf } from './signed-order.ts';

export interface Message {
  readonly role: Turn['role'];
  readonly content: readonly JsonObject[];
}

interface Placed {
  readonly cache: JsonObject | undefined;
}

/**
 * Writes a conversation in Converse's words
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

  /** `prefill`: the conversation may end with the assistant's words. */
  messages({ turns }: Conversation, prefill: boolean): Message[] {
    const messages = turns.flatMap((turn, i): Message[] => {
      const content =
        turn.role === 'user' ? this.#user(turn) : this.#assistant(turn, i === turns.length - 1);
      const message = { role: turn.role, content };
      return this.#model.apart ? takenApart(message) : [message];
    });
    // "A conversation must start with a user message": but for Claude's. And with most models it
    // ends with one.
    if (messages[0]?.role === 'assistant' && !this.#model.claude) messages.unshift(nudge('Begin.'));
    if (messages.at(-1)?.role === 'assistant' && !prefill) messages.push(nudge('Continue.'));
    return messages;
  }

  system({ system }: Conversation, told: readonly string[]): JsonObject[] {
    return [
      ...system.flatMap((part) => this.#marked({ text: part.text }, part)),
      ...told.map((text) => ({ text })),
    ];
  }

  #user({ results, parts }: Turn): JsonObject[] {
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

  #assistant({ calls, spans }: Turn, last: boolean): JsonObject[] {
    const thinks = this.#model.claude && this.#model.traits.thinking !== 'none';
    const blocks = stepsOf(spans, thinks).flatMap((step): JsonObject[] => {
      if (step.kind === 'thinking') return [reasoningBlock(step.block)];
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

  #parts(parts: readonly Part[]): JsonObject[] {
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

const nudge = (text: string, role: Turn['role'] = 'user'): Message => ({
  role,
  content: [{ text }],
});

/**
 * Llama takes no word beside calls or their results ("Conversation blocks and tool result blocks
 * cannot be provided in the same turn", told to users of llama4-maverick, 2025-11): each becomes a
 * turn of its own, with a word of the other side in between.
 */
function takenApart({ role, content }: Message): Message[] {
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

/**
 * Anthropic's `cache_control` as Converse says it; five minutes are what it means when nothing is
 * said.
 */
export const cachePoint = (cache: JsonObject): JsonObject => ({
  cachePoint: { type: 'default', ...(cache['ttl'] === '1h' ? { ttl: '1h' } : {}) },
});

/**
 * A signed thinking block of Claude. Redacted ones are bytes to Converse: base64 of the text that
 * Anthropic's own API gives.
 */
function reasoningBlock(block: JsonObject): JsonObject {
  if (block['type'] === 'redacted_thinking')
    return {
      reasoningContent: {
        redactedContent: Buffer.from(textOf(block['data']) ?? '').toString('base64'),
      },
    };
  return {
    reasoningContent: {
      reasoningText: { text: textOf(block['thinking']) ?? '', signature: block['signature'] },
    },
  };
}
