import type { Clock } from '../base/clock.ts';
import type { ClientResponse } from '../http/client-response.ts';

/** The allowance of a group or a key; undefined = unlimited. */
export interface Allowance {
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly concurrency: number | undefined;
}

export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** Undefined where there is no such limit. They become the `x-ratelimit-*` headers. */
export interface LimitStates {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

export interface Pass extends LimitStates {
  /**
   * Ends the request's share of the concurrency and corrects the token estimate by the true use.
   * Works once.
   */
  finish(tokensUsed: number): void;
}

export interface LimitExceeded extends LimitStates {
  readonly limitOf: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  readonly retryAfterMs: number;
}

/** An allowance, and the subject that shares it (a user in a group, a key). */
export interface Share {
  readonly subject: string;
  readonly allowance: Allowance;
}

/** The shares of a request: one, or two. */
export const sharesOf = ({
  subject,
  allowance,
  also,
}: Share & { readonly also: Share | undefined }): readonly Share[] =>
  also === undefined ? [{ subject, allowance }] : [{ subject, allowance }, also];

export interface Limiter {
  /**
   * `also`: a second share, which must have room too. A refused request uses up nothing of either.
   * Synchronous in one process.
   */
  enter(subject: string, allowance: Allowance, tokens: number, also?: Share): Pass | LimitExceeded;
}

/** The same for several nodes, where another machine may decide. */
export interface SharedLimiter {
  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | LimitExceeded | Promise<Pass | LimitExceeded>;
}

/** The pass of a group without limits: no state, no allocation. */
export const unlimited: Pass = { requests: undefined, tokens: undefined, finish: () => {} };

export const isUnlimited = ({ rpm, tpm, concurrency }: Allowance): boolean =>
  rpm === undefined && tpm === undefined && concurrency === undefined;

/** Of two shares' states, the one that ends first: clients get this one. */
const tighter = (a: LimitState | undefined, b: LimitState | undefined): LimitState | undefined =>
  a === undefined || (b !== undefined && b.remaining < a.remaining) ? b : a;

/** The same for the states of several shares. */
export const tightest = (all: readonly LimitStates[]): LimitStates => ({
  requests: all.map(({ requests }) => requests).reduce(tighter),
  tokens: all.map(({ tokens }) => tokens).reduce(tighter),
});

/** Allowances are per minute; a rested subject may use a whole minute's allowance at once. */
export const windowMs = 60_000;
/** Use beyond the allowance keeps a subject waiting at most this long on top. */
export const debtMaxMs = 60_000;
/**
 * Sums of fractions of a millisecond are not exact, and the last request of a full allowance must
 * not fail because of that.
 */
export const roundingMs = 0.001;

/**
 * The generic cell rate algorithm: one number per subject, the time until which its use is paid
 * for. Each unit moves it on by `windowMs / limit`; a request may enter when that leaves it within
 * one window from now. `full` and `now` are ms of the same clock.
 */
export function spend(full: number, now: number, amount: number, limit: number): number {
  return Math.max(full, now) + cost(amount, limit);
}

/**
 * How long until `spend` is allowed; 0 = now. A request for more than the limit waits until the
 * subject has rested, and is not refused for ever.
 */
export function waitMs(full: number, now: number, amount: number, limit: number): number {
  const wait = Math.max(full, now) + cost(Math.min(amount, limit), limit) - windowMs - now;
  return wait < roundingMs ? 0 : wait;
}

/**
 * Corrects an estimate once the true use is known. `more` is negative when too much was set aside;
 * then only the part that time has not yet worked off comes back: the time between now and
 * `paidUntil`, the subject's `full` right after it was spent.
 */
export function correct(
  full: number,
  now: number,
  more: number,
  limit: number,
  paidUntil: number,
): number {
  const change = Math.max(cost(more, limit), -Math.max(0, paidUntil - now));
  return Math.min(full + change, now + windowMs + debtMaxMs);
}

/** Whole units that may be used now. */
export function remaining(full: number, now: number, limit: number): number {
  const leftMs = windowMs - Math.max(0, full - now);
  return Math.max(0, Math.floor(((leftMs + roundingMs) * limit) / windowMs));
}

/** Whole milliseconds to wait, rounded up. */
export function wholeMs(ms: number): number {
  return Math.max(0, Math.ceil(ms - roundingMs));
}

export function cost(amount: number, limit: number): number {
  return (amount * windowMs) / limit;
}

/** The end of a running request is not known, so this is a guess. */
export const concurrencyRetryMs = 1_000;

/**
 * Two GCRA clocks (`fullAt`: when the allowance is whole again) and the number of running requests.
 */
export interface Subject {
  requestsFullAt: number;
  tokensFullAt: number;
  running: number;
  /** What leases hold of both allowances. */
  requestsLeasedMs: number;
  tokensLeasedMs: number;
}

export function refusedBy(
  state: Subject,
  now: number,
  allowance: Allowance,
  tokens: number,
): LimitExceeded | undefined {
  const { rpm, tpm, concurrency } = allowance;
  if (concurrency !== undefined && state.running >= concurrency)
    return limitExceeded('concurrency', concurrency, concurrencyRetryMs, state, now, allowance);
  const requestsMs = rpm === undefined ? 0 : waitMs(requestsFullAt(state, now), now, 1, rpm);
  const tokensMs = tpm === undefined ? 0 : waitMs(tokensFullAt(state, now), now, tokens, tpm);
  if (requestsMs === 0 && tokensMs === 0) return undefined;
  if (rpm !== undefined && requestsMs >= tokensMs)
    return limitExceeded('requests', rpm, requestsMs, state, now, allowance);
  return limitExceeded('tokens', tpm ?? 0, tokensMs, state, now, allowance);
}

function limitExceeded(
  limitOf: LimitExceeded['limitOf'],
  limit: number,
  retryMs: number,
  state: Subject,
  now: number,
  allowance: Allowance,
): LimitExceeded {
  return {
    limitOf,
    limit,
    retryAfterMs: wholeMs(retryMs),
    ...statesOf(state, now, allowance),
  };
}

export function statesOf(state: Subject, now: number, { rpm, tpm }: Allowance): LimitStates {
  return {
    requests: limitState(rpm, requestsFullAt(state, now), now),
    tokens: limitState(tpm, tokensFullAt(state, now), now),
  };
}

function limitState(
  limit: number | undefined,
  fullAt: number,
  now: number,
): LimitState | undefined {
  if (limit === undefined) return undefined;
  return { limit, remaining: remaining(fullAt, now, limit), resetMs: wholeMs(fullAt - now) };
}

export const requestsFullAt = (state: Subject, now: number): number =>
  withLeased(state.requestsFullAt, now, state.requestsLeasedMs);
export const tokensFullAt = (state: Subject, now: number): number =>
  withLeased(state.tokensFullAt, now, state.tokensLeasedMs);
const withLeased = (fullAt: number, now: number, leasedMs: number): number =>
  leasedMs === 0 ? fullAt : Math.max(fullAt, now) + leasedMs;

class LimitedPass implements Pass {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  private readonly state: Subject;
  private readonly clock: Clock;
  private readonly tpm: number | undefined;
  private readonly charged: number;
  private readonly paidUntil: number;
  private finished = false;

  constructor(
    state: Subject,
    clock: Clock,
    now: number,
    rpm: number | undefined,
    tpm: number | undefined,
    tokens: number,
  ) {
    this.requests = limitState(rpm, requestsFullAt(state, now), now);
    this.tokens = limitState(tpm, tokensFullAt(state, now), now);
    this.state = state;
    this.clock = clock;
    this.tpm = tpm;
    this.charged = tpm === undefined ? 0 : Math.min(tokens, tpm);
    this.paidUntil = state.tokensFullAt;
  }

  finish(tokensUsed: number): void {
    if (this.finished) return;
    this.finished = true;
    this.state.running--;
    if (this.tpm === undefined) return;
    const more = tokensUsed - this.charged;
    this.state.tokensFullAt = correct(
      this.state.tokensFullAt,
      this.clock.monotonicMs(),
      more,
      this.tpm,
      this.paidUntil,
    );
  }
}

/** The most subjects remembered, apart from those with running requests. */
export const subjectsMax = 100_000;
/**
 * Old subjects checked when a new one arrives: more than one, so that the map shrinks while in use.
 */
const sweptPerArrival = 4;

/** Limits of one process, in memory. A refused request uses up nothing. */
export class MemoryLimiter implements Limiter {
  protected readonly clock: Clock;
  private readonly subjectsMax: number;
  protected readonly subjects = new Map<string, Subject>();

  constructor(clock: Clock, max = subjectsMax) {
    this.clock = clock;
    this.subjectsMax = max;
  }

  enter(subject: string, allowance: Allowance, tokens: number, also?: Share): Pass | LimitExceeded {
    if (also !== undefined) return this.enterBoth(subject, allowance, tokens, also);
    if (isUnlimited(allowance)) return unlimited;
    const now = this.clock.monotonicMs();
    const state = this.subject(subject, now);
    return refusedBy(state, now, allowance, tokens) ?? this.pass(state, now, allowance, tokens);
  }

  private enterBoth(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also: Share,
  ): Pass | LimitExceeded {
    if (isUnlimited(also.allowance)) return this.enter(subject, allowance, tokens);
    if (isUnlimited(allowance)) return this.enter(also.subject, also.allowance, tokens);
    const now = this.clock.monotonicMs();
    const [one, two] = [this.subject(subject, now), this.subject(also.subject, now)];
    // The second subject's arrival may have swept the first away.
    this.subjects.set(subject, one);
    const refusal = longer(
      refusedBy(one, now, allowance, tokens),
      refusedBy(two, now, also.allowance, tokens),
    );
    if (refusal !== undefined) {
      const states = [statesOf(one, now, allowance), statesOf(two, now, also.allowance)];
      return { ...refusal, ...tightest(states) };
    }
    const [first, second] = [
      this.pass(one, now, allowance, tokens),
      this.pass(two, now, also.allowance, tokens),
    ];
    return {
      requests: tighter(first.requests, second.requests),
      tokens: tighter(first.tokens, second.tokens),
      finish(used) {
        first.finish(used);
        second.finish(used);
      },
    };
  }

  private pass(state: Subject, now: number, { rpm, tpm }: Allowance, tokens: number): Pass {
    if (rpm !== undefined) state.requestsFullAt = spend(state.requestsFullAt, now, 1, rpm);
    if (tpm !== undefined)
      state.tokensFullAt = spend(state.tokensFullAt, now, Math.min(tokens, tpm), tpm);
    state.running++;
    return new LimitedPass(state, this.clock, now, rpm, tpm, tokens);
  }

  /** Subjects in memory. */
  get size(): number {
    return this.subjects.size;
  }

  protected subject(id: string, now: number): Subject {
    let state = this.subjects.get(id);
    if (state === undefined) {
      this.sweep(now);
      state = {
        requestsFullAt: 0,
        tokensFullAt: 0,
        running: 0,
        requestsLeasedMs: 0,
        tokensLeasedMs: 0,
      };
      this.subjects.set(id, state);
    }
    return state;
  }

  /**
   * Checks the oldest few: forgets the rested, and moves the others to the end of the queue. At the
   * limit, it also forgets a subject that has not rested yet.
   */
  private sweep(now: number): void {
    let looked = 0;
    for (const [id, state] of this.subjects) {
      if (looked++ === sweptPerArrival) return;
      const rested =
        state.running === 0 && state.requestsFullAt <= now && state.tokensFullAt <= now;
      this.subjects.delete(id);
      if (!rested && (state.running > 0 || this.subjects.size < this.subjectsMax - 1))
        this.subjects.set(id, state);
    }
  }
}

/** Concurrency first, as for one share; else the longer wait. */
function longer(
  a: LimitExceeded | undefined,
  b: LimitExceeded | undefined,
): LimitExceeded | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.limitOf === 'concurrency' || b.limitOf === 'concurrency')
    return a.limitOf === 'concurrency' ? a : b;
  return b.retryAfterMs > a.retryAfterMs ? b : a;
}

/**
 * Sets `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the limits that the group has.
 */
export function limitHeaders(states: LimitStates, reply: ClientResponse): void {
  if (states.requests !== undefined) add(reply, ofRequests, states.requests);
  if (states.tokens !== undefined) add(reply, ofTokens, states.tokens);
}

const namesOf = (of: string) =>
  ({
    limit: `x-ratelimit-limit-${of}`,
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
  }) as const;
const ofRequests = namesOf('requests');
const ofTokens = namesOf('tokens');

function add(reply: ClientResponse, names: typeof ofRequests, state: LimitState): void {
  reply.header(names.limit, String(state.limit));
  // `String` keeps the text of each integer in a long-lived cache, but this number differs in each
  // request.
  reply.header(names.remaining, Math.max(0, Math.floor(state.remaining)).toFixed());
  reply.header(names.reset, goDuration(state.resetMs));
}

/** Milliseconds as clients of this convention read them: `12ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  if (whole === 0) return '0s';
  if (whole < 1_000) return `${whole}ms`;
  const seconds = whole / 1_000;
  if (seconds < 60) return `${Number(seconds.toFixed(3))}s`;
  return `${Math.floor(seconds / 60)}m${Number((seconds % 60).toFixed(3))}s`;
}
