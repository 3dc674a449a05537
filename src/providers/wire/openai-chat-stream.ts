import { edit } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamMeter, StreamTranslator } from '../adapter.ts';
import { isObject, listOf, parse, utf8 } from './json.ts';
import { ChunkRewriter, upstreamIdOf } from './openai-chat-chunk.ts';
import { faultWithin, mayTellFault, protocolFault } from './openai-chat-fault.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { learn, Match, type Template } from './openai-chat-template.ts';
import { usageText } from './chat-usage.ts';
import {
  type Ending,
  ends,
  endingAfter,
  endingOf,
  eventBytesMax,
  eventEnd,
  PlainLines,
} from './sse-frames.ts';
import { toldTier } from './tiers.ts';
import { settled } from './think-tags.ts';

const templatesMax = 4;

export class ChatStream implements StreamTranslator {
  readonly meter: StreamMeter = {
    quantities: undefined,
    outputBytes: 0,
    finished: false,
    done: false,
    fault: undefined,
    upstreamId: undefined,
  };
  readonly #call: Call;
  readonly #quirks: Quirks;
  readonly #chunks: ChunkRewriter;
  readonly #match = new Match();
  readonly #templates: Template[] = [];
  readonly #lines = new PlainLines();
  /** What came of an event that is not whole yet: its text, and the pieces after it. */
  #carry = '';
  #pieces: Buffer[] = [];
  #waiting = 0;
  #ending: Ending = 0;
  #closed = false;

  readonly #learns: boolean;

  /** `stops`: the client's stop texts, where the vendor does not watch for all of them. */
  constructor(call: Call, quirks: Quirks, stops?: readonly string[]) {
    this.#call = call;
    this.#quirks = quirks;
    this.#learns = stops === undefined;
    this.#chunks = new ChunkRewriter(call, quirks, stops);
  }

  push(came: Buffer): string {
    if (this.#closed) return '';
    const piece = this.#lines.read(came);
    if (piece.length === 0) return '';
    if (this.#waiting + piece.length > eventBytesMax)
      return this.#fail(`an event of more than ${eventBytesMax} bytes`);
    if (this.#waiting > 0 && !ends(this.#ending, piece)) {
      this.#ending = endingAfter(this.#ending, piece);
      this.#pieces.push(piece);
      this.#waiting += piece.length;
      return '';
    }
    const text = this.#take(piece);
    const match = this.#match;
    let out = '';
    let at = 0;
    while (at < text.length && !this.#closed) {
      if (this.#fast(text, at)) {
        out += match.text;
        this.meter.outputBytes += match.bytes;
        at = match.next;
        continue;
      }
      const end = eventEnd(text, at);
      if (end < 0) break;
      out += this.#event(text.slice(at, end));
      at = end;
    }
    this.#carry = at === 0 ? text : text.slice(at);
    this.#waiting = this.#carry.length;
    if (this.#waiting > 0) this.#ending = endingOf(this.#carry);
    return out;
  }

  #take(piece: Buffer): string {
    const text = piece.toString('latin1');
    if (this.#waiting === 0) return text;
    const before = this.#pieces.length ? Buffer.concat(this.#pieces).toString('latin1') : '';
    this.#pieces = [];
    return this.#carry + before + text;
  }

  #fast(text: string, at: number): boolean {
    const templates = this.#templates;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i];
      if (!template || !this.#match.take(text, at, template)) continue;
      if (i > 0) {
        templates.splice(i, 1);
        templates.unshift(template);
      }
      return true;
    }
    return false;
  }

  /** One whole event, understood. */
  #event(event: string): string {
    const data: string[] = [];
    let name = '';
    for (const line of event.split(/\r?\n/)) {
      if (line.startsWith('data:')) data.push(line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5));
      else if (line.startsWith('event:')) name = line.slice(6).trim();
    }
    if (!data.length) return '';
    const joined = data.join('\n');
    if (data.length === 1 || parse(joined) !== undefined) return this.#data(joined, name, event);
    // Some proxies lose the empty line between events: then each line is one.
    return data.map((line) => (this.#closed ? '' : this.#data(line, name, ''))).join('');
  }

  #data(data: string, name: string, event: string): string {
    if (data.trim() === '') return '';
    if (data.startsWith('[DONE]')) return this.#done();
    const body = parse(data);
    if (!isObject(body)) return this.#fail('an event that is not JSON');
    const told = mayTellFault(body) || name === 'error' ? parse(utf8(data)) : undefined;
    if (isObject(told)) {
      this.meter.fault =
        faultWithin(told, this.#quirks) ??
        (name === 'error' ? faultWithin({ error: told }, this.#quirks) : undefined);
      if (this.meter.fault) return this.#close();
    }
    this.meter.upstreamId ??= upstreamIdOf(body);
    if (this.#call.asksMode === true)
      this.meter.told = toldTier(this.#call, body).told ?? this.meter.told;
    return this.#chunk(data, event);
  }

  #chunk(json: string, event: string): string {
    const before = this.#state();
    const { text, bytes, failed } = this.#chunks.rewrite(json);
    if (failed) return this.#fail('the vendor ended its answer with an error', 'server_error');
    this.meter.outputBytes += bytes;
    this.meter.quantities = this.#chunks.usage?.quantities;
    this.meter.finished = this.#chunks.finished;
    // What was learned holds while events bring text and nothing else: a new call may use an old
    // call's index.
    const plain = before !== undefined && this.#state() === before && !this.meter.finished;
    if (!plain) this.#templates.length = 0;
    else if (event !== '' && text !== '' && this.#learns) this.#learn(event);
    return text && `data: ${text}\n\n`;
  }

  /**
   * Changes when an event did more than bring text; undefined while such events cannot be told from
   * others. Only a stream of one choice is learned.
   */
  #state(): string | undefined {
    const state = this.#chunks.choices.get(0);
    if (!state || this.#chunks.choices.size > 1) return undefined;
    if (this.#quirks.thinkTags && !settled(state.think)) return undefined;
    return `${state.roleGiven} ${state.calls.length} ${this.#chunks.usage?.json}`;
  }

  #learn(event: string): void {
    // Which part of such an event is new depends on those before it.
    if (this.#quirks.cumulativeReasoning && event.includes('"reasoning_details"')) return;
    const template = learn(event, (json) => this.#chunks.rewrite(json).text);
    if (!template) return;
    this.#templates.unshift(template);
    if (this.#templates.length > templatesMax) this.#templates.pop();
  }

  #done(): string {
    this.meter.done = true;
    if (!this.meter.finished) return this.#fail('the stream ended without a finish reason');
    return this.#close() + this.#usage();
  }

  /**
   * What comes after the words: a finish reason that waited, and the usage of a client that asked
   * for it.
   */
  #usage(): string {
    const usage = this.#chunks.usage;
    const held = this.#chunks.heldFinish();
    const finish = held && `data: ${held}\n\n`;
    return usage && this.#call.includeUsage
      ? `${finish}data: ${this.#chunks.usageChunk(usage.json)}\n\n`
      : finish;
  }

  #fail(message: string, kind: 'protocol' | 'server_error' = 'protocol'): string {
    if (!this.meter.finished)
      this.meter.fault ??= kind === 'protocol' ? protocolFault(message) : { kind, message };
    return this.#close();
  }

  #close(): string {
    this.#closed = true;
    this.#carry = '';
    this.#pieces = [];
    this.#waiting = 0;
    return '';
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#take(Buffer.alloc(0));
    // A last event without its empty line counts when it is whole; half an event is nothing.
    const line = rest.trim();
    let out = '';
    const body = parse(/^data: ?(.*)$/s.exec(line)?.[1] ?? '');
    if (isObject(body) || line === 'data: [DONE]') out = this.#event(rest);
    else if (line.startsWith('{')) out = this.#whole(line);
    if (this.#closed) return out;
    if (!this.meter.finished) return out + this.#fail('the stream ended without a finish reason');
    this.#close();
    return out + this.#usage();
  }

  /**
   * No stream came but one JSON value: an error with a good status, as a rule, else the answer as a
   * whole. Then its messages are the deltas.
   */
  #whole(text: string): string {
    const body = parse(utf8(text));
    if (!isObject(body)) return '';
    this.meter.fault = faultWithin(body, this.#quirks);
    if (this.meter.fault) return '';
    this.meter.upstreamId ??= upstreamIdOf(body);
    const choices = listOf(body['choices']).map((_, i) => ['choices', i]);
    return this.#chunk(
      edit(
        text,
        choices.flatMap((at) => [
          { path: [...at, 'delta'] },
          { path: [...at, 'message'], name: 'delta' },
        ]),
      ),
      '',
    );
  }

  cutShort(quantities: Quantities): string {
    const finish = this.#chunks.finish('length');
    this.meter.finished = true;
    this.#close();
    const usage = this.#call.includeUsage
      ? `data: ${this.#chunks.usageChunk(usageText(quantities))}\n\n`
      : '';
    return (finish && `data: ${finish}\n\n`) + usage;
  }
}
