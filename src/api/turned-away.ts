import { type Refusal, refusal } from '../base/refusal.ts';
import type { LimitReached } from '../gateway/admit.ts';

export function limitRefusal({ overrun, requested }: LimitReached): Refusal {
  const seconds = Math.max(1, Math.ceil(overrun.retryAfterMs / 1_000));
  const name = {
    requests: 'rate_limit_requests',
    tokens: 'rate_limit_tokens',
    concurrency: 'rate_limit_concurrency',
  } as const;
  return refusal(
    name[overrun.over],
    { limit: overrun.limit, requested, seconds },
    overrun.retryAfterMs,
  );
}

/** Why the framework could not take a body; undefined when that is no fault of the client's. */
export function bodyRefusal(error: unknown, limit: number): Refusal | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refusal('request_too_large', { limit });
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return refusal('malformed_json', { why: 'its length is not what content-length says.' });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return refusal('wrong_content_type', { got: 'none', expected: 'application/json' });
  return undefined;
}

/** Enough of a wrong key to recognise it, too little to use it. */
export function masked(secret: string): string {
  return secret.length < 12 ? '****' : `${secret.slice(0, 5)}****${secret.slice(-4)}`;
}
