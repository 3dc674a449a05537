import assert from 'node:assert/strict';
import type { Fault } from '../base/fault.ts';
import { costOf } from '../catalog/price.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type ImageAdapter,
  type ImageMisfit,
  type VendorRequest,
  type BaseAdapter,
  isPending,
  type PendingAnswer,
  type PendingFault,
} from '../providers/adapter.ts';
import { type AttemptResult, leftAfterSending, ChannelAttempt } from './attempt.ts';
import type { OpenChannel } from './channels/open-channels.ts';
import { storeImages } from './media/images.ts';
import type { GatewayLimits, GatewayParts } from './parts.ts';
import type { RequestProgress } from './progress.ts';
import type { FundedRequest } from './reserve.ts';
import { hasTokenInput, withTextInput } from './token-input.ts';

/**
 * The adapter of any capability, where the answer comes whole. Only images have more than a
 * `WholeAdapter`: their vendors may answer later, to a poll, and their adapters may name a misfit.
 */
type WholeAnswerAdapter = ImageAdapter;

/** How many calls of one request are with the vendor at the same time, at most. */
const callsAtOnce = 8;

/**
 * One attempt on one channel whose answer comes whole: in one call, or in as many as the vendor
 * needs. The first call that fails ends them all, where the others are worth nothing without it.
 */
export async function attemptWhole(
  funded: FundedRequest,
  progress: RequestProgress,
  adapter: WholeAnswerAdapter,
  unprepared: VendorCall,
  openChannel: OpenChannel,
): Promise<AttemptResult> {
  const call =
    adapter.textOnly === true && hasTokenInput(unprepared.body)
      ? await withTextInput(unprepared)
      : unprepared;
  if ('kind' in call) return call;
  if (progress.left) return { kind: 'left' };
  const misfit = adapter.misfit?.(call);
  if (misfit !== undefined) return notMade(misfit);
  const split = adapter.split?.(call);
  const calls = split?.calls ?? [call];
  const waiting = calls.entries();
  const running = new Set<WholeCall>();
  const answers: VendorAnswer[] = [];
  let ended: AttemptResult | undefined;
  let sent = false;
  const abort = (result: AttemptResult): void => {
    ended ??= result;
    for (const attempt of running) attempt.abort(result);
  };
  const runCalls = async (): Promise<void> => {
    for (const [i, next] of waiting) {
      if (ended !== undefined) return;
      const attempt = new WholeCall(adapter, next, funded.parts, openChannel);
      running.add(attempt);
      const result = await attempt.run();
      running.delete(attempt);
      progress.dropped = attempt.dropped;
      if (result.kind === 'left' && result.sent === true) sent = true;
      if (result.kind === 'answer') answers[i] = result.answer;
      else if (split?.independent === true && failsAlone(result)) ended ??= result;
      else abort(result);
    }
  };
  const work = { abort };
  progress.startWork(work);
  try {
    await Promise.all(Array.from({ length: Math.min(callsAtOnce, calls.length) }, runCalls));
  } catch (error) {
    abort({ kind: 'left' });
    throw error;
  } finally {
    progress.endWork(work);
  }
  const had = answers.filter((answer) => answer !== undefined);
  const [first] = had;
  if (ended !== undefined && (first === undefined || !failsAlone(ended)))
    return ended.kind === 'left' && sent ? leftAfterSending : ended;
  assert(first !== undefined, 'a call has an answer or a fault');
  const answer = split === undefined ? first : split.join(had);
  if (answer.pictures !== undefined)
    return storeImages(funded, progress, answer, answer.pictures, openChannel);
  return { kind: 'answer', answer: withPricedUsage(funded, answer) };
}

/** Calls that are still with the vendor may end well after this failure. */
const failsAlone = ({ kind }: AttemptResult): boolean => kind === 'fault';

/** No vendor was called: another channel may make the image. */
const notMade = ({ param, why }: ImageMisfit): AttemptResult => ({
  kind: 'fault',
  stage: 'connecting',
  fault: { kind: 'bad_request', message: why, param },
});

/**
 * A usage report that holds nothing the price names (searches, where tokens are sold) counts as no
 * report: the answer would be free.
 */
function withPricedUsage({ admitted }: FundedRequest, answer: VendorAnswer): VendorAnswer {
  const { quantities } = answer;
  if (quantities === undefined || costOf(admitted.tariff, quantities).lines.length > 0)
    return answer;
  return { ...answer, quantities: undefined };
}

const nothingYet: VendorAnswer = {
  body: Buffer.alloc(0),
  quantities: undefined,
  upstreamId: undefined,
  outputText: '',
};
const noStream = (): never => {
  throw new Error('a whole answer is no stream');
};

/**
 * One call to one channel until its answer arrives. A vendor that takes the request and answers
 * later is polled, ever less often while it fails, until it reports the end or the time is over.
 * Once the vendor has taken the request, no other channel gets it.
 */
class WholeCall {
  readonly #adapter: WholeAnswerAdapter;
  readonly #call: VendorCall;
  readonly #parts: GatewayParts;
  readonly #openChannel: OpenChannel;
  readonly #answersLater: boolean;
  #running: Pick<ChannelAttempt, 'abort'> | undefined;
  #ended: AttemptResult | undefined;
  #pending: PendingAnswer | undefined;
  #submitting = true;
  #leave: (result: AttemptResult) => void = () => {};
  /** The client's members that the vendor's request leaves out; undefined: none. */
  dropped: readonly string[] | undefined;

  constructor(
    adapter: WholeAnswerAdapter,
    call: VendorCall,
    parts: GatewayParts,
    openChannel: OpenChannel,
  ) {
    this.#adapter = adapter;
    this.#call = call;
    this.#parts = parts;
    this.#openChannel = openChannel;
    this.#answersLater = adapter.isAsync?.(call) ?? false;
  }

  async run(): Promise<AttemptResult> {
    const submitted = this.#send(this.#openChannel, this.#adapter, this.#parts.limits);
    const first = await (this.#answersLater
      ? Promise.race([submitted, this.#left(submitted)])
      : submitted);
    this.#submitting = false;
    if (this.#pending === undefined) return first;
    const result = this.#ended ?? (await this.#wait(this.#pending));
    if (result.kind !== 'answer' && !(result.kind === 'fault' && result.fault.ended))
      this.#cancel();
    return result;
  }

  /**
   * Ends the job with this result, unless it has ended; stops the vendor where that is possible.
   */
  abort(result: AttemptResult): void {
    this.#ended ??= result;
    if (this.#submitting && this.#answersLater) this.#leave(result);
    else this.#running?.abort(result);
  }

  /**
   * Does not wait for a submission that is on its way, but lets it go on: only a job whose id is
   * known can be cancelled.
   */
  #left(submitted: Promise<unknown>): Promise<AttemptResult> {
    return new Promise((resolve) => {
      this.#leave = (result) => {
        resolve(result);
        void submitted.then(() => this.#cancel());
      };
    });
  }

  async #wait(pending: PendingAnswer): Promise<AttemptResult> {
    const { clock, limits } = this.#parts;
    const { totalMs, goneAfterMs, everyMsMin, everyMsMax } = limits.asyncJobs;
    const since = clock.monotonicMs();
    const until = since + totalMs;
    let last: Fault | undefined;
    for (let faults = 0; ; ) {
      const everyMs = Math.max(everyMsMin, pending.afterMs) * 2 ** faults;
      const pauseMs = Math.max(Math.min(everyMs, everyMsMax), last?.retryAfterMs ?? 0);
      const leftMs = until - clock.monotonicMs();
      if (leftMs <= 0) return accepted({ kind: 'timeout', message: overdue(totalMs, last) });
      // A vendor that asks for a longer pause is polled once more at the end.
      await this.#pause(Math.min(pauseMs, leftMs));
      if (this.#ended !== undefined) return this.#ended;
      this.#pending = undefined;
      const result = await this.#poll(pending);
      const next: PendingAnswer | undefined = this.#pending;
      this.#pending = next ?? pending;
      if (this.#ended !== undefined) return this.#ended;
      last = undefined;
      if (next !== undefined) [pending, faults] = [next, 0];
      else if (result.kind !== 'fault') return result;
      else if (hasEnded(result.fault, clock.monotonicMs() - since >= goneAfterMs))
        return accepted(result.fault);
      else [last, faults] = [result.fault, faults + 1];
    }
  }

  #poll({ poll, read, fault = this.#adapter.fault }: PendingAnswer): Promise<AttemptResult> {
    const { openChannel, path } = pollTarget(this.#openChannel, poll);
    const ask = (): VendorRequest => ({ ...poll, path });
    return this.#send(openChannel, { ask, read, fault }, pollLimits(this.#parts));
  }

  async #send(
    openChannel: OpenChannel,
    adapter: Pick<WholeAnswerAdapter, 'ask' | 'read' | 'fault'>,
    limits: GatewayLimits,
  ): Promise<AttemptResult> {
    const read: BaseAdapter['read'] = (body, contentType, call) => {
      const answer = adapter.read(body, contentType, call);
      if (!isPending(answer)) return answer;
      this.#pending = answer;
      return nothingYet;
    };
    const attempt = new ChannelAttempt(
      { ask: adapter.ask, read, fault: adapter.fault },
      this.#call,
      limits,
      noStream,
    );
    this.#running = attempt;
    attempt.start(openChannel, 'send_unsupported');
    this.dropped ??= attempt.dropped;
    const result = await attempt.result;
    this.#running = undefined;
    return result;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.timers.after(ms, resolve);
      const abort = (): void => {
        cancel();
        resolve();
      };
      this.#running = { abort };
    });
  }

  /** Does not wait for the vendor's response to the cancellation. */
  #cancel(): void {
    const request: VendorRequest | undefined = this.#pending?.cancel;
    if (request === undefined) return;
    const inquiry: BaseAdapter = {
      ask: () => request,
      read: () => nothingYet,
      fault: this.#adapter.fault,
    };
    const attempt = new ChannelAttempt(inquiry, this.#call, pollLimits(this.#parts), noStream);
    attempt.start(this.#openChannel, 'send_unsupported');
  }
}

/** The vendor has taken the request and may charge for it. */
const accepted = (fault: Fault): AttemptResult => ({ kind: 'fault', stage: 'streaming', fault });

const hasEnded = (fault: PendingFault, late: boolean): boolean =>
  fault.ended === true || (late && fault.gone === true);

const overdue = (totalMs: number, last: Fault | undefined): string =>
  `no answer within ${totalMs / 1_000} seconds${last === undefined ? '' : `; the last reply: ${last.message}`}`;

/** The timeouts of a poll, and of a cancellation. */
const pollLimits = ({ limits }: GatewayParts): GatewayLimits => ({
  ...limits,
  whole: limits.asyncJobs.poll,
});

/** Where a poll goes: to the address that the vendor named, if its host is the vendor's. */
function pollTarget(
  openChannel: OpenChannel,
  { url: address, path }: PendingAnswer['poll'],
): { readonly openChannel: OpenChannel; readonly path: string } {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  const upstream = url && openChannel.vendorHost(url);
  if (url === undefined || upstream === undefined) return { openChannel, path };
  return {
    openChannel: { ...openChannel, upstream, place: (complete) => complete },
    path: url.pathname + url.search,
  };
}
