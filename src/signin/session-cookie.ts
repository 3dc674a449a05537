import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { lifeMs } from '../accounts/sessions.ts';
import { cookieIn, setCookie } from '../http/cookies.ts';

/**
 * `__Host-`: no other host, path or plain connection can have set it. Browsers take such a name
 * over https alone.
 */
const nameOf = (secure: boolean): string => (secure ? '__Host-tollgate' : 'tollgate');

export function sessionSecretIn(
  { cookie }: IncomingHttpHeaders,
  secure: boolean,
): string | undefined {
  return cookieIn(cookie, nameOf(secure));
}

/**
 * The cookie lasts as long as a session may live; the server, not the browser, decides when it is
 * over.
 */
export function sessionCookie(secret: string, secure: boolean): string {
  return setCookie({ name: nameOf(secure), value: secret, secure, seconds: lifeMs / 1_000 });
}

export function noSessionCookie(secure: boolean): string {
  return setCookie({ name: nameOf(secure), value: '', secure, seconds: 0 });
}

/**
 * The token that proves a request to come from the console's own pages. It derives from the
 * session's secret, which no script can read.
 */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('tollgate/csrf').digest('base64url');
}

export function isCsrf(written: string | string[] | undefined, expected: string): boolean {
  const given = Buffer.from(typeof written === 'string' ? written : '');
  const wanted = Buffer.from(expected);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
