import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { costOf } from '../catalog/price.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { Reply } from '../http/reply.ts';
import type { Content } from '../media/downloads.ts';
import type { Call, StreamMeter } from '../providers/adapter.ts';
import { type Admitted, outputLimit } from './admit.ts';
import type { Attempt } from './attempt.ts';
import { thinkingMost, withinLimit } from './bound.ts';
import { callFor } from './call.ts';
import type { ClientFormat } from './client-format.ts';
import { tellDropped } from './dropped.ts';
import type { Hedge } from './hedge.ts';
import type { Lane } from './lanes.ts';
import type { Parts } from './parts.ts';
import type { Purse } from './purse.ts';
import type { Running } from './receivers.ts';
import type { ClientRequest } from './request.ts';
import type { Watched } from './stream-watch.ts';

const noneDownloaded: ReadonlyMap<string, Content> = new Map();

/** One client request on its way through the pipeline, from admission to its last byte. */
export class Exchange implements Running, Watched {
  readonly parts: Parts;
  readonly request: ClientRequest;
  readonly admitted: Admitted;
  readonly reply: Reply;
  readonly purse: Purse;
  readonly format: ClientFormat;
  readonly startedAtMs: number;
  readonly reservedAt: number;
  /** Milliseconds to the first byte for the client, once it has left. */
  firstByteMs: number | undefined;
  attempts = 0;
  /** Milliseconds for which an attempt was under way. */
  vendorMs = 0;
  candidate: Candidate | undefined;
  attempt: Pick<Attempt, 'finish'> | undefined;
  /**
   * The client's members that the running, or the answering, attempt does not send to its vendor.
   */
  dropped: readonly string[] | undefined;
  /**
   * No channel takes the request, and a vendor is asked all the same, so that the client reads the
   * vendor's own message.
   */
  insists = false;
  /** What became of asking a second channel, once that has happened. */
  hedge: Hedge | undefined;
  /** The content type of the stream to the client. Undefined: that of events. */
  streamType: string | undefined;
  /** What the stream to the client has told so far. */
  meter: StreamMeter | undefined;
  /** The meter of a vendor's stream that is collected here into a whole answer. */
  heard: StreamMeter | undefined;
  /** What its media by address gave, as far as somebody needed it: for the next channel. */
  downloaded: ReadonlyMap<string, Content> = noneDownloaded;
  /** A model was asked that reads more than the request holds: it searches the web by itself. */
  readsBeyond = false;
  wrote = false;
  left = false;
  #silentMs = 0;
  #stalledMs = 0;
  /**
   * The stream's bytes of content at the last look, the number of attempts then, and the time
   * without content since.
   */
  #contentBytes = 0;
  #contentAttempts = 0;
  #emptyMs = 0;

  constructor(
    parts: Parts,
    request: ClientRequest,
    admitted: Admitted,
    reply: Reply,
    purse: Purse,
    format: ClientFormat,
    startedAtMs: number,
    reservedAt: number,
  ) {
    this.parts = parts;
    this.request = request;
    this.admitted = admitted;
    this.reply = reply;
    this.purse = purse;
    this.format = format;
    this.startedAtMs = startedAtMs;
    this.reservedAt = reservedAt;
  }

  /** A channel is about to be asked. The bound of the request depends on its vendor, too. */
  asks(lane: Pick<Lane, 'thinksBeyondLimit' | 'readsBeyond'>, { upstreamModel }: Candidate): void {
    if (lane.thinksBeyondLimit) this.purse.allowThinking(thinkingMost(this.request, this.admitted));
    if (lane.readsBeyond?.(upstreamModel) === true) this.readsBeyond = true;
  }

  get moneyWaitMs(): number {
    return this.parts.limits.moneyWaitMs;
  }

  costOf(quantities: Quantities): Nano {
    const { quote, tariff, variant } = this.admitted;
    const within = withinLimit(this, quantities);
    if (quote !== undefined)
      return quote.bill(within, undefined, variant, this.candidate, this.parts.clock.now()).total;
    return costOf(tariff, within, variant).total;
  }

  elapsedMs(): number {
    return this.parts.clock.monotonicMs() - this.startedAtMs;
  }

  firstByte(): void {
    this.firstByteMs ??= this.elapsedMs();
    tellDropped(this.reply, this.request.dropped, this.dropped);
    this.reply.startStream(this.streamType);
  }

  /** The client went away: nobody is to blame, and the vendor stops at once. */
  readonly leave = (): void => {
    this.left = true;
    this.attempt?.finish({ kind: 'left' });
  };

  /** Once a second while a stream is open. */
  look(): void {
    this.#stalledMs = this.reply.stalled ? this.#stalledMs + this.parts.watch.everyMs : 0;
    if (this.#stalledMs >= this.parts.limits.stalledMs) return this.reply.destroy();
    if (this.wrote) this.#silentMs = 0;
    else this.#silentMs += this.parts.watch.everyMs;
    this.wrote = false;
    if (
      this.request.stream &&
      this.format.keepAlive !== '' &&
      this.#silentMs >= this.parts.limits.keepAliveMs
    ) {
      this.#silentMs = 0;
      tellDropped(this.reply, this.request.dropped, this.dropped);
      this.reply.startStream();
      this.reply.write(this.format.keepAlive);
    }
    this.#payForThinking();
    this.#endIfEmpty();
  }

  /** Ends a vendor's stream that brings only comments, or events without content, for too long. */
  #endIfEmpty(): void {
    const { parts, reply, attempts } = this;
    const contentBytes = (this.heard ?? this.meter)?.outputBytes ?? 0;
    if (
      contentBytes !== this.#contentBytes ||
      attempts !== this.#contentAttempts ||
      reply.stalled
    ) {
      this.#contentBytes = contentBytes;
      this.#contentAttempts = attempts;
      this.#emptyMs = 0;
      return;
    }
    this.#emptyMs += parts.watch.everyMs;
    if (this.#emptyMs < parts.limits.emptyMs) return;
    const stage = contentBytes > 0 || reply.started ? 'streaming' : 'waiting';
    this.attempt?.finish({
      kind: 'fault',
      stage,
      fault: {
        kind: 'timeout',
        message: 'the vendor streams nothing but comments or empty events',
      },
    });
  }

  /**
   * A model that thinks unseen spends money while nothing arrives: until the first byte its time is
   * paid for at its top speed.
   */
  #payForThinking(): void {
    const { topSpeed } = this.admitted.offer.model;
    if (topSpeed === undefined || this.firstByteMs !== undefined || !this.purse.canGrow()) return;
    const tokens = Math.ceil((this.elapsedMs() / 1_000) * topSpeed);
    if (!this.purse.coversTokens(tokens)) void this.purse.growOrWait(this.moneyWaitMs);
  }

  callFor(candidate: Candidate, streamUpstream: boolean): Call {
    const { request } = this;
    const limit = outputLimit(request, this.admitted.offer.model);
    const lower = limit === request.outputTokensAsked ? undefined : limit;
    return callFor(request, candidate, streamUpstream, lower, this.admitted.quote, this.reservedAt);
  }
}
