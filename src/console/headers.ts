import type { IncomingHttpHeaders } from 'node:http';
import { fail } from './problem.ts';

/** What was made when the form was opened: whoever sends a form twice makes one thing. */
export function idempotencyKeyIn({ 'idempotency-key': key }: IncomingHttpHeaders): string {
  return typeof key === 'string' && /^[\x21-\x7e]{8,200}$/.test(key)
    ? key
    : fail('idempotency_key_missing');
}

/** Which version of the object was read: `if-match: 3`, with quotes or without. */
export function versionIn({ 'if-match': match }: IncomingHttpHeaders): number {
  const parts = /^"?(\d{1,15})"?$/.exec(match ?? '');
  return parts === null ? fail('if_match_missing') : Number(parts[1]);
}
