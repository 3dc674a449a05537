import type { Clock } from '../base/clock.ts';
import { type Lease, leaseRequestsMin, partOf, SubjectLease, type Units } from './lease.ts';
import {
  type Allowance,
  isUnlimited,
  type LimitExceeded,
  type Limiter,
  type Pass,
  type Share,
  tighter,
  unlimited,
} from './limiter.ts';
import { spend, waitMs } from './rate.ts';
import { LimitedPass, refusedBy, statesOf, type Subject } from './subject.ts';

/** The most subjects remembered, apart from those with running requests. */
export const subjectsMax = 100_000;
/**
 * Old subjects checked when a new one arrives: more than one, so that the map shrinks while in use.
 */
const sweptPerArrival = 4;

/** Limits of one process, in memory. A refused request uses up nothing. */
export class MemoryLimiter implements Limiter {
  private readonly clock: Clock;
  private readonly subjectsMax: number;
  private readonly subjects = new Map<string, Subject>();

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
    const states = all.map(({ state, allowance }) => statesOf(state, now, allowance));
    return {
      units,
      requests: states.map(({ requests }) => requests).reduce(tighter),
      tokens: states.map((each) => each.tokens).reduce(tighter),
      end: (unused) => leases.forEach((lease) => lease.end(this.clock.monotonicMs(), unused)),
      leave: (places, tokens) =>
        leases.forEach((lease) => lease.leave(this.clock.monotonicMs(), places, tokens)),
    };
  }

  /** Subjects in memory. */
  get size(): number {
    return this.subjects.size;
  }

  private subject(id: string, now: number): Subject {
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
