import { type Refusal, refusals } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';

/** The one error shape of the interface: always these four members. */
function envelope(refusal: Refusal): string {
  const { type, code } = refusals[refusal.refusal];
  return JSON.stringify({ error: { message: refusal.message, type, param: refusal.param, code } });
}

export function statusOf(refusal: Refusal): number {
  return refusals[refusal.refusal].status;
}

/** Sends the refusal as the whole answer. */
export function sendRefusal(reply: Reply, refusal: Refusal): void {
  const status = statusOf(refusal);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="API"');
  if (refusal.retryAfterMs !== undefined) {
    reply.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1_000))));
    reply.header('retry-after-ms', String(Math.ceil(refusal.retryAfterMs)));
  }
  // SDKs repeat every 429 by themselves; an empty balance does not fill by asking again.
  if (refusal.refusal === 'insufficient_quota') reply.header('x-should-retry', 'false');
  reply.whole(status, 'application/json', envelope(refusal));
}

/** The refusal inside a stream that has begun. The stream ends after it, without its end mark. Latin1: one character a byte. */
export function errorEvent(refusal: Refusal): string {
  return Buffer.from(`data: ${envelope(refusal)}\n\n`, 'utf8').toString('latin1');
}
