import type { Fault, FaultKind } from '../base/fault.ts';

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
export class Breaker {
  shutUntil = 0;
  shutBy: FaultKind | undefined;
  open = false;
  lastFault: FaultKind | undefined;
  private probeAt = 0;
  private parks = 0;
  private failed = 0;
  private seen = 0;
  private heardAt = 0;

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
    if (now - this.heardAt > windowIdleMs) {
      this.failed = 0;
      this.seen = 0;
    }
    this.heardAt = now;
    this.failed = ((this.failed << 1) | failed) & ((1 << windowResults) - 1);
    if (this.seen < windowResults) this.seen++;
  }
}
