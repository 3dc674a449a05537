import type { ClientResponse } from '../http/client-response.ts';
import type { LimitState } from '../limits/limiter.ts';

interface LimitStates {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

/** `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the limits that the group has. */
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
  // `String` would keep each figure of an integer in a cache that lives long; this one is another
  // for each request.
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

/** Headers for browsers, name and value in turn. */
export const corsHeaders = ['access-control-allow-origin', '*'];
/**
 * What a page may read of an answer: said to browsers, who are known by their Origin, and not to
 * every server that asks.
 */
export const corsExposedHeaders = [
  ...corsHeaders,
  'access-control-expose-headers',
  'x-request-id, request-id, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-tollgate-max-tokens, x-tollgate-dropped, idempotent-replayed',
];
/** The answer to a page that asks whether it may. */
export const corsPreflightHeaders = [
  'access-control-allow-methods',
  'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers',
  '*, Authorization',
  'access-control-max-age',
  '86400',
];
