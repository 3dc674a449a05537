import type { Clock } from '../base/clock.ts';
import type { Allowance, LimitExceeded, LimitState, LimitStates, Pass } from './limiter.ts';
import { correct, remaining, waitMs, wholeMs } from './rate.ts';

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

export class LimitedPass implements Pass {
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
