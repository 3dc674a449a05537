import { isPictured } from '../base/capability.ts';
import { Refusal } from '../base/refusal.ts';
import type { Fault, FaultKind } from '../base/fault.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { CallStage } from '../http/upstream.ts';
import type {
  Adapter,
  Call,
  SoundAdapter,
  StreamCollector,
  StreamedPictureAdapter,
  StreamTranslator,
} from '../providers/adapter.ts';
import { mayRetry } from '../routing/retry.ts';
import { Attempt, type AttemptResult, VendorRefuses } from './attempt.ts';
import { choiceOf, spentBy } from './choice.ts';
import type { Choice } from '../routing/choice.ts';
import type { Contest } from './contest.ts';
import { askHedged, hedgeAfter } from './hedge.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';
import { prepare } from './prepare.ts';
import { isTaken, takersOf, withTakers } from './takers.ts';
import { tellTrace } from './traced.ts';
import { CollectingReceiver, ForwardingReceiver } from './receivers.ts';
import { attemptWhole } from './whole.ts';

type StreamReceiver = ForwardingReceiver | CollectingReceiver;
/** How the last attempt ended, and what took its stream. */
export interface Tried {
  readonly result: AttemptResult;
  readonly receiver: StreamReceiver | undefined;
}

export interface Asked extends Tried {
  readonly candidate: Candidate;
  /** It failed in a way that lets another channel be asked. */
  readonly goesOn: boolean;
}

/**
 * The attempt loop: one channel after the other until one delivers, the client leaves, or nothing
 * is left that may be tried.
 */
export async function tryChannels(exchange: Exchange): Promise<Tried> {
  const { parts } = exchange;
  const trial = new Trial(exchange);
  const hedgeMs = hedgeAfter(exchange);
  if (hedgeMs !== undefined) parts.hedges.earn(exchange.request.model);
  let last: Asked | undefined;
  let failed: Asked | undefined;
  while (exchange.attempts < parts.limits.attemptsMax && !exchange.left) {
    const nowMs = parts.clock.monotonicMs();
    const candidate = trial.pick(nowMs);
    if (candidate === undefined) break;
    const begunMs = nowMs - exchange.startedAtMs;
    try {
      last = await (hedgeMs === undefined
        ? trial.ask(candidate, begunMs)
        : askHedged(exchange, trial, candidate, begunMs, hedgeMs));
    } finally {
      exchange.vendorMs += exchange.elapsedMs() - begunMs;
    }
    if (!last.goesOn) return last;
    if (last.result.kind === 'fault') failed = last;
  }
  if (exchange.left) return { result: { kind: 'left' }, receiver: undefined };
  if (failed === undefined && trial.refusal !== undefined && !trial.isTakenByAnother())
    return refusedByAll(exchange, trial, trial.refusal);
  return {
    result: failed?.result ?? { kind: 'fault', stage: 'connecting', fault: noChannel },
    receiver: undefined,
  };
}

/**
 * No channel takes the request. A vendor that itself refuses it is asked all the same: our table
 * may be older than its model.
 */
async function refusedByAll(exchange: Exchange, trial: Trial, why: Refusal): Promise<Tried> {
  if (trial.refusing === undefined)
    return { result: { kind: 'refused', refusal: withTakers(exchange, why) }, receiver: undefined };
  const begunMs = exchange.elapsedMs();
  exchange.insists = true;
  const { result, receiver } = await trial.ask(trial.refusing, begunMs);
  exchange.vendorMs += exchange.elapsedMs() - begunMs;
  if (result.kind !== 'fault' || result.fault.kind !== 'bad_request' || why.param === null)
    return { result, receiver };
  const { stage, fault } = result;
  const message = `${fault.message} ${takersOf(exchange, why.param) ?? ''}`.trim();
  return {
    result: {
      kind: 'fault',
      stage,
      fault: { kind: 'bad_request', message, param: fault.param ?? why.param },
    },
    receiver,
  };
}

/** What the attempts of one request have come to so far. */
export class Trial {
  readonly #exchange: Exchange;
  readonly #candidates: readonly Candidate[];
  readonly #choice: Choice | undefined;
  #tried: readonly Candidate[] = noneTried;
  #failures: Map<FaultKind, number> | undefined;
  /** The reason of the first channel that does not take the request. */
  refusal: Refusal | undefined;
  /** The first channel whose vendor itself refuses the request. */
  refusing: Candidate | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#candidates = speaking(exchange);
    this.#choice =
      this.#candidates.length > 1
        ? choiceOf(exchange.request, exchange.admitted.offer.group.policy)
        : undefined;
  }

  pick(nowMs: number): Candidate | undefined {
    const { health, random } = this.#exchange.parts;
    return health.pick(this.#candidates, this.#tried, nowMs, random, this.#choice);
  }

  /** One that is well, of another channel than the one that is being asked. */
  pickBeside(asked: Candidate, nowMs: number): Candidate | undefined {
    const { health, random } = this.#exchange.parts;
    const others = this.#candidates.filter(
      ({ channel, id }) =>
        channel.name !== asked.channel.name && health.state(id, nowMs).breaker === 'closed',
    );
    return health.pick(others, this.#tried, nowMs, random, this.#choice);
  }

  /** One attempt, and what is told of it. `begunMs`: since the exchange began. */
  async ask(candidate: Candidate, begunMs: number, contest?: Contest): Promise<Asked> {
    const exchange = this.#exchange;
    const { parts } = exchange;
    const lane = parts.lanes.of(candidate.channel);
    let one: Tried;
    lane.running += 1;
    try {
      one = await attemptOn(exchange, candidate, lane, contest);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#notTaken(candidate, error);
    } finally {
      lane.running -= 1;
    }
    const { result } = one;
    if (parts.traces !== undefined) tellTrace(exchange, candidate, lane, result, begunMs);
    const goesOn = result.kind === 'fault' && this.#faulted(candidate, result);
    if (wasAnswered(result)) parts.health.answered(candidate.id, parts.clock.monotonicMs());
    if (this.#choice?.policy === 'latency') tellPace(exchange, candidate, result, begunMs);
    return { result, receiver: one.receiver, candidate, goesOn };
  }

  /**
   * The vendor's adapter refuses the request: the vendor was not asked, and another channel's
   * vendor may take the request.
   */
  #notTaken(candidate: Candidate, refusal: Refusal): Asked {
    const exchange = this.#exchange;
    exchange.attempts -= 1;
    exchange.attempt = undefined;
    exchange.candidate = undefined;
    this.refusal ??= refusal;
    if (refusal instanceof VendorRefuses) this.refusing ??= candidate;
    this.#tried = [
      ...this.#tried,
      ...this.#candidates.filter(({ channel }) => channel.name === candidate.channel.name),
    ];
    return { result: { kind: 'refused', refusal }, receiver: undefined, candidate, goesOn: true };
  }

  /** Whether a channel that cannot be asked now takes the request. */
  isTakenByAnother(): boolean {
    const others = this.#candidates.filter((candidate) => !this.#tried.includes(candidate));
    return others.some((candidate) =>
      isTaken(
        this.#exchange,
        candidate,
        this.#exchange.callFor(candidate, this.#exchange.request.stream),
      ),
    );
  }

  #faulted(
    candidate: Candidate,
    { fault, stage }: AttemptResult & { readonly kind: 'fault' },
  ): boolean {
    const { parts, request } = this.#exchange;
    parts.health.faulted(candidate.id, fault, parts.clock.monotonicMs());
    tellFailure(this.#exchange, candidate, fault, stage);
    this.#failures ??= new Map();
    const count = (this.#failures.get(fault.kind) ?? 0) + 1;
    this.#failures.set(fault.kind, count);
    if (!mayRetry(fault.kind, stage, count, isPictured(request.capability) ? 'media' : 'text'))
      return false;
    // A vendor may close an idle connection in the instant in which we use it: that says nothing of
    // the channel, so it gets a second chance.
    if (!(fault.kind === 'network' && stage === 'waiting' && count === 1))
      this.#tried = [...this.#tried, ...spentBy(fault.kind, candidate, this.#candidates)];
    return true;
  }
}

const wasAnswered = ({ kind }: AttemptResult): boolean =>
  kind === 'answer' || kind === 'streamed' || kind === 'length';

function tellPace(
  exchange: Exchange,
  candidate: Candidate,
  { kind }: AttemptResult,
  begunMs: number,
): void {
  const { parts, request, firstByteMs } = exchange;
  if (!request.stream && kind === 'answer')
    parts.health.took(candidate, false, exchange.elapsedMs() - begunMs);
  else if (kind === 'outrun')
    parts.health.tookMore(candidate, true, exchange.elapsedMs() - begunMs);
  else if (kind === 'streamed' && firstByteMs !== undefined)
    parts.health.took(candidate, true, firstByteMs - begunMs);
}

function tellFailure(
  { parts, request }: Exchange,
  { channel }: Candidate,
  { kind, message, ofConnection }: Fault,
  stage: CallStage,
): void {
  const why = ofConnection === true ? message : undefined;
  const key = channel.moreSecrets === undefined ? undefined : (channel.keyNumber ?? 1);
  parts.failed({
    id: request.id,
    channel: channel.name,
    key,
    model: request.model,
    fault: kind,
    stage,
    why,
  });
}

const noneTried: readonly Candidate[] = [];
const noChannel: Fault = { kind: 'overloaded', message: 'no channel is available' };

/** The channels whose vendor can do what is asked. Of a chat model all can chat. */
function speaking({ parts, admitted, request }: Exchange): readonly Candidate[] {
  const { candidates } = admitted.offer;
  if (request.capability === 'chat') return candidates;
  return parts.lanes.speaking(candidates, request.capability);
}

async function attemptOn(
  exchange: Exchange,
  candidate: Candidate,
  lane: Lane,
  contest: Contest | undefined,
): Promise<Tried> {
  const { parts, request, purse } = exchange;
  exchange.attempts += 1;
  exchange.candidate = candidate;
  exchange.asks(lane, candidate);
  const adapter = lane.adapter(request.capability);
  if (adapter === undefined)
    throw new Error(`channel ${candidate.channel.name} does not speak ${request.capability}`);
  // Money that pays for a part of a whole answer only is taken slice by slice, from a stream that
  // is put together here.
  const plain = exchange.callFor(candidate, request.stream || purse.canGrow());
  if (!('stream' in adapter) || answersWhole(adapter, plain))
    return {
      result: await attemptWhole(
        exchange,
        adapter,
        request.image === undefined ? plain : atOnce(plain),
        lane,
      ),
      receiver: undefined,
    };
  const prepared = 'collect' in adapter ? prepare(exchange, lane, adapter, plain) : plain;
  const call = prepared instanceof Promise ? await prepared : prepared;
  if ('kind' in call) return { result: call, receiver: undefined };
  if (contest?.over !== undefined) return { result: contest.over, receiver: undefined };
  let receiver: StreamReceiver | undefined;
  const attempt = new Attempt(adapter, call, parts.limits, (self) => {
    receiver =
      request.stream || !('collect' in adapter)
        ? forwardingReceiver(exchange, self, adapter.stream(call, self.contentType), contest)
        : collectingReceiver(exchange, self, adapter.collect(call));
    return receiver;
  });
  if (contest === undefined) exchange.attempt = attempt;
  else contest.enter(attempt);
  attempt.start(lane, exchange.insists);
  if (contest === undefined) exchange.dropped = attempt.dropped;
  const result = await attempt.result;
  if (contest === undefined) exchange.attempt = undefined;
  return { result, receiver };
}

/** Who does not show how a picture comes about makes it at once, and that is the stream. */
const atOnce = (call: Call): Call =>
  call.stream ? { ...call, stream: false, streamUpstream: false } : call;

/**
 * In one piece, or as pieces that are each whole. Sound is put together from no stream, and a
 * picture neither.
 */
const answersWhole = (
  adapter: Adapter | SoundAdapter | StreamedPictureAdapter,
  call: Call,
): boolean => ('collect' in adapter ? adapter.parts?.(call) !== undefined : !call.stream);

function collectingReceiver(
  exchange: Exchange,
  attempt: Attempt,
  collector: StreamCollector,
): CollectingReceiver {
  const { parts } = exchange;
  exchange.heard = collector.meter;
  parts.watch.add(exchange);
  return new CollectingReceiver(exchange, attempt, collector, parts.limits.answerBytesMax);
}

function forwardingReceiver(
  exchange: Exchange,
  attempt: Attempt,
  translator: StreamTranslator,
  contest: Contest | undefined,
): ForwardingReceiver {
  if (contest !== undefined)
    return new ForwardingReceiver(contest.runningFor(attempt, translator), attempt, translator);
  exchange.meter = translator.meter;
  exchange.streamType = translator.type;
  return new ForwardingReceiver(exchange, attempt, translator);
}
