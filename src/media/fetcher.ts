import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { userAgent } from '../http/control-call.ts';
import type { MediaLimits } from './limits.ts';

/** All addresses of a host. Rejects when it has none, or when nobody waits for them any more. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Why a download failed, as a text for the client. */
export class FetchFailed extends Error {}

/** The bytes that the downloads of one request may still read. */
export interface Budget {
  bytes: number;
}

export interface Fetched {
  readonly bytes: Buffer;
  /** The path of the address that sent them. */
  readonly path: string;
}

/**
 * How an address is requested, and who takes its bytes. `length`: how many the server declares, if
 * any.
 */
interface Fetch<T> {
  readonly signal: AbortSignal;
  /** Sent only to `home`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly take: (body: AsyncIterable<Buffer>, length: number | undefined, url: URL) => Promise<T>;
}

/**
 * The same text for a name that does not exist and for one with a private address, so that a client
 * cannot probe the operator's network.
 */
const notPublic = 'its host was not found, or is not on the public internet.';

const redirects = new Set([301, 302, 303, 307, 308]);
const usualHeaders = {
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': userAgent,
} as const;
/**
 * Below this, only ports 80 and 443 are allowed: mail servers and the like could misread a request.
 */
const freePorts = 1024;

/**
 * Reads one address. A name is resolved once, every address that it has is checked, and the
 * connection goes to one of these and no other, so that nothing can change in between; a redirect
 * is a new address and checked like the first. Name and certificate stay those of the host.
 */
export class Fetcher {
  readonly #limits: MediaLimits;
  readonly #hosts: AllowedHosts;
  readonly #resolve: Resolve;

  constructor(limits: MediaLimits, resolve: Resolve) {
    this.#limits = limits;
    this.#hosts = openHosts(limits.allowPrivate);
    this.#resolve = resolve;
  }

  /** All bytes of the address, within what is left for the request. */
  fetch(text: string, signal: AbortSignal, budget: Budget): Promise<Fetched> {
    return this.open(text, {
      signal,
      take: async (body, length, { pathname: path }) => ({
        bytes: await this.#read(body, length, budget),
        path,
      }),
    });
  }

  /**
   * Passes the bytes to `take` as they come, and returns its result. `home`: a trusted origin,
   * which may be private.
   */
  async open<T>(text: string, fetch: Fetch<T>, home?: string): Promise<T> {
    let url = parsed(text);
    for (let hops = 0; ; hops++) {
      const headers = url.origin === home ? { ...usualHeaders, ...fetch.headers } : usualHeaders;
      const got = await this.#get(url, { ...fetch, headers }, home);
      if ('value' in got) return got.value;
      if (hops === this.#limits.redirectsMax)
        throw new FetchFailed(`it redirects more than ${hops} times.`);
      url = parsed(got.location, url);
    }
  }

  async #get<T>(
    url: URL,
    { signal, headers, take }: Fetch<T>,
    home: string | undefined,
  ): Promise<{ value: T } | { location: string }> {
    const addresses = await untilAborted(
      this.#addressesOf(url, url.origin === home, signal),
      signal,
    );
    const { idleMs } = this.#limits;
    const { Agent, request } = await import('../http/outgoing.ts');
    const agent = new Agent({
      connect: { lookup: pinned(addresses), timeout: idleMs },
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    });
    try {
      const reply = await request(url, { dispatcher: agent, headers: { ...headers }, signal });
      reply.body.on('error', () => {});
      const { location, 'content-encoding': coding, 'content-length': length } = reply.headers;
      if (redirects.has(reply.statusCode) && typeof location === 'string') return { location };
      if (reply.statusCode !== 200) throw new FetchFailed(`its host answered ${reply.statusCode}.`);
      if (coding !== undefined && coding !== 'identity')
        throw new FetchFailed('its host compressed it unasked.');
      return {
        value: await take(reply.body, length === undefined ? undefined : Number(length), url),
      };
    } finally {
      await agent.destroy();
    }
  }

  async #addressesOf(url: URL, trusted: boolean, signal: AbortSignal): Promise<readonly string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await this.#resolved(host, signal) : [host];
    if (trusted || this.#hosts.named(host)) return addresses;
    const port = Number(url.port || 443);
    if (addresses.length === 0 || !addresses.every((address) => this.#hosts.reachable(address)))
      throw new FetchFailed(notPublic);
    if (port < freePorts && port !== 80 && port !== 443)
      throw new FetchFailed(`port ${port} is not one of the web.`);
    return addresses;
  }

  async #resolved(host: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#resolve(host, signal);
    } catch {
      throw new FetchFailed(notPublic);
    }
  }

  async #read(
    body: AsyncIterable<Buffer>,
    length: number | undefined,
    budget: Budget,
  ): Promise<Buffer> {
    const { fileBytesMax, requestBytesMax } = this.#limits;
    const tooLarge = new FetchFailed(`it is larger than ${fileBytesMax} bytes.`);
    if (length !== undefined && length > fileBytesMax) throw tooLarge;
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of body) {
      bytes += piece.length;
      budget.bytes -= piece.length;
      if (bytes > fileBytesMax) throw tooLarge;
      if (budget.bytes < 0)
        throw new FetchFailed(
          `the addresses of this request give more than ${requestBytesMax} bytes together.`,
        );
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

/**
 * The URL parser turns a host in another form (decimal, octal, hexadecimal) into a plain address.
 */
function parsed(text: string, from?: URL): URL {
  if (!URL.canParse(text, from?.href)) throw new FetchFailed('it is not an address.');
  const url = new URL(text, from);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new FetchFailed(`${url.protocol} is neither https: nor http:.`);
  if (url.username !== '' || url.password !== '') throw new FetchFailed('it carries a password.');
  return url;
}

function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    if (options.all === true) done(null, all);
    else done(null, all[0]?.address ?? '', all[0]?.family);
  };
}

/** A lookup cannot be cancelled: after an abort its result is ignored. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('aborted'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The hosts that clients may read: the public internet, and those that the operator allows. */
interface AllowedHosts {
  /** A host that is allowed by name, whatever it resolves to. */
  named(host: string): boolean;
  /** Whether an address may be connected to. */
  reachable(address: string): boolean;
}

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * `allowed`: names, addresses and networks. A text that is neither an address nor a network is a
 * name.
 */
function openHosts(allowed: readonly string[]): AllowedHosts {
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
        isPublic(address) ||
        networks.some((network) => isInNetwork(ipaddr.process(address), network))
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

function isInNetwork(address: ReturnType<typeof ipaddr.parse>, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** An IPv6 address is public only in the range that IANA has given out for global unicast. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * An address that looks public, but leads to a cloud's own services from each of its machines
 * (learn.microsoft.com/virtual-network/what-is-ip-address-168-63-129-16, 2026-08).
 */
const hostServices = '168.63.129.16';

/**
 * Whether an address is on the public internet. Private, loopback, link-local (clouds' metadata
 * among them), shared, multicast and reserved ones are not, nor any IPv6 form that carries an IPv4
 * address (mapped, NAT64, 6to4, Teredo): a translator may turn it into a private one.
 */
function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === hostServices) return false;
  return parsed.kind() === 'ipv4' || isInNetwork(parsed, globalUnicast);
}
