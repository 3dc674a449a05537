import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';

/** A configured set of addresses and networks. */
export interface Networks {
  has(address: string): boolean;
}

/** The client's address: that of the connection, or the one that a trusted proxy reports. */
export type ClientAddress = (
  socketAddress: string | undefined,
  headers: IncomingHttpHeaders,
) => string;

/**
 * Whether the text is an address such as `10.0.0.1` or a network such as `10.0.0.0/8`; an IPv4
 * address needs all four numbers.
 */
export const isNetwork = (text: string): boolean =>
  (text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text.split('/', 1)[0] ?? '')) &&
  (ipaddr.isValid(text) || ipaddr.isValidCIDR(text));

/** Parses addresses and networks, each of which passes `isNetwork`. */
export function networksOf(texts: readonly string[]): Networks {
  const networks = texts.map(networkOf);
  return {
    has(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return networks.some(
        (network) => address.kind() === network[0].kind() && address.match(network),
      );
    },
  };
}

/**
 * `proxies`: addresses and networks whose `X-Forwarded-For` is trusted, hop by hop from the last.
 */
export function clientAddress(proxies: readonly string[] = []): ClientAddress {
  const trusted = networksOf(proxies);
  return (socketAddress, { 'x-forwarded-for': forwarded }) => {
    const hops = [forwarded ?? []]
      .flat()
      .join(',')
      .split(',')
      .map((hop) => hop.trim());
    let address = plain(socketAddress ?? '');
    while (trusted.has(address)) {
      const before = withoutPort(hops.pop() ?? '');
      if (!ipaddr.isValid(before)) break;
      address = plain(before);
    }
    return address;
  };
}

/** Some proxies write the client's port behind its address: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const withoutPort = (hop: string): string =>
  hop.replace(/^([\d.]+):\d+$/, '$1').replace(/^\[([\da-f:.]+)\](?::\d+)?$/i, '$1');

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), undefined];
  return [address, bits ?? (address.kind() === 'ipv4' ? 32 : 128)];
}

/** Turns an IPv4 address that the socket writes as IPv6 back into IPv4. */
const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
