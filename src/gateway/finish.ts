import { type Bytes, bufferOf } from '../base/json.ts';
import type { Fault } from '../base/fault.ts';
import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { refusal, type Refusal, unavailable } from '../base/refusal.ts';
import { inputTokens, outputTokens } from '../catalog/price.ts';
import type { SettleResult } from '../ledger/contract.ts';
import type { VendorAnswer, StreamMeter } from '../providers/adapter.ts';
import type { AttemptResult } from './attempt.ts';
import { refusalFor } from './error-mapping.ts';
import {
  cancelledInput,
  countStream,
  usageOfStream,
  usageOfWhole,
  type WholeUsage,
} from './answer-usage.ts';
import { type AnswerEnd, reportOverrun, settle } from './settle.ts';
import { rememberSignatures } from './prepare.ts';
import { type BoundedUsage, boundUsage, isWithin, withinLimit } from './pricing/bound.ts';
import { beginStream, sendDroppedHeader, type RequestProgress } from './progress.ts';
import { elapsedMs, type FundedRequest } from './reserve.ts';
import type { AttemptOutcome, RequestOutcome } from './outcome.ts';
import { CollectingReceiver, ForwardingReceiver } from './stream.ts';

/**
 * Charges for the deciding attempt's outcome and ends the response if some of it was delivered. A
 * refusal is left to the caller. No async function: one that returns another's promise waits for
 * it three turns longer.
 */
export function finishRequest(
  funded: FundedRequest,
  progress: RequestProgress,
  { result, receiver, candidate }: AttemptOutcome,
): RequestOutcome | Promise<RequestOutcome> {
  // Other channels may have been tried since: what is hidden and reported is of this one.
  progress.candidate = candidate ?? progress.candidate;
  if (result.kind === 'answer') return finishWhole(funded, progress, result.answer, 'ok');
  if (result.kind === 'streamed')
    return finishStream(funded, progress, {
      meter: result.meter,
      tail: result.tail,
      endStatus: 'ok',
    });
  if (result.kind === 'money_ended') return finishMoneyEnded(funded, progress, result, receiver);
  const meter = receiver instanceof ForwardingReceiver ? receiver.delivered : undefined;
  // The outcome of a race is its winner's (hedge.ts). A lost one that came here would have
  // delivered nothing, like an attempt whose client left.
  if (result.kind === 'left' || result.kind === 'lost_race') {
    // What was written may have reached nobody, and who has it gets all of it again.
    if (progress.stopped !== undefined) return refusedWith(funded, progress.stopped);
    if (meter !== undefined && hasDelivered(meter))
      return finishStream(funded, progress, { meter, tail: '', endStatus: 'left' });
    if (result.kind === 'left' && result.sent === true)
      return finishCancelled(funded, progress, meter);
    return { ...nothing, status: 499, label: 'left' };
  }
  if (result.kind === 'own_refusal') return refusedWith(funded, result.why);
  return finishFault(funded, progress, result.fault, meter);
}

/** Text of the model, or the result of a tool that the vendor ran. */
const hasDelivered = ({ outputBytes, calls }: StreamMeter): boolean =>
  outputBytes > 0 || calls !== undefined;

/** The status that the client is sent with a refusal. A response that has begun keeps its own. */
const sentStatus = ({ response }: FundedRequest, why: Refusal): number =>
  response.started ? 200 : why.status;

const nothing = {
  reservationEnded: false,
  cost: 0n,
  inputTokens: 0,
  outputTokens: 0,
  refusal: undefined,
} as const;

const refusedWith = (
  funded: FundedRequest,
  why: Refusal,
  label: string = why.refusal,
): RequestOutcome => ({ ...nothing, status: sentStatus(funded, why), label, refusal: why });

/**
 * The client left before the first byte, when the vendor already had the request: the input is
 * recorded and counts towards the limits, and is charged where the channel's vendor bills it.
 * Images and audio are charged only when they are delivered.
 */
async function finishCancelled(
  funded: FundedRequest,
  progress: RequestProgress,
  meter: StreamMeter | undefined,
): Promise<RequestOutcome> {
  const billed =
    progress.candidate?.channel.billsCancelledInput === true && funded.request.sized === undefined;
  const quantities = await cancelledInput(funded, meter, billed);
  const ending: AnswerEnd = {
    endStatus: 'left',
    quantities,
    free: !billed,
    estimated: true,
    upstreamId: meter?.upstreamId,
  };
  const outcome = outcomeOf(funded, ending, await settle(funded, progress, ending));
  return { ...outcome, status: 499, label: 'left', refusal: undefined };
}

async function finishFault(
  funded: FundedRequest,
  progress: RequestProgress,
  fault: Fault,
  meter: StreamMeter | undefined,
): Promise<RequestOutcome> {
  const { parts, admitted, request, response } = funded;
  const retryAfterMs = parts.health.retryAfterMs(
    admitted.offer.candidates,
    parts.clock.monotonicMs(),
  );
  const { capability } = request;
  const why = refusalFor(fault, request.id, retryAfterMs, progress.candidate?.channel, capability);
  const label = `fault:${fault.kind}`;
  if (response.started && meter !== undefined && hasDelivered(meter)) {
    const outcome = await finishStream(funded, progress, { meter, tail: '', endStatus: 'cut' });
    return { ...outcome, label, refusal: outcome.refusal ?? why };
  }
  return refusedWith(funded, why, label);
}

/** A whole answer: charged first, sent after the commit, withheld when it cannot be charged. */
async function finishWhole(
  funded: FundedRequest,
  progress: RequestProgress,
  answer: VendorAnswer,
  endStatus: 'ok' | 'length',
): Promise<RequestOutcome> {
  // Nearly all vendors report their count: then there is nothing to await.
  const usage = reportedUsage(funded, answer) ?? (await usageOfWhole(funded, answer));
  const { quantities: all, estimated, ours } = usage;
  const { quantities, reported } = isWithin(funded, all)
    ? { quantities: all }
    : await chargeable(funded, all, estimated);
  const ending: AnswerEnd = {
    endStatus,
    quantities,
    reported,
    estimated,
    upstreamId: answer.upstreamId,
    pricingFacts: answer.pricingFacts,
    withheld: true,
  };
  const remembered = answer.signatures && rememberSignatures(funded, progress, answer.signatures);
  const outcome = outcomeOf(funded, ending, await settle(funded, progress, ending));
  if (outcome.refusal !== undefined) return outcome;
  if (remembered !== undefined) await remembered;
  progress.firstByteMs ??= elapsedMs(funded);
  const counted = ours
    ? funded.format.counted?.whole(bufferOf(answer.body), quantities)
    : undefined;
  const body = pricedBody(funded, counted ?? answer.body, outcome.cost);
  const kept = funded.request.keep === undefined || (await keep(funded, bufferOf(body)));
  sendDroppedHeader(funded, progress);
  if (funded.request.stream) sendAsEvents(funded, progress, bufferOf(body), quantities);
  else funded.response.whole(200, answer.type ?? 'application/json', body);
  return kept ? outcome : { ...outcome, label: `${outcome.label}, not kept` };
}

/** The report of a text answer's vendor, if it needs nothing beside it. */
function reportedUsage(
  { request }: FundedRequest,
  { quantities, estimated = false }: VendorAnswer,
): WholeUsage | undefined {
  return request.sized === undefined && quantities !== undefined && outputTokens(quantities) > 0
    ? { quantities, estimated, ours: false }
    : undefined;
}

const pricedBody = ({ request, format }: FundedRequest, body: Bytes, cost: Nano): Bytes =>
  request.tellsCost === true ? (format.priced?.whole(bufferOf(body), cost) ?? body) : body;

const pricedEvents = ({ request, format }: FundedRequest, last: string, cost: Nano): string =>
  request.tellsCost === true ? (format.priced?.events(last, cost) ?? last) : last;

function sendAsEvents(
  { response, format }: FundedRequest,
  { dropped }: RequestProgress,
  body: Buffer,
  quantities: Quantities,
): void {
  response.startStream();
  response.end((format.wholeAsEvents?.(body, quantities, dropped) ?? '') + format.done);
}

/** The quantities within the bound of the request. Our own estimate has no reported quantities. */
async function chargeable(
  funded: FundedRequest,
  quantities: Quantities,
  estimated: boolean,
): Promise<BoundedUsage> {
  return estimated
    ? { quantities: withinLimit(funded, quantities) }
    : boundUsage(funded, quantities);
}

/** How a stream ends. `tail`: what the client has yet to get of it. */
interface StreamEnd extends Pick<AnswerEnd, 'endStatus'> {
  readonly meter: StreamMeter;
  readonly tail: string;
}

async function finishStream(
  funded: FundedRequest,
  progress: RequestProgress,
  { meter, tail, endStatus }: StreamEnd,
): Promise<RequestOutcome> {
  const { quantities: all, estimated } = await usageOfStream(funded, meter, endStatus);
  const { quantities, reported } = isWithin(funded, all)
    ? { quantities: all }
    : await chargeable(funded, all, estimated);
  const remembered = meter.signatures && rememberSignatures(funded, progress, meter.signatures);
  const ending: AnswerEnd = {
    endStatus,
    quantities,
    reported,
    estimated,
    upstreamId: meter.upstreamId,
    pricingFacts: meter.pricingFacts,
  };
  const outcome = outcomeOf(funded, ending, await settle(funded, progress, ending));
  if (outcome.refusal !== undefined || (endStatus !== 'ok' && endStatus !== 'length'))
    return outcome;
  if (remembered !== undefined) await remembered;
  const kept =
    funded.request.keep === undefined || (await keep(funded, Buffer.from(tail, 'latin1')));
  if (!funded.response.started) beginStream(funded, progress);
  const last = tail + usageEvent(funded, meter, quantities);
  funded.response.end(pricedEvents(funded, last, outcome.cost) + funded.format.done);
  return kept ? outcome : { ...outcome, label: `${outcome.label}, not kept` };
}

function usageEvent(
  { format, request, reservedAt }: FundedRequest,
  meter: StreamMeter,
  quantities: Quantities,
): string {
  if (meter.quantities !== undefined || !request.includeUsage || format.counted === undefined)
    return '';
  return format.counted.event(request, Math.floor(reservedAt / 1_000), quantities);
}

/** The client has paid for the answer and gets it, even if it cannot be remembered. */
async function keep({ request }: FundedRequest, last: Buffer): Promise<boolean> {
  try {
    await request.keep?.(last);
    return true;
  } catch {
    return false;
  }
}

/**
 * The money ended before the answer: the client gets what it paid for, and the finish reason
 * `length`. Where that is nothing, it gets a refusal.
 */
async function finishMoneyEnded(
  funded: FundedRequest,
  progress: RequestProgress,
  { meter, past }: AttemptResult & { readonly kind: 'money_ended' },
  receiver: AttemptOutcome['receiver'],
): Promise<RequestOutcome> {
  const reported = meter.finished && meter.quantities !== undefined ? meter.quantities : undefined;
  const quantities = reported ?? withinLimit(funded, await countStream(funded, meter));
  // The vendor went on after the longest possible answer. Its bill for that is not known.
  if (past === true && reported === undefined)
    reportOverrun(funded, progress.candidate, 0n, undefined);
  if (receiver instanceof CollectingReceiver) {
    const answer = receiver.collector.answer(quantities);
    // The header held the limit of the client or the model; the money allowed only these tokens.
    funded.response.replaceHeader('x-tollgate-max-tokens', String(outputTokens(quantities)));
    return finishWhole(funded, progress, { ...answer, quantities }, 'length');
  }
  if (receiver === undefined || meter.outputBytes === 0)
    return refusedWith(funded, refusal('insufficient_quota'));
  const tail = receiver.cutShort(
    isWithin(funded, quantities) ? quantities : (await boundUsage(funded, quantities)).quantities,
  );
  if (!funded.response.started) beginStream(funded, progress);
  return finishStream(funded, progress, {
    meter: { ...meter, quantities },
    tail,
    endStatus: 'length',
  });
}

function outcomeOf(
  funded: FundedRequest,
  { quantities, endStatus }: AnswerEnd,
  { amount, outcome }: SettleResult,
): RequestOutcome {
  const base: RequestOutcome = {
    reservationEnded: true,
    cost: amount,
    inputTokens: inputTokens(quantities),
    outputTokens: outputTokens(quantities),
    status: 200,
    label: endStatus,
    refusal: undefined,
  };
  if (outcome === 'paid') return base;
  const [ended, why] =
    outcome === 'refused'
      ? ['refused by the ledger', refusal('server_error', { id: funded.request.id })]
      : ['unsettled', unavailable(funded.request.id, 'the charge could not be recorded')];
  return { ...base, status: sentStatus(funded, why), label: ended, refusal: why };
}

export function reportRequest(
  funded: FundedRequest,
  progress: RequestProgress,
  outcome: RequestOutcome,
): void {
  const { request, admitted, parts } = funded;
  const line = {
    id: request.id,
    userId: request.principal.userId,
    keyId: request.principal.keyId,
    model: request.model,
    group: admitted.offer.group.name,
    channel: progress.candidate?.channel.name,
    stream: request.stream,
    status: outcome.status,
    outcome: outcome.label,
    attempts: progress.attempts,
    inputTokens: outcome.inputTokens,
    outputTokens: outcome.outputTokens,
    cost: outcome.cost.toString(),
    firstByteMs: progress.firstByteMs,
    durationMs: elapsedMs(funded),
    vendorMs: progress.vendorMs,
    beforeMs: progress.beforeMs,
  };
  parts.access(line, outcome.refusal);
  if (progress.hedge !== undefined)
    parts.hedged({
      ...progress.hedge,
      id: request.id,
      inputTokens: outcome.inputTokens,
    });
}
