import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';

/** How browsers reach this installation, and which of their requests are its own. */
export interface Site {
  /** Behind https: cookies are sent over nothing else. */
  readonly secure: boolean;
  /** Without `/` at its end: what is configured, else as the request itself reached us. */
  urlFor(headers: IncomingHttpHeaders): string;
  /** Whether a page of ours asks. Browsers tell the origin of everything that may change something. */
  isOwn(headers: IncomingHttpHeaders): boolean;
  /** Whose request it is: what the connection says, or what a trusted proxy says of it. */
  addressOf(socketAddress: string | undefined, headers: IncomingHttpHeaders): string;
}

/** `publicUrl`: `https://ai.example.com`; undefined: whatever host the browser names. `proxies`: addresses and networks such as `10.0.0.0/8`. */
export function openSite(publicUrl: string | undefined, proxies: readonly string[] = []): Site {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const networks = proxies.map(networkOf);
  const trusted = (text: string): boolean => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return networks.some((network) => address.kind() === network[0].kind() && address.match(network));
  };
  return {
    secure: publicUrl?.startsWith('https:') === true,
    urlFor: ({ host }) => publicUrl ?? `http://${hostIn(host)}`,
    isOwn({ origin, host }) {
      if (origin === undefined) return false;
      return configured === undefined ? origin === `http://${host}` || origin === `https://${host}` : origin === configured;
    },
    addressOf(socketAddress, { 'x-forwarded-for': forwarded }) {
      const hops = [forwarded ?? []]
        .flat()
        .join(',')
        .split(',')
        .map((hop) => hop.trim());
      let address = plain(socketAddress ?? '');
      while (trusted(address)) {
        const before = hops.pop();
        if (before === undefined || !ipaddr.isValid(before)) break;
        address = plain(before);
      }
      return address;
    },
  };
}

/** Whether it is an address such as `10.0.0.1` or a network such as `10.0.0.0/8`. */
export const isNetwork = (text: string): boolean => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const ofNetwork = 4;

/**
 * Whom strangers are counted as: an IPv4 address, and of IPv6 the network of 64 bits, since whoever has one address has all of them
 * (rfc-editor.org/rfc/rfc6177).
 */
export function strangerAt(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return `${ipaddr.IPv6.parse(address)
    .parts.slice(0, ofNetwork)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** IPv4 as IPv4, however the socket writes it. */
const plain = (address: string): string => (ipaddr.isValid(address) ? ipaddr.process(address).toString() : address);

const hostIn = (host: string | undefined): string => (host !== undefined && /^[\w.:[\]-]+$/.test(host) ? host : 'localhost');
