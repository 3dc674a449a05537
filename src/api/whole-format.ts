import type { Quantities } from '../base/quantities.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import { chatEnvelope } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';

/**
 * Of endpoints that are always answered as a whole. `counted` writes our count into an answer whose
 * vendor told none.
 */
export function wholeFormat(
  counted?: (answer: Buffer, quantities: Quantities) => Buffer,
): ClientFormat {
  return {
    done: '',
    keepAlive: '',
    errorEvent: chatEnvelope.event,
    limitHeaders,
    ...(counted === undefined ? {} : { counted: { whole: counted, event: () => '' } }),
  };
}
