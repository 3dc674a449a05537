/** Headers for browsers, name and value in turn. */
export const cors = ['access-control-allow-origin', '*'];
/**
 * What a page may read of an answer: said to browsers, who are known by their Origin, and not to
 * every server that asks.
 */
export const exposed = [
  ...cors,
  'access-control-expose-headers',
  'x-request-id, request-id, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-tollgate-max-tokens, x-tollgate-dropped, idempotent-replayed',
];
/** The answer to a page that asks whether it may. */
export const preflight = [
  'access-control-allow-methods',
  'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers',
  '*, Authorization',
  'access-control-max-age',
  '86400',
];
