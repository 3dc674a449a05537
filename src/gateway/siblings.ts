import { Upstream, type UpstreamLimits } from '../http/upstream.ts';

/** Other hosts of one vendor, at most: more than that is no vendor's way to spread its work. */
const siblingsMax = 16;

/**
 * The hosts of a vendor beside that of its base URL. It sends us there by its answers, so that only
 * hosts that it has declared are believed.
 */
export class Siblings {
  readonly #home: Upstream;
  readonly #domains: readonly string[];
  readonly #limits: UpstreamLimits;
  readonly #open = new Map<string, Upstream>();

  constructor(home: Upstream, domains: readonly string[], limits: UpstreamLimits) {
    this.#home = home;
    this.#domains = domains;
    this.#limits = limits;
  }

  /** Paths of what it returns are whole. The base URL's own host is as good as declared. */
  of(url: URL): Upstream | undefined {
    const known = this.#open.get(url.origin);
    if (known !== undefined) return known;
    if (this.#open.size === siblingsMax || !this.#trusts(url)) return undefined;
    const opened = new Upstream(url.origin, this.#limits);
    this.#open.set(url.origin, opened);
    return opened;
  }

  #trusts({ origin, protocol, port, hostname }: URL): boolean {
    if (origin === new URL(this.#home.urlOf('')).origin) return true;
    return (
      protocol === 'https:' &&
      port === '' &&
      this.#domains.some((domain) => hostname.endsWith(domain))
    );
  }

  async retire(): Promise<void> {
    await Promise.all([...this.#open.values()].map((each) => each.retire()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((each) => each.close()));
  }
}
