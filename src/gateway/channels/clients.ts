import type { SynchronousCapability, Capability, TaskCapability } from '../../base/capability.ts';
import type { Candidate, Channel, Snapshot } from '../../catalog/snapshot.ts';
import { Upstream, type UpstreamLimits } from '../../http/upstream.ts';
import type {
  Adapter,
  BaseAdapter,
  ImageAdapter,
  AudioAdapter,
  StreamedImageAdapter,
  WholeAdapter,
} from '../../providers/adapter.ts';
import { adaptersOf } from '../../providers/bridges/index.ts';
import type { TaskAdapter } from '../../providers/task-adapter.ts';
import type { Authorizer, VendorContext, Vendor } from '../../providers/vendor.ts';

/**
 * A stream has its connection for itself, so this is how many one channel can have open; what more
 * is asked waits.
 */
export const upstreamLimits: UpstreamLimits = { connectionsMax: 16_384, connectTimeoutMs: 5_000 };

/** A channel made ready: its vendor's adapters, open connections and proof of who we are. */
export interface ChannelClient {
  /** What its vendor is called in OpenTelemetry's conventions. */
  readonly provider: string;
  readonly upstream: Upstream;
  readonly sign: Readonly<Record<string, string>>;
  /** The channel's key, which no client may see, whoever repeats it. */
  readonly secret: string | undefined;
  /** Only where `sign` is not proof enough. */
  readonly authorize: Authorizer | undefined;
  /** Who can read again what this vendor signs; undefined where only the same account can. */
  readonly signer: string | undefined;
  /** As in `Vendor`. */
  readonly thinksBeyondLimit: boolean;
  readonly readsBeyond: Vendor['readsBeyond'];
  adapter(
    capability: SynchronousCapability,
  ): Adapter | WholeAdapter | ImageAdapter | StreamedImageAdapter | AudioAdapter | undefined;
  taskAdapter(capability: TaskCapability): TaskAdapter | undefined;
  /** Where the vendor counts the tokens of such a request. */
  counter(capability: Capability): BaseAdapter | undefined;
  /** Where an adapter's path lies under this channel's base URL. */
  place(path: string, upstreamModel: string): string;
  /** Attempts that are under way there. */
  running: number;
  /**
   * Of the vendor's own hosts, the one that it has sent us to; undefined when it is none of them.
   */
  vendorHost(url: URL): Upstream | undefined;
}

interface OpenClient {
  readonly channel: Channel;
  readonly client: ChannelClient;
  readonly hosts: VendorHosts;
}

/**
 * Its first key's lane has the channel's own name; no name of a channel begins with a line feed.
 */
const clientKey = (name: string, keyNumber: number | undefined): string =>
  keyNumber === undefined ? name : `\n${keyNumber} ${name}`;

/** The lanes of all channels, kept open across changes of the catalogue that do not touch them. */
export class ChannelClients {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #means: VendorContext;
  readonly #limits: UpstreamLimits;
  readonly #clients = new Map<string, OpenClient>();
  readonly #speaking = new WeakMap<
    readonly Candidate[],
    Map<SynchronousCapability, readonly Candidate[]>
  >();

  constructor(
    vendors: ReadonlyMap<string, Vendor>,
    means: VendorContext,
    limits: UpstreamLimits = upstreamLimits,
  ) {
    this.#vendors = vendors;
    this.#means = means;
    this.#limits = limits;
  }

  of(channel: Channel): ChannelClient {
    const kept = this.#clients.get(clientKey(channel.name, channel.keyNumber));
    if (kept !== undefined && kept.channel === channel) return kept.client;
    return this.#open(channel, kept);
  }

  /**
   * Those of a model's channels whose vendor can do what is asked: looked for once, since a changed
   * catalogue brings new lists.
   */
  capableOf(
    candidates: readonly Candidate[],
    capability: SynchronousCapability,
  ): readonly Candidate[] {
    let known = this.#speaking.get(candidates);
    if (known === undefined) this.#speaking.set(candidates, (known = new Map()));
    let speaking = known.get(capability);
    if (speaking === undefined)
      known.set(
        capability,
        (speaking = candidates.filter(
          ({ channel }) => this.of(channel).adapter(capability) !== undefined,
        )),
      );
    return speaking;
  }

  #open(channel: Channel, kept: OpenClient | undefined): ChannelClient {
    if (kept !== undefined && sameAddress(kept.channel, channel)) {
      this.#clients.set(clientKey(channel.name, channel.keyNumber), { ...kept, channel });
      return kept.client;
    }
    const vendor = this.#vendors.get(channel.vendor);
    const baseUrl = channel.baseUrl ?? vendor?.baseUrl;
    if (vendor === undefined || baseUrl === undefined)
      throw new Error(`channel ${channel.name}: vendor ${channel.vendor} needs a base URL`);
    const upstream = new Upstream(
      vendor.baseUrlFor?.(baseUrl, channel.secret) ?? baseUrl,
      this.#limits,
    );
    const siblings = new VendorHosts(upstream, vendor.domains ?? [], this.#limits);
    const adapters = adaptersOf(vendor);
    const counts: Readonly<Partial<Record<Capability, BaseAdapter>>> = vendor.counts ?? {};
    const client: ChannelClient = {
      provider: vendor.provider ?? vendor.id,
      upstream,
      sign: vendor.sign(channel.secret),
      secret: channel.secret,
      authorize: vendor.authorizer?.(channel.secret, this.#means),
      signer: vendor.signsForAccount ? undefined : vendor.id,
      thinksBeyondLimit: vendor.thinksBeyondLimit ?? false,
      readsBeyond: vendor.readsBeyond,
      adapter: (capability) => adapters[capability],
      taskAdapter: (capability) => adapters[capability],
      counter: (capability) => counts[capability],
      place: (path, upstreamModel) =>
        vendor.pathFor?.(upstream.prefix, path, upstreamModel) ?? path,
      running: 0,
      vendorHost: (url) => siblings.of(url),
    };
    this.#clients.set(clientKey(channel.name, channel.keyNumber), {
      channel,
      client,
      hosts: siblings,
    });
    if (kept !== undefined) void retire(kept);
    return client;
  }

  /**
   * Attempts under way over a channel with all its keys; those over the address that it had before
   * are not among them.
   */
  running({ name, moreSecrets = [] }: Channel): number {
    let running = this.#clients.get(name)?.client.running ?? 0;
    for (const i of moreSecrets.keys())
      running += this.#clients.get(clientKey(name, i + 2))?.client.running ?? 0;
    return running;
  }

  /**
   * Of the connections to a channel's vendor: how many are open, or how many attempts wait for one.
   */
  connections(channel: string, which: 'open' | 'waiting'): number {
    let count = 0;
    for (const { channel: of, client } of this.#clients.values())
      if (of.name === channel) count += client.upstream[which];
    return count;
  }

  /** Closes the lanes of channels that are no longer sold. */
  keepOnly(snapshot: Snapshot): void {
    for (const [name, kept] of this.#clients) {
      const channel = snapshot.channels.get(kept.channel.name);
      if (
        channel !== undefined &&
        (kept.channel.keyNumber ?? 1) <= 1 + (channel.moreSecrets?.length ?? 0)
      )
        continue;
      this.#clients.delete(name);
      void retire(kept);
    }
  }

  async close(): Promise<void> {
    const all = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(
      all.flatMap(({ client, hosts: siblings }) => [client.upstream.close(), siblings.close()]),
    );
  }
}

const retire = ({ client, hosts: siblings }: OpenClient): Promise<unknown> =>
  Promise.all([client.upstream.retire(), siblings.retire()]);

function sameAddress(a: Channel, b: Channel): boolean {
  return a.vendor === b.vendor && a.baseUrl === b.baseUrl && a.secret === b.secret;
}

/** Other hosts of one vendor, at most: more than that is no vendor's way to spread its work. */
const vendorHostsMax = 16;

/**
 * The hosts of a vendor beside that of its base URL. It sends us there by its answers, so that only
 * hosts that it has declared are believed.
 */
class VendorHosts {
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
    if (this.#open.size === vendorHostsMax || !this.#trusts(url)) return undefined;
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
