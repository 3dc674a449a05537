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
export const tighter = (
  a: LimitState | undefined,
  b: LimitState | undefined,
): LimitState | undefined =>
  a === undefined || (b !== undefined && b.remaining < a.remaining) ? b : a;
