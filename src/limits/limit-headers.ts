import type { ClientResponse } from '../http/client-response.ts';
import type { LimitState, LimitStates } from './limiter.ts';

/**
 * Sets `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the limits that the group has.
 */
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
  // `String` keeps the text of each integer in a long-lived cache, but this number differs in each
  // request.
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
