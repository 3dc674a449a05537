import type { ClientResponse } from '../http/client-response.ts';

/** Headers for browsers, name and value in turn. */
export const corsHeaders = ['access-control-allow-origin', '*'];
/** The response headers that a page may read. Only browsers need them: they send an Origin. */
export const corsExposedHeaders = [
  ...corsHeaders,
  'access-control-expose-headers',
  'x-request-id, request-id, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-tollgate-max-tokens, x-tollgate-dropped, idempotent-replayed',
];
/** The headers of the response to a CORS preflight. */
const corsPreflightHeaders = [
  'access-control-allow-methods',
  'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers',
  '*, Authorization',
  'access-control-max-age',
  '86400',
];

export function answerPreflight(response: ClientResponse): void {
  for (let i = 0; i + 1 < corsPreflightHeaders.length; i += 2)
    response.header(corsPreflightHeaders[i] ?? '', corsPreflightHeaders[i + 1] ?? '');
  void response.send(204, undefined);
}
