import type { Clock } from '../base/clock.ts';
import type { Allowance, Limiter, LimitState, Overrun, Pass } from './contract.ts';
import { correct, remaining, spend, waitMs, wholeMs } from './gcra.ts';

/** Subjects remembered at most, but for those with requests running. */
export const subjectsMax = 100_000;
/** Old subjects looked at when a new one arrives: more than one, so that the memory shrinks while it is used. */
const sweptPerArrival = 4;
/** Nobody knows when a running request will end. */
export const concurrencyRetryMs = 1_000;

/** What a group without limits gets: no state, no allocation. */
const unlimited: Pass = { requests: undefined, tokens: undefined, finish: () => {} };

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

  enter(subject: string, allowance: Allowance, tokens: number): Pass | Overrun {
    const { rpm, tpm, concurrency } = allowance;
    if (rpm === undefined && tpm === undefined && concurrency === undefined) return unlimited;
    const now = this.clock.monotonicMs();
    const state = this.subject(subject, now);
    const overrun = refusedBy(state, now, allowance, tokens);
    if (overrun !== undefined) return overrun;
    if (rpm !== undefined) state.requestsFullAt = spend(state.requestsFullAt, now, 1, rpm);
    if (tpm !== undefined) state.tokensFullAt = spend(state.tokensFullAt, now, Math.min(tokens, tpm), tpm);
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

  /** Looks at the oldest few: the rested are forgotten, the others go to the end of the queue; at the limit one that merely rests not yet goes too. */
  private sweep(now: number): void {
    let looked = 0;
    for (const [id, state] of this.subjects) {
      if (looked++ === sweptPerArrival) return;
      const rested = state.running === 0 && state.requestsFullAt <= now && state.tokensFullAt <= now;
      this.subjects.delete(id);
      if (!rested && (state.running > 0 || this.subjects.size < this.subjectsMax - 1)) this.subjects.set(id, state);
    }
  }
}

function refusedBy(state: Subject, now: number, allowance: Allowance, tokens: number): Overrun | undefined {
  const { rpm, tpm, concurrency } = allowance;
  if (concurrency !== undefined && state.running >= concurrency)
    return overrun('concurrency', concurrency, concurrencyRetryMs, state, now, allowance);
  const requestsMs = rpm === undefined ? 0 : waitMs(state.requestsFullAt, now, 1, rpm);
  const tokensMs = tpm === undefined ? 0 : waitMs(state.tokensFullAt, now, tokens, tpm);
  if (requestsMs === 0 && tokensMs === 0) return undefined;
  if (rpm !== undefined && requestsMs >= tokensMs) return overrun('requests', rpm, requestsMs, state, now, allowance);
  return overrun('tokens', tpm ?? 0, tokensMs, state, now, allowance);
}

function overrun(over: Overrun['over'], limit: number, retryMs: number, state: Subject, now: number, { rpm, tpm }: Allowance): Overrun {
  return {
    over,
    limit,
    retryAfterMs: wholeMs(retryMs),
    requests: limitState(rpm, state.requestsFullAt, now),
    tokens: limitState(tpm, state.tokensFullAt, now),
  };
}

function limitState(limit: number | undefined, fullAt: number, now: number): LimitState | undefined {
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

  constructor(state: Subject, clock: Clock, now: number, rpm: number | undefined, tpm: number | undefined, tokens: number) {
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
    this.state.tokensFullAt = correct(this.state.tokensFullAt, this.clock.monotonicMs(), more, this.tpm, this.paidUntil);
  }
}
