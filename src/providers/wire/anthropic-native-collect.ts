import type { Quantities } from '../../base/quantities.ts';
import type { Answer, Call, StreamCollector, StreamMeter } from '../adapter.ts';
import { MessageStream } from './anthropic-native-stream.ts';
import { countOf, isObject, type JsonObject, objectOf, parse, textOf, utf8 } from './json.ts';

type Block = Record<string, unknown>;

/**
 * Puts a stream of `/v1/messages` together into the message it would have been
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11).
 */
export class MessageCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #stream: MessageStream;
  readonly #blocks: Block[] = [];
  readonly #inputs = new Map<number, string>();
  #message: Record<string, unknown> = {};

  constructor(call: Call) {
    this.#stream = new MessageStream(call);
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): Answer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    for (const [index, input] of this.#inputs) {
      const block = this.#blocks[index];
      // Half an argument is none: a call that was cut is told without.
      if (block !== undefined)
        block['input'] = objectOf(parse(input.trim() === '' ? '{}' : input)) ?? {};
    }
    const content = this.#blocks.filter(Boolean);
    const quantities = cut ?? this.meter.quantities;
    return {
      body: Buffer.from(JSON.stringify({ ...this.#message, content })),
      quantities,
      told: cut === undefined ? this.meter.told : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities
        ? ''
        : content
            .map((block) => `${textOf(block['text']) ?? ''}${textOf(block['thinking']) ?? ''}`)
            .join(''),
    };
  }

  #add(events: string): void {
    if (events === '') return;
    for (const event of utf8(events).split('\n\n')) {
      const body = parse(event.slice(event.indexOf('data: ') + 'data: '.length));
      if (isObject(body)) this.#event(body);
    }
  }

  #event(body: JsonObject): void {
    const index = countOf(body['index']) ?? 0;
    if (body['type'] === 'message_start') this.#message = { ...objectOf(body['message']) };
    else if (body['type'] === 'content_block_start')
      this.#blocks[index] = { ...objectOf(body['content_block']) };
    else if (body['type'] === 'content_block_delta')
      this.#delta(index, objectOf(body['delta']) ?? {});
    else if (body['type'] === 'message_delta') {
      const usage = { ...objectOf(this.#message['usage']), ...objectOf(body['usage']) };
      this.#message = { ...this.#message, ...objectOf(body['delta']), usage };
    }
  }

  #delta(index: number, delta: JsonObject): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const input = textOf(delta['partial_json']);
    if (input !== undefined) this.#inputs.set(index, (this.#inputs.get(index) ?? '') + input);
    for (const member of ['text', 'thinking', 'signature'])
      if (typeof delta[member] === 'string')
        block[member] = (textOf(block[member]) ?? '') + delta[member];
    if (delta['citation'] !== undefined) {
      const before = block['citations'];
      block['citations'] = [...(Array.isArray(before) ? before : []), delta['citation']];
    }
  }
}
