import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';
import { type ClientAddress, clientAddress } from '../http/client-address.ts';

/** How browsers reach this installation, and which of their requests are its own. */
export interface Site {
  /** Behind https: cookies are sent over nothing else. */
  readonly secure: boolean;
  /** Without `/` at its end: what is configured, else as the request itself reached us. */
  urlFor(headers: IncomingHttpHeaders): string;
  /**
   * Whether a page of ours asks. Browsers tell the origin of everything that may change something.
   */
  isOwn(headers: IncomingHttpHeaders): boolean;
  readonly addressOf: ClientAddress;
}

/**
 * `publicUrl`: `https://ai.example.com`; undefined: whatever host the browser names. `proxies`:
 * addresses and networks such as `10.0.0.0/8`.
 */
export function openSite(publicUrl: string | undefined, proxies: readonly string[] = []): Site {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return {
    secure: publicUrl?.startsWith('https:') === true,
    urlFor: ({ host }) => publicUrl ?? `http://${hostIn(host)}`,
    isOwn({ origin, host }) {
      if (origin === undefined) return false;
      return configured === undefined
        ? origin === `http://${host}` || origin === `https://${host}`
        : origin === configured;
    },
    addressOf: clientAddress(proxies),
  };
}

const ofNetwork = 4;

/**
 * Whom strangers are counted as: an IPv4 address, and of IPv6 the network of 64 bits, since whoever
 * has one address has all of them (rfc-editor.org/rfc/rfc6177).
 */
export function networkKeyOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address)
    .parts.slice(0, ofNetwork)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

const hostIn = (host: string | undefined): string =>
  host !== undefined && /^[\w.:[\]-]+$/.test(host) ? host : 'localhost';

const nowhere = 'http://next.invalid';

/**
 * Where somebody goes after having signed in: a path of this site's pages, or `/`. Whatever a
 * browser could take for another site is not followed: what it does with backslashes, tabs and
 * dots, the parser of addresses does as well.
 */
export function nextPath(written: string | null | undefined): string {
  if (typeof written !== 'string' || written.length > 2_000 || !written.startsWith('/')) return '/';
  const url = URL.canParse(written, nowhere) ? new URL(written, nowhere) : undefined;
  if (url === undefined || url.origin !== nowhere || url.pathname.startsWith('//')) return '/';
  // Addresses that do something when they are opened, or are no pages.
  if (/^\/(?:auth|console|v1|files)(?:\/|$)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
