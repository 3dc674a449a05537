import type { Fault } from '../base/fault.ts';
import type { Quantities } from '../base/quantities.ts';
import { refusal } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import type { Answer, StreamMeter } from '../providers/adapter.ts';
import { refusalFor, unavailable } from './blame.ts';
import type { Tried } from './channels.ts';
import type { Exchange } from './exchange.ts';
import { type Outcome, outcomeOfFault } from './outcome.ts';
import { paintedStream } from './painted.ts';
import { CollectingReceiver, ForwardingReceiver } from './receivers.ts';
import { unavailableRetryMs } from './reserve.ts';
import { countedAnswer, countedStream, type Ending, outputTokens, settle } from './settle.ts';
import { remember } from './signatures.ts';
import { heardOf, withMeasured } from './sound.ts';

/** Charges for what the attempts came to, and ends the answer of which something was delivered. What is refused is left to the caller. */
export async function conclude(exchange: Exchange, { result, receiver }: Tried): Promise<Outcome> {
  const { reply } = exchange;
  if (result.kind === 'answer') return concludeWhole(exchange, result.answer, 'ok');
  if (result.kind === 'streamed') return concludeStream(exchange, result.meter, result.tail, 'ok');
  if (result.kind === 'length') return concludeLength(exchange, result.meter, receiver);
  const meter = receiver instanceof ForwardingReceiver ? receiver.translator.meter : undefined;
  if (result.kind === 'left' || result.kind === 'outrun') {
    if (meter !== undefined && meter.outputBytes > 0)
      return concludeStream(exchange, meter, '', 'left');
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

const nothing = {
  charged: false,
  cost: 0n,
  inputTokens: 0,
  outputTokens: 0,
  refusal: undefined,
} as const;

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
  const why = refusalFor(fault, request.id, retryAfterMs, exchange.candidate?.channel.secret);
  if (reply.started && meter !== undefined && meter.outputBytes > 0) {
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
  const told = withMeasured(exchange, answer.quantities);
  const quantities = told ?? (await countedAnswer(exchange, answer.outputText));
  const estimated = answer.estimated ?? told === undefined;
  const ending: Ending = { status, quantities, estimated, upstreamId: answer.upstreamId };
  const remembered = answer.signatures && remember(exchange, answer.signatures);
  const outcome = await charge(exchange, ending);
  if (outcome.refusal !== undefined) return outcome;
  if (remembered !== undefined) await remembered;
  exchange.firstByteMs ??= exchange.elapsedMs();
  const counted =
    told === undefined ? exchange.format.counted?.whole(answer.body, quantities) : undefined;
  const body = counted ?? answer.body;
  const kept = exchange.request.keep === undefined || (await keep(exchange, body));
  if (exchange.request.stream) sendAsEvents(exchange, body);
  else exchange.reply.whole(200, answer.type ?? 'application/json', body);
  return kept ? outcome : { ...outcome, outcome: `${outcome.outcome}, not kept` };
}

function sendAsEvents({ reply, format }: Exchange, body: Buffer): void {
  reply.startStream();
  reply.end((format.wholeAsEvents?.(body) ?? '') + format.done);
}

async function concludeStream(
  exchange: Exchange,
  meter: StreamMeter,
  tail: string,
  status: Ending['status'],
): Promise<Outcome> {
  const { quantities, estimated } = await countedMeter(exchange, meter, status);
  const remembered = meter.signatures && remember(exchange, meter.signatures);
  const outcome = await charge(exchange, {
    status,
    quantities,
    estimated,
    upstreamId: meter.upstreamId,
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
): Promise<Pick<Ending, 'quantities' | 'estimated'>> {
  const { image, sized } = exchange.request;
  if (image !== undefined) return paintedStream(exchange, meter, status);
  const told = sized === undefined ? meter.quantities : heardOf(exchange, meter, status);
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
  meter: StreamMeter,
  receiver: Tried['receiver'],
): Promise<Outcome> {
  const quantities =
    meter.finished && meter.quantities !== undefined
      ? meter.quantities
      : await countedStream(exchange, meter);
  if (receiver instanceof CollectingReceiver) {
    const answer = receiver.collector.answer(quantities);
    // The client set another limit, or none: this is the one that the money was.
    exchange.reply.header('x-tollgate-max-tokens', String(outputTokens(quantities)));
    return concludeWhole(exchange, { ...answer, quantities }, 'length');
  }
  if (receiver === undefined || meter.outputBytes === 0)
    return {
      ...nothing,
      status: 429,
      outcome: 'insufficient_quota',
      refusal: refusal('insufficient_quota'),
    };
  const tail = receiver.cutShort(quantities);
  if (!exchange.reply.started) exchange.firstByte();
  return concludeStream(exchange, { ...meter, quantities }, tail, 'length');
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
