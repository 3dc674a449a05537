import type { Fault } from '../base/fault.ts';
import type { Quantities } from '../base/quantities.ts';
import { refusal } from '../base/refusal.ts';
import { inputTokens, outputTokens } from '../catalog/price.ts';
import type { Answer, StreamMeter } from '../providers/adapter.ts';
import { refusalFor, unavailable } from './blame.ts';
import { type Bounded, bounded, isWithin, withinLimit } from './bound.ts';
import type { AttemptResult } from './attempt.ts';
import { countTokens, tokensOfBytes, writtenIn } from './count.ts';
import type { Tried } from './channels.ts';
import { tellDropped } from './dropped.ts';
import type { Exchange } from './exchange.ts';
import { type Outcome, outcomeOfFault } from './outcome.ts';
import { paintedStream } from './painted.ts';
import { CollectingReceiver, ForwardingReceiver } from './receivers.ts';
import { unavailableRetryMs } from './reserve.ts';
import {
  type Counted,
  countedAnswer,
  countedStream,
  countsNothing,
  type Ending,
  recounted,
  settle,
  cancelledInput,
} from './settle.ts';
import { remember } from './signatures.ts';
import { heardOf, withMeasured } from './sound.ts';

/**
 * Charges for what the attempts came to, and ends the answer of which something was delivered. What
 * is refused is left to the caller.
 */
export async function conclude(exchange: Exchange, { result, receiver }: Tried): Promise<Outcome> {
  const { reply } = exchange;
  if (result.kind === 'answer') return concludeWhole(exchange, result.answer, 'ok');
  if (result.kind === 'streamed') return concludeStream(exchange, result.meter, result.tail, 'ok');
  if (result.kind === 'length') return concludeLength(exchange, result, receiver);
  const meter = receiver instanceof ForwardingReceiver ? receiver.translator.meter : undefined;
  if (result.kind === 'left' || result.kind === 'outrun') {
    if (meter !== undefined && hasDelivered(meter))
      return concludeStream(exchange, meter, '', 'left');
    if (result.kind === 'left' && result.sent === true) return concludeCancelled(exchange, meter);
    return { ...nothing, status: 499, outcome: 'left' };
  }
  if (result.kind === 'refused')
    return {
      ...nothing,
      status: reply.started ? 200 : 400,
      outcome: result.refusal.refusal,
      refusal: result.refusal,
    };
  return concludeFault(exchange, result.fault, meter);
}

/** Words of the model, or what a tool found that the vendor ran. */
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
 * The client left before the first byte, and the vendor had the request by then: the input is
 * recorded and counts towards the limits, and is charged where the channel's vendor bills it.
 * Images and sound are charged only when they are delivered.
 */
async function concludeCancelled(
  exchange: Exchange,
  meter: StreamMeter | undefined,
): Promise<Outcome> {
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

async function concludeFault(
  exchange: Exchange,
  fault: Fault,
  meter: StreamMeter | undefined,
): Promise<Outcome> {
  const { parts, admitted, request, reply } = exchange;
  const retryAfterMs = parts.health.retryAfterMs(
    admitted.offer.candidates,
    parts.clock.monotonicMs(),
  );
  const why = refusalFor(fault, request.id, retryAfterMs, exchange.candidate?.channel);
  if (reply.started && meter !== undefined && hasDelivered(meter)) {
    const outcome = await concludeStream(exchange, meter, '', 'cut');
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
async function concludeWhole(
  exchange: Exchange,
  answer: Answer,
  status: 'ok' | 'length',
): Promise<Outcome> {
  const found = countedWhole(exchange, answer);
  // Nearly all vendors report their count: then there is no promise to await.
  const { quantities: all, estimated, ours } = found instanceof Promise ? await found : found;
  const { quantities, reported } = isWithin(exchange, all)
    ? { quantities: all }
    : await chargeable(exchange, all, estimated);
  const ending: Ending = {
    status,
    quantities,
    reported,
    estimated,
    upstreamId: answer.upstreamId,
    told: answer.told,
  };
  const remembered = answer.signatures && remember(exchange, answer.signatures);
  const outcome = await charge(exchange, ending);
  if (outcome.refusal !== undefined) return outcome;
  if (remembered !== undefined) await remembered;
  exchange.firstByteMs ??= exchange.elapsedMs();
  const counted = ours ? exchange.format.counted?.whole(answer.body, quantities) : undefined;
  const body = counted ?? answer.body;
  const kept = exchange.request.keep === undefined || (await keep(exchange, body));
  tellDropped(exchange.reply, exchange.request.dropped, exchange.dropped);
  if (exchange.request.stream) sendAsEvents(exchange, body);
  else exchange.reply.whole(200, answer.type ?? 'application/json', body);
  return kept ? outcome : { ...outcome, outcome: `${outcome.outcome}, not kept` };
}

/**
 * `ours`: the vendor reported nothing that can be charged, and the client reads our count in the
 * answer.
 */
interface CountedWhole extends Counted {
  readonly ours: boolean;
}

function countedWhole(exchange: Exchange, answer: Answer): CountedWhole | Promise<CountedWhole> {
  const told = withMeasured(exchange, answer.quantities);
  if (told === undefined) return countedHere(exchange, answer);
  const text = countsNothing(exchange, told) ? writtenIn(answer.body) : '';
  if (text === '') return { quantities: told, estimated: answer.estimated === true, ours: false };
  return recountedHere(exchange, told, text);
}

async function countedHere(exchange: Exchange, answer: Answer): Promise<CountedWhole> {
  const quantities = await countedAnswer(exchange, answer.outputText);
  return { quantities, estimated: answer.estimated ?? true, ours: true };
}

async function recountedHere(
  exchange: Exchange,
  told: Quantities,
  text: string,
): Promise<CountedWhole> {
  const { quantities } = await recounted(exchange, told, await countTokens(text));
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
): Promise<Bounded> {
  return estimated
    ? { quantities: withinLimit(exchange, quantities) }
    : bounded(exchange, quantities);
}

async function concludeStream(
  exchange: Exchange,
  meter: StreamMeter,
  tail: string,
  status: Ending['status'],
): Promise<Outcome> {
  const { quantities: all, estimated } = await countedMeter(exchange, meter, status);
  const { quantities, reported } = isWithin(exchange, all)
    ? { quantities: all }
    : await chargeable(exchange, all, estimated);
  const remembered = meter.signatures && remember(exchange, meter.signatures);
  const outcome = await charge(exchange, {
    status,
    quantities,
    reported,
    estimated,
    upstreamId: meter.upstreamId,
    told: meter.told,
  });
  if (outcome.refusal !== undefined || (status !== 'ok' && status !== 'length')) return outcome;
  if (remembered !== undefined) await remembered;
  const kept =
    exchange.request.keep === undefined || (await keep(exchange, Buffer.from(tail, 'latin1')));
  if (!exchange.reply.started) exchange.firstByte();
  exchange.reply.end(tail + countedEvent(exchange, meter, quantities) + exchange.format.done);
  return kept ? outcome : { ...outcome, outcome: `${outcome.outcome}, not kept` };
}

async function countedMeter(
  exchange: Exchange,
  meter: StreamMeter,
  status: Ending['status'],
): Promise<Counted> {
  const { image, sized } = exchange.request;
  if (image !== undefined) return paintedStream(exchange, meter, status);
  const told = sized === undefined ? meter.quantities : heardOf(exchange, meter, status);
  if (told !== undefined && meter.outputBytes > 0 && countsNothing(exchange, told))
    return recounted(exchange, told, tokensOfBytes(meter.outputBytes));
  return {
    quantities: told ?? (await countedStream(exchange, meter)),
    estimated: told === undefined,
  };
}

function countedEvent(
  { format, request, reservedAt }: Exchange,
  meter: StreamMeter,
  quantities: Quantities,
): string {
  if (meter.quantities !== undefined || !request.includeUsage || format.counted === undefined)
    return '';
  return format.counted.event(request, Math.floor(reservedAt / 1_000), quantities);
}

/** The client has paid for the answer and gets it, whether or not it can be remembered. */
async function keep({ request }: Exchange, last: Buffer): Promise<boolean> {
  try {
    await request.keep?.(last);
    return true;
  } catch {
    return false;
  }
}

async function concludeLength(
  exchange: Exchange,
  { meter, past }: AttemptResult & { readonly kind: 'length' },
  receiver: Tried['receiver'],
): Promise<Outcome> {
  const told = meter.finished && meter.quantities !== undefined ? meter.quantities : undefined;
  const quantities = told ?? withinLimit(exchange, await countedStream(exchange, meter));
  if (past === true && told === undefined) tellPast(exchange);
  if (receiver instanceof CollectingReceiver) {
    const answer = receiver.collector.answer(quantities);
    // It replaces the limit of the client or the model: the money allowed only these tokens.
    exchange.reply.replaceHeader('x-tollgate-max-tokens', String(outputTokens(quantities)));
    return concludeWhole(exchange, { ...answer, quantities }, 'length');
  }
  if (receiver === undefined || meter.outputBytes === 0)
    return {
      ...nothing,
      status: 429,
      outcome: 'insufficient_quota',
      refusal: refusal('insufficient_quota'),
    };
  const tail = receiver.cutShort(
    isWithin(exchange, quantities) ? quantities : (await bounded(exchange, quantities)).quantities,
  );
  if (!exchange.reply.started) exchange.firstByte();
  return concludeStream(exchange, { ...meter, quantities }, tail, 'length');
}

/**
 * The vendor went on after the longest possible answer. Its bill for that is not known, so that no
 * loss is recorded.
 */
function tellPast({ parts, request, candidate }: Exchange): void {
  parts.overran({
    id: request.id,
    channel: candidate?.channel.name ?? '',
    model: request.model,
    excess: 0n,
    reported: undefined,
  });
}

async function charge(exchange: Exchange, ending: Ending): Promise<Outcome> {
  const { request, reply } = exchange;
  const settled = await settle(exchange, ending);
  const base: Outcome = {
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
    refusal: unavailable('the charge could not be recorded', request.id, unavailableRetryMs),
  };
}
