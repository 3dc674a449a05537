import { edit, jsonText, stringEnd } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamMeter, StreamTranslator } from '../adapter.ts';
import { messagesFaultWithin } from './anthropic-messages-fault.ts';
import { type Counts, counts, note, quantitiesOf, toldOf } from './anthropic-messages-usage.ts';
import { eventsOfMessage } from './anthropic-native-whole.ts';
import { withResult } from './messages-results.ts';
import { messageUsage } from './messages-usage.ts';
import {
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  parse,
  stringBytes,
  textOf,
  utf8,
} from './json.ts';
import { protocolFault } from './openai-chat-fault.ts';
import { SseFrames } from './sse-frames.ts';

const deltaHead = '{"type":"content_block_delta","index":';
/** The deltas that bring what the model wrote. */
const written = /^,"delta":\{"type":"\w+","(?:text|thinking|partial_json)":(?=")/;
const headBytesMax = 80;

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

/**
 * Anthropic's events on their way to a client of the same format. The bytes of each event's data
 * stay, but for id and model at the start. The start waits for the first block, so that until then
 * another channel may take over; `message_stop` is the pipeline's to send.
 */
export class MessageStream implements StreamTranslator {
  readonly meter: StreamMeter = {
    quantities: undefined,
    outputBytes: 0,
    finished: false,
    done: false,
    fault: undefined,
    upstreamId: undefined,
  };
  readonly #call: Call;
  readonly #counts: Counts = counts();
  readonly #frames = new SseFrames((data, name) => this.#hear(data, name));
  readonly #open = new Set<number>();
  #out = '';
  /** The start, while it waits. */
  #start = '';
  #closed = false;
  /** The vendor's name for the model that answers. */
  #model: string | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault ??= protocolFault(problem);
    return this.#heard();
  }

  #heard(): string {
    const out = this.#out;
    this.#out = '';
    if (this.meter.done || this.meter.fault !== undefined) this.#conclude();
    return out;
  }

  /** After the vendor's last word. An answer that is finished is whole, whatever came after. */
  #conclude(): void {
    this.#closed = true;
    if (this.meter.finished) this.meter.fault = undefined;
    else this.meter.fault ??= protocolFault('the stream ended without its last event');
  }

  /** False: nothing more is to be heard. */
  #hear(data: string, name: string): boolean {
    if (data.startsWith(deltaHead)) {
      const bytes = deltaBytes(data);
      if (bytes !== undefined) {
        this.meter.outputBytes += bytes;
        this.#tell('content_block_delta', data);
        return true;
      }
    }
    const body = parse(utf8(data));
    if (isObject(body)) this.#read(body, textOf(body['type']) ?? name, data);
    else this.meter.fault = protocolFault('an event that is not JSON');
    return !this.meter.done && this.meter.fault === undefined;
  }

  #tell(name: string, data: string): void {
    this.#out += this.#start + event(name, data);
    this.#start = '';
  }

  #read(body: JsonObject, type: string, data: string): void {
    switch (type) {
      case 'message_start':
        return this.#begin(body, data);
      case 'content_block_start':
        this.#open.add(countOf(body['index']) ?? 0);
        this.meter.calls = withResult(this.meter.calls, objectOf(body['content_block']));
        return this.#tell(type, data);
      case 'content_block_delta':
        this.meter.outputBytes += Buffer.byteLength(writtenIn(objectOf(body['delta']) ?? {}));
        return this.#tell(type, data);
      case 'content_block_stop':
        this.#open.delete(countOf(body['index']) ?? 0);
        return this.#tell(type, data);
      case 'message_delta':
        note(this.#counts, objectOf(body['usage']));
        this.#counts.container ||= objectOf(body['delta'])?.['container'] != null;
        this.meter.quantities = quantitiesOf(this.#counts);
        this.meter.told = toldOf(this.#counts, this.#model);
        this.meter.finished ||= typeof objectOf(body['delta'])?.['stop_reason'] === 'string';
        return this.#tell(type, data);
      case 'message_stop':
        this.meter.done = true;
        return;
      case 'ping':
        if (this.#start === '') this.#tell(type, data);
        return;
      default:
        this.meter.fault = messagesFaultWithin(body);
        // Events of tomorrow are the client's to know.
        if (this.meter.fault === undefined) this.#tell(type, data);
    }
  }

  #begin(body: JsonObject, data: string): void {
    const message = objectOf(body['message']);
    this.meter.upstreamId ??= textOf(message?.['id']);
    this.#model = textOf(message?.['model']);
    note(this.#counts, objectOf(message?.['usage']));
    if (this.#counts.input !== undefined)
      this.meter.input = quantitiesOf({ ...this.#counts, output: 0, thinking: 0 });
    const { answerId, publicModel } = this.#call;
    this.#start = event(
      'message_start',
      edit(data, [
        { path: ['message', 'id'], json: jsonText(answerId) },
        { path: ['message', 'model'], json: jsonText(publicModel) },
      ]),
    );
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end();
    const body = rest === '' ? undefined : parse(utf8(rest));
    if (isObject(body)) this.#whole(body);
    const out = this.#heard();
    if (!this.#closed) this.#conclude();
    return out;
  }

  /** No stream came but one JSON value: an error with a good status, or the message as a whole. */
  #whole(body: JsonObject): void {
    this.meter.fault ??= messagesFaultWithin(body);
    if (
      this.meter.fault !== undefined ||
      body['type'] !== 'message' ||
      this.meter.upstreamId !== undefined
    )
      return;
    for (const one of eventsOfMessage(body))
      this.#read(one, textOf(one['type']) ?? '', jsonText(one));
  }

  cutShort(quantities: Quantities): string {
    this.#closed = true;
    let out = this.#start;
    for (const index of this.#open)
      out += event('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
    if (!this.meter.finished) out += messageDelta('max_tokens', quantities);
    this.meter.finished = true;
    return out;
  }
}

/** The event that tells why an answer ended and what it took. */
export function messageDelta(stopReason: string, quantities: Quantities): string {
  const delta = `{"stop_reason":"${stopReason}","stop_sequence":null,"stop_details":null,"container":null}`;
  return event(
    'message_delta',
    `{"type":"message_delta","delta":${delta},"usage":${JSON.stringify(messageUsage(quantities))}}`,
  );
}

/**
 * Bytes of what the model wrote, found without parsing; undefined where an event is not written as
 * the vendor always does.
 */
function deltaBytes(data: string): number | undefined {
  const comma = data.indexOf(',', deltaHead.length);
  const head = comma < 0 ? null : written.exec(data.slice(comma, comma + headBytesMax));
  if (head === null) return undefined;
  const start = comma + head[0].length;
  try {
    const end = stringEnd(data, start);
    return data.slice(end).trim() === '}}' || /^\} *\}\s*$/.test(data.slice(end))
      ? stringBytes(data.slice(start, end))
      : undefined;
  } catch {
    return undefined;
  }
}

const writtenIn = (delta: JsonObject): string =>
  textOf(delta['text']) ?? textOf(delta['thinking']) ?? textOf(delta['partial_json']) ?? '';
