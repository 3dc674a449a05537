import { jsonText } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamMeter, StreamTranslator } from '../adapter.ts';
import { messageDelta } from '../wire/anthropic-native-stream.ts';
import { isClaudes } from '../wire/anthropic-messages-signed.ts';
import { messageCitation, messageCitations, sourcesBeside } from '../wire/citations.ts';
import {
  countOf,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  textOf,
  utf8,
} from '../wire/json.ts';
import { MessageBlocks } from './messages-over-chat-blocks.ts';
import { estimated, stopReasonOf, vendorsOwn } from './messages-over-chat-answer.ts';
import { eachChunk, plainWords } from './chat-events.ts';

/** Chat chunks, which the vendor's own adapter has made regular, as the events of a message. */
export class MessageEvents implements StreamTranslator {
  readonly meter: StreamMeter;
  readonly #chat: StreamTranslator;
  readonly #blocks: MessageBlocks;
  #finish: string | undefined;
  #refused = false;
  #ended = false;
  /** The newest chunk that told sources beside its choices. */
  #sources: JsonObject | undefined;
  #cited = false;

  constructor(call: Call, chat: StreamTranslator) {
    this.#chat = chat;
    this.meter = chat.meter;
    this.#blocks = new MessageBlocks(call);
  }

  push(piece: Buffer): string {
    return eachChunk(this.#chat.push(piece), this.#chunk);
  }

  end(): string {
    const out = eachChunk(this.#chat.end(), this.#chunk);
    return this.meter.fault === undefined ? out + this.#conclude(this.meter.quantities) : out;
  }

  cutShort(quantities: Quantities): string {
    this.#finish ??= 'length';
    return eachChunk(this.#chat.cutShort(quantities), this.#chunk) + this.#conclude(quantities);
  }

  #conclude(quantities: Quantities | undefined): string {
    if (this.#ended) return '';
    this.#ended = true;
    const sources =
      this.#sources === undefined || this.#cited
        ? []
        : sourcesBeside(this.#sources, '').map(messageCitation);
    const reason = this.#refused ? 'refusal' : stopReasonOf(this.#finish, this.#blocks.calls);
    return (
      this.#blocks.cite(sources) +
      this.#blocks.close() +
      messageDelta(reason, quantities ?? estimated(this.meter.outputBytes))
    );
  }

  readonly #chunk = (json: string): string => {
    const plain = plainWords(json, '"delta":{"content":"');
    if (plain !== undefined) return this.#blocks.text(plain);
    const thought = plainWords(json, '"delta":{"reasoning_content":"');
    if (thought !== undefined) return this.#blocks.thinking(thought);
    const body = parse(utf8(json));
    if (!isObject(body)) return '';
    if (body['citations'] !== undefined || body['search_results'] !== undefined)
      this.#sources = body;
    const choice = objectOf(listOf(body['choices'])[0]);
    if (choice === undefined) return '';
    this.#finish = textOf(choice['finish_reason']) ?? this.#finish;
    return this.#delta(objectOf(choice['delta']) ?? {});
  };

  #delta(delta: JsonObject): string {
    const blocks = this.#blocks;
    let out = '';
    const details = listOf(delta['reasoning_details']).filter(isObject).filter(isClaudes);
    if (delta['reasoning_content'])
      out += blocks.thinking(jsonText(textOf(delta['reasoning_content']) ?? ''));
    for (const detail of details) {
      if (detail['type'] === 'reasoning.encrypted')
        out += blocks.redacted(textOf(detail['data']) ?? '');
      else if (detail['signature']) out += blocks.signature(textOf(detail['signature']) ?? '');
    }
    if (delta['content']) out += blocks.text(jsonText(textOf(delta['content']) ?? ''));
    if (delta['annotations'] !== undefined || delta['citations'] !== undefined) {
      const citations = messageCitations(delta);
      this.#cited ||= citations.length > 0;
      out += this.#blocks.cite(citations);
    }
    if (delta['refusal']) {
      this.#refused = true;
      out += blocks.text(jsonText(textOf(delta['refusal']) ?? ''));
    }
    for (const call of listOf(delta['tool_calls'])) {
      if (!isObject(call)) continue;
      const fn = objectOf(call['function']) ?? {};
      const index = countOf(call['index']) ?? 0;
      out += blocks.call(
        index,
        { id: call['id'], name: fn['name'], ...vendorsOwn(call) },
        textOf(fn['arguments']) ?? '',
      );
    }
    return out;
  }
}
