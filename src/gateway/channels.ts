import { isPictured } from '../base/capability.ts';
import type { Fault, FaultKind } from '../base/fault.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { CallStage } from '../http/upstream.ts';
import type { Adapter, Call, SoundAdapter, StreamedPictureAdapter, StreamTranslator } from '../providers/adapter.ts';
import { mayRetry } from '../routing/retry.ts';
import { Attempt, type AttemptResult } from './attempt.ts';
import { choiceOf, spentBy } from './choice.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';
import { prepare } from './prepare.ts';
import { tellTrace } from './traced.ts';
import { CollectingReceiver, ForwardingReceiver } from './receivers.ts';
import { attemptWhole } from './whole.ts';

type StreamReceiver = ForwardingReceiver | CollectingReceiver;
/** How the last attempt ended, and what took its stream. */
export interface Tried {
  readonly result: AttemptResult;
  readonly receiver: StreamReceiver | undefined;
}

/** The attempt loop: one channel after the other until one delivers, the client leaves, or nothing is left that may be tried. */
export async function tryChannels(exchange: Exchange): Promise<Tried> {
  const { parts } = exchange;
  const candidates = speaking(exchange);
  const choice = candidates.length > 1 ? choiceOf(exchange.request, exchange.admitted.offer.group.policy) : undefined;
  let tried: readonly Candidate[] = noneTried;
  let last: AttemptResult | undefined;
  let failures: Map<FaultKind, number> | undefined;
  while (exchange.attempts < parts.limits.attemptsMax && !exchange.left) {
    const nowMs = parts.clock.monotonicMs();
    const candidate = parts.health.pick(candidates, tried, nowMs, parts.random, choice);
    if (candidate === undefined) break;
    const lane = parts.lanes.of(candidate.channel);
    let one: Tried;
    const begunMs = nowMs - exchange.startedAtMs;
    lane.running += 1;
    try {
      one = await attemptOn(exchange, candidate, lane);
    } finally {
      lane.running -= 1;
      exchange.vendorMs += exchange.elapsedMs() - begunMs;
    }
    if (parts.traces !== undefined) tellTrace(exchange, candidate, lane, one.result, begunMs);
    if (one.result.kind !== 'fault') {
      if (one.result.kind !== 'left' && one.result.kind !== 'refused') parts.health.answered(candidate.id, parts.clock.monotonicMs());
      if (choice?.policy === 'latency') tellPace(exchange, candidate, one.result, begunMs);
      return one;
    }
    const { fault, stage } = one.result;
    parts.health.faulted(candidate.id, fault, parts.clock.monotonicMs());
    tellFailure(exchange, candidate, fault, stage);
    last = one.result;
    failures ??= new Map();
    const count = (failures.get(fault.kind) ?? 0) + 1;
    failures.set(fault.kind, count);
    if (!mayRetry(fault.kind, stage, count, isPictured(exchange.request.capability) ? 'media' : 'text')) return one;
    // A vendor may close an idle connection in the instant in which we use it: that says nothing of the channel, so it gets a second chance.
    if (!(fault.kind === 'network' && stage === 'waiting' && count === 1))
      tried = [...tried, ...spentBy(fault.kind, candidate, candidates)];
  }
  if (exchange.left) return { result: { kind: 'left' }, receiver: undefined };
  return { result: last ?? { kind: 'fault', stage: 'connecting', fault: noChannel }, receiver: undefined };
}

function tellPace(exchange: Exchange, candidate: Candidate, { kind }: AttemptResult, begunMs: number): void {
  const { parts, request, firstByteMs } = exchange;
  if (!request.stream && kind === 'answer') parts.health.took(candidate, false, exchange.elapsedMs() - begunMs);
  else if (kind === 'streamed' && firstByteMs !== undefined) parts.health.took(candidate, true, firstByteMs - begunMs);
}

function tellFailure({ parts, request }: Exchange, { channel }: Candidate, { kind, message }: Fault, stage: CallStage): void {
  const why = kind === 'network' || kind === 'timeout' ? message : undefined;
  const key = channel.moreSecrets === undefined ? undefined : (channel.keyNumber ?? 1);
  parts.failed({ id: request.id, channel: channel.name, key, model: request.model, fault: kind, stage, why });
}

const noneTried: readonly Candidate[] = [];
const noChannel: Fault = { kind: 'overloaded', message: 'no channel is available' };

/** The channels whose vendor can do what is asked. Of a chat model all can chat. */
function speaking({ parts, admitted, request }: Exchange): readonly Candidate[] {
  const { candidates } = admitted.offer;
  if (request.capability === 'chat') return candidates;
  return parts.lanes.speaking(candidates, request.capability);
}

async function attemptOn(exchange: Exchange, candidate: Candidate, lane: Lane): Promise<Tried> {
  const { parts, request, purse } = exchange;
  exchange.attempts += 1;
  exchange.candidate = candidate;
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
