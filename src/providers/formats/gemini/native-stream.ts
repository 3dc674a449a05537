import {
  countOf,
  type Documented,
  editJson,
  isObject,
  jsonText,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import {
  newMeter,
  type StreamCollector,
  type StreamMeter,
  type StreamTranslator,
  type VendorAnswer,
  type VendorCall,
} from '../../adapter.ts';
import { generateUsage } from '../../conversation/client-usage.ts';
import { eventBytesMax, SseFrames } from '../../stream/frames.ts';
import { protocolFault } from '../fault.ts';
import { geminiFaultWithin } from './fault.ts';
import { answerChanges, GenerateUsage, wordsOf } from './native-usage.ts';
import type { GeminiCandidate, GeminiPart, GenerateContentResponse } from './types.ts';

/** The events that are held back at most, before the first content and after the last. */
export const heldCharsMax = 2 * eventBytesMax;

/** One event of a stream for a client of `generateContent`: `json` has no line ends. */
export const generateEvent = (json: string): string => `data: ${json}\n\n`;

/**
 * A stream of Gemini's events for a client of the same format. The data of each event keeps its
 * bytes, except id and model. Events before the first content wait for it, so that until then
 * another channel may take over. The events from the finish reason on are held until the end: they
 * leave once the charge is committed.
 */
export class NativeGenerateStream implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #call: VendorCall;
  readonly #usage: GenerateUsage;
  readonly #frames = new SseFrames((data) => this.#hear(data));
  /** Candidates by their index: whether they have a finish reason. */
  readonly #candidates = new Map<number, boolean>();
  #out = '';
  /** The events before the first content. */
  #start: string | undefined = '';
  #held = '';
  #closed = false;

  constructor(call: VendorCall) {
    this.#call = call;
    this.#usage = new GenerateUsage(call);
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
    return out;
  }

  /** Reads one event; returns false to stop the stream. */
  #hear(data: string): boolean {
    const body: Documented<GenerateContentResponse> | undefined = objectOf(parse(utf8(data)));
    if (body === undefined) this.meter.fault = protocolFault('an event that is not JSON');
    else if ('error' in body)
      this.meter.fault = geminiFaultWithin(body) ?? protocolFault('an error that is not told');
    else this.#read(body, data);
    return this.meter.fault === undefined;
  }

  #read(body: Documented<GenerateContentResponse>, data: string): void {
    this.meter.upstreamId ??= textOf(body.responseId);
    let begins = false;
    for (const candidate of objectsOf(body.candidates)) {
      const words = wordsOf(candidate);
      this.meter.outputBytes += Buffer.byteLength(words);
      begins ||= words !== '' || hasMedia(candidate);
      const index = countOf(candidate.index) ?? 0;
      const ends = candidate.finishReason != null;
      this.#candidates.set(index, ends || this.#candidates.get(index) === true);
    }
    this.meter.finished = this.#isFinished(body);
    this.#usage.add(body);
    if (this.meter.finished || this.#usage.countsOutput) {
      this.meter.quantities = this.#usage.quantities;
      this.meter.pricingFacts = this.#usage.pricingFacts;
    }
    const changes = answerChanges(body, this.#call);
    const json = changes.length === 0 ? data : editJson(data, changes);
    const event = generateEvent(json);
    this.#tell(event, begins);
  }

  #tell(event: string, begins: boolean): void {
    const start = this.#start ?? '';
    if (this.#held.length + start.length + event.length > heldCharsMax)
      this.meter.fault = protocolFault('an answer that is too long');
    else if (this.meter.finished) {
      this.#held += start + event;
      this.#start = undefined;
    } else if (this.#start === undefined || begins) {
      // Another candidate may begin after the first ones have ended.
      this.#out += this.#held + start + event;
      this.#held = '';
      this.#start = undefined;
    } else this.#start += event;
  }

  /** All candidates have finished, or the prompt was blocked. */
  #isFinished({ candidates, promptFeedback }: Documented<GenerateContentResponse>): boolean {
    if (this.#candidates.size > 0) return [...this.#candidates.values()].every(Boolean);
    return listOf(candidates).length === 0 && objectOf(promptFeedback)?.blockReason !== undefined;
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end();
    const value = rest.trim() === '' ? undefined : parse(utf8(rest));
    if (value !== undefined) this.#whole(value, rest);
    this.#closed = true;
    // An answer that has finished is whole, whatever came after.
    if (this.meter.finished) this.meter.fault = undefined;
    else this.meter.fault ??= protocolFault('the stream ended without its finish reason');
    const out = this.#heard() + this.#held;
    this.#held = '';
    return this.meter.fault === undefined ? out : '';
  }

  /**
   * The vendor sent JSON instead of events: an error, a whole answer, or the elements of a stream
   * in a list.
   */
  #whole(value: unknown, text: string): void {
    this.meter.fault ??= geminiFaultWithin(value);
    if (this.meter.fault !== undefined) return;
    // An event is one line, and Google writes JSON on several.
    if (isObject(value)) this.#hear(text.replace(/[\r\n]+/g, ' '));
    else for (const element of listOf(value)) if (!this.#hear(jsonText(element))) return;
  }

  cutShort(quantities: Quantities): string {
    this.#closed = true;
    const end = this.meter.finished ? this.#held : generateEvent(this.#cutEnd(quantities));
    const out = (this.#start ?? '') + end;
    this.#start = undefined;
    this.#held = '';
    this.meter.finished = true;
    return out;
  }

  #cutEnd(quantities: Quantities): string {
    return jsonText(lastChunk(this.#call, 'MAX_TOKENS', quantities));
  }
}

const hasMedia = (candidate: Documented<GeminiCandidate>): boolean =>
  objectsOf(objectOf(candidate.content)?.parts).some(({ inlineData }) => inlineData != null);

/** The last event of a stream: no content, the finish reason, and the usage. */
export const lastChunk = (
  { answerId, publicModel }: VendorCall,
  finishReason: string,
  quantities: Quantities,
  members: JsonObject = {},
  parts: readonly JsonObject[] = [{ text: '' }],
): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0, ...members }],
  usageMetadata: generateUsage(quantities),
  modelVersion: publicModel,
  responseId: answerId,
});

type Candidate = Record<string, unknown> & { readonly parts: JsonObject[] };

/** Puts a stream of `generateContent` together into one answer. */
export class GenerateCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #stream: NativeGenerateStream;
  readonly #candidates = new Map<number, Candidate>();
  #body: JsonObject = {};

  constructor(call: VendorCall) {
    this.#stream = new NativeGenerateStream(call);
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): VendorAnswer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    const candidates = [...this.#candidates.values()].map(({ parts, ...candidate }) => ({
      ...candidate,
      content: { parts, role: 'model' },
    }));
    const quantities = cut ?? this.meter.quantities;
    const body = { ...this.#body, ...(candidates.length > 0 ? { candidates } : {}) };
    return {
      body: Buffer.from(JSON.stringify(body)),
      quantities,
      pricingFacts: cut === undefined ? this.meter.pricingFacts : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities ? '' : objectsOf(candidates).map(wordsOf).join(''),
    };
  }

  #add(events: string): void {
    for (const event of utf8(events).split('\n\n')) {
      const chunk: Documented<GenerateContentResponse> | undefined = objectOf(
        parse(event.slice('data: '.length)),
      );
      if (chunk === undefined) continue;
      const { candidates, ...beside } = chunk;
      this.#body = { ...this.#body, ...beside };
      for (const candidate of objectsOf(candidates)) this.#addTo(candidate);
    }
  }

  #addTo({ content, ...members }: Documented<GeminiCandidate>): void {
    const index = countOf(members.index) ?? 0;
    const known: Candidate = this.#candidates.get(index) ?? { parts: [] };
    const parts = objectsOf(objectOf(content)?.parts).reduce(withPart, known.parts);
    this.#candidates.set(index, { ...known, ...members, parts });
  }
}

/** Pieces of one text become one part; a signature ends it. */
function withPart(parts: JsonObject[], part: Documented<GeminiPart>): JsonObject[] {
  const last: Documented<GeminiPart> | undefined = parts.at(-1);
  const [before, text] = [textOf(last?.text), textOf(part.text)];
  const joins =
    last !== undefined &&
    before !== undefined &&
    text !== undefined &&
    last.thought === part.thought &&
    last.thoughtSignature === undefined;
  return joins
    ? [...parts.slice(0, -1), { ...last, ...part, text: before + text }]
    : [...parts, part];
}
