import type { IncomingHttpHeaders } from 'node:http';
import { chatEnvelope, type Envelope, messagesEnvelope } from './errors.ts';

/**
 * What the door has to know of a client's convention: where the key is, what a no looks like, and
 * how the request is named.
 */
export interface ClientConvention {
  readonly envelope: Envelope;
  /** The header that names the request, beside `x-request-id`. */
  readonly idHeader: string | undefined;
  credential(headers: IncomingHttpHeaders): string | undefined;
  /** Where several conventions share a path: the one that this client speaks. */
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

/** Clients of `/v1/messages` send their key in a header of its own, newer ones as a bearer's. */
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
