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
