import { type RequestProgress, sendDroppedHeader } from './progress.ts';
import { elapsedMs, type FundedRequest } from './reserve.ts';
import type { PeriodicCheck } from './periodic-checks.ts';

/** Has the request checked once a second: a stream, or one that is collected here. */
export function watchStream(funded: FundedRequest, progress: RequestProgress): void {
  if (progress.watchdog !== undefined) return;
  progress.watchdog = new StreamWatchdog(funded, progress);
  funded.parts.watch.add(progress.watchdog);
}

/**
 * Breaks off clients that read nothing and vendors that say nothing, keeps silent connections open,
 * and reserves money for thinking that nobody sees.
 */
class StreamWatchdog implements PeriodicCheck {
  readonly #funded: FundedRequest;
  readonly #progress: RequestProgress;
  #silentMs = 0;
  #stalledMs = 0;
  /** The response's drains at the last check. */
  #drains = 0;
  /** The stream's bytes of content at the last check. */
  #contentBytes = 0;
  /** The number of attempts at the last check. */
  #contentAttempts = 0;
  /** The time without new content. */
  #emptyMs = 0;

  constructor(funded: FundedRequest, progress: RequestProgress) {
    this.#funded = funded;
    this.#progress = progress;
  }

  check(): void {
    const { response, parts } = this.#funded;
    const reads = !response.stalled || response.drains !== this.#drains;
    this.#drains = response.drains;
    this.#stalledMs = reads ? 0 : this.#stalledMs + parts.watch.everyMs;
    if (this.#stalledMs >= parts.limits.stalledMs) return response.destroy();
    this.#keepAlive();
    this.#reserveForThinking();
    this.#endIfEmpty();
  }

  #keepAlive(): void {
    const { response, parts, request, format } = this.#funded;
    this.#silentMs = this.#progress.wrote ? 0 : this.#silentMs + parts.watch.everyMs;
    this.#progress.wrote = false;
    if (!request.stream || format.keepAlive === '' || this.#silentMs < parts.limits.keepAliveMs)
      return;
    this.#silentMs = 0;
    sendDroppedHeader(this.#funded, this.#progress);
    response.startStream();
    response.write(format.keepAlive);
  }

  /**
   * A model that thinks unseen spends money while nothing arrives. Until the first byte, funds grow
   * as if it wrote at its top speed.
   */
  #reserveForThinking(): void {
    const { admitted, funds, parts } = this.#funded;
    const { topSpeed } = admitted.offer.model;
    if (
      topSpeed === undefined ||
      this.#progress.firstByteMs !== undefined ||
      !funds.isPartlyCovered()
    )
      return;
    const tokens = Math.ceil((elapsedMs(this.#funded) / 1_000) * topSpeed);
    if (!funds.coversTokens(tokens)) void funds.growOrWait(parts.limits.moneyWaitMs);
  }

  /** Ends a vendor's stream that brings only comments, or events without content, for too long. */
  #endIfEmpty(): void {
    const { parts, response } = this.#funded;
    const { attempts, firstByteMs, stream } = this.#progress;
    const contentBytes = stream?.meter.outputBytes ?? 0;
    if (
      contentBytes !== this.#contentBytes ||
      attempts !== this.#contentAttempts ||
      response.stalled
    ) {
      this.#contentBytes = contentBytes;
      this.#contentAttempts = attempts;
      this.#emptyMs = 0;
      return;
    }
    this.#emptyMs += parts.watch.everyMs;
    if (this.#emptyMs < parts.limits.emptyMs) return;
    this.#progress.breakOff({
      kind: 'fault',
      stage: contentBytes > 0 || firstByteMs !== undefined ? 'streaming' : 'waiting',
      fault: {
        kind: 'timeout',
        message: 'the vendor streams nothing but comments or empty events',
      },
    });
  }
}
