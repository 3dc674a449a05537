import type { Clock } from '../base/clock.ts';
import type { Allowance, Limiter, LimitState, Overrun, Pass, Share } from './contract.ts';
import { correct, remaining, spend, waitMs, wholeMs } from './gcra.ts';

/** Subjects remembered at most, but for those with requests running. */
export const subjectsMax = 100_000;
/**
 * Old subjects looked at when a new one arrives: more than one, so that the memory shrinks while it
 * is used.
 */
const sweptPerArrival = 4;
/** Nobody knows when a running request will end. */
export const concurrencyRetryMs = 1_000;

/** What a group without limits gets: no state, no allocation. */
export const unlimited: Pass = { requests: undefined, tokens: undefined, finish: () => {} };

export const isUnlimited = ({ rpm, tpm, concurrency }: Allowance): boolean =>
  rpm === undefined && tpm === undefined && concurrency === undefined;

/** Of two shares' states the one that ends first: what a client is told. */
export const tighter = (
  a: LimitState | undefined,
  b: LimitState | undefined,
): LimitState | undefined =>
  a === undefined || (b !== undefined && b.remaining < a.remaining) ? b : a;

/** Two GCRA clocks (`fullAt`: when the allowance is whole again) and the requests that run. */
interface Subject {
  requestsFullAt: number;
  tokensFullAt: number;
  running: number;
}

/** Limits of one process, in memory. A refused request uses nothing up. */
export class MemoryLimiter implements Limiter {
  private readonly clock: Clock;
  private readonly subjectsMax: number;
  private readonly subjects = new Map<string, Subject>();

  constructor(clock: Clock, max = subjectsMax) {
    this.clock = clock;
    this.subjectsMax = max;
  }

  enter(subject: string, allowance: Allowance, tokens: number, also?: Share): Pass | Overrun {
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
  ): Pass | Overrun {
    if (isUnlimited(also.allowance)) return this.enter(subject, allowance, tokens);
    if (isUnlimited(allowance)) return this.enter(also.subject, also.allowance, tokens);
    const now = this.clock.monotonicMs();
    const [one, two] = [this.subject(subject, now), this.subject(also.subject, now)];
    // The second's arrival may have swept the first away.
    this.subjects.set(subject, one);
    const refusals = [
      refusedBy(one, now, allowance, tokens),
      refusedBy(two, now, also.allowance, tokens),
    ];
    const refusal = refusals.reduce(longer);
    if (refusal !== undefined) {
      const [first, second] = [statesOf(one, now, allowance), statesOf(two, now, also.allowance)];
      return {
        ...refusal,
        requests: tighter(first.requests, second.requests),
        tokens: tighter(first.tokens, second.tokens),
      };
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

  private subject(id: string, now: number): Subject {
    let state = this.subjects.get(id);
    if (state === undefined) {
      this.sweep(now);
      state = { requestsFullAt: 0, tokensFullAt: 0, running: 0 };
      this.subjects.set(id, state);
    }
    return state;
  }

  /**
   * Looks at the oldest few: the rested are forgotten, the others go to the end of the queue; at
   * the limit one that merely rests not yet goes too.
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

function refusedBy(
  state: Subject,
  now: number,
  allowance: Allowance,
  tokens: number,
): Overrun | undefined {
  const { rpm, tpm, concurrency } = allowance;
  if (concurrency !== undefined && state.running >= concurrency)
    return overrun('concurrency', concurrency, concurrencyRetryMs, state, now, allowance);
  const requestsMs = rpm === undefined ? 0 : waitMs(state.requestsFullAt, now, 1, rpm);
  const tokensMs = tpm === undefined ? 0 : waitMs(state.tokensFullAt, now, tokens, tpm);
  if (requestsMs === 0 && tokensMs === 0) return undefined;
  if (rpm !== undefined && requestsMs >= tokensMs)
    return overrun('requests', rpm, requestsMs, state, now, allowance);
  return overrun('tokens', tpm ?? 0, tokensMs, state, now, allowance);
}

/** Concurrency first, as for one share; else who waits longer. */
function longer(a: Overrun | undefined, b: Overrun | undefined): Overrun | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.over === 'concurrency' || b.over === 'concurrency') return a.over === 'concurrency' ? a : b;
  return b.retryAfterMs > a.retryAfterMs ? b : a;
}

function overrun(
  over: Overrun['over'],
  limit: number,
  retryMs: number,
  state: Subject,
  now: number,
  allowance: Allowance,
): Overrun {
  return {
    over,
    limit,
    retryAfterMs: wholeMs(retryMs),
    ...statesOf(state, now, allowance),
  };
}

function statesOf(
  state: Subject,
  now: number,
  { rpm, tpm }: Allowance,
): Pick<Pass, 'requests' | 'tokens'> {
  return {
    requests: limitState(rpm, state.requestsFullAt, now),
    tokens: limitState(tpm, state.tokensFullAt, now),
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
    this.requests = limitState(rpm, state.requestsFullAt, now);
    this.tokens = limitState(tpm, state.tokensFullAt, now);
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
