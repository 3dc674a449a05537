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
export function strangerAt(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address)
    .parts.slice(0, ofNetwork)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

const hostIn = (host: string | undefined): string =>
  host !== undefined && /^[\w.:[\]-]+$/.test(host) ? host : 'localhost';
