/** What a group allows; undefined = unlimited. */
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

/** `requests` and `tokens` are absent where there is no such limit; they become the `x-ratelimit-*` headers. */
export interface Pass {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  /** Ends the request's share of the concurrency; corrects the token estimate by what was used. Once. */
  finish(tokensUsed: number): void;
}

export interface Overrun {
  readonly over: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  readonly retryAfterMs: number;
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

export interface Limiter {
  /** `subject` is who shares the allowance (user and group). Synchronous in one process. */
  enter(subject: string, allowance: Allowance, tokens: number): Pass | Overrun;
}
