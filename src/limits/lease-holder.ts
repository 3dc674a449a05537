import type { Clock } from '../base/clock.ts';
import type { GrantedLease } from './limit-keeper.ts';
import type { Units } from './lease.ts';
import { type Allowance, type LimitState, type Pass, type Share, windowMs } from './limiter.ts';

/** Requests that count for the average of their tokens. */
const averagedRequests = 8;

/**
 * What one process holds of the allowance of some shares: nothing while it is closed, or the units
 * of a lease.
 */
export class LeaseHolder {
  readonly key: string;
  readonly id: number;
  readonly shares: readonly Share[];
  /** Requests that came since the last renewal. */
  requests = 0;
  /** The tokens of one request, on average of the last ones. */
  tokensEach = 0;
  /** A question for a lease has been sent and not answered yet. */
  isAsked = false;
  /** Of the last lease, by which the keeper knows it. */
  number = 0;
  readonly #clock: Clock;
  readonly #giveBack: (holder: LeaseHolder) => void;
  #granted: GrantedLease | undefined;
  #openedAt = 0;
  #requestsLeft = 0;
  #tokensLeft = 0;
  #placesLeft = 0;

  /** `giveBack` takes the units of requests that end after this lease. */
  constructor(
    key: string,
    id: number,
    shares: readonly Share[],
    clock: Clock,
    giveBack: (holder: LeaseHolder) => void,
  ) {
    this.key = key;
    this.id = id;
    this.shares = shares;
    this.#clock = clock;
    this.#giveBack = giveBack;
  }

  get isOpen(): boolean {
    return this.#granted !== undefined;
  }

  /** Whether these are still the limits of its shares. */
  isFor(allowance: Allowance, also: Share | undefined): boolean {
    const [first, second] = this.shares;
    return (
      isSame(first?.allowance, allowance) &&
      (also === undefined || isSame(second?.allowance, also.allowance))
    );
  }

  open(granted: GrantedLease): void {
    this.#granted = granted;
    this.number = granted.number;
    this.#openedAt = this.#clock.monotonicMs();
    this.#requestsLeft = granted.units.requests;
    this.#tokensLeft = granted.units.tokens;
    this.#placesLeft = granted.units.places;
  }

  close(): void {
    this.#granted = undefined;
  }

  /** Takes all unused units out. */
  takeUnits(): Units {
    const units = {
      requests: this.#requestsLeft,
      tokens: this.#tokensLeft,
      places: this.#placesLeft,
    };
    this.#requestsLeft = 0;
    this.#tokensLeft = 0;
    this.#placesLeft = 0;
    return units;
  }

  /** Whether the units do not suffice for an average request. */
  get isShort(): boolean {
    return !this.#suffices(this.tokensEach);
  }

  #suffices(tokens: number): boolean {
    return this.#requestsLeft >= 1 && this.#placesLeft >= 1 && this.#tokensLeft >= tokens;
  }

  /** Undefined where the units do not suffice. */
  enter(tokens: number): Pass | undefined {
    this.requests += 1;
    this.tokensEach += (tokens - this.tokensEach) / averagedRequests;
    const granted = this.#granted;
    if (granted === undefined || !this.#suffices(tokens)) return undefined;
    this.#requestsLeft -= 1;
    this.#tokensLeft -= tokens;
    this.#placesLeft -= 1;
    const ofTokens = withUnits(granted.tokens, this.#tokensLeft);
    return new LeasedPass(
      this,
      withUnits(granted.requests, this.#requestsLeft),
      ofTokens,
      tokens,
      this.#openedAt + (ofTokens?.resetMs ?? 0),
    );
  }

  /**
   * Ends a request for which `setAside` tokens were taken. Of what it did not use, only the part
   * comes back that time has not worked off: the time between now and `paidUntil`, by the tighter
   * of two limits.
   */
  leave(setAside: number, used: number, tpm: number | undefined, paidUntil: number): void {
    this.#placesLeft += 1;
    if (tpm !== undefined) {
      const unpaidMs = Math.max(0, paidUntil - this.#clock.monotonicMs());
      this.#tokensLeft += Math.min(setAside - used, (unpaidMs * tpm) / windowMs);
    }
    if (!this.isOpen) this.#giveBack(this);
  }
}

/** The pass of a request that this process let in by itself. */
class LeasedPass implements Pass {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  readonly #holder: LeaseHolder;
  readonly #setAside: number;
  readonly #paidUntil: number;
  #finished = false;

  constructor(
    holder: LeaseHolder,
    requests: LimitState | undefined,
    tokens: LimitState | undefined,
    setAside: number,
    paidUntil: number,
  ) {
    this.requests = requests;
    this.tokens = tokens;
    this.#holder = holder;
    this.#setAside = setAside;
    this.#paidUntil = paidUntil;
  }

  finish(tokensUsed: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#holder.leave(this.#setAside, tokensUsed, this.tokens?.limit, this.#paidUntil);
  }
}

/** What is left with the unused units of a lease, as of its beginning. */
function withUnits(state: LimitState | undefined, units: number): LimitState | undefined {
  if (state === undefined) return undefined;
  const { limit, remaining, resetMs } = state;
  return {
    limit,
    remaining: Math.min(limit, remaining + Math.floor(units)),
    resetMs: Math.max(0, Math.ceil(resetMs - (units * windowMs) / limit)),
  };
}

function isSame(a: Allowance | undefined, b: Allowance): boolean {
  return a?.rpm === b.rpm && a?.tpm === b.tpm && a?.concurrency === b.concurrency;
}
