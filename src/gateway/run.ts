import { isPictured } from '../base/capability.ts';
import type { Fault, FaultKind } from '../base/fault.ts';
import type { Quantities } from '../base/quantities.ts';
import { type Refusal, refusal } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { Reply } from '../http/reply.ts';
import type { Adapter, Answer, Call, SoundAdapter, StreamedPictureAdapter, StreamMeter, StreamTranslator } from '../providers/adapter.ts';
import { mayRetry } from '../routing/retry.ts';
import { admit } from './admit.ts';
import { Attempt, type AttemptResult } from './attempt.ts';
import { refusalFor, unavailable } from './blame.ts';
import type { ClientFormat } from './client-format.ts';
import { Exchange } from './exchange.ts';
import { type Outcome, outcomeOfFault, report } from './outcome.ts';
import { paintedStream } from './painted.ts';
import type { Parts } from './parts.ts';
import { prepare } from './prepare.ts';
import { CollectingReceiver, ForwardingReceiver } from './receivers.ts';
import type { ClientRequest } from './request.ts';
import { reserve, unavailableRetryMs } from './reserve.ts';
import { countedAnswer, countedStream, type Ending, outputTokens, settle } from './settle.ts';
import { soundOf, withMeasured } from './sound.ts';
import { remember } from './signatures.ts';
import { attemptWhole } from './whole.ts';

/**
 * The life of a request: admit → reserve → attempt → pump → settle → last byte. Throws a Refusal (or LimitReached) while the client has seen
 * nothing; after that it ends the answer itself. Whatever happens, the reservation ends once and the limits get their place back.
 */
export async function run(parts: Parts, request: ClientRequest, reply: Reply, format: ClientFormat): Promise<void> {
  const startedAtMs = parts.clock.monotonicMs();
  const admitted = admit(parts, request);
  let tokens = 0;
  try {
    format.limitHeaders(admitted.pass, reply);
    const reserved = await reserve(parts, request, admitted, reply);
    if (reserved === 'left') return;
    const exchange = new Exchange(parts, request, reserved.admitted, reply, reserved.purse, format, startedAtMs, reserved.at);
    const outcome = await deliver(exchange);
    tokens = outcome.inputTokens + outcome.outputTokens;
    report(exchange, outcome);
    if (outcome.refusal !== undefined) refuseOrBreak(exchange, outcome.refusal);
  } finally {
    admitted.pass.finish(tokens);
  }
}

function refuseOrBreak({ reply, format, request, meter }: Exchange, why: Refusal): void {
  if (!reply.started) throw why;
  if (format.errorEvent === undefined) return reply.destroy();
  reply.endBroken(format.errorEvent(why, request.id, meter?.nextEvent ?? 0));
}

async function deliver(exchange: Exchange): Promise<Outcome> {
  const { parts, reply, request, purse } = exchange;
  reply.onLeave(exchange.leave);
  if (request.stream) parts.watch.add(exchange);
  let settled = false;
  try {
    if (request.begin !== undefined) await request.begin();
    const { result, receiver } = await tryChannels(exchange);
    const outcome = await conclude(exchange, result, receiver);
    settled = outcome.charged;
    return outcome;
  } finally {
    if (!settled) purse.reservation.release();
    reply.onLeave(undefined);
    if (request.stream) parts.watch.remove(exchange);
  }
}

type StreamReceiver = ForwardingReceiver | CollectingReceiver;
interface Tried {
  readonly result: AttemptResult;
  readonly receiver: StreamReceiver | undefined;
}

/** The attempt loop: one channel after the other until one delivers, the client leaves, or nothing is left that may be tried. */
async function tryChannels(exchange: Exchange): Promise<Tried> {
  const { parts } = exchange;
  const candidates = speaking(exchange);
  let tried: Candidate[] = noneTried;
  let last: AttemptResult | undefined;
  let failures: Map<FaultKind, number> | undefined;
  while (exchange.attempts < parts.limits.attemptsMax && !exchange.left) {
    const candidate = parts.health.pick(candidates, tried, parts.clock.monotonicMs(), parts.random);
    if (candidate === undefined) break;
    const one = await attemptOn(exchange, candidate);
    if (one.result.kind !== 'fault') {
      if (one.result.kind !== 'left' && one.result.kind !== 'refused') parts.health.answered(candidate.id, parts.clock.monotonicMs());
      return one;
    }
    const { fault, stage } = one.result;
    parts.health.faulted(candidate.id, fault, parts.clock.monotonicMs());
    last = one.result;
    failures ??= new Map();
    const count = (failures.get(fault.kind) ?? 0) + 1;
    failures.set(fault.kind, count);
    if (!mayRetry(fault.kind, stage, count, isPictured(exchange.request.capability) ? 'media' : 'text')) return one;
    // A vendor may close an idle connection in the instant in which we use it: that says nothing of the channel, so it gets a second chance.
    if (!(fault.kind === 'network' && stage === 'waiting' && count === 1)) tried = [...tried, candidate];
  }
  if (exchange.left) return { result: { kind: 'left' }, receiver: undefined };
  return { result: last ?? { kind: 'fault', stage: 'connecting', fault: noChannel }, receiver: undefined };
}

const noneTried: Candidate[] = [];
const noChannel: Fault = { kind: 'overloaded', message: 'no channel is available' };

/** The channels whose vendor can do what is asked. Of a chat model all can chat. */
function speaking({ parts, admitted, request }: Exchange): readonly Candidate[] {
  const { candidates } = admitted.offer;
  if (request.capability === 'chat') return candidates;
  return candidates.filter(({ channel }) => parts.lanes.of(channel).adapter(request.capability) !== undefined);
}

async function attemptOn(exchange: Exchange, candidate: Candidate): Promise<Tried> {
  const { parts, request, purse } = exchange;
  exchange.attempts += 1;
  exchange.candidate = candidate;
  const lane = parts.lanes.of(candidate.channel);
  const adapter = lane.adapter(request.capability);
  if (adapter === undefined) throw new Error(`channel ${candidate.channel.name} does not speak ${request.capability}`);
  // Money that pays for a part of a whole answer only is taken slice by slice, from a stream that is put together here.
  const plain = exchange.callFor(candidate, request.stream || purse.canGrow());
  if (!('stream' in adapter) || answersWhole(adapter, plain))
    return {
      result: await attemptWhole(exchange, adapter, request.image === undefined ? plain : atOnce(plain), lane),
      receiver: undefined,
    };
  const prepared = 'collect' in adapter ? prepare(exchange, lane, adapter, plain) : plain;
  const call = prepared instanceof Promise ? await prepared : prepared;
  if ('kind' in call) return { result: call, receiver: undefined };
  let receiver: StreamReceiver | undefined;
  const attempt = new Attempt(adapter, call, parts.limits, (self) => {
    receiver =
      request.stream || !('collect' in adapter)
        ? forwardingReceiver(exchange, self, adapter.stream(call, self.contentType))
        : new CollectingReceiver(exchange, self, adapter.collect(call), parts.limits.answerBytesMax);
    return receiver;
  });
  exchange.attempt = attempt;
  attempt.start(lane);
  const result = await attempt.result;
  exchange.attempt = undefined;
  return { result, receiver };
}

/** Who does not show how a picture comes about makes it at once, and that is the stream. */
const atOnce = (call: Call): Call => (call.stream ? { ...call, stream: false, streamUpstream: false } : call);

/** In one piece, or as pieces that are each whole. Sound is put together from no stream, and a picture neither. */
const answersWhole = (adapter: Adapter | SoundAdapter | StreamedPictureAdapter, call: Call): boolean =>
  'collect' in adapter ? adapter.parts?.(call) !== undefined : !call.stream;

function forwardingReceiver(exchange: Exchange, attempt: Attempt, translator: StreamTranslator): ForwardingReceiver {
  exchange.meter = translator.meter;
  exchange.streamType = translator.type;
  return new ForwardingReceiver(exchange, attempt, translator);
}

async function conclude(exchange: Exchange, result: AttemptResult, receiver: StreamReceiver | undefined): Promise<Outcome> {
  const { reply } = exchange;
  if (result.kind === 'answer') return concludeWhole(exchange, result.answer, 'ok');
  if (result.kind === 'streamed') return concludeStream(exchange, result.meter, result.tail, 'ok');
  if (result.kind === 'length') return concludeLength(exchange, result.meter, receiver);
  const meter = receiver instanceof ForwardingReceiver ? receiver.translator.meter : undefined;
  if (result.kind === 'left') {
    if (meter !== undefined && meter.outputBytes > 0) return concludeStream(exchange, meter, '', 'left');
    return { ...nothing, status: 499, outcome: 'left' };
  }
  if (result.kind === 'refused')
    return { ...nothing, status: reply.started ? 200 : 400, outcome: result.refusal.refusal, refusal: result.refusal };
  return concludeFault(exchange, result.fault, meter);
}

const nothing = { charged: false, cost: 0n, inputTokens: 0, outputTokens: 0, refusal: undefined } as const;

async function concludeFault(exchange: Exchange, fault: Fault, meter: StreamMeter | undefined): Promise<Outcome> {
  const { parts, admitted, request, reply } = exchange;
  const retryAfterMs = parts.health.retryAfterMs(admitted.offer.candidates, parts.clock.monotonicMs());
  const why = refusalFor(fault, request.id, retryAfterMs, exchange.candidate?.channel.secret);
  if (reply.started && meter !== undefined && meter.outputBytes > 0) {
    const outcome = await concludeStream(exchange, meter, '', 'cut');
    return { ...outcome, outcome: outcomeOfFault(fault), refusal: outcome.refusal ?? why };
  }
  return { ...nothing, status: reply.started ? 200 : 0, outcome: outcomeOfFault(fault), refusal: why };
}

/** A whole answer: charged first, sent after the commit, withheld when it cannot be charged. */
async function concludeWhole(exchange: Exchange, answer: Answer, status: 'ok' | 'length'): Promise<Outcome> {
  const told = withMeasured(exchange, answer.quantities);
  const quantities = told ?? (await countedAnswer(exchange, answer.outputText));
  const estimated = answer.estimated ?? told === undefined;
  const ending: Ending = { status, quantities, estimated, upstreamId: answer.upstreamId };
  const remembered = answer.signatures && remember(exchange, answer.signatures);
  const outcome = await charge(exchange, ending);
  if (outcome.refusal !== undefined) return outcome;
  if (remembered !== undefined) await remembered;
  exchange.firstByteMs ??= exchange.elapsedMs();
  const counted = told === undefined ? exchange.format.counted?.whole(answer.body, quantities) : undefined;
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

async function concludeStream(exchange: Exchange, meter: StreamMeter, tail: string, status: Ending['status']): Promise<Outcome> {
  const { quantities, estimated } = await countedMeter(exchange, meter, status);
  const remembered = meter.signatures && remember(exchange, meter.signatures);
  const outcome = await charge(exchange, { status, quantities, estimated, upstreamId: meter.upstreamId });
  if (outcome.refusal !== undefined || (status !== 'ok' && status !== 'length')) return outcome;
  if (remembered !== undefined) await remembered;
  const kept = exchange.request.keep === undefined || (await keep(exchange, Buffer.from(tail, 'latin1')));
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
  const told = sized === undefined ? meter.quantities : soundOf(exchange, meter, status);
  return { quantities: told ?? (await countedStream(exchange, meter)), estimated: told === undefined };
}

function countedEvent({ format, request, reservedAt }: Exchange, meter: StreamMeter, quantities: Quantities): string {
  if (meter.quantities !== undefined || !request.includeUsage || format.counted === undefined) return '';
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

async function concludeLength(exchange: Exchange, meter: StreamMeter, receiver: StreamReceiver | undefined): Promise<Outcome> {
  const quantities = meter.finished && meter.quantities !== undefined ? meter.quantities : await countedStream(exchange, meter);
  if (receiver instanceof CollectingReceiver) {
    const answer = receiver.collector.answer(quantities);
    // The client set another limit, or none: this is the one that the money was.
    exchange.reply.header('x-tollgate-max-tokens', String(outputTokens(quantities)));
    return concludeWhole(exchange, { ...answer, quantities }, 'length');
  }
  if (receiver === undefined || meter.outputBytes === 0)
    return { ...nothing, status: 429, outcome: 'insufficient_quota', refusal: refusal('insufficient_quota') };
  const tail = receiver.cutShort(quantities);
  if (!exchange.reply.started) exchange.firstByte();
  return concludeStream(exchange, { ...meter, quantities }, tail, 'length');
}

async function charge(exchange: Exchange, ending: Ending): Promise<Outcome> {
  const { request, reply } = exchange;
  const settled = await settle(exchange, ending);
  const counted = { inputTokens: inputTokens(ending.quantities), outputTokens: outputTokens(ending.quantities) };
  const base = { charged: true, cost: settled.amount, ...counted, status: 200, outcome: ending.status };
  if (settled.outcome === 'paid') return { ...base, refusal: undefined };
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
