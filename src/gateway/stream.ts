import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { costOf } from '../catalog/price.ts';
import type { CallStage } from '../http/upstream.ts';
import type { StreamCollector, StreamMeter, StreamTranslator } from '../providers/adapter.ts';
import { protocolFault } from '../providers/formats/fault.ts';
import {
  type ChannelAttempt,
  type AttemptResult,
  type Receiver,
  answerTooLarge,
} from './attempt.ts';
import { withinLimit } from './pricing/bound.ts';
import { beginStream, type RequestProgress } from './progress.ts';
import type { FundedRequest } from './reserve.ts';

const noBytes = Buffer.alloc(0);
/**
 * Where the money may end within a piece of the vendor's bytes, the piece is read in slices of this
 * size: at most a slice, or the event that ends in it, goes beyond the money. A vendor that was
 * paused, or that collects its events, sends 64 KB at once.
 */
const sliceBytes = 1_024;

/** Reads bytes of the vendor. Returns false to pause it. */
interface SliceReader {
  read(slice: Buffer): boolean;
}

/**
 * Waits for money while the vendor is paused, and ends the attempt when there is none. Both kinds
 * of receivers use it.
 */
class Coverage {
  readonly #funded: FundedRequest;
  readonly #progress: RequestProgress;
  readonly #attempt: ChannelAttempt;
  readonly #meter: StreamMeter;
  #waiting = false;
  /** The vendor's bytes after those that wait. */
  #unread: Buffer = noBytes;

  constructor(
    funded: FundedRequest,
    progress: RequestProgress,
    attempt: ChannelAttempt,
    meter: StreamMeter,
  ) {
    this.#funded = funded;
    this.#progress = progress;
    this.#attempt = attempt;
    this.#meter = meter;
  }

  /** What was read last waits for money, or there was none for it. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  /**
   * A finish reason and a count make a whole answer, even if the connection breaks after them, but
   * not while a part of it waits for money.
   */
  get isWhole(): boolean {
    return this.#meter.finished && this.#meter.quantities !== undefined && !this.#waiting;
  }

  /** Has a piece read, up to where it has to wait for money. */
  data(piece: Buffer, reader: SliceReader): boolean {
    if (this.#waiting) {
      this.#unread = Buffer.concat([this.#unread, piece]);
      return false;
    }
    // Content has fewer bytes than the events that bring it.
    const isCovered = this.#meter.outputBytes + piece.length < this.#funded.funds.nextLookBytes;
    if (isCovered || piece.length <= sliceBytes) return reader.read(piece);
    let room = true;
    for (let at = 0; ; at += sliceBytes) {
      const next = at + sliceBytes;
      room = reader.read(piece.subarray(at, next)) && room;
      if (this.#waiting) this.#unread = piece.subarray(next);
      if (this.#waiting || this.#attempt.over || next >= piece.length) return room;
    }
  }

  /** Has the rest read, once what waited for money is delivered. `room`: the client took that. */
  readOn(room: boolean, reader: SliceReader): boolean {
    const unread = this.#unread;
    this.#unread = noBytes;
    return unread.length === 0 || this.#attempt.over ? room : this.data(unread, reader) && room;
  }

  /**
   * True when the reservation covers everything up to here. False when the vendor has to wait:
   * `covered` is called once the money is reserved.
   */
  cover(covered: () => void): boolean {
    const { funds } = this.#funded;
    if (funds.isPast(this.#meter.outputBytes)) {
      this.#attempt.abort({ kind: 'money_ended', meter: this.#meter, past: true });
      return false;
    }
    funds.grow();
    if (this.#counted === undefined) funds.raiseLimitFor(this.#meter.outputBytes);
    if (!this.#owes()) return true;
    this.#waiting = true;
    void this.#wait(covered);
    return false;
  }

  /** The vendor's count of the whole answer: it is exact, and progress by bytes is not. */
  get #counted(): Quantities | undefined {
    return this.#meter.finished ? this.#meter.quantities : undefined;
  }

  #owes(): boolean {
    const { funds } = this.#funded;
    const counted = this.#counted;
    if (counted !== undefined) return this.#costOf(counted) > funds.reservation.amount;
    return funds.isBeyondCovered(this.#meter.outputBytes);
  }

  #costOf(quantities: Quantities): Nano {
    const { admitted, parts } = this.#funded;
    const { quote, tariff, variant } = admitted;
    const within = withinLimit(this.#funded, quantities);
    if (quote === undefined) return costOf(tariff, within, variant).total;
    const { candidate } = this.#progress;
    return quote.bill(within, { variant, candidate, endedAt: parts.clock.now() }).total;
  }

  async #wait(covered: () => void): Promise<void> {
    const { funds, parts } = this.#funded;
    while (this.#owes()) {
      const grown = await funds.growOrWait(parts.limits.moneyWaitMs);
      // Another attempt was faster in the meantime, or the client left: the held-back text is
      // dropped.
      if (this.#attempt.over) return;
      if (!grown) {
        this.#attempt.abort({ kind: 'money_ended', meter: this.#meter });
        return;
      }
      if (!funds.isPartlyCovered()) break;
    }
    this.#waiting = false;
    try {
      covered();
    } catch (error) {
      // What an adapter throws over the rest of a piece: nobody waits for this promise.
      const stage = this.#progress.firstByteMs === undefined ? 'waiting' : 'streaming';
      this.#attempt.abort({ kind: 'fault', stage, fault: protocolFault(String(error)) });
    }
  }
}

/** Several attempts at one answer: the first that has a byte for the client wins. */
interface RunningRace {
  won(attempt: ChannelAttempt, translator: StreamTranslator): void;
}

/**
 * Forwards a stream as it comes. The hottest code of the gateway: one push, two comparisons and one
 * write per piece.
 */
export class ForwardingReceiver implements Receiver {
  readonly translator: StreamTranslator;
  readonly #funded: FundedRequest;
  readonly #progress: RequestProgress;
  readonly #attempt: ChannelAttempt;
  readonly #race: RunningRace | undefined;
  readonly #coverage: Coverage;
  /** The client's bytes that wait for money. */
  #held = '';
  /** The bytes of output that were delivered before them. */
  #heldFrom = 0;
  /** The last events, where they are to tell the cost: they leave once it is charged. */
  #last = '';
  #begun = false;
  /** The client has to read before more is read from the vendor. */
  #isFull = false;
  #ended = false;

  constructor(
    funded: FundedRequest,
    progress: RequestProgress,
    attempt: ChannelAttempt,
    translator: StreamTranslator,
    race?: RunningRace,
  ) {
    this.translator = translator;
    this.#funded = funded;
    this.#progress = progress;
    this.#attempt = attempt;
    this.#race = race;
    this.#coverage = new Coverage(funded, progress, attempt, translator.meter);
  }

  data(piece: Buffer): boolean {
    return this.#coverage.data(piece, this);
  }

  read(slice: Buffer): boolean {
    const { meter } = this.translator;
    const before = meter.outputBytes;
    const out = this.translator.push(slice);
    if (meter.outputBytes < this.#funded.funds.nextLookBytes) return this.#deliver(out);
    if (this.#coverage.cover(this.#covered)) return this.#deliver(out);
    this.#held = out;
    this.#heldFrom = before;
    return false;
  }

  readonly #covered = (): void => {
    const held = this.#held;
    this.#held = '';
    const room = this.#coverage.readOn(this.#deliver(held), this);
    if (this.#coverage.isWaiting || this.#attempt.over) return;
    if (room) this.#attempt.upstreamCall.resume();
    if (this.#ended) this.#attempt.endInGoodOrder(this.#close());
  };

  #deliver(out: string): boolean {
    const { response, request } = this.#funded;
    const { meter } = this.translator;
    let room = true;
    if (out !== '') {
      if (!this.#begun) this.#begin();
      this.#progress.wrote = true;
      if (meter.done && request.tellsCost === true) this.#last += out;
      else room = response.write(out);
    }
    if (meter.fault !== undefined || meter.done) {
      if (meter.fault === undefined) this.#attempt.endInGoodOrder(this.#close());
      else this.#attempt.abort(this.#close());
      return true;
    }
    if (!room && !this.#isFull) {
      this.#isFull = true;
      response.onDrain(() => {
        this.#isFull = false;
        this.#attempt.upstreamCall.resume();
      });
    }
    return room;
  }

  /** A keep-alive comment may have started the response, but it is no answer. */
  #begin(): void {
    this.#begun = true;
    this.#race?.won(this.#attempt, this.translator);
    beginStream(this.#funded, this.#progress);
  }

  #close(): AttemptResult {
    const { meter } = this.translator;
    const tail = meter.fault === undefined ? this.translator.end() : '';
    if (meter.fault !== undefined) return { kind: 'fault', stage: this.stage, fault: meter.fault };
    return { kind: 'streamed', meter, tail: this.#last + tail };
  }

  /** A keep-alive comment of this gateway is not content either. */
  get stage(): 'waiting' | 'streaming' {
    return this.#begun || this.translator.meter.outputBytes > 0 ? 'streaming' : 'waiting';
  }

  /** What the client has been sent: without what waits for money. */
  get delivered(): StreamMeter {
    const { meter } = this.translator;
    if (!this.#coverage.isWaiting) return meter;
    return { ...meter, quantities: undefined, outputBytes: this.#heldFrom };
  }

  end(): AttemptResult | undefined {
    this.#ended = true;
    return this.#coverage.isWaiting ? undefined : this.#close();
  }

  /**
   * The client's last events when the money ends. The text that waited for money is counted and
   * charged, so it goes first.
   */
  cutShort(quantities: Quantities): string {
    return this.#held + this.translator.cutShort(quantities);
  }

  broken(): AttemptResult {
    return this.#coverage.isWhole ? this.#close() : brokenInside(this.translator.meter, this.stage);
  }
}

/** Puts a stream together for a client that asked for a whole answer. */
export class CollectingReceiver implements Receiver {
  readonly collector: StreamCollector;
  readonly #funded: FundedRequest;
  readonly #attempt: ChannelAttempt;
  readonly #coverage: Coverage;
  #bytes = 0;
  #ended = false;

  constructor(
    funded: FundedRequest,
    progress: RequestProgress,
    attempt: ChannelAttempt,
    collector: StreamCollector,
  ) {
    this.collector = collector;
    this.#funded = funded;
    this.#attempt = attempt;
    this.#coverage = new Coverage(funded, progress, attempt, collector.meter);
  }

  data(piece: Buffer): boolean {
    const { answerBytesMax } = this.#funded.parts.limits;
    this.#bytes += piece.length;
    if (this.#bytes > answerBytesMax) {
      this.#attempt.abort(answerTooLarge(answerBytesMax));
      return true;
    }
    return this.#coverage.data(piece, this);
  }

  read(slice: Buffer): boolean {
    this.collector.push(slice);
    const { meter } = this.collector;
    const isDue = meter.outputBytes >= this.#funded.funds.nextLookBytes;
    if (isDue && !this.#coverage.cover(this.#covered)) return false;
    if (meter.fault !== undefined) this.#attempt.abort(this.#close());
    else if (meter.done) this.#attempt.endInGoodOrder(this.#close());
    return true;
  }

  readonly #covered = (): void => {
    this.#coverage.readOn(true, this);
    if (this.#coverage.isWaiting || this.#attempt.over) return;
    const { meter } = this.collector;
    if (this.#ended || meter.done || meter.fault !== undefined) this.#attempt.abort(this.#close());
    else this.#attempt.upstreamCall.resume();
  };

  #close(): AttemptResult {
    const { meter } = this.collector;
    const fault =
      meter.fault ??
      (meter.finished ? undefined : protocolFault('the stream ended without its finish reason'));
    if (fault !== undefined) return { kind: 'fault', stage: 'waiting', fault };
    return { kind: 'answer', answer: this.collector.answer() };
  }

  end(): AttemptResult | undefined {
    this.#ended = true;
    return this.#coverage.isWaiting ? undefined : this.#close();
  }

  broken(): AttemptResult {
    return this.#coverage.isWhole ? this.#close() : brokenInside(this.collector.meter, 'waiting');
  }
}

const brokenInside = (meter: StreamMeter, stage: CallStage): AttemptResult => ({
  kind: 'fault',
  stage,
  fault: meter.fault ?? { kind: 'network', message: 'the connection broke inside the stream' },
});

export type StreamReceiver = ForwardingReceiver | CollectingReceiver;
