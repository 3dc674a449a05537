import type { AnsweredCapability, Capability, TaskCapability } from '../base/capability.ts';
import type { Candidate, Channel, Snapshot } from '../catalog/snapshot.ts';
import { Upstream, type UpstreamLimits } from '../http/upstream.ts';
import type {
  Adapter,
  Authorize,
  Inquiry,
  Means,
  PictureAdapter,
  SoundAdapter,
  StreamedPictureAdapter,
  Vendor,
  WholeAdapter,
} from '../providers/adapter.ts';
import type { TaskAdapter } from '../providers/task-adapter.ts';
import { adaptersOf } from '../providers/bridges/index.ts';
import { Siblings } from './siblings.ts';

/**
 * A stream has its connection for itself, so this is how many one channel can have open; what more
 * is asked waits.
 */
export const upstreamLimits: UpstreamLimits = { connectionsMax: 16_384, connectTimeoutMs: 5_000 };

/** A channel made ready: its vendor's adapters, open connections and proof of who we are. */
export interface Lane {
  /** What its vendor is called in OpenTelemetry's conventions. */
  readonly provider: string;
  readonly upstream: Upstream;
  readonly sign: Readonly<Record<string, string>>;
  /** The channel's key, which no client may see, whoever repeats it. */
  readonly secret: string | undefined;
  /** Only where `sign` is not proof enough. */
  readonly authorize: Authorize | undefined;
  /** Who can read again what this vendor signs; undefined where only the same account can. */
  readonly signer: string | undefined;
  /** As in `Vendor`. */
  readonly thinksBeyondLimit: boolean;
  readonly readsBeyond: Vendor['readsBeyond'];
  adapter(
    capability: AnsweredCapability,
  ): Adapter | WholeAdapter | PictureAdapter | StreamedPictureAdapter | SoundAdapter | undefined;
  taskAdapter(capability: TaskCapability): TaskAdapter | undefined;
  /** Where the vendor counts the tokens of such a request. */
  counter(capability: Capability): Inquiry | undefined;
  /** Where an adapter's path lies under this channel's base URL. */
  place(path: string, upstreamModel: string): string;
  /** Attempts that are under way there. */
  running: number;
  /**
   * Of the vendor's own hosts, the one that it has sent us to; undefined when it is none of them.
   */
  sibling(url: URL): Upstream | undefined;
}

interface Kept {
  readonly channel: Channel;
  readonly lane: Lane;
  readonly siblings: Siblings;
}

/**
 * Its first key's lane has the channel's own name; no name of a channel begins with a line feed.
 */
const laneName = (name: string, keyNumber: number | undefined): string =>
  keyNumber === undefined ? name : `\n${keyNumber} ${name}`;

/** The lanes of all channels, kept open across changes of the catalogue that do not touch them. */
export class Lanes {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #means: Means;
  readonly #limits: UpstreamLimits;
  readonly #lanes = new Map<string, Kept>();
  readonly #speaking = new WeakMap<
    readonly Candidate[],
    Map<AnsweredCapability, readonly Candidate[]>
  >();

  constructor(
    vendors: ReadonlyMap<string, Vendor>,
    means: Means,
    limits: UpstreamLimits = upstreamLimits,
  ) {
    this.#vendors = vendors;
    this.#means = means;
    this.#limits = limits;
  }

  of(channel: Channel): Lane {
    const kept = this.#lanes.get(laneName(channel.name, channel.keyNumber));
    if (kept !== undefined && kept.channel === channel) return kept.lane;
    return this.#open(channel, kept);
  }

  /**
   * Those of a model's channels whose vendor can do what is asked: looked for once, since a changed
   * catalogue brings new lists.
   */
  speaking(candidates: readonly Candidate[], capability: AnsweredCapability): readonly Candidate[] {
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

  #open(channel: Channel, kept: Kept | undefined): Lane {
    if (kept !== undefined && sameAddress(kept.channel, channel)) {
      this.#lanes.set(laneName(channel.name, channel.keyNumber), { ...kept, channel });
      return kept.lane;
    }
    const vendor = this.#vendors.get(channel.vendor);
    const baseUrl = channel.baseUrl ?? vendor?.baseUrl;
    if (vendor === undefined || baseUrl === undefined)
      throw new Error(`channel ${channel.name}: vendor ${channel.vendor} needs a base URL`);
    const upstream = new Upstream(vendor.home?.(baseUrl, channel.secret) ?? baseUrl, this.#limits);
    const siblings = new Siblings(upstream, vendor.domains ?? [], this.#limits);
    const adapters = adaptersOf(vendor);
    const counts: Readonly<Partial<Record<Capability, Inquiry>>> = vendor.counts ?? {};
    const lane: Lane = {
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
      place: (path, upstreamModel) => vendor.place?.(upstream.prefix, path, upstreamModel) ?? path,
      running: 0,
      sibling: (url) => siblings.of(url),
    };
    this.#lanes.set(laneName(channel.name, channel.keyNumber), { channel, lane, siblings });
    if (kept !== undefined) void retire(kept);
    return lane;
  }

  /**
   * Attempts under way over a channel with all its keys; those over the address that it had before
   * are not among them.
   */
  running({ name, moreSecrets = [] }: Channel): number {
    let running = this.#lanes.get(name)?.lane.running ?? 0;
    for (const i of moreSecrets.keys())
      running += this.#lanes.get(laneName(name, i + 2))?.lane.running ?? 0;
    return running;
  }

  /**
   * Of the connections to a channel's vendor: how many are open, or how many attempts wait for one.
   */
  connections(channel: string, which: 'open' | 'waiting'): number {
    let count = 0;
    for (const { channel: of, lane } of this.#lanes.values())
      if (of.name === channel) count += lane.upstream[which];
    return count;
  }

  /** Closes the lanes of channels that are no longer sold. */
  keepOnly(snapshot: Snapshot): void {
    for (const [name, kept] of this.#lanes) {
      const channel = snapshot.channels.get(kept.channel.name);
      if (
        channel !== undefined &&
        (kept.channel.keyNumber ?? 1) <= 1 + (channel.moreSecrets?.length ?? 0)
      )
        continue;
      this.#lanes.delete(name);
      void retire(kept);
    }
  }

  async close(): Promise<void> {
    const all = [...this.#lanes.values()];
    this.#lanes.clear();
    await Promise.all(
      all.flatMap(({ lane, siblings }) => [lane.upstream.close(), siblings.close()]),
    );
  }
}

const retire = ({ lane, siblings }: Kept): Promise<unknown> =>
  Promise.all([lane.upstream.retire(), siblings.retire()]);

function sameAddress(a: Channel, b: Channel): boolean {
  return a.vendor === b.vendor && a.baseUrl === b.baseUrl && a.secret === b.secret;
}
