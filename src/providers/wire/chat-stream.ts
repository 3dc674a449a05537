import type { Fault } from '../../base/fault.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamMeter, StreamTranslator } from '../adapter.ts';
import { ChatChunks } from './chat-chunks.ts';
import { type EventListener, type Frames, SseFrames } from './sse-frames.ts';

/** How one wire format reads its own events. Made for each stream. */
export interface EventReader {
  /**
   * One whole event (`data` as the frames give it: `latin1` for server-sent events). Returns the
   * client's text, mostly by `chunks`. Sets `meter.quantities`, `meter.done`, `meter.fault` and
   * `meter.upstreamId`; the rest of the meter follows from `chunks`.
   */
  event(data: string, name: string): string;
  /** The stream closed with `rest`, which is no event: JSON with an error, as a rule. */
  rest?(rest: string): Fault | undefined;
}

export type MakeReader = (call: Call, chunks: ChatChunks, meter: StreamMeter) => EventReader;

/**
 * A vendor's stream of another format on its way to a client of OpenAI's: frames, events, chunks.
 */
export class TranslatedStream implements StreamTranslator {
  readonly meter: StreamMeter = {
    quantities: undefined,
    outputBytes: 0,
    finished: false,
    done: false,
    fault: undefined,
    upstreamId: undefined,
  };
  readonly #chunks: ChatChunks;
  readonly #reader: EventReader;
  readonly #frames: Frames;
  #out = '';
  #closed = false;

  /** `stops`: texts before which the answer ends, where the vendor does not watch for them. */
  constructor(
    call: Call,
    makeReader: MakeReader,
    makeFrames: (listener: EventListener) => Frames = (listener) => new SseFrames(listener),
    stops?: readonly string[],
  ) {
    this.#chunks = new ChatChunks(call, stops);
    this.#reader = makeReader(call, this.#chunks, this.meter);
    this.#frames = makeFrames(this.#hear);
  }

  readonly #hear = (data: string, name: string): boolean => {
    this.#out += this.#reader.event(data, name);
    return !this.meter.done && this.meter.fault === undefined;
  };

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault ??= { kind: 'protocol', message: problem };
    return this.#heard();
  }

  #heard(): string {
    const { meter } = this;
    const out = this.#out;
    this.#out = '';
    meter.outputBytes = this.#chunks.outputBytes;
    meter.finished = this.#chunks.finished;
    if (meter.fault === undefined && !meter.done) return out;
    this.#closed = true;
    return out + this.#conclude();
  }

  /**
   * After the vendor's last word: the usage, or the fault that nothing was finished. An answer that
   * is finished is whole, whatever came after.
   */
  #conclude(): string {
    const { meter } = this;
    if (meter.finished) meter.fault = undefined;
    else meter.fault ??= { kind: 'protocol', message: 'the stream ended without its last event' };
    if (meter.fault !== undefined) return '';
    const { signatures } = this.#chunks;
    if (signatures !== undefined) meter.signatures = signatures;
    return this.#chunks.finishAll('stop') + this.#chunks.usage(meter.quantities);
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end();
    if (rest !== '' && this.meter.fault === undefined) this.meter.fault = this.#reader.rest?.(rest);
    const out = this.#heard();
    if (this.#closed) return out;
    this.#closed = true;
    return out + this.#conclude();
  }

  cutShort(quantities: Quantities): string {
    this.#closed = true;
    const out = this.#chunks.finishAll('length') + this.#chunks.usage(quantities);
    this.meter.finished = true;
    return out;
  }
}
