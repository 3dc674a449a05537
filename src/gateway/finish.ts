import type { Fault } from '../base/fault.ts';
import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { refusal, type Refusal } from '../base/refusal.ts';
import { inputTokens, outputTokens } from '../catalog/price.ts';
import type { VendorAnswer, StreamMeter } from '../providers/adapter.ts';
import type { AttemptResult } from './attempt.ts';
import { refusalFor, unavailableRefusal } from './error-mapping.ts';
import { sendDroppedHeader, type Exchange } from './exchange.ts';
import {
  streamedImageUsage,
  streamedSoundUsage,
  measuredUsage,
  type CountedUsage,
  countAnswer,
  countStream,
  reportsNoOutput,
  type AnswerEnd,
  recountOutput,
  settle,
  cancelledInput,
} from './settle.ts';
import { rememberSignatures } from './prepare.ts';
import { type BoundedUsage, boundUsage, isWithin, withinLimit } from './pricing/bound.ts';
import { countTokens, tokensOfBytes, textOfAnswer } from './pricing/tokens.ts';
import { unavailableRetryMs } from './reserve.ts';
import { CollectingReceiver, ForwardingReceiver, type AttemptOutcome } from './stream.ts';

/**
 * Charges for the last attempt's outcome and ends the response if some of it was delivered. A
 * refusal is left to the caller.
 */
export async function finishRequest(
  exchange: Exchange,
  { result, receiver }: AttemptOutcome,
): Promise<RequestOutcome> {
  const { reply } = exchange;
  if (result.kind === 'answer') return finishWhole(exchange, result.answer, 'ok');
  if (result.kind === 'streamed') return finishStream(exchange, result.meter, result.tail, 'ok');
  if (result.kind === 'length') return finishAtLength(exchange, result, receiver);
  const meter = receiver instanceof ForwardingReceiver ? receiver.translator.meter : undefined;
  if (result.kind === 'left' || result.kind === 'outrun') {
    if (meter !== undefined && hasDelivered(meter))
      return finishStream(exchange, meter, '', 'left');
    if (result.kind === 'left' && result.sent === true) return finishCancelled(exchange, meter);
    return { ...nothing, status: 499, outcome: 'left' };
  }
  if (result.kind === 'refused')
    return {
      ...nothing,
      status: reply.started ? 200 : 400,
      outcome: result.refusal.refusal,
      refusal: result.refusal,
    };
  return finishFault(exchange, result.fault, meter);
}

/** Text of the model, or the result of a tool that the vendor ran. */
const hasDelivered = ({ outputBytes, calls }: StreamMeter): boolean =>
  outputBytes > 0 || calls !== undefined;

const nothing = {
  charged: false,
  cost: 0n,
  inputTokens: 0,
  outputTokens: 0,
  refusal: undefined,
} as const;

/**
 * The client left before the first byte, when the vendor already had the request: the input is
 * recorded and counts towards the limits, and is charged where the channel's vendor bills it.
 * Images and audio are charged only when they are delivered.
 */
async function finishCancelled(
  exchange: Exchange,
  meter: StreamMeter | undefined,
): Promise<RequestOutcome> {
  const billed =
    exchange.candidate?.channel.billsCancelledInput === true &&
    exchange.request.sized === undefined;
  const quantities = await cancelledInput(exchange, meter, billed);
  const outcome = await charge(exchange, {
    status: 'left',
    quantities,
    free: !billed,
    estimated: true,
    upstreamId: meter?.upstreamId,
  });
  return { ...outcome, status: 499, outcome: 'left', refusal: undefined };
}

async function finishFault(
  exchange: Exchange,
  fault: Fault,
  meter: StreamMeter | undefined,
): Promise<RequestOutcome> {
  const { parts, admitted, request, reply } = exchange;
  const retryAfterMs = parts.health.retryAfterMs(
    admitted.offer.candidates,
    parts.clock.monotonicMs(),
  );
  const why = refusalFor(fault, request.id, retryAfterMs, exchange.candidate?.channel);
  if (reply.started && meter !== undefined && hasDelivered(meter)) {
    const outcome = await finishStream(exchange, meter, '', 'cut');
    return { ...outcome, outcome: outcomeOfFault(fault), refusal: outcome.refusal ?? why };
  }
  return {
    ...nothing,
    status: reply.started ? 200 : 0,
    outcome: outcomeOfFault(fault),
    refusal: why,
  };
}

/** A whole answer: charged first, sent after the commit, withheld when it cannot be charged. */
async function finishWhole(
  exchange: Exchange,
  answer: VendorAnswer,
  status: 'ok' | 'length',
): Promise<RequestOutcome> {
  const found = usageOfWhole(exchange, answer);
  // Nearly all vendors report their count: then there is no promise to await.
  const { quantities: all, estimated, ours } = found instanceof Promise ? await found : found;
  const { quantities, reported } = isWithin(exchange, all)
    ? { quantities: all }
    : await chargeable(exchange, all, estimated);
  const ending: AnswerEnd = {
    status,
    quantities,
    reported,
    estimated,
    upstreamId: answer.upstreamId,
    pricingFacts: answer.pricingFacts,
  };
  const remembered = answer.signatures && rememberSignatures(exchange, answer.signatures);
  const outcome = await charge(exchange, ending);
  if (outcome.refusal !== undefined) return outcome;
  if (remembered !== undefined) await remembered;
  exchange.firstByteMs ??= exchange.elapsedMs();
  const counted = ours ? exchange.format.counted?.whole(answer.body, quantities) : undefined;
  const body = counted ?? answer.body;
  const kept = exchange.request.keep === undefined || (await keep(exchange, body));
  sendDroppedHeader(exchange.reply, exchange.request.dropped, exchange.dropped);
  if (exchange.request.stream) sendAsEvents(exchange, body);
  else exchange.reply.whole(200, answer.type ?? 'application/json', body);
  return kept ? outcome : { ...outcome, outcome: `${outcome.outcome}, not kept` };
}

/** `ours`: the vendor reported nothing that can be charged, so the answer carries our count. */
interface WholeUsage extends CountedUsage {
  readonly ours: boolean;
}

function usageOfWhole(exchange: Exchange, answer: VendorAnswer): WholeUsage | Promise<WholeUsage> {
  const reported = measuredUsage(exchange, answer.quantities);
  if (reported === undefined) return countHere(exchange, answer);
  const text = reportsNoOutput(exchange, reported) ? textOfAnswer(answer.body) : '';
  if (text === '')
    return { quantities: reported, estimated: answer.estimated === true, ours: false };
  return recountHere(exchange, reported, text);
}

async function countHere(exchange: Exchange, answer: VendorAnswer): Promise<WholeUsage> {
  const quantities = await countAnswer(exchange, answer.outputText);
  return { quantities, estimated: answer.estimated ?? true, ours: true };
}

async function recountHere(
  exchange: Exchange,
  reported: Quantities,
  text: string,
): Promise<WholeUsage> {
  const { quantities } = await recountOutput(exchange, reported, await countTokens(text));
  return { quantities, estimated: true, ours: true };
}

function sendAsEvents({ reply, format }: Exchange, body: Buffer): void {
  reply.startStream();
  reply.end((format.wholeAsEvents?.(body) ?? '') + format.done);
}

/** The quantities within the bound of the request. Our own estimate has no reported quantities. */
async function chargeable(
  exchange: Exchange,
  quantities: Quantities,
  estimated: boolean,
): Promise<BoundedUsage> {
  return estimated
    ? { quantities: withinLimit(exchange, quantities) }
    : boundUsage(exchange, quantities);
}

async function finishStream(
  exchange: Exchange,
  meter: StreamMeter,
  tail: string,
  status: AnswerEnd['status'],
): Promise<RequestOutcome> {
  const { quantities: all, estimated } = await usageOfStream(exchange, meter, status);
  const { quantities, reported } = isWithin(exchange, all)
    ? { quantities: all }
    : await chargeable(exchange, all, estimated);
  const remembered = meter.signatures && rememberSignatures(exchange, meter.signatures);
  const outcome = await charge(exchange, {
    status,
    quantities,
    reported,
    estimated,
    upstreamId: meter.upstreamId,
    pricingFacts: meter.pricingFacts,
  });
  if (outcome.refusal !== undefined || (status !== 'ok' && status !== 'length')) return outcome;
  if (remembered !== undefined) await remembered;
  const kept =
    exchange.request.keep === undefined || (await keep(exchange, Buffer.from(tail, 'latin1')));
  if (!exchange.reply.started) exchange.firstByte();
  exchange.reply.end(tail + usageEvent(exchange, meter, quantities) + exchange.format.done);
  return kept ? outcome : { ...outcome, outcome: `${outcome.outcome}, not kept` };
}

async function usageOfStream(
  exchange: Exchange,
  meter: StreamMeter,
  status: AnswerEnd['status'],
): Promise<CountedUsage> {
  const { image, sized } = exchange.request;
  if (image !== undefined) return streamedImageUsage(exchange, meter, status);
  const reported =
    sized === undefined ? meter.quantities : streamedSoundUsage(exchange, meter, status);
  if (reported !== undefined && meter.outputBytes > 0 && reportsNoOutput(exchange, reported))
    return recountOutput(exchange, reported, tokensOfBytes(meter.outputBytes));
  return {
    quantities: reported ?? (await countStream(exchange, meter)),
    estimated: reported === undefined,
  };
}

function usageEvent(
  { format, request, reservedAt }: Exchange,
  meter: StreamMeter,
  quantities: Quantities,
): string {
  if (meter.quantities !== undefined || !request.includeUsage || format.counted === undefined)
    return '';
  return format.counted.event(request, Math.floor(reservedAt / 1_000), quantities);
}

/** The client has paid for the answer and gets it, even if it cannot be remembered. */
async function keep({ request }: Exchange, last: Buffer): Promise<boolean> {
  try {
    await request.keep?.(last);
    return true;
  } catch {
    return false;
  }
}

async function finishAtLength(
  exchange: Exchange,
  { meter, past }: AttemptResult & { readonly kind: 'length' },
  receiver: AttemptOutcome['receiver'],
): Promise<RequestOutcome> {
  const reported = meter.finished && meter.quantities !== undefined ? meter.quantities : undefined;
  const quantities = reported ?? withinLimit(exchange, await countStream(exchange, meter));
  if (past === true && reported === undefined) reportOverrun(exchange);
  if (receiver instanceof CollectingReceiver) {
    const answer = receiver.collector.answer(quantities);
    // The header held the limit of the client or the model; the money allowed only these tokens.
    exchange.reply.replaceHeader('x-tollgate-max-tokens', String(outputTokens(quantities)));
    return finishWhole(exchange, { ...answer, quantities }, 'length');
  }
  if (receiver === undefined || meter.outputBytes === 0)
    return {
      ...nothing,
      status: 429,
      outcome: 'insufficient_quota',
      refusal: refusal('insufficient_quota'),
    };
  const tail = receiver.cutShort(
    isWithin(exchange, quantities)
      ? quantities
      : (await boundUsage(exchange, quantities)).quantities,
  );
  if (!exchange.reply.started) exchange.firstByte();
  return finishStream(exchange, { ...meter, quantities }, tail, 'length');
}

/**
 * The vendor went on after the longest possible answer. Its bill for that is not known, so no loss
 * is recorded.
 */
function reportOverrun({ parts, request, candidate }: Exchange): void {
  parts.overran({
    id: request.id,
    channel: candidate?.channel.name ?? '',
    model: request.model,
    excess: 0n,
    reported: undefined,
  });
}

async function charge(exchange: Exchange, ending: AnswerEnd): Promise<RequestOutcome> {
  const { request, reply } = exchange;
  const settled = await settle(exchange, ending);
  const base: RequestOutcome = {
    charged: true,
    cost: settled.amount,
    inputTokens: inputTokens(ending.quantities),
    outputTokens: outputTokens(ending.quantities),
    status: 200,
    outcome: ending.status,
    refusal: undefined,
  };
  if (settled.outcome === 'paid') return base;
  if (settled.outcome === 'refused')
    return {
      ...base,
      status: reply.started ? 200 : 500,
      outcome: 'refused by the ledger',
      refusal: refusal('server_error', { id: request.id }),
    };
  return {
    ...base,
    status: reply.started ? 200 : 503,
    outcome: 'unsettled',
    refusal: unavailableRefusal('the charge could not be recorded', request.id, unavailableRetryMs),
  };
}

/** How a request ended: the fields of the access line, and what the client has yet to get. */
export interface RequestOutcome {
  /** The reservation was settled; otherwise the caller releases it. */
  readonly charged: boolean;
  readonly cost: Nano;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly status: number;
  readonly outcome: string;
  /** Not yet sent to the client: a refusal when nothing has been sent, else an error event. */
  readonly refusal: Refusal | undefined;
}

function outcomeOfFault(fault: Fault): string {
  return `fault:${fault.kind}`;
}

export function reportRequest(exchange: Exchange, outcome: RequestOutcome): void {
  const { request, admitted, parts } = exchange;
  parts.access({
    id: request.id,
    userId: request.principal.userId,
    keyId: request.principal.keyId,
    model: request.model,
    group: admitted.offer.group.name,
    channel: exchange.candidate?.channel.name,
    stream: request.stream,
    status: outcome.status,
    outcome: outcome.outcome,
    attempts: exchange.attempts,
    inputTokens: outcome.inputTokens,
    outputTokens: outcome.outputTokens,
    cost: outcome.cost.toString(),
    firstByteMs: exchange.firstByteMs,
    durationMs: exchange.elapsedMs(),
    vendorMs: exchange.vendorMs,
  });
  if (exchange.hedge !== undefined)
    parts.hedged({
      ...exchange.hedge,
      id: request.id,
      model: request.model,
      inputTokens: outcome.inputTokens,
    });
}
