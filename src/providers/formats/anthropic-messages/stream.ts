import {
  jsonText,
  stringEnd,
  countOf,
  type Documented,
  isObject,
  listOf,
  objectOf,
  parse,
  textOf,
  utf8,
} from '../../../base/json.ts';
import type { StreamMeter } from '../../adapter.ts';
import { explanationOf, messagesFinish } from './response.ts';
import { messagesFaultWithin } from './fault.ts';
import { detailsMember, redactedDetail } from './reasoning.ts';
import { hiddenTool } from './tools.ts';
import type { ContentBlock, ContentBlockDelta, MessageStreamEvent } from './types.ts';
import {
  type MessageCounts,
  newMessageCounts,
  addMessageUsage,
  messageQuantities,
} from './usage.ts';
import { charactersInJson, type Cited, cite, citedDelta } from '../../conversation/citations.ts';
import type { ChatChunks, EventReader } from '../../conversation/chat-stream.ts';
import { protocolFault } from '../fault.ts';

/** Where the deltas of a content block go. */
type Block =
  | { readonly kind: 'text'; readonly from: number; readonly citations: unknown[] }
  | {
      readonly kind: 'thinking';
      readonly detail: number;
      readonly at: number;
      readonly calls: number;
    }
  | { readonly kind: 'call'; readonly call: number; readonly input: unknown; told: boolean }
  | { readonly kind: 'json'; readonly input: unknown; told: boolean }
  | { readonly kind: 'ours not' };

/** A piece of a thinking block as a member of a delta. */
const detailOf = (
  { detail, at, calls }: Extract<Block, { readonly kind: 'thinking' }>,
  inside: string,
): string => detailsMember(inside, detail, at, calls);

const deltaHead = '{"type":"content_block_delta","index":';

/**
 * Anthropic's events (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11) as OpenAI's
 * chunks.
 */
export class MessagesReader implements EventReader {
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  readonly #hidden: boolean;
  readonly #counts: MessageCounts = newMessageCounts();
  readonly #blocks: (Block | undefined)[] = [];
  #details = 0;
  /** How many characters of text there are so far. */
  #length = 0;
  #spoke = false;

  constructor(chunks: ChatChunks, meter: StreamMeter, hidden: boolean) {
    this.#chunks = chunks;
    this.#meter = meter;
    this.#hidden = hidden;
  }

  event(data: string, name: string): string {
    if (data.startsWith(deltaHead)) {
      const text = this.#plainDelta(data);
      if (text !== undefined) return text;
    }
    const body: Documented<MessageStreamEvent> | undefined = objectOf(parse(utf8(data)));
    if (body === undefined) {
      this.#meter.fault = protocolFault('an event that is not JSON');
      return '';
    }
    return this.#tell(body, textOf(body.type) ?? name);
  }

  rest(rest: string): StreamMeter['fault'] {
    const body = parse(utf8(rest));
    return isObject(body) ? messagesFaultWithin(body) : undefined;
  }

  /**
   * Handles nearly every event: one delta with one string, in the order in which the vendor always
   * writes its members. The string's bytes are copied to the client without parsing or encoding.
   * Undefined for an event of another form.
   */
  #plainDelta(data: string): string | undefined {
    const comma = data.indexOf(',', deltaHead.length);
    const block = this.#blocks[Number(data.slice(deltaHead.length, comma))];
    if (!block) return undefined;
    const head = plainHeads[block.kind];
    if (head === undefined || !data.startsWith(head, comma)) return undefined;
    const start = comma + head.length;
    if (data.charCodeAt(start) !== 0x22) return undefined;
    let end: number;
    try {
      end = stringEnd(data, start);
    } catch {
      return undefined;
    }
    // The vendor pads events with blanks before the last brace.
    if (data.charCodeAt(end) !== 0x7d || data.slice(end + 1).trim() !== '}') return undefined;
    return this.#said(block, data.slice(start, end));
  }

  /** A piece of a block's content, as the JSON text of a string. */
  #said(block: Block, json: string): string {
    if (json === '""') return '';
    const chunks = this.#chunks;
    switch (block.kind) {
      case 'text':
        this.#spoke = true;
        this.#length += charactersInJson(json);
        return chunks.contentJson(json);
      case 'thinking':
        return chunks.reasoningJson(json, detailOf(block, `"text":${json}`));
      case 'call':
        block.told = true;
        return chunks.argumentsJson(block.call, json);
      case 'json':
        block.told = true;
        this.#spoke = true;
        return chunks.contentJson(json);
      default:
        return '';
    }
  }

  #tell(body: Documented<MessageStreamEvent>, type: string): string {
    switch (type) {
      case 'message_start': {
        const message = objectOf(body.message);
        this.#meter.upstreamId ??= textOf(message?.id);
        addMessageUsage(this.#counts, objectOf(message?.usage));
        // The vendor counts the output only at the end, while the input is final now: a stream that
        // is cut is charged by it.
        if (this.#counts.input !== undefined)
          this.#meter.input = messageQuantities({ ...this.#counts, output: 0, thinking: 0 });
        return '';
      }
      case 'content_block_start':
        return this.#start(countOf(body.index) ?? 0, objectOf(body.content_block) ?? {});
      case 'content_block_delta':
        return this.#delta(this.#blocks[countOf(body.index) ?? 0], objectOf(body.delta) ?? {});
      case 'content_block_stop':
        return this.#stop(this.#blocks[countOf(body.index) ?? 0]);
      case 'message_delta':
        return this.#finish(body);
      case 'message_stop':
        this.#meter.done = true;
        return '';
      default:
        // Pings and unknown events are dropped; errors have one form whatever their type.
        this.#meter.fault = messagesFaultWithin(body);
        return '';
    }
  }

  #start(index: number, block: Documented<ContentBlock>): string {
    const type = textOf(block.type);
    if (type === 'tool_use') return this.#startCall(index, block);
    if (type === 'text')
      this.#blocks[index] = {
        kind: 'text',
        from: this.#length,
        citations: [...listOf(block.citations)],
      };
    else if (type === 'thinking')
      this.#blocks[index] = {
        kind: 'thinking',
        detail: this.#details++,
        at: this.#length,
        calls: this.#chunks.calls,
      };
    else this.#blocks[index] = { kind: 'ours not' };
    const begun = this.#blocks[index];
    if (type === 'redacted_thinking') return this.#redacted(textOf(block.data) ?? '');
    const text = type === 'thinking' ? block.thinking : block.text;
    return begun ? this.#said(begun, jsonText(textOf(text) ?? '')) : '';
  }

  #startCall(index: number, block: Documented<ContentBlock>): string {
    const name = textOf(block.name) ?? '';
    const { input } = block;
    if (this.#hidden && name === hiddenTool) {
      this.#blocks[index] = { kind: 'json', input, told: false };
      return '';
    }
    this.#blocks[index] = { kind: 'call', call: this.#chunks.calls, input, told: false };
    return this.#chunks.call(textOf(block.id) ?? '', name);
  }

  #delta(block: Block | undefined, delta: Documented<ContentBlockDelta>): string {
    if (!block) return '';
    if (delta.type === 'signature_delta' && block.kind === 'thinking') {
      const signature = textOf(delta.signature) ?? '';
      return this.#chunks.delta(detailOf(block, `"signature":${jsonText(signature)}`));
    }
    if (block.kind === 'text' && delta.citation !== undefined) block.citations.push(delta.citation);
    const word = wordOf[block.kind];
    const text = word && textOf(delta[word]);
    return text === undefined ? '' : this.#said(block, jsonText(text));
  }

  /**
   * Ends a block. The citations of a text are known only once all of it has come. A tool call
   * without arguments has no deltas, and some servers send all arguments at its start.
   */
  #stop(block: Block | undefined): string {
    if (block?.kind === 'text' && block.citations.length > 0) {
      const cited: Cited = { annotations: [], citations: [] };
      cite(cited, block.citations, block.from, this.#length);
      return this.#chunks.delta(citedDelta(cited));
    }
    if (block === undefined || (block.kind !== 'call' && block.kind !== 'json') || block.told)
      return '';
    return this.#said(block, jsonText(JSON.stringify(block.input ?? {})));
  }

  #redacted(data: string): string {
    const detail = redactedDetail(this.#details++, data, this.#length, this.#chunks.calls);
    return this.#chunks.delta(`"reasoning_details":[${jsonText(detail)}]`);
  }

  #finish(body: Documented<MessageStreamEvent>): string {
    addMessageUsage(this.#counts, objectOf(body.usage));
    this.#meter.quantities = messageQuantities(this.#counts);
    const delta = objectOf(body.delta);
    const finish = messagesFinish(delta?.stop_reason, this.#chunks.calls);
    const explanation =
      finish === 'content_filter' && !this.#spoke ? explanationOf(delta) : undefined;
    return (
      (explanation === undefined ? '' : this.#chunks.delta(`"refusal":${jsonText(explanation)}`)) +
      this.#chunks.finish(finish)
    );
  }
}

/** The member of a block's deltas that holds its content. */
const wordOf: Readonly<Partial<Record<Block['kind'], 'text' | 'thinking' | 'partial_json'>>> = {
  text: 'text',
  thinking: 'thinking',
  call: 'partial_json',
  json: 'partial_json',
};

const plainHead = (type: string, word: string): string => `,"delta":{"type":"${type}","${word}":`;
const plainHeads: Readonly<Partial<Record<Block['kind'], string>>> = {
  text: plainHead('text_delta', 'text'),
  thinking: plainHead('thinking_delta', 'thinking'),
  call: plainHead('input_json_delta', 'partial_json'),
  json: plainHead('input_json_delta', 'partial_json'),
};
