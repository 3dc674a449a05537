/** What a group or a key allows; undefined = unlimited. */
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

/**
 * `requests` and `tokens` are absent where there is no such limit; they become the `x-ratelimit-*`
 * headers.
 */
export interface Pass {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  /**
   * Ends the request's share of the concurrency; corrects the token estimate by what was used.
   * Once.
   */
  finish(tokensUsed: number): void;
}

export interface Overrun {
  readonly over: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  readonly retryAfterMs: number;
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

/** Who shares an allowance (a user in a group, a key), and which. */
export interface Share {
  readonly subject: string;
  readonly allowance: Allowance;
}

export interface Limiter {
  /**
   * `also`: a second share, which must have room too. A refused request uses nothing up, of
   * neither. Synchronous in one process.
   */
  enter(subject: string, allowance: Allowance, tokens: number, also?: Share): Pass | Overrun;
}

/** The same for several nodes, where the answer may come from another machine. */
export interface SharedLimiter {
  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | Overrun | Promise<Pass | Overrun>;
}
