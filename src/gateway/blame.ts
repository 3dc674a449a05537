import type { Fault } from '../base/fault.ts';
import { type Refusal, refusal } from '../base/refusal.ts';

/** Clients come back after this when no channel said how long it needs. */
const retryAfterMsDefault = 5_000;
const messageCharsMax = 1_000;

/** A vendor's fault as the client may see it: its own mistakes as a 400, everything else as our 503, never as its 401, 402, 403 or 429. */
export function refusalFor(
  fault: Fault,
  requestId: string,
  retryAfterMs: number | undefined,
  secret: string | undefined,
): Refusal {
  const values = {
    message: without(secret, fault.message).slice(0, messageCharsMax),
    ...(fault.param === undefined ? {} : { param: fault.param }),
  };
  if (fault.kind === 'bad_request') return refusal('vendor_bad_request', values);
  if (fault.kind === 'context_length')
    return refusal('context_length_exceeded', { param: 'messages', ...values });
  if (fault.kind === 'content_policy') return refusal('content_policy_violation', values);
  if (fault.ended === true && fault.kind === 'server_error')
    return refusal('generation_failed', { id: requestId });
  return unavailable(
    whatHappened[fault.kind] ?? 'the model cannot be reached',
    requestId,
    retryAfterMs ?? fault.retryAfterMs,
  );
}

/** Shorter than any key, a secret may be part of any word. */
const secretCharsMin = 6;

/** The vendor's words without our key, should it stand in them in a form that its adapter does not know. */
export function without(secret: string | undefined, message: string): string {
  return secret === undefined || secret.length < secretCharsMin
    ? message
    : message.replaceAll(secret, '***');
}

const whatHappened: Readonly<Partial<Record<Fault['kind'], string>>> = {
  rate_limited: 'the model is busy',
  overloaded: 'the model is overloaded',
  timeout: 'the model did not answer in time',
  network: 'the connection to the model broke',
  protocol: 'the model gave an answer that cannot be read',
  server_error: 'the model failed',
};

export function unavailable(
  why: string,
  requestId: string,
  retryAfterMs: number | undefined,
): Refusal {
  return refusal('unavailable', { why, id: requestId }, retryAfterMs ?? retryAfterMsDefault);
}
