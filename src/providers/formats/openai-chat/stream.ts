import {
  editJson,
  jsonElements,
  type JsonMember,
  jsonMembers,
  stringEnd,
  isObject,
  listOf,
  parse,
  utf8,
  stringBytes,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import {
  type VendorCall,
  type StreamMeter,
  type StreamTranslator,
  newMeter,
} from '../../adapter.ts';
import { servedTier } from '../../billable-features.ts';
import { chatUsage } from '../../conversation/client-usage.ts';
import { eventBytesMax, eventEnd, EventText, readEvent } from '../../stream/frames.ts';
import { faultWithin, mayTellFault, protocolFault } from '../fault.ts';
import { ChunkRewriter } from './chunk.ts';
import { settled } from './message.ts';
import type { ChatQuirks } from './quirks.ts';
import { upstreamIdOf } from './response.ts';

const templatesMax = 4;

export class ChatStream implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #call: VendorCall;
  readonly #quirks: ChatQuirks;
  readonly #chunks: ChunkRewriter;
  #templates = noTemplates;
  readonly #text = new EventText();
  #closed = false;

  readonly #learns: boolean;

  /** `stops`: the client's stop texts, if the vendor does not watch for all of them. */
  constructor(call: VendorCall, quirks: ChatQuirks, stops?: readonly string[]) {
    this.#call = call;
    this.#quirks = quirks;
    this.#learns = stops === undefined;
    this.#chunks = new ChunkRewriter(call, quirks, stops);
  }

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const text = this.#text.push(piece);
    if (text === undefined) return this.#fail(`an event of more than ${eventBytesMax} bytes`);
    if (text === '') return '';
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
    this.#text.keep(text, at);
    return out;
  }

  #fast(text: string, at: number): boolean {
    const templates = this.#templates;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i];
      if (!template || !match.take(text, at, template)) continue;
      const first = templates[0];
      if (i > 0 && first) {
        templates[i] = first;
        templates[0] = template;
      }
      return true;
    }
    return false;
  }

  /** Reads one whole event on the slow path. */
  #event(event: string): string {
    const read = readEvent(event, 0, event.length, '\n');
    if (read === undefined) return '';
    const { data, name } = read;
    if (!data.includes('\n')) return this.#data(data, name, event);
    // The client gets it in one line.
    if (parse(data) !== undefined) return this.#data(data.replaceAll('\n', ' '), name, '');
    // Some proxies lose the empty line between events: then each line is an event.
    return data
      .split('\n')
      .map((line) => (this.#closed ? '' : this.#data(line, name, '')))
      .join('');
  }

  #data(data: string, name: string, event: string): string {
    if (data.trim() === '') return '';
    if (data.startsWith('[DONE]')) return this.#done();
    const body = parse(data);
    if (!isObject(body)) return this.#fail('an event that is not JSON');
    const decoded = mayTellFault(body) || name === 'error' ? parse(utf8(data)) : undefined;
    if (isObject(decoded)) {
      this.meter.fault =
        faultWithin(decoded, this.#quirks.faults) ??
        (name === 'error' ? faultWithin({ error: decoded }, this.#quirks.faults) : undefined);
      if (this.meter.fault) return this.#close();
    }
    this.meter.upstreamId ??= upstreamIdOf(body);
    if (this.#call.asksForTier === true)
      this.meter.pricingFacts = servedTier(this.#call, body).told ?? this.meter.pricingFacts;
    return this.#chunk(data, event);
  }

  #chunk(json: string, event: string): string {
    const before = this.#state();
    const { text, bytes, failed } = this.#chunks.rewrite(json);
    if (failed) return this.#fail('the vendor ended its answer with an error', 'server_error');
    this.meter.outputBytes += bytes;
    this.meter.quantities = this.#chunks.usage?.quantities;
    this.meter.finished = this.#chunks.finished;
    // Templates hold while events carry text and nothing else: a new call may use the index of an
    // old one.
    const plain = before !== undefined && this.#state() === before && !this.meter.finished;
    if (!plain) this.#templates = noTemplates;
    else if (event !== '' && text !== '' && this.#learns) this.#learn(event);
    return text && `data: ${text}\n\n`;
  }

  /**
   * A value that changes when an event carried more than text; undefined while such events cannot
   * be recognised. Only streams of one choice are learned.
   */
  #state(): string | undefined {
    const state = this.#chunks.choices.get(0);
    if (!state || this.#chunks.choices.size > 1) return undefined;
    if (this.#quirks.thinkTags && !settled(state.think)) return undefined;
    return `${state.roleGiven} ${state.calls.length} ${this.#chunks.usage?.json}`;
  }

  #learn(event: string): void {
    // Which part of such an event is new depends on the events before it.
    if (this.#quirks.cumulativeReasoning && event.includes('"reasoning_details"')) return;
    const template = learn(event, (json) => this.#chunks.rewrite(json).text);
    if (!template) return;
    this.#templates = [template, ...this.#templates.slice(0, templatesMax - 1)];
  }

  #done(): string {
    this.meter.done = true;
    if (!this.meter.finished) return this.#fail('the stream ended without a finish reason');
    return this.#close() + this.#usage();
  }

  /**
   * The chunks after the text: a finish reason that was held back, and the usage if the client
   * requested it.
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
    return '';
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#text.end();
    // A last event without its empty line counts if it is whole; a half event is dropped.
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
   * The vendor sent one JSON value instead of a stream: usually an error with a good status, else a
   * whole answer, whose messages become deltas.
   */
  #whole(text: string): string {
    const body = parse(utf8(text));
    if (!isObject(body)) return '';
    this.meter.fault = faultWithin(body, this.#quirks.faults);
    if (this.meter.fault) return '';
    this.meter.upstreamId ??= upstreamIdOf(body);
    const choices = listOf(body['choices']).map((_, i) => ['choices', i]);
    return this.#chunk(
      editJson(
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
      ? `data: ${this.#chunks.usageChunk(chatUsage(quantities))}\n\n`
      : '';
    return (finish && `data: ${finish}\n\n`) + usage;
  }
}

/**
 * The fast path of a stream. Almost all events of a stream differ in one short string alone. A
 * template is one event with holes where those strings are, and the client's event with the same
 * holes: matching compares constant bytes, and writing joins constants and strings. Templates are
 * learned from the slow path's output for a marked copy of the event.
 */
interface Template {
  /**
   * The constant bytes around the holes of the vendor's event, from its `data: ` to its end. One
   * more than there are holes.
   */
  readonly parts: readonly string[];
  /** Whether a hole's text counts as output. */
  readonly counted: readonly boolean[];
  /** The client's event: constants and indexes of holes, in turn. */
  readonly out: readonly (string | number)[];
}

/** A string value inside an event: between its quotes. */
interface Hole {
  readonly start: number;
  readonly end: number;
  readonly counted: boolean;
}

const named = (found: readonly JsonMember[], name: string): JsonMember | undefined =>
  found.findLast((member) => member.name === name);

function inObject(text: string, at: number | undefined): readonly JsonMember[] {
  return at !== undefined && text.charCodeAt(at) === 0x7b ? jsonMembers(text, at) : [];
}

function firstElement(text: string, at: number | undefined): number | undefined {
  if (at === undefined || text.charCodeAt(at) !== 0x5b) return undefined;
  const all = jsonElements(text, at);
  return all.length === 1 ? all[0]?.value : undefined;
}

/**
 * The strings that vary from event to event, in the order of the text. Undefined when the event is
 * not one plain delta.
 */
function holesOf(text: string, at: number): Hole[] | undefined {
  const top = inObject(text, at);
  const choice = inObject(text, firstElement(text, named(top, 'choices')?.value));
  const delta = inObject(text, named(choice, 'delta')?.value);
  const call = inObject(text, firstElement(text, named(delta, 'tool_calls')?.value));
  const detail = inObject(text, firstElement(text, named(delta, 'reasoning_details')?.value));
  const reasoning = named(delta, 'reasoning') ?? named(delta, 'reasoning_content');
  const places: [JsonMember | undefined, boolean][] = [
    [named(delta, 'content'), true],
    [named(delta, 'reasoning'), true],
    [named(delta, 'reasoning_content'), true],
    [named(inObject(text, named(call, 'function')?.value), 'arguments'), true],
    [named(detail, 'text'), reasoning === undefined],
    [named(top, 'obfuscation'), false],
    [named(top, 'p'), false],
  ];
  const holes: Hole[] = [];
  for (const [member, counted] of places) {
    if (member && text.charCodeAt(member.value) === 0x22)
      holes.push({ start: member.value + 1, end: member.end - 1, counted });
  }
  return holes.some((hole) => hole.counted) ? holes.sort((a, b) => a.start - b.start) : undefined;
}

/** For all streams: only an array with two templates is changed, and this one has none. */
const noTemplates: Template[] = [];
const mark = '\u0001';

/**
 * Makes a template from an event that changed nothing but text. `rewrite` is the slow path, which
 * must not change its state for such an event.
 */
function learn(event: string, rewrite: (json: string) => string): Template | undefined {
  if (!event.startsWith('data:')) return undefined;
  const at = event.indexOf('{');
  const end = event.lastIndexOf('}') + 1;
  const holes = holesOf(event, at);
  if (!holes) return undefined;
  const parts: string[] = [];
  let marked = '';
  let from = 0;
  holes.forEach((hole, i) => {
    const part = event.slice(from, hole.start);
    parts.push(part);
    marked += `${part}${mark}${i}${mark}`;
    from = hole.end;
  });
  parts.push(event.slice(from));
  const text = rewrite(`${marked}${event.slice(from)}`.slice(at, marked.length + end - from));
  if (!text.includes(mark)) return undefined;
  const out = `data: ${text}\n\n`
    .split(mark)
    .map((piece, i) => (i % 2 ? Number(piece) : own(piece)));
  return { parts: parts.map(own), counted: holes.map((hole) => hole.counted), out };
}

/** Copies the text: a slice would keep the whole piece of the stream in memory. */
const own = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/**
 * The quote that ends the string whose inside begins at `at`, or -1 when it is not in `text`. Short
 * strings: faster than `indexOf`.
 */
function closingQuote(text: string, at: number): number {
  const near = Math.min(text.length, at + 256);
  for (let i = at; i < near; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) return i;
    if (c === 0x5c) i++;
  }
  if (near === text.length) return -1;
  try {
    return stringEnd(text, at - 1) - 1;
  } catch {
    return -1;
  }
}

/**
 * The client's event for the vendor's event at `at`, if it matches the template. One object serves
 * all streams: only the text is allocated. It keeps the text of events, of each at most
 * `eventBytesMax`, until the next events of any stream take its place.
 */
class Match {
  /** The index after the event. */
  next = 0;
  bytes = 0;
  text = '';
  readonly #holes: string[] = [];

  take(text: string, at: number, template: Template): boolean {
    const { parts, counted } = template;
    const holes = this.#holes;
    let i = at;
    let bytes = 0;
    for (let n = 0; ; n++) {
      const part = parts[n] ?? '';
      const from = i;
      i += part.length;
      // `===` compares machine words and a slice is no copy: three times faster than `startsWith`.
      if (text.slice(from, i) !== part) return false;
      if (n === counted.length) break;
      const end = closingQuote(text, i);
      if (end < 0) return false;
      const hole = text.slice(i, end);
      holes[n] = hole;
      if (counted[n]) bytes += hole.includes('\\') ? stringBytes(`"${hole}"`) : hole.length;
      i = end;
    }
    this.next = i;
    this.bytes = bytes;
    this.text = fill(template.out, holes);
    return true;
  }
}

const match = new Match();

function fill(out: readonly (string | number)[], holes: readonly string[]): string {
  let text = '';
  for (const piece of out) text += typeof piece === 'string' ? piece : (holes[piece] ?? '');
  return text;
}
