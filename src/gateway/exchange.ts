import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { costOf } from '../catalog/price.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { DownloadedMedium } from '../media/downloads.ts';
import type { VendorCall, StreamMeter } from '../providers/adapter.ts';
import type { ClientFormat, ApiRequest } from './accept.ts';
import { type Admission, outputLimit } from './admit.ts';
import { type ChannelAttempt, vendorCallFor } from './attempt.ts';
import type { ChannelClient } from './channels/clients.ts';
import type { GatewayParts, Hedge } from './parts.ts';
import { thinkingMost, withinLimit } from './pricing/bound.ts';
import type { ReservedFunds } from './reserve.ts';
import type { PeriodicCheck } from './stream-watch.ts';
import type { StreamContext } from './stream.ts';

const noneDownloaded: ReadonlyMap<string, DownloadedMedium> = new Map();

/** One client request on its way through the pipeline, from admission to its last byte. */
export class Exchange implements StreamContext, PeriodicCheck {
  readonly parts: GatewayParts;
  readonly request: ApiRequest;
  readonly admitted: Admission;
  readonly reply: ClientResponse;
  readonly funds: ReservedFunds;
  readonly format: ClientFormat;
  readonly startedAtMs: number;
  readonly reservedAt: number;
  /** Milliseconds from the start to the first byte for the client, once that byte has left. */
  firstByteMs: number | undefined;
  attempts = 0;
  /** Milliseconds for which an attempt was under way. */
  vendorMs = 0;
  candidate: Candidate | undefined;
  attempt: Pick<ChannelAttempt, 'finish'> | undefined;
  /** The client's members that the running or answering attempt does not send to its vendor. */
  dropped: readonly string[] | undefined;
  /**
   * Set when no channel takes the request: a vendor gets it all the same, so that the client reads
   * the vendor's own message.
   */
  insists = false;
  /** The outcome of a hedge, once a second channel has been called. */
  hedge: Hedge | undefined;
  /** The content type of the client's stream. Undefined: that of server-sent events. */
  streamType: string | undefined;
  /** The usage that the client's stream has reported so far. */
  meter: StreamMeter | undefined;
  /** The meter of a vendor's stream that is collected here into a whole answer. */
  collectedMeter: StreamMeter | undefined;
  /** Media downloaded for one channel, kept for the next. */
  downloaded: ReadonlyMap<string, DownloadedMedium> = noneDownloaded;
  /**
   * Set once a model that reads more than the request holds has been called: it searches the web by
   * itself.
   */
  readsBeyond = false;
  wrote = false;
  left = false;
  #watched = false;
  #silentMs = 0;
  #stalledMs = 0;
  /**
   * At the last check: the stream's bytes of content and the number of attempts; and the time
   * without content since.
   */
  #contentBytes = 0;
  #contentAttempts = 0;
  #emptyMs = 0;

  constructor(
    parts: GatewayParts,
    request: ApiRequest,
    admitted: Admission,
    reply: ClientResponse,
    funds: ReservedFunds,
    format: ClientFormat,
    startedAtMs: number,
    reservedAt: number,
  ) {
    this.parts = parts;
    this.request = request;
    this.admitted = admitted;
    this.reply = reply;
    this.funds = funds;
    this.format = format;
    this.startedAtMs = startedAtMs;
    this.reservedAt = reservedAt;
  }

  /** Called before each attempt: the bound of the request depends on its vendor, too. */
  beforeAttempt(
    client: Pick<ChannelClient, 'thinksBeyondLimit' | 'readsBeyond'>,
    { upstreamModel }: Candidate,
  ): void {
    if (client.thinksBeyondLimit)
      this.funds.allowThinking(thinkingMost(this.request, this.admitted));
    if (client.readsBeyond?.(upstreamModel) === true) this.readsBeyond = true;
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
    sendDroppedHeader(this.reply, this.request.dropped, this.dropped);
    this.reply.startStream(this.streamType);
  }

  /** The client went away: no fault is recorded, and the vendor stops at once. */
  readonly leave = (): void => {
    this.left = true;
    this.attempt?.finish({ kind: 'left' });
  };

  /** Has this checked once a second: a stream, or one that is collected here. */
  watch(): void {
    this.#watched = true;
    this.parts.watch.add(this);
  }

  unwatch(): void {
    if (this.#watched) this.parts.watch.remove(this);
  }

  /** Runs once a second while a stream is open. */
  check(): void {
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
      sendDroppedHeader(this.reply, this.request.dropped, this.dropped);
      this.reply.startStream();
      this.reply.write(this.format.keepAlive);
    }
    this.#payForThinking();
    this.#endIfEmpty();
  }

  /** Ends a vendor's stream that brings only comments, or events without content, for too long. */
  #endIfEmpty(): void {
    const { parts, reply, attempts } = this;
    const contentBytes = (this.collectedMeter ?? this.meter)?.outputBytes ?? 0;
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
   * A model that thinks unseen spends money while nothing arrives. Until the first byte, funds grow
   * as if it wrote at its top speed.
   */
  #payForThinking(): void {
    const { topSpeed } = this.admitted.offer.model;
    if (topSpeed === undefined || this.firstByteMs !== undefined || !this.funds.canGrow()) return;
    const tokens = Math.ceil((this.elapsedMs() / 1_000) * topSpeed);
    if (!this.funds.coversTokens(tokens)) void this.funds.growOrWait(this.moneyWaitMs);
  }

  vendorCall(candidate: Candidate, streamUpstream: boolean): VendorCall {
    const { request } = this;
    const limit = outputLimit(request, this.admitted.offer.model);
    const lower = limit === request.outputTokensRequested ? undefined : limit;
    return vendorCallFor(
      request,
      candidate,
      streamUpstream,
      lower,
      this.admitted.quote,
      this.reservedAt,
    );
  }
}

/** Longest header value, however many members are dropped. */
export const droppedCharsMax = 1_024;
const moreDropped = ', ...';

/**
 * Names the members that were not sent to the vendor in a header, before the response begins.
 * `byUs`: members whose values mean "not set". `forVendor`: members that the answering vendor does
 * not take.
 */
export function sendDroppedHeader(
  reply: ClientResponse,
  byUs: readonly string[] | undefined,
  forVendor: readonly string[] | undefined,
): void {
  if ((byUs === undefined && forVendor === undefined) || reply.started) return;
  const dropped = [...(byUs ?? []), ...(forVendor ?? [])];
  if (dropped.length > 0) reply.header('x-tollgate-dropped', droppedText(dropped));
}

/**
 * Each path once, in alphabetical order. A path may hold a name that the client chose: characters
 * that a header cannot carry become `?`.
 */
export function droppedText(dropped: readonly string[]): string {
  const paths = [...new Set(dropped.map((path) => path.replace(/[^\x21-\x7e]|,/g, '?')))].sort();
  const text = paths.join(', ');
  if (text.length <= droppedCharsMax) return text;
  return `${text.slice(0, Math.max(0, text.lastIndexOf(', ', droppedCharsMax - moreDropped.length)))}${moreDropped}`;
}
