import type { IncomingHttpHeaders } from 'node:http';

/** The simulator refuses keys that contain one of these words, and accepts any other. */
export const isWrongKey = (key: string): boolean => /wrong|invalid|expired/i.test(key);

/** The key of `authorization: Bearer …`; undefined: there is none. */
export const bearerOf = ({ authorization = '' }: IncomingHttpHeaders): string | undefined =>
  /^Bearer\s+(.+)$/i.exec(authorization)?.[1]?.trim() || undefined;

/** The key in a header of the vendor's own, else the bearer token. */
export function keyOf(headers: IncomingHttpHeaders, header: string): string | undefined {
  const own = headers[header];
  return typeof own === 'string' ? own.trim() || undefined : bearerOf(headers);
}
