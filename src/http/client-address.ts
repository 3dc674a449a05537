import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Addresses that somebody wrote down. */
export interface Networks {
  has(address: string): boolean;
}

/** Whose request it is: what the connection says, or what a trusted proxy says of it. */
export type ClientAddress = (
  socketAddress: string | undefined,
  headers: IncomingHttpHeaders,
) => string;

/**
 * Whether it is an address such as `10.0.0.1` or a network such as `10.0.0.0/8`; of IPv4 as people
 * write it, all four numbers of it.
 */
export const isNetwork = (text: string): boolean =>
  (text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text.split('/', 1)[0] ?? '')) &&
  (ipaddr.isValid(text) || ipaddr.isValidCIDR(text));

/** Of addresses and networks; each `isNetwork`. */
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
 * `proxies`: addresses and networks whose `X-Forwarded-For` is believed, hop by hop from the last.
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
      const before = hops.pop();
      if (before === undefined || !ipaddr.isValid(before)) break;
      address = plain(before);
    }
    return address;
  };
}

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : [ipaddr.parse(text), undefined];
  return [address, bits ?? (address.kind() === 'ipv4' ? 32 : 128)];
}

/** IPv4 as IPv4, however the socket writes it. */
const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
