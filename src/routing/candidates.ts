import { deleteOldest } from '../base/delete-oldest.ts';
import type { Fault, FaultKind } from '../base/fault.ts';
import type { Random } from '../base/random.ts';
import { unavailableRetryMs } from '../base/refusal.ts';
import type { RoutingPolicy } from '../base/routing-policy.ts';

/**
 * The most channels remembered; the oldest is forgotten first. Only ids that no longer exist can
 * fill it up.
 */
export const breakersMax = 10_000;

/** The health of one channel for operators. */
export interface CandidateHealth {
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** Set while no request may use the channel: the reason and the remaining time. */
  readonly shut: { readonly because: FaultKind; readonly forMs: number } | undefined;
  /** Failures among the last `results` requests. */
  readonly failures: number;
  readonly results: number;
  readonly lastFault: FaultKind | undefined;
}

const untouched: CandidateHealth = {
  breaker: 'closed',
  shut: undefined,
  failures: 0,
  results: 0,
  lastFault: undefined,
};

/**
 * Classes of candidates, best first: 0 healthy, 1 healthy without weight, 2 and 3 the same with an
 * open breaker.
 */
const unusable = 4;
/**
 * Random draws for a healthy candidate before all are examined; by latency, for a fast one, too.
 */
const drawsMax = 4;
const fastDrawsMax = 48;
/** How often the fastest of many candidates is determined again. */
const fastestEveryMs = 100;

/** Facts of a list that never changes: a new catalog brings new lists. */
interface CandidateList {
  readonly policy: RoutingPolicy;
  readonly sampler: WeightedSampler;
  fastestMs: number;
  fastestAt: number;
  fastestStreamed: boolean;
}

/**
 * The health of this process's channels, one breaker per candidate id. `now` is always milliseconds
 * of one steady clock. An attempt that reached its vendor ends in `answered` or `faulted`, unless
 * the client left or another channel was faster. Counting of tokens reports nothing.
 */
export class Health {
  private readonly breakers = new Map<string, Breaker>();
  private readonly latencies = new Latencies();
  private readonly known = new WeakMap<readonly RoutingCandidate[], CandidateList>();

  /** The vendor delivered. */
  answered(id: string, now: number): void {
    this.breaker(id).answered(now);
  }

  faulted(id: string, fault: Fault, now: number): void {
    this.breaker(id).faulted(fault, now);
  }

  /** Records how long a candidate took to answer: the policy `latency` uses it. */
  recordLatency(candidate: RoutingCandidate, streamed: boolean, ms: number): void {
    this.latencies.record(candidate, streamed, ms);
  }

  /** Records that an attempt broken off after `ms` takes longer than that. */
  recordLatencyAtLeast(candidate: RoutingCandidate, streamed: boolean, ms: number): void {
    if (ms > (this.latencies.of(candidate, streamed) ?? 0))
      this.latencies.record(candidate, streamed, ms);
  }

  /**
   * The candidate to try next: healthy before failing, then the lowest priority, then as `choice`
   * says. Undefined when all were tried or are shut. Picking an open breaker's candidate makes it
   * the probe.
   */
  pick<C extends RoutingCandidate>(
    candidates: readonly C[],
    excluded: readonly C[],
    now: number,
    random: Random,
    choice = byWeight,
  ): C | undefined {
    const drawn =
      candidates.length < samplerMin
        ? undefined
        : this.draw(candidates, excluded, now, random, choice);
    if (drawn !== undefined) return drawn;
    const fastestMs =
      choice.policy === 'latency' ? this.latencies.fastest(candidates, choice.streamed) : 0;
    let best: C | undefined;
    let bestClass = unusable;
    let bestTime = Infinity;
    for (const candidate of candidates) {
      const rank = excluded.includes(candidate) ? unusable : this.classOf(candidate, now);
      if (rank === unusable || rank > bestClass) continue;
      const place = best === undefined || rank < bestClass ? -1 : order(candidate, best, choice);
      if (place > 0) continue;
      const arrives = this.arrivalOf(candidate, choice, fastestMs, random);
      if (place < 0 || arrives < bestTime) {
        best = candidate;
        bestTime = arrives;
      }
      bestClass = rank;
    }
    if (best !== undefined) this.claim(best.id, now);
    return best;
  }

  /**
   * For the final 503: how long until the first of these channels may be called again,
   * `unavailableRetryMs` when one of them is not shut.
   */
  retryAfterMs(candidates: readonly RoutingCandidate[], now: number): number {
    let soonest = Infinity;
    for (const { id } of candidates) {
      const leftMs = (this.breakers.get(id)?.shutUntil ?? 0) - now;
      if (leftMs <= 0) return unavailableRetryMs;
      soonest = Math.min(soonest, leftMs);
    }
    return soonest === Infinity ? unavailableRetryMs : Math.ceil(soonest);
  }

  state(id: string, now: number): CandidateHealth {
    const breaker = this.breakers.get(id);
    if (breaker === undefined) return untouched;
    const { shutBy, shutUntil, failures, results, lastFault, open } = breaker;
    return {
      breaker: !open ? 'closed' : breaker.probeDue(now) && now >= shutUntil ? 'half-open' : 'open',
      shut:
        shutBy !== undefined && now < shutUntil
          ? { because: shutBy, forMs: Math.ceil(shutUntil - now) }
          : undefined,
      failures,
      results,
      lastFault,
    };
  }

  /**
   * Draws among the candidates that come first until a healthy one is found: a thousand channels
   * cost no more than ten. Undefined: examine all of them. Skipping an unhealthy candidate keeps
   * the others' shares in proportion.
   */
  private draw<C extends RoutingCandidate>(
    list: readonly C[],
    excluded: readonly C[],
    now: number,
    random: Random,
    choice: Choice,
  ): C | undefined {
    const known = this.knownOf(list, choice.policy);
    const { affinity, policy, streamed } = choice;
    const fast = policy === 'latency' && affinity === undefined;
    const fastestMs = fast ? this.fastestOf(list, known, streamed, now) : 0;
    for (
      let draws = affinity !== undefined ? 1 : fast ? fastDrawsMax : drawsMax;
      draws > 0;
      draws--
    ) {
      const member =
        list[
          affinity === undefined
            ? sampleFrom(known.sampler, random())
            : rendezvousWinner(known.sampler, affinity)
        ];
      if (member === undefined || excluded.includes(member) || this.classOf(member, now) !== 0)
        continue;
      if (
        fast &&
        random() * member.weight >=
          latencyShare(member, this.latencies.of(member, streamed), fastestMs)
      )
        continue;
      this.claim(member.id, now);
      return member;
    }
    return undefined;
  }

  private knownOf(list: readonly RoutingCandidate[], policy: RoutingPolicy): CandidateList {
    let known = this.known.get(list);
    if (known?.policy !== policy) {
      known = {
        policy,
        sampler: samplerFor(list, policy),
        fastestMs: 0,
        fastestAt: -Infinity,
        fastestStreamed: false,
      };
      this.known.set(list, known);
    }
    return known;
  }

  private fastestOf(
    list: readonly RoutingCandidate[],
    known: CandidateList,
    streamed: boolean,
    now: number,
  ): number {
    if (known.fastestStreamed !== streamed || now - known.fastestAt >= fastestEveryMs) {
      known.fastestMs = this.latencies.fastest(list, streamed);
      known.fastestStreamed = streamed;
      known.fastestAt = now;
    }
    return known.fastestMs;
  }

  private arrivalOf(
    candidate: RoutingCandidate,
    { policy, affinity, streamed }: Choice,
    fastestMs: number,
    random: Random,
  ): number {
    if (affinity !== undefined)
      return arrivalTime(hashFraction(affinity, hashTexts([candidate.id])), candidate.weight || 1);
    const ms = policy === 'latency' ? this.latencies.of(candidate, streamed) : undefined;
    return arrivalTime(random(), latencyShare(candidate, ms, fastestMs));
  }

  private classOf(candidate: RoutingCandidate, now: number): number {
    const spare = candidate.weight > 0 ? 0 : 1;
    const breaker = this.breakers.get(candidate.id);
    if (breaker === undefined) return spare;
    if (now < breaker.shutUntil) return unusable;
    return breaker.open && !breaker.probeDue(now) ? spare + 2 : spare;
  }

  private claim(id: string, now: number): void {
    const breaker = this.breakers.get(id);
    if (breaker?.open) breaker.claimProbe(now);
  }

  private breaker(id: string): Breaker {
    let breaker = this.breakers.get(id);
    if (breaker === undefined) {
      breaker = new Breaker();
      this.breakers.set(id, breaker);
      if (this.breakers.size > breakersMax) deleteOldest(this.breakers);
    }
    return breaker;
  }
}

/** The most candidates whose latency is remembered; the oldest is forgotten first. */
export const latenciesMax = 10_000;
/** The weight of the newest answer against all before it. */
const newest = 0.2;

interface Latency {
  /** Milliseconds to the first byte of a stream; 0: none was measured. */
  streamMs: number;
  /** Milliseconds to the end of a whole answer. */
  wholeMs: number;
}

const latencyKeyOf = ({ latencyKey, id }: RoutingCandidate): string => latencyKey ?? id;

/** How fast each candidate has answered lately, as this process has seen it. */
export class Latencies {
  readonly #latencies = new Map<string, Latency>();

  record(candidate: RoutingCandidate, streamed: boolean, ms: number): void {
    const key = latencyKeyOf(candidate);
    let latency = this.#latencies.get(key);
    if (latency === undefined) {
      latency = { streamMs: 0, wholeMs: 0 };
      this.#latencies.set(key, latency);
      if (this.#latencies.size > latenciesMax) deleteOldest(this.#latencies);
    }
    const kind = streamed ? 'streamMs' : 'wholeMs';
    const before = latency[kind];
    latency[kind] = Math.max(before === 0 ? ms : before + newest * (ms - before), 1);
  }

  /** Milliseconds; undefined: no such answer was measured. */
  of(candidate: RoutingCandidate, streamed: boolean): number | undefined {
    const latency = this.#latencies.get(latencyKeyOf(candidate));
    return (streamed ? latency?.streamMs : latency?.wholeMs) || undefined;
  }

  /** The fastest measured candidate's milliseconds; Infinity when none was measured. */
  fastest(candidates: readonly RoutingCandidate[], streamed: boolean): number {
    let fastest = Infinity;
    for (const candidate of candidates)
      fastest = Math.min(fastest, this.of(candidate, streamed) ?? Infinity);
    return fastest;
  }
}

/**
 * The last results that decide whether a breaker opens. At most 31: they are the bits of one
 * number.
 */
const windowResults = 20;
/** Results are forgotten after this long without a new one. */
const windowIdleMs = 60_000;
/** Fewer failures than this never open a breaker: nothing is disabled by one error. */
const failuresMin = 5;
/** Share of failures in the window that opens it. */
const failureRate = 0.5;
/** An open breaker lets one request through as a probe this often. */
export const probeEveryMs = 5_000;
/**
 * First pause of a channel that refuses our credentials or whose vendor account is empty; doubles
 * with each further refusal.
 */
export const parkMs = 15_000;
export const parkMaxMs = 600_000;
/** A vendor's own retry-after counts at most this long. */
export const coolDownMaxMs = 600_000;

/**
 * How a fault counts against its channel. Absent: the vendor answered and blames the request or its
 * model; the channel is well.
 */
const verdicts: Readonly<Partial<Record<FaultKind, 'park' | 'count'>>> = {
  credentials: 'park',
  quota: 'park',
  rate_limited: 'count',
  overloaded: 'count',
  server_error: 'count',
  protocol: 'count',
  network: 'count',
  timeout: 'count',
};

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/**
 * The health of one channel. *Shut* is hard: no request until then; only refused credentials, an
 * empty account and a vendor's own retry-after shut a channel. *Open* is soft: the channel fails,
 * so others are preferred, and it is probed until it answers.
 */
class Breaker {
  shutUntil = 0;
  shutBy: FaultKind | undefined;
  open = false;
  lastFault: FaultKind | undefined;
  private probeAt = 0;
  private parks = 0;
  private failed = 0;
  private seen = 0;
  private lastResultAt = 0;

  /**
   * Only one request at a time sees the probe of an open breaker as due; `claimProbe` postpones the
   * next one.
   */
  probeDue(now: number): boolean {
    return now >= this.probeAt;
  }

  claimProbe(now: number): void {
    this.probeAt = now + probeEveryMs;
  }

  /** Failures among the last `results` requests. */
  get failures(): number {
    return ones(this.failed);
  }

  get results(): number {
    return this.seen;
  }

  answered(now: number): void {
    if (this.open && now >= this.shutUntil) {
      this.open = false;
      this.parks = 0;
      this.failed = 0;
      this.seen = 0;
    }
    this.record(0, now);
  }

  faulted(fault: Fault, now: number): void {
    const verdict = verdicts[fault.kind];
    if (verdict === undefined) return this.answered(now);
    this.lastFault = fault.kind;
    this.record(1, now);
    if (verdict === 'park') this.park(fault.kind, now);
    if (fault.retryAfterMs !== undefined)
      this.shut(fault.kind, now + Math.min(fault.retryAfterMs, coolDownMaxMs));
    if (this.failures >= failuresMin && this.failures >= this.seen * failureRate) this.open = true;
    if (this.open) this.claimProbe(now);
  }

  /** Requests that ran together are refused together: they count as one park. */
  private park(by: FaultKind, now: number): void {
    if (this.parks > 0 && now < this.shutUntil) return;
    this.shut(by, now + Math.min(parkMs * 2 ** this.parks, parkMaxMs));
    this.parks++;
    this.open = true;
  }

  private shut(by: FaultKind, until: number): void {
    if (until <= this.shutUntil) return;
    this.shutUntil = until;
    this.shutBy = by;
  }

  private record(failed: 0 | 1, now: number): void {
    if (now - this.lastResultAt > windowIdleMs) {
      this.failed = 0;
      this.seen = 0;
    }
    this.lastResultAt = now;
    this.failed = ((this.failed << 1) | failed) & ((1 << windowResults) - 1);
    if (this.seen < windowResults) this.seen++;
  }
}

/** How one request wants its candidate chosen. */
export interface Choice {
  readonly policy: RoutingPolicy;
  /**
   * A number shared by requests that should reach the same candidate; undefined: the request has no
   * such group.
   */
  readonly affinity: number | undefined;
  /**
   * Whether the request streams: times to the first byte (streams) and to the last (whole answers)
   * cannot be compared.
   */
  readonly streamed: boolean;
}

const byWeight: Choice = { policy: 'weighted', affinity: undefined, streamed: false };

/** Below 0: `a` comes before `b` whatever their weights, above 0: after it. */
function order(a: RoutingCandidate, b: RoutingCandidate, { policy }: Choice): number {
  if (a.priority !== b.priority || policy !== 'cost') return a.priority - b.priority;
  const [ofA, ofB] = [a.cost ?? Infinity, b.cost ?? Infinity];
  return ofA === ofB ? 0 : ofA - ofB;
}

/**
 * The slowest candidate keeps this part of its share, so that the gateway notices when it becomes
 * fast.
 */
const slowestShare = 1 / 16;

/**
 * A candidate twice as slow gets a quarter of the requests. An unmeasured candidate counts as the
 * fastest.
 */
function latencyShare(
  { weight }: RoutingCandidate,
  ms: number | undefined,
  fastestMs: number,
): number {
  const share = weight || 1;
  if (ms === undefined || ms <= fastestMs) return share;
  return share * Math.max((fastestMs / ms) ** 2, slowestShare);
}

/**
 * When a candidate arrives in a race that it wins as often as its share says (exponentially
 * distributed times). `luck` is in [0, 1): random, or fixed for a pair of request group and
 * candidate. With fixed luck, a candidate that joins or leaves moves only those requests that it
 * wins or had won (rendezvous hashing).
 */
const arrivalTime = (luck: number, share: number): number => -Math.log(luck) / share;

/**
 * The fixed luck of a request group and a candidate, the same on every node. `hash` is `hashTexts`
 * of the candidate's id.
 */
function hashFraction(affinity: number, hash: number): number {
  let mixed = affinity ^ hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
}

/** A hash of these texts (FNV-1a). */
export function hashTexts(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xff, 0x01000193);
  }
  return hash >>> 0;
}

/** The facts of a channel that routing needs. Generic, so that routing needs no catalog. */
export interface RoutingCandidate {
  /** Each id (channel and key) has one breaker. */
  readonly id: string;
  /** Lower first. */
  readonly priority: number;
  /** Share among those of the same priority; 0 = only when nothing else is left. */
  readonly weight: number;
  /** What a usual request costs there, in any one unit. Absent: unknown. */
  readonly cost?: number;
  /** The key under which its latency is remembered; absent: its id. */
  readonly latencyKey?: string;
}

/** Below this number, candidates are examined one by one. */
const samplerMin = 8;

/**
 * The candidates of a long list that come first while all are healthy, with the tables to find one
 * of them without examining each.
 */
interface WeightedSampler {
  /** Positions in the list. */
  readonly places: readonly number[];
  readonly weights: Float64Array;
  /** At each position, the sum of the weights up to it, its own included. */
  readonly sums: Float64Array;
  /** Hashes of the ids. */
  readonly hashes: Uint32Array;
}

/** Empty when no candidate has any weight. */
function samplerFor(
  candidates: readonly RoutingCandidate[],
  policy: RoutingPolicy,
): WeightedSampler {
  const choice = { ...byWeight, policy };
  let members: RoutingCandidate[] = [];
  let places: number[] = [];
  for (const [place, candidate] of candidates.entries()) {
    if (candidate.weight <= 0) continue;
    const [first] = members;
    const comes = first === undefined ? -1 : order(candidate, first, choice);
    if (comes > 0) continue;
    if (comes < 0) [members, places] = [[], []];
    members.push(candidate);
    places.push(place);
  }
  let sum = 0;
  const weights = Float64Array.from(members, ({ weight }) => weight);
  return {
    places,
    weights,
    sums: weights.map((weight) => (sum += weight)),
    hashes: Uint32Array.from(members, ({ id }) => hashTexts([id])),
  };
}

/**
 * The position that `luck`, in [0, 1), selects, as often as the weights say. -1: the sampler is
 * empty.
 */
function sampleFrom({ places, sums }: WeightedSampler, luck: number): number {
  const wanted = luck * (sums.at(-1) ?? 0);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] ?? 0) > wanted) high = middle;
    else low = middle + 1;
  }
  return places[low] ?? -1;
}

/**
 * The position of the rendezvous winner for this group of requests: the same one that examining
 * each candidate finds. -1: the sampler is empty.
 */
function rendezvousWinner({ places, weights, hashes }: WeightedSampler, affinity: number): number {
  let winner = 0;
  let first = Infinity;
  for (let i = 0; i < hashes.length; i++) {
    const arrives = arrivalTime(hashFraction(affinity, hashes[i] ?? 0), weights[i] ?? 0);
    if (arrives >= first) continue;
    first = arrives;
    winner = i;
  }
  return places[winner] ?? -1;
}
