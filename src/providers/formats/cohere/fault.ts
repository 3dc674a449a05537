import type { Fault } from '../../../base/fault.ts';
import { type Documented, type JsonObject, objectOf, textOf } from '../../../base/json.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { faultReader, type FaultRule } from '../fault.ts';
import type { CohereError } from './types.ts';

/**
 * docs.cohere.com/reference/errors, 2026-08, and recorded ones: `{"id","message"}`, with an
 * `error_type` for too many tokens.
 */
export const cohereFaultRules: readonly FaultRule[] = [
  { code: /^TOO_MANY_TOKENS$/, kind: 'context_length' },
  // A trial key has a limit per minute, too, which is no `quota`: it passes.
  { text: /calls? \/ month|monthly limit/i, kind: 'quota' },
  { status: 498, kind: 'credentials' },
  { status: 499, kind: 'network' },
  { status: 400, text: /blocked|safety|content policy/i, kind: 'content_policy' },
  { status: 422, kind: 'bad_request' },
  { status: 501, kind: 'bad_request' },
];

export const cohereFault = faultReader(cohereFaultRules);

/** The fault in the place of an answer or of an event. */
export function cohereFaultWithin(body: JsonObject): Fault | undefined {
  const told: Documented<CohereError> = body;
  const message =
    textOf(told.message) ?? textOf(objectOf(told.error)?.message) ?? textOf(told.error);
  return message === undefined
    ? undefined
    : { kind: 'server_error', message: sanitizeVendorMessage(message) };
}
