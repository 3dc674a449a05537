import { crc32 } from 'node:zlib';
import {
  jsonText,
  countOf,
  type Documented,
  isObject,
  objectOf,
  parse,
  rawMembers,
  textOf,
  utf8,
  stringAfter,
} from '../../../base/json.ts';
import type { VendorCall, StreamMeter } from '../../adapter.ts';
import type { ChatChunks, EventReader } from '../../conversation/chat-stream.ts';
import {
  charactersInJson,
  type Cited,
  citeConverse,
  citedDelta,
} from '../../conversation/citations.ts';
import { detailsMember, redactedDetail } from '../anthropic-messages/reasoning.ts';
import { hiddenTool } from '../anthropic-messages/tools.ts';
import { protocolFault } from '../fault.ts';
import type { EventListener, Frames } from '../../stream/frames.ts';
import { converseFinish, redacted, converseQuantities } from './response.ts';
import { converseUsesHiddenTool } from './request.ts';
import { converseException } from './fault.ts';
import { converseModel } from './models.ts';
import type { ConverseEvent } from './types.ts';

/** The beginning of nearly every event, before its text. */
const beforeText = '"delta":{"text":';

/** The JSON text of a member that is a string. */
function stringIn(raw: ReadonlyMap<string, string>, name: string): string | undefined {
  const json = raw.get(name);
  return json?.startsWith('"') ? json : undefined;
}

/** The state of a content block. */
interface Block {
  /**
   * The index of the call; `'hidden'`: the JSON answer; undefined: a block that the client does not
   * see.
   */
  readonly call: number | 'hidden' | undefined;
  hasArguments: boolean;
}

/**
 * Reads Converse's stream: messageStart, contentBlockStart/Delta/Stop, messageStop and `metadata`.
 * The last two together end it.
 */
export class ConverseReader implements EventReader {
  readonly #chunks: ChatChunks;
  #stopped = false;
  readonly #meter: StreamMeter;
  readonly #hidden: boolean;
  readonly #signs: boolean;
  readonly #blocks = new Map<number, Block>();
  /** The current thinking block, and the index of its detail. */
  #thinking: number | undefined;
  #details = -1;
  /**
   * Text beside a JSON answer that travels as a tool's input: sent only if that answer does not
   * come.
   */
  #held = '';
  /**
   * The length of the text so far in characters, where the current block began, and its citations.
   */
  #length = 0;
  #from = 0;
  #citations: unknown[] = [];

  constructor(call: VendorCall, chunks: ChatChunks, meter: StreamMeter) {
    this.#chunks = chunks;
    this.#meter = meter;
    this.#hidden = converseUsesHiddenTool(call);
    this.#signs = converseModel(call).claude;
  }

  event(data: string, name: string): string {
    if (name === 'contentBlockDelta') {
      const text = this.#hidden ? undefined : stringAfter(data, beforeText);
      if (text !== undefined) return this.#text(text);
      // The parts are cut out of the text, which must be valid JSON for that.
      return isObject(parse(data)) ? this.#delta(rawMembers(data)) : this.#broken();
    }
    const event: Documented<ConverseEvent> | undefined = objectOf(parse(utf8(data)));
    if (name.startsWith('exception:')) {
      this.#meter.fault = converseException(name.slice('exception:'.length), event);
      return '';
    }
    if (!event) return this.#broken();
    if (name === 'contentBlockStart') return this.#start(event);
    if (name === 'contentBlockStop') return this.#stop(event);
    if (name === 'messageStop') return this.#messageStop(event);
    if (name === 'metadata') {
      this.#meter.quantities = converseQuantities(event.usage);
      this.#meter.done = this.#stopped;
    }
    return '';
  }

  #broken(): string {
    this.#meter.fault = protocolFault('an event that is not JSON');
    return '';
  }

  #start(event: Documented<ConverseEvent>): string {
    const toolUse = objectOf(objectOf(event.start)?.toolUse);
    const index = countOf(event.contentBlockIndex) ?? 0;
    const block = (call: Block['call']): Block => ({ call, hasArguments: false });
    if (!toolUse || toolUse.type === 'server_tool_use') {
      this.#blocks.set(index, block(undefined));
      return '';
    }
    const name = textOf(toolUse.name) ?? '';
    if (this.#hidden && name === hiddenTool) {
      this.#held = '';
      this.#blocks.set(index, block('hidden'));
      return '';
    }
    this.#blocks.set(index, block(this.#chunks.calls));
    return this.#chunks.call(textOf(toolUse.toolUseId) ?? `call_${index}`, name);
  }

  #delta(event: ReadonlyMap<string, string>): string {
    const index = Number(event.get('contentBlockIndex') ?? 0);
    const delta = rawMembers(event.get('delta') ?? '');
    const text = stringIn(delta, 'text');
    if (text !== undefined) return this.#text(text);
    const toolUse = delta.get('toolUse');
    if (toolUse !== undefined)
      return this.#arguments(index, stringIn(rawMembers(toolUse), 'input') ?? '""');
    const citation = delta.get('citation');
    if (citation !== undefined) this.#citations.push(parse(utf8(citation)));
    const reasoning = delta.get('reasoningContent');
    return reasoning === undefined ? '' : this.#reasoning(index, rawMembers(reasoning));
  }

  #text(json: string): string {
    if (!this.#hidden) {
      this.#length += charactersInJson(json);
      return this.#chunks.contentJson(json);
    }
    this.#held += String(parse(utf8(json)));
    return '';
  }

  #arguments(index: number, json: string): string {
    const block = this.#blocks.get(index);
    if (block?.call === undefined || json === '""') return '';
    block.hasArguments = true;
    return block.call === 'hidden'
      ? this.#chunks.contentJson(json)
      : this.#chunks.argumentsJson(block.call, json);
  }

  /**
   * Sends thinking and, for models that sign it, the details that a client sends back: text in
   * pieces, the signature in a piece of its own.
   */
  #reasoning(index: number, reasoning: ReadonlyMap<string, string>): string {
    const text = stringIn(reasoning, 'text');
    const signature = stringIn(reasoning, 'signature');
    const data = textOf(parse(reasoning.get('redactedContent') ?? ''));
    if (index !== this.#thinking) this.#details++;
    this.#thinking = index;
    const chunks = this.#chunks;
    const detail = (member: string): string =>
      this.#signs ? detailsMember(member, this.#details, this.#length, chunks.calls) : '';
    let out = '';
    if (text !== undefined) out += chunks.reasoningJson(text, detail(`"text":${text}`));
    if (signature !== undefined && signature !== '""' && this.#signs)
      out += chunks.delta(detail(`"signature":${signature}`));
    if (!data) return out;
    const sealed = redactedDetail(this.#details, redacted(data), this.#length, chunks.calls);
    return out + chunks.delta(`"reasoning_details":[${jsonText(sealed)}]`);
  }

  /** Ends a block. A call without arguments gets `{}`. */
  #stop(event: Documented<ConverseEvent>): string {
    const [from, citations] = [this.#from, this.#citations];
    this.#from = this.#length;
    if (citations.length > 0) {
      const cited: Cited = { annotations: [], citations: [] };
      citeConverse(cited, citations, from, this.#length);
      this.#citations = [];
      return this.#chunks.delta(citedDelta(cited));
    }
    const block = this.#blocks.get(countOf(event.contentBlockIndex) ?? 0);
    if (block?.call === undefined || block.hasArguments) return '';
    return block.call === 'hidden'
      ? this.#chunks.content('{}')
      : this.#chunks.arguments(block.call, '{}');
  }

  #messageStop(event: Documented<ConverseEvent>): string {
    const finish = converseFinish(event.stopReason, this.#chunks.calls);
    if (typeof finish !== 'string') {
      this.#meter.fault = finish;
      return '';
    }
    this.#stopped = true;
    // Some models send the metadata before this event (recorded).
    this.#meter.done = this.#meter.quantities !== undefined;
    return this.#chunks.content(this.#held) + this.#chunks.finish(finish);
  }
}

/**
 * AWS's binary event stream (`application/vnd.amazon.eventstream`,
 * docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html, 2026-08):
 *
 *     u32 length of all | u32 length of headers | u32 CRC of these 8 bytes | headers | payload |
 *     u32 CRC of all before
 *
 * big-endian; a header is `u8 length, name, u8 type, value`, and a string (type 7)
 * `u16 length, bytes`.
 */
const preludeBytes = 12;
const crcBytes = 4;
/** The limits of AWS's own libraries. */
const frameBytesMax = 24 * 1024 * 1024;
const headersBytesMax = 128 * 1024;

/**
 * The header blocks that are remembered, because streams repeat a few of them; others are parsed
 * each time.
 */
const headersKnownMax = 32;

/** The bytes of a header's value by its type; types 6 and 7 carry their own length. */
const valueBytes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/**
 * Cuts an event stream into its messages. Payloads are `latin1` text; the name of an exception
 * begins with `exception:`.
 */
export class EventStreamFrames implements Frames {
  readonly #listener: EventListener;
  readonly #names = new Map<string, string>();
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** The number of bytes to wait for before the next step. */
  #needed = preludeBytes;
  #open = true;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  push(piece: Buffer): string | undefined {
    if (this.#waiting + piece.length < this.#needed) {
      this.#pieces.push(piece);
      this.#waiting += piece.length;
      return undefined;
    }
    const bytes = this.#waiting === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
    let at = 0;
    this.#needed = preludeBytes;
    while (this.#open && bytes.length - at >= preludeBytes) {
      const length = bytes.readUInt32BE(at);
      const headersLength = bytes.readUInt32BE(at + 4);
      // The lengths are verified before the frame is waited for.
      if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8))
        return 'bytes that are no event stream';
      if (length > frameBytesMax || headersLength > headersBytesMax)
        return 'an event that is too long';
      if (length < preludeBytes + headersLength + crcBytes)
        return 'an event that is shorter than its parts';
      this.#needed = length;
      if (bytes.length - at < length) break;
      const problem = this.#frame(bytes, at, headersLength, at + length - crcBytes);
      if (problem !== undefined) return problem;
      at += length;
      this.#needed = preludeBytes;
    }
    const rest = bytes.subarray(at);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#waiting = rest.length;
    return undefined;
  }

  /** A half event is dropped. */
  end(): string {
    return '';
  }

  #frame(bytes: Buffer, start: number, headersLength: number, end: number): string | undefined {
    if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32BE(end)) return 'a damaged event';
    const payload = start + preludeBytes + headersLength;
    const headers = bytes.toString('latin1', start + preludeBytes, payload);
    let name = this.#names.get(headers);
    if (name === undefined) {
      name = nameIn(headers);
      if (name === undefined) return 'an event with damaged headers';
      if (this.#names.size < headersKnownMax) this.#names.set(headers, name);
    }
    this.#open = this.#listener(bytes.toString('latin1', payload, end), name);
    return undefined;
  }
}

/**
 * An event's name, or `exception:` and that of an exception, or the code of an error. Undefined if
 * these bytes are no headers.
 */
function nameIn(headers: string): string | undefined {
  const strings = new Map<string, string>();
  for (let at = 0; at < headers.length; ) {
    const nameEnd = at + 1 + headers.charCodeAt(at);
    const type = headers.charCodeAt(nameEnd);
    const told = type === 6 || type === 7;
    const value = nameEnd + (told ? 3 : 1);
    const length = told
      ? (headers.charCodeAt(nameEnd + 1) << 8) | headers.charCodeAt(nameEnd + 2)
      : valueBytes[type];
    if (length === undefined || !(value + length <= headers.length)) return undefined;
    if (type === 7)
      strings.set(headers.slice(at + 1, nameEnd), headers.slice(value, value + length));
    at = value + length;
  }
  const kind = strings.get(':message-type') ?? 'event';
  if (kind === 'event') return strings.get(':event-type') ?? '';
  return `exception:${strings.get(kind === 'exception' ? ':exception-type' : ':error-code') ?? kind}`;
}
