export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly secure: boolean;
  /** 0 deletes the cookie. */
  readonly seconds: number;
}

/**
 * A Set-Cookie value for this host and all of its paths: scripts cannot read the cookie, and
 * requests from other sites do not send it.
 */
export function setCookie({ name, value, secure, seconds }: Cookie): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure ? '; Secure' : ''}`;
}

/** The value of the first cookie of that name, not decoded. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
