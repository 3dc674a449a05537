import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';
import { type ClientAddress, clientAddress } from '../http/client-address.ts';

/** How browsers reach this installation, and which of their requests are its own. */
export interface Site {
  /** True behind https: browsers then send cookies over nothing else. */
  readonly secure: boolean;
  /** The configured address, without `/` at its end. */
  readonly publicUrl: string | undefined;
  /** Without `/` at its end: the configured address, else the one that the request used. */
  urlFor(headers: IncomingHttpHeaders): string;
  /**
   * Whether a page of this site sent the request. Browsers name the origin of every request that
   * may change something.
   */
  isOwn(headers: IncomingHttpHeaders): boolean;
  readonly addressOf: ClientAddress;
}

/**
 * `publicUrl`: `https://ai.example.com`; undefined: the host that the browser names. `proxies`:
 * addresses and networks such as `10.0.0.0/8`.
 */
export function openSite(publicUrl: string | undefined, proxies: readonly string[] = []): Site {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return {
    publicUrl,
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
 * The key under which strangers are counted: an IPv4 address, or the network of 64 bits of an IPv6
 * address, since a client that has one of its addresses has all of them
 * (rfc-editor.org/rfc/rfc6177).
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
 * The page after a sign-in: a path of this site's pages, or `/`. A path that a browser could take
 * for another site is refused: the URL parser treats backslashes, tabs and dots as browsers do.
 */
export function nextPath(written: string | null | undefined): string {
  if (typeof written !== 'string' || written.length > 2_000 || !written.startsWith('/')) return '/';
  const url = URL.canParse(written, nowhere) ? new URL(written, nowhere) : undefined;
  if (url === undefined || url.origin !== nowhere || url.pathname.startsWith('//')) return '/';
  // Addresses that do something when they are opened, or are no pages.
  if (/^\/(?:auth|console|v1|files)(?:\/|$)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}
