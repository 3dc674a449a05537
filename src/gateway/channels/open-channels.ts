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
 * A stream takes a whole connection, so this is how many streams one channel can have open; further
 * requests wait.
 */
const upstreamLimits: UpstreamLimits = { connectionsMax: 16_384, connectTimeoutMs: 5_000 };

/** A channel made ready: its vendor's adapters, open connections and credentials. */
export interface OpenChannel {
  /** The vendor's name in OpenTelemetry's conventions. */
  readonly provider: string;
  readonly upstream: Upstream;
  readonly sign: Readonly<Record<string, string>>;
  /** The channel's key. No client may see it, even if a vendor repeats it in a message. */
  readonly secret: string | undefined;
  /** Only where `sign` is not proof enough. */
  readonly authorize: Authorizer | undefined;
  /**
   * Which vendor model or account can read this vendor's signatures again; undefined where only the
   * same account can.
   */
  readonly signer: string | undefined;
  /** As in `Vendor`. */
  readonly thinksBeyondLimit: boolean;
  readonly readsBeyond: Vendor['readsBeyond'];
  adapter(
    capability: SynchronousCapability,
  ): Adapter | WholeAdapter | ImageAdapter | StreamedImageAdapter | AudioAdapter | undefined;
  taskAdapter(capability: TaskCapability): TaskAdapter | undefined;
  /** The adapter that lets the vendor count the tokens of such a request. */
  counter(capability: Capability): BaseAdapter | undefined;
  /** The place of an adapter's path under this channel's base URL. */
  place(path: string, upstreamModel: string): string;
  /** Attempts under way on this channel. */
  running: number;
  /**
   * The connection to another host of the vendor that its answer names; undefined when the host is
   * not the vendor's.
   */
  vendorHost(url: URL): Upstream | undefined;
}

interface KeptChannel {
  readonly channel: Channel;
  readonly openChannel: OpenChannel;
  readonly hosts: VendorHosts;
}

/**
 * The open channel of the first key has the channel's own name; no channel name begins with a line
 * feed.
 */
const channelKey = (name: string, keyNumber: number | undefined): string =>
  keyNumber === undefined ? name : `\n${keyNumber} ${name}`;

/**
 * All channels made ready. They stay open across changes of the catalog that do not touch them.
 */
export class OpenChannels {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #context: VendorContext;
  readonly #limits: UpstreamLimits;
  readonly #kept = new Map<string, KeptChannel>();
  readonly #capable = new WeakMap<
    readonly Candidate[],
    Map<SynchronousCapability, readonly Candidate[]>
  >();

  constructor(
    vendors: ReadonlyMap<string, Vendor>,
    context: VendorContext,
    limits: UpstreamLimits = upstreamLimits,
  ) {
    this.#vendors = vendors;
    this.#context = context;
    this.#limits = limits;
  }

  of(channel: Channel): OpenChannel {
    const kept = this.#kept.get(channelKey(channel.name, channel.keyNumber));
    if (kept !== undefined && kept.channel === channel) return kept.openChannel;
    return this.#open(channel, kept);
  }

  /**
   * The candidates whose vendor has this capability. Computed once per list, since a changed
   * catalog brings new lists.
   */
  capableOf(
    candidates: readonly Candidate[],
    capability: SynchronousCapability,
  ): readonly Candidate[] {
    let known = this.#capable.get(candidates);
    if (known === undefined) this.#capable.set(candidates, (known = new Map()));
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

  #open(channel: Channel, kept: KeptChannel | undefined): OpenChannel {
    if (kept !== undefined && sameAddress(kept.channel, channel)) {
      this.#kept.set(channelKey(channel.name, channel.keyNumber), { ...kept, channel });
      return kept.openChannel;
    }
    const vendor = this.#vendors.get(channel.vendor);
    const baseUrl = channel.baseUrl ?? vendor?.baseUrl;
    if (vendor === undefined || baseUrl === undefined)
      throw new Error(`channel ${channel.name}: vendor ${channel.vendor} needs a base URL`);
    const upstream = new Upstream(
      vendor.baseUrlFor?.(baseUrl, channel.secret) ?? baseUrl,
      this.#limits,
    );
    const hosts = new VendorHosts(upstream, vendor.domains ?? [], this.#limits);
    const adapters = adaptersOf(vendor);
    const counts: Readonly<Partial<Record<Capability, BaseAdapter>>> = vendor.counts ?? {};
    const openChannel: OpenChannel = {
      provider: vendor.provider ?? vendor.id,
      upstream,
      sign: vendor.sign(channel.secret),
      secret: channel.secret,
      authorize: vendor.authorizer?.(channel.secret, this.#context),
      signer: vendor.signsForAccount ? undefined : vendor.id,
      thinksBeyondLimit: vendor.thinksBeyondLimit ?? false,
      readsBeyond: vendor.readsBeyond,
      adapter: (capability) => adapters[capability],
      taskAdapter: (capability) => adapters[capability],
      counter: (capability) => counts[capability],
      place: (path, upstreamModel) =>
        vendor.pathFor?.(upstream.prefix, path, upstreamModel) ?? path,
      running: 0,
      vendorHost: (url) => hosts.of(url),
    };
    this.#kept.set(channelKey(channel.name, channel.keyNumber), {
      channel,
      openChannel,
      hosts,
    });
    if (kept !== undefined) void retire(kept);
    return openChannel;
  }

  /**
   * Attempts under way on a channel with all its keys, except those to a base URL that it had
   * before.
   */
  running({ name, moreSecrets = [] }: Channel): number {
    let running = this.#kept.get(name)?.openChannel.running ?? 0;
    for (const i of moreSecrets.keys())
      running += this.#kept.get(channelKey(name, i + 2))?.openChannel.running ?? 0;
    return running;
  }

  /** Connections to a channel's vendor: how many are open, or how many attempts wait for one. */
  connections(channel: string, which: 'open' | 'waiting'): number {
    let count = 0;
    for (const { channel: of, openChannel } of this.#kept.values())
      if (of.name === channel) count += openChannel.upstream[which];
    return count;
  }

  /** Closes the channels that are no longer sold. */
  keepOnly(snapshot: Snapshot): void {
    for (const [name, kept] of this.#kept) {
      const channel = snapshot.channels.get(kept.channel.name);
      if (
        channel !== undefined &&
        (kept.channel.keyNumber ?? 1) <= 1 + (channel.moreSecrets?.length ?? 0)
      )
        continue;
      this.#kept.delete(name);
      void retire(kept);
    }
  }

  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(
      all.flatMap(({ openChannel, hosts }) => [openChannel.upstream.close(), hosts.close()]),
    );
  }
}

const retire = ({ openChannel, hosts }: KeptChannel): Promise<unknown> =>
  Promise.all([openChannel.upstream.retire(), hosts.retire()]);

function sameAddress(a: Channel, b: Channel): boolean {
  return a.vendor === b.vendor && a.baseUrl === b.baseUrl && a.secret === b.secret;
}

/** The most hosts of one vendor: no vendor spreads its work over more. */
const vendorHostsMax = 16;

/**
 * The hosts of a vendor beside that of its base URL. The vendor's answers name them, so only hosts
 * that the vendor has declared are trusted.
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

  /** Paths on the returned upstream are complete. The base URL's own host counts as declared. */
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
