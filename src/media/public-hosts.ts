import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What an operator lets clients read beside the public internet, and what is public. */
export interface Hosts {
  /** A host that is allowed by name, whatever it resolves to. */
  named(host: string): boolean;
  /** Whether an address may be connected to. */
  reachable(address: string): boolean;
}

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** `allowed`: names, addresses and networks. What is neither an address nor a network is a name. */
export function openHosts(allowed: readonly string[]): Hosts {
  const names = new Set<string>();
  const networks: Network[] = [];
  for (const one of allowed) {
    const network = networkOf(one);
    if (network === undefined) names.add(one.toLowerCase());
    else networks.push(network);
  }
  return {
    named: (host) => names.has(host),
    reachable(address) {
      if (isIP(address) === 0) return false;
      return (
        isPublic(address) || networks.some((network) => lies(ipaddr.process(address), network))
      );
    },
  };
}

function networkOf(text: string): Network | undefined {
  if (isIP(text) !== 0) {
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

function lies(address: ReturnType<typeof ipaddr.parse>, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/**
 * All that IANA gives to everybody: unicast of no special purpose, and of IPv6 only what it has
 * given out at all.
 */
const givenOut = ipaddr.parseCIDR('2000::/3');

/**
 * Looks public, and leads to a cloud's own services from within each of its machines
 * (learn.microsoft.com/virtual-network/what-is-ip-address-168-63-129-16, 2026-08).
 */
const hostServices = '168.63.129.16';

/**
 * Whether an address is one of the public internet. Private, loopback, link-local (clouds' metadata
 * among them), shared, multicast and reserved ones are not, nor any IPv6 form that carries an IPv4
 * address (mapped, NAT64, 6to4, Teredo): whoever translates it may translate it to one inside.
 */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === hostServices) return false;
  return parsed.kind() === 'ipv4' || lies(parsed, givenOut);
}
