import type { IncomingHttpHeaders } from 'node:http';
import type { ClientResponse } from '../http/client-response.ts';
import type { LimitState } from '../limits/limiter.ts';
import { chatEnvelope, type Envelope, messagesEnvelope } from './errors.ts';

interface LimitStates {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

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

/** Headers for browsers, name and value in turn. */
export const corsHeaders = ['access-control-allow-origin', '*'];
/** The response headers that a page may read. Only browsers need them: they send an Origin. */
export const corsExposedHeaders = [
  ...corsHeaders,
  'access-control-expose-headers',
  'x-request-id, request-id, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-tollgate-max-tokens, x-tollgate-dropped, idempotent-replayed',
];
/** The headers of the response to a CORS preflight. */
export const corsPreflightHeaders = [
  'access-control-allow-methods',
  'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers',
  '*, Authorization',
  'access-control-max-age',
  '86400',
];

/**
 * What the entry needs to know of a client's convention: which header holds the API key, how errors
 * look, and which header names the request.
 */
export interface ClientConvention {
  readonly envelope: Envelope;
  /** The header that names the request, beside `x-request-id`. */
  readonly idHeader: string | undefined;
  credential(headers: IncomingHttpHeaders): string | undefined;
  /** Where several conventions share a path: picks the client's one by its headers. */
  spokenBy?(headers: IncomingHttpHeaders): ClientConvention;
}

/** The credential of `Authorization: Bearer …`, the scheme in any case. */
function bearer({ authorization: header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ')
    return undefined;
  const secret = header.slice(7).trim();
  return secret === '' ? undefined : secret;
}

export const chatConvention: ClientConvention = {
  envelope: chatEnvelope,
  idHeader: undefined,
  credential: bearer,
};

/** Clients of `/v1/messages` send their key in `x-api-key`; newer ones send a bearer token. */
export const messagesConvention: ClientConvention = {
  envelope: messagesEnvelope,
  idHeader: 'request-id',
  credential(headers) {
    const key = headers['x-api-key'];
    return (
      bearer(headers) ?? (typeof key === 'string' && key.trim() !== '' ? key.trim() : undefined)
    );
  },
};
