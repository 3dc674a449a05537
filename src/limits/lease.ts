import {
  type Allowance,
  correct,
  cost,
  isUnlimited,
  type LimitStates,
  MemoryLimiter,
  refusedBy,
  remaining,
  requestsFullAt,
  roundingMs,
  type Share,
  spend,
  statesOf,
  type Subject,
  tightest,
  tokensFullAt,
  waitMs,
} from './limiter.ts';

/** A part of an allowance: requests, tokens, and places among the running requests. */
export interface Units {
  readonly requests: number;
  readonly tokens: number;
  readonly places: number;
}

/** Units that one process lets requests in with. `requests` and `tokens`: what is left beside. */
export interface Lease extends LimitStates {
  readonly units: Units;
  /** Ends it; the other units were used. Places come back from requests that have ended. */
  end(unused: Units): void;
  /** Requests end after the lease. Tokens come back, or below zero were used beyond it. */
  leave(places: number, tokens: number): void;
}

/** A lease takes the requests and tokens that are left, divided by this, */
const leaseDivisor = 64;
/** and the free places divided by this: no header tells them. */
const leaseDivisorOfPlaces = 4;
/** A lease for fewer requests at once, or together, is not worth its messages. */
const leaseRequestsMin = 16;
/** The requests or tokens of a lease that have no limit. */
const leaseUnlimited = 1e12;
/** The places of a lease where requests at once have no limit. */
const leasePlacesMax = 10_000;

/** Limits of one process, which leases parts of them to others. */
export class LeasingLimiter extends MemoryLimiter {
  /** Whether this share alone has room for a request now: not at all, or in leases that are out. */
  room({ subject, allowance }: Share, tokens: number): 'yes' | 'no' | 'leased' {
    if (isUnlimited(allowance)) return 'yes';
    const now = this.clock.monotonicMs();
    const state = this.subject(subject, now);
    if (refusedBy(state, now, allowance, tokens) === undefined) return 'yes';
    const { rpm, tpm } = allowance;
    const withoutLeases =
      (rpm === undefined || waitMs(state.requestsFullAt, now, 1, rpm) === 0) &&
      (tpm === undefined || waitMs(state.tokensFullAt, now, tokens, tpm) === 0);
    return withoutLeases ? 'leased' : 'no';
  }

  /**
   * Sets a part of what is left of all shares aside, for a process that lets requests of about
   * `tokens` in by itself. Undefined where too little is left for that.
   */
  lease(shares: readonly Share[], tokens: number): Lease | undefined {
    const now = this.clock.monotonicMs();
    const all = shares
      .filter(({ allowance }) => !isUnlimited(allowance))
      .map(({ subject, allowance }) => ({ subject, allowance, state: this.subject(subject, now) }));
    // The arrival of one subject may have swept another away.
    for (const { subject, state } of all) this.subjects.set(subject, state);
    const parts = all.map(({ state, allowance }) => partOf(state, now, allowance));
    const units: Units = {
      requests: Math.min(...parts.map((part) => part.requests)),
      tokens: Math.min(...parts.map((part) => part.tokens)),
      places: Math.min(...parts.map((part) => part.places)),
    };
    if (
      Math.min(units.requests, units.places, units.tokens / Math.max(tokens, 1)) < leaseRequestsMin
    )
      return undefined;
    const leases = all.map(
      ({ state, allowance }) => new SubjectLease(state, now, allowance, units),
    );
    return {
      units,
      ...tightest(all.map(({ state, allowance }) => statesOf(state, now, allowance))),
      end: (unused) => leases.forEach((lease) => lease.end(this.clock.monotonicMs(), unused)),
      leave: (places, tokens) =>
        leases.forEach((lease) => lease.leave(this.clock.monotonicMs(), places, tokens)),
    };
  }
}

/** The largest lease of one subject. */
function partOf(state: Subject, now: number, { rpm, tpm, concurrency }: Allowance): Units {
  const part = (fullAt: number, limit: number | undefined): number =>
    limit === undefined ? leaseUnlimited : Math.floor(remaining(fullAt, now, limit) / leaseDivisor);
  return {
    requests: part(requestsFullAt(state, now), rpm),
    tokens: part(tokensFullAt(state, now), tpm),
    places:
      concurrency === undefined
        ? leasePlacesMax
        : Math.floor((concurrency - state.running) / leaseDivisorOfPlaces),
  };
}

/**
 * The part of one subject in a lease. Its units are set aside until the end of the lease. What was
 * used of them counts from its beginning.
 */
class SubjectLease {
  readonly #state: Subject;
  readonly #begin: number;
  readonly #allowance: Allowance;
  readonly #units: Units;

  constructor(state: Subject, begin: number, allowance: Allowance, units: Units) {
    this.#state = state;
    this.#begin = begin;
    this.#allowance = allowance;
    this.#units = units;
    this.#setAside(1);
    state.running += units.places;
  }

  #setAside(sign: 1 | -1): void {
    const { rpm, tpm } = this.#allowance;
    const { requests, tokens } = this.#units;
    const state = this.#state;
    if (rpm !== undefined)
      state.requestsLeasedMs = rounded(state.requestsLeasedMs + sign * cost(requests, rpm));
    if (tpm !== undefined)
      state.tokensLeasedMs = rounded(state.tokensLeasedMs + sign * cost(tokens, tpm));
  }

  end(now: number, unused: Units): void {
    this.#setAside(-1);
    const state = this.#state;
    const { rpm } = this.#allowance;
    const requests = this.#units.requests - unused.requests;
    if (rpm !== undefined)
      state.requestsFullAt = spend(state.requestsFullAt, this.#begin, requests, rpm);
    state.tokensFullAt = Math.max(state.tokensFullAt, this.#begin);
    this.leave(now, unused.places, unused.tokens - this.#units.tokens);
  }

  leave(now: number, places: number, tokens: number): void {
    const state = this.#state;
    const { tpm } = this.#allowance;
    state.running -= places;
    // Who gives tokens back leaves out those that time has worked off.
    if (tpm !== undefined)
      state.tokensFullAt = correct(state.tokensFullAt, now, -tokens, tpm, Infinity);
  }
}

/** Sums of leases that have ended are not exactly 0. */
const rounded = (leasedMs: number): number => (leasedMs < roundingMs ? 0 : leasedMs);
