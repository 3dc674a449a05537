import { isImageCapability, textCapabilities } from '../base/capability.ts';
import type { Fault, FaultKind } from '../base/fault.ts';
import { Refusal } from '../base/refusal.ts';
import type { RoutingPolicy } from '../base/routing-policy.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type {
  Adapter,
  VendorCall,
  AudioAdapter,
  StreamCollector,
  StreamedImageAdapter,
  StreamTranslator,
} from '../providers/adapter.ts';
import { type Choice, hashTexts } from '../routing/candidates.ts';
import { mayRetry, mayRetrySameChannel } from '../routing/retry.ts';
import type { ApiRequest } from './api-request.ts';
import { attemptWhole } from './attempt-whole.ts';
import {
  ChannelAttempt,
  type AttemptResult,
  type UnsupportedRequest,
  VendorRefusal,
  vendorCallFor,
  wasAnswered,
} from './attempt.ts';
import type { OpenChannel } from './channels/open-channels.ts';
import { type Race, callHedged } from './hedge.ts';
import { isAccepted, alternativesFor, withAlternatives } from './models/alternatives.ts';
import type { AttemptOutcome, ChannelOutcome } from './outcome.ts';
import { prepareCall } from './prepare.ts';
import { thinkingTokensMaxOf, usesVendorTools } from './pricing/bound.ts';
import type { RequestProgress } from './progress.ts';
import { elapsedMs, type FundedRequest } from './reserve.ts';
import { watchStream } from './stream-watchdog.ts';
import { CollectingReceiver, ForwardingReceiver, type StreamReceiver } from './stream.ts';

/**
 * The attempt loop: tries one channel after the other until one delivers, the client leaves, or no
 * channel is left to try.
 */
export async function tryChannels(
  funded: FundedRequest,
  progress: RequestProgress,
): Promise<AttemptOutcome> {
  const { parts } = funded;
  const loop = new AttemptLoop(funded, progress);
  const hedgeMs = hedgeAfter(funded);
  if (hedgeMs !== undefined) parts.hedges.earn(funded.request.model);
  let last: ChannelOutcome | undefined;
  let failed: ChannelOutcome | undefined;
  while (progress.attempts < loop.attemptsMax && !progress.left) {
    const nowMs = parts.clock.monotonicMs();
    const candidate = loop.pick(nowMs);
    if (candidate === undefined) break;
    const beganMs = nowMs - funded.startedMonotonicMs;
    progress.beforeMs ??= beganMs;
    try {
      last = await (hedgeMs === undefined
        ? loop.call(candidate, beganMs)
        : callHedged(loop, candidate, beganMs, hedgeMs));
    } finally {
      progress.vendorMs += elapsedMs(funded) - beganMs;
    }
    if (last.decides) return last;
    if (last.result.kind === 'fault') failed = last;
  }
  if (progress.left) return { result: { kind: 'left' }, candidate: progress.candidate };
  if (failed === undefined && loop.whyNotTaken !== undefined && !loop.isAcceptedElsewhere())
    return refusedByAll(loop, loop.whyNotTaken);
  return {
    result: failed?.result ?? { kind: 'fault', stage: 'connecting', fault: noChannel },
    candidate: failed?.candidate,
  };
}

/**
 * No channel takes the request. A vendor that itself refuses it is called all the same: our table
 * may be older than its model.
 */
async function refusedByAll(loop: AttemptLoop, why: Refusal): Promise<AttemptOutcome> {
  const { funded, progress } = loop;
  if (loop.refusingCandidate === undefined)
    return { result: { kind: 'own_refusal', why: withAlternatives(funded, why) } };
  const beganMs = elapsedMs(funded);
  loop.unsupported = 'send_unsupported';
  const outcome = await loop.call(loop.refusingCandidate, beganMs);
  const { result } = outcome;
  progress.vendorMs += elapsedMs(funded) - beganMs;
  if (result.kind !== 'fault' || result.fault.kind !== 'bad_request' || why.param === null)
    return outcome;
  const { stage, fault } = result;
  const models = alternativesFor(funded, why.param);
  // Many vendors end their message without a full stop.
  const sentence = fault.message.replace(/(?<![.!?。！？])$/, '.');
  const message = models === undefined ? fault.message : `${sentence} ${models}`;
  return {
    ...outcome,
    result: {
      kind: 'fault',
      stage,
      fault: { kind: 'bad_request', message, param: fault.param ?? why.param },
    },
  };
}

/** The state of one request's attempts so far. */
class AttemptLoop {
  readonly funded: FundedRequest;
  readonly progress: RequestProgress;
  /** `progress.attempts` may come so far: the limit holds for each model. */
  readonly attemptsMax: number;
  readonly #candidates: readonly Candidate[];
  readonly #choice: Choice | undefined;
  #excluded: readonly Candidate[] = noCandidates;
  #failures: Map<FaultKind, number> | undefined;
  /** The reason of the first channel that does not take the request. */
  whyNotTaken: Refusal | undefined;
  /** The first channel whose vendor itself refuses the request. */
  refusingCandidate: Candidate | undefined;
  /**
   * `send_unsupported` when no channel takes the request: a vendor gets it all the same, so that
   * the client reads the vendor's own message.
   */
  unsupported: UnsupportedRequest = 'refuse_unsupported';

  constructor(funded: FundedRequest, progress: RequestProgress) {
    this.funded = funded;
    this.progress = progress;
    this.attemptsMax = progress.attempts + funded.parts.limits.attemptsMax;
    this.#candidates = capableCandidates(funded);
    this.#choice =
      this.#candidates.length > 1
        ? routingChoice(funded.request, funded.admitted.offer.group.policy)
        : undefined;
  }

  pick(nowMs: number): Candidate | undefined {
    const { health, random } = this.funded.parts;
    return health.pick(this.#candidates, this.#excluded, nowMs, random, this.#choice);
  }

  /** Picks a healthy candidate of another channel than the one that is being called. */
  pickSecond(called: Candidate, nowMs: number): Candidate | undefined {
    const { health, random } = this.funded.parts;
    const others = this.#candidates.filter(
      ({ channel, id }) =>
        channel.name !== called.channel.name && health.state(id, nowMs).breaker === 'closed',
    );
    return health.pick(others, this.#excluded, nowMs, random, this.#choice);
  }

  /** Makes one attempt and records its outcome. `beganMs`: since the request began. */
  async call(candidate: Candidate, beganMs: number, race?: Race): Promise<ChannelOutcome> {
    const { funded } = this;
    const { parts } = funded;
    const openChannel = parts.openChannels.of(candidate.channel);
    let one: AttemptOutcome;
    openChannel.running += 1;
    try {
      one = await this.#attempt(candidate, openChannel, race);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#notTaken(candidate, error);
    } finally {
      openChannel.running -= 1;
    }
    const { result } = one;
    if (parts.traces !== undefined) traceAttempt(this, candidate, openChannel, result, beganMs);
    const retry = result.kind === 'fault' && this.#faulted(candidate, result, beganMs);
    if (wasAnswered(result)) parts.health.answered(candidate.id, parts.clock.monotonicMs());
    if (this.#choice?.policy === 'latency') recordLatency(this, candidate, result, beganMs);
    return { result, receiver: one.receiver, candidate, decides: !retry };
  }

  /** Calls the channel, and waits for the end of its answer. */
  async #attempt(
    candidate: Candidate,
    openChannel: OpenChannel,
    race: Race | undefined,
  ): Promise<AttemptOutcome> {
    const { funded, progress } = this;
    const { parts, request, funds } = funded;
    progress.begin(candidate);
    fitBound(funded, openChannel, candidate);
    const adapter = openChannel.adapter(request.capability);
    if (adapter === undefined)
      throw new Error(`channel ${candidate.channel.name} does not speak ${request.capability}`);
    // Where the money pays for only a part of a whole answer, funds are taken slice by slice from a
    // stream that is put together here.
    const plain = vendorCallFor(funded, candidate, request.stream || funds.isPartlyCovered());
    if (!('stream' in adapter) || answersWhole(adapter, plain)) {
      const whole = request.image === undefined ? plain : asWholeCall(plain);
      return { result: await attemptWhole(funded, progress, adapter, whole, openChannel) };
    }
    const prepared =
      'collect' in adapter &&
      (adapter.translate ?? adapter.unsigned ?? request.addresses) !== undefined
        ? prepareCall(funded, progress, openChannel, adapter, plain)
        : plain;
    const call = prepared instanceof Promise ? await prepared : prepared;
    if ('kind' in call) return { result: call };
    if (race?.decidedResult !== undefined) return { result: race.decidedResult };
    let receiver: StreamReceiver | undefined;
    const attempt = new ChannelAttempt(adapter, call, parts.limits, (self, contentType) => {
      receiver =
        request.stream || !('collect' in adapter)
          ? this.#forwarding(self, adapter.stream(call, contentType), race)
          : this.#collecting(self, adapter.collect(call));
      return receiver;
    });
    progress.startWork(attempt);
    attempt.start(openChannel, this.unsupported);
    if (race === undefined) {
      progress.dropped = attempt.dropped;
      progress.call = call;
    }
    const result = await attempt.result;
    progress.endWork(attempt);
    return { result, receiver };
  }

  #collecting(attempt: ChannelAttempt, collector: StreamCollector): CollectingReceiver {
    this.progress.stream = collector;
    watchStream(this.funded, this.progress);
    return new CollectingReceiver(this.funded, this.progress, attempt, collector);
  }

  #forwarding(
    attempt: ChannelAttempt,
    translator: StreamTranslator,
    race: Race | undefined,
  ): ForwardingReceiver {
    if (race === undefined) this.progress.stream = translator;
    return new ForwardingReceiver(this.funded, this.progress, attempt, translator, race);
  }

  /**
   * The vendor's adapter refuses the request: the vendor was not called, and another channel's
   * vendor may take it.
   */
  #notTaken(candidate: Candidate, why: Refusal): ChannelOutcome {
    this.progress.takeBack();
    this.whyNotTaken ??= why;
    if (why instanceof VendorRefusal) this.refusingCandidate ??= candidate;
    this.#excluded = [
      ...this.#excluded,
      ...this.#candidates.filter(({ channel }) => channel.name === candidate.channel.name),
    ];
    return {
      result: { kind: 'own_refusal', why },
      candidate,
      decides: false,
    };
  }

  /** Whether a channel that cannot be called now would take the request. */
  isAcceptedElsewhere(): boolean {
    const others = this.#candidates.filter((candidate) => !this.#excluded.includes(candidate));
    return others.some((candidate) =>
      isAccepted(
        this.funded,
        candidate,
        vendorCallFor(this.funded, candidate, this.funded.request.stream),
      ),
    );
  }

  /** Returns whether another channel may get the request. */
  #faulted(
    candidate: Candidate,
    result: AttemptResult & { readonly kind: 'fault' },
    beganMs: number,
  ): boolean {
    const { parts, request } = this.funded;
    const { fault, stage } = result;
    // Not called: its vendor's adapter saw that the channel cannot make this request.
    if (stage !== 'connecting' || fault.kind !== 'bad_request')
      parts.health.faulted(candidate.id, fault, parts.clock.monotonicMs());
    this.#failures ??= new Map();
    const count = (this.#failures.get(fault.kind) ?? 0) + 1;
    this.#failures.set(fault.kind, count);
    const media = isImageCapability(request.capability) ? 'media' : 'text';
    const retry = mayRetry(fault.kind, stage, count, media);
    reportFailure(this.funded, candidate, result, beganMs, retry);
    if (retry && !mayRetrySameChannel(fault.kind, stage, count))
      this.#excluded = [
        ...this.#excluded,
        ...excludedAfter(fault.kind, candidate, this.#candidates),
      ];
    return retry;
  }
}

function recordLatency(
  { funded, progress: { firstByteMs } }: AttemptLoop,
  candidate: Candidate,
  { kind }: AttemptResult,
  beganMs: number,
): void {
  const { parts, request } = funded;
  if (!request.stream && kind === 'answer')
    parts.health.recordLatency(candidate, false, elapsedMs(funded) - beganMs);
  else if (kind === 'lost_race')
    parts.health.recordLatencyAtLeast(candidate, true, elapsedMs(funded) - beganMs);
  else if (kind === 'streamed' && firstByteMs !== undefined)
    parts.health.recordLatency(candidate, true, firstByteMs - beganMs);
}

function reportFailure(
  funded: FundedRequest,
  { channel }: Candidate,
  { fault, stage, status }: AttemptResult & { readonly kind: 'fault' },
  beganMs: number,
  retry: boolean,
): void {
  const { parts, request } = funded;
  parts.failed({
    id: request.id,
    channel: channel.name,
    key: channel.moreSecrets === undefined ? undefined : (channel.keyNumber ?? 1),
    model: request.model,
    fault: fault.kind,
    stage,
    why: fault.ofConnection === true ? fault.message : undefined,
    status,
    beganMs,
    endedMs: elapsedMs(funded),
    mayRetry: retry,
  });
}

const noCandidates: readonly Candidate[] = [];
const noChannel: Fault = { kind: 'overloaded', message: 'no channel is available' };

/** The candidates whose vendor has the capability. All channels of a chat model can chat. */
function capableCandidates({ parts, admitted, request }: FundedRequest): readonly Candidate[] {
  const { candidates } = admitted.offer;
  if (request.capability === 'chat') return candidates;
  return parts.openChannels.capableOf(candidates, request.capability);
}

/** The bound of a request depends on the vendor that is called, too. */
function fitBound(
  { request, admitted, funds }: FundedRequest,
  openChannel: OpenChannel,
  { upstreamModel }: Candidate,
): void {
  if (openChannel.thinksBeyondLimit) funds.allowThinking(thinkingTokensMaxOf(request, admitted));
  if (openChannel.readsBeyond?.(upstreamModel) === true) funds.readsBeyond = true;
}

/** A vendor that streams no previews makes the image in one call, and that answer is the stream. */
const asWholeCall = (call: VendorCall): VendorCall =>
  call.stream ? { ...call, stream: false, streamUpstream: false } : call;

/**
 * Whether the answer comes in one piece, or in pieces that are each whole. Audio and images are
 * never put together from a stream.
 */
const answersWhole = (
  adapter: Adapter | AudioAdapter | StreamedImageAdapter,
  call: VendorCall,
): boolean => ('collect' in adapter ? adapter.split?.(call) !== undefined : !call.stream);

/** So many characters of a conversation's beginning identify it. */
const startCharsMax = 1_024;

/** How the channel of this request is chosen among equals. */
function routingChoice(request: ApiRequest, policy: RoutingPolicy = 'weighted'): Choice {
  return { policy, affinity: affinityOf(request, policy), streamed: request.stream };
}

/**
 * A client that names a cache means it, whatever the policy; `sticky` groups requests by itself.
 * Only within one account: no other account shares its cache.
 */
function affinityOf({ body, principal }: ApiRequest, policy: RoutingPolicy): number | undefined {
  const { prompt_cache_key: named, user } = body;
  if (typeof named === 'string' && named !== '') return hashTexts([principal.userId, 'key', named]);
  if (policy !== 'sticky') return undefined;
  if (typeof user === 'string' && user !== '') return hashTexts([principal.userId, 'user', user]);
  return hashTexts([principal.userId, 'start', startOf(body)]);
}

/** What stands before the turns. Google's clients write both spellings. */
const instructionMembers = [
  'system',
  'instructions',
  'prompt',
  'systemInstruction',
  'system_instruction',
];

/**
 * How a conversation begins, in any client's format: its instructions and its first messages stay
 * the same as it goes on, and a vendor's cache knows them. The first answer is left out, since the
 * first request does not have it.
 */
function startOf(body: ApiRequest['body']): string {
  const texts: string[] = [];
  let room = startCharsMax;
  const read = (value: unknown, depth: number): void => {
    if (room <= 0 || depth > 4) return;
    if (typeof value === 'string') {
      texts.push(value.slice(0, room));
      room -= value.length;
    } else if (Array.isArray(value)) for (const one of value.slice(0, 4)) read(one, depth + 1);
    else if (typeof value === 'object' && value !== null) {
      if ('content' in value) read(value.content, depth + 1);
      if ('parts' in value) read(value.parts, depth + 1);
      if ('text' in value) read(value.text, depth + 1);
    }
  };
  for (const name of instructionMembers) read(body[name], 0);
  for (const name of ['messages', 'input', 'contents']) {
    const turns = body[name];
    read(Array.isArray(turns) ? untilFirstQuestion(turns) : turns, 0);
  }
  return texts.join('\n');
}

/** The turns before the first user message, and that message. */
function untilFirstQuestion(turns: readonly unknown[]): readonly unknown[] {
  const first = turns.findIndex(
    (turn) => typeof turn === 'object' && turn !== null && 'role' in turn && turn.role === 'user',
  );
  return turns.slice(0, first + 1 || 1);
}

/** A fault of one key says nothing about the channel's other keys; a fault of the vendor does. */
const faultsOfKeys: ReadonlySet<FaultKind> = new Set(['credentials', 'quota', 'rate_limited']);

/** The candidates that this request no longer calls after a fault of one. */
function excludedAfter(
  fault: FaultKind,
  failed: Candidate,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  if (faultsOfKeys.has(fault) || failed.channel.moreSecrets === undefined) return [failed];
  return candidates.filter(({ channel }) => channel.name === failed.channel.name);
}

/** Traces an attempt that is over. `beganMs`: since the request began. */
function traceAttempt(
  { funded, progress: { firstByteMs } }: AttemptLoop,
  candidate: Candidate,
  openChannel: OpenChannel,
  result: AttemptResult,
  beganMs: number,
): void {
  const { parts, request, startedMonotonicMs } = funded;
  parts.traces?.attempted(request.id, {
    provider: openChannel.provider,
    channel: candidate.channel.name,
    upstreamModel: candidate.upstreamModel,
    capability: request.capability,
    stream: request.stream,
    url: openChannel.upstream.urlOf(''),
    beganMonotonicMs: startedMonotonicMs + beganMs,
    endedMonotonicMs: startedMonotonicMs + elapsedMs(funded),
    firstByteMs:
      request.stream && firstByteMs !== undefined && result.kind !== 'lost_race'
        ? firstByteMs - beganMs
        : undefined,
    error: errorOf(result),
  });
}

/** How an attempt without an answer ended, in the words of traces. */
function errorOf(result: AttemptResult): string | undefined {
  if (wasAnswered(result)) return undefined;
  if (result.kind === 'fault') return result.fault.kind;
  return result.kind === 'own_refusal' ? 'refused' : result.kind;
}

/** Members that make a vendor do or keep something beside its answer. */
const membersWithEffects = [
  'background',
  'container',
  'conversation',
  'mcp_servers',
  'plugins',
  'store',
  'web_search_options',
] as const;

/**
 * The milliseconds without a byte after which a second channel is called as well; undefined: never,
 * as for nearly all models.
 */
function hedgeAfter({ admitted, request }: FundedRequest): number | undefined {
  const { hedgeAfterMs } = admitted.offer.model;
  return hedgeAfterMs !== undefined && isRepeatable(request) ? hedgeAfterMs : undefined;
}

function isRepeatable({ capability, stream, choices, sized, body }: ApiRequest): boolean {
  if (!stream || choices !== 1 || sized !== undefined || !textCapabilities.has(capability))
    return false;
  if (membersWithEffects.some((member) => body[member] != null && body[member] !== false))
    return false;
  return !usesVendorTools(body);
}
