import { chatFormat, parseChat } from '../../src/api/chat.ts';
import { chatEnvelope, sendRefusal, limitRefusal } from '../../src/api/errors.ts';
import type { Random } from '../../src/base/random.ts';
import { Refusal } from '../../src/base/refusal.ts';
import type { Channel, Snapshot } from '../../src/catalog/snapshot.ts';
import { LimitReached } from '../../src/gateway/admit.ts';
import { type OpenChannel, OpenChannels } from '../../src/gateway/channels/open-channels.ts';
import { gatewayLimits, type GatewayParts } from '../../src/gateway/parts.ts';
import { UnattendedRequests } from '../../src/gateway/unattended.ts';
import { run } from '../../src/gateway/run.ts';
import { PeriodicChecks, type PeriodicCheck } from '../../src/gateway/periodic-checks.ts';
import { SpoolPool } from '../../src/http/spool.ts';
import {
  Upstream,
  type UpstreamRequest,
  type UpstreamCall,
  type UpstreamTimes,
} from '../../src/http/upstream.ts';
import { MemoryLimiter } from '../../src/limits/limiter.ts';
import { Downloads } from '../../src/media/downloads.ts';
import { mediaLimits } from '../../src/media/limits.ts';
import { vendors } from '../../src/providers/index.ts';
import { Health } from '../../src/routing/candidates.ts';
import { HedgeBudget } from '../../src/routing/hedge-budget.ts';
import type { SimulatedProcess } from '../ledger/simulated-process.ts';
import type { SimulatedClient } from './simulated-client.ts';
import type { SimulatedVendors } from './simulated-vendor.ts';
import { sentJson } from '../support/parsed-request.ts';

/** Takes a rule away from the parts that a node is made of. */
export type Tamper = (parts: GatewayParts) => GatewayParts;

export interface NodeRooms {
  readonly process: SimulatedProcess;
  readonly vendors: SimulatedVendors;
  readonly snapshot: Snapshot;
  readonly random: Random;
  readonly tamper: Tamper;
  /** Everything that it writes about its requests. */
  readonly tell: (line: object) => void;
  readonly hedged: GatewayParts['hedged'];
  readonly bug: (id: string, error: unknown) => void;
}

export interface SimulatedRequest {
  readonly id: string;
  readonly account: string;
  readonly model: string;
  readonly stream: boolean;
  readonly outputTokensMax: number;
}

/** One node: the real pipeline and the real till, in virtual time, with vendors that are none. */
export class SimulatedNode {
  readonly process: SimulatedProcess;
  readonly #parts: GatewayParts;
  readonly #bug: NodeRooms['bug'];

  constructor({ process, vendors: asked, snapshot, random, tamper, tell, hedged, bug }: NodeRooms) {
    this.process = process;
    this.#bug = bug;
    this.#parts = tamper({
      clock: process.clock,
      random,
      timers: process.timers,
      keyring: { known: never, lookUp: never },
      limiter: new MemoryLimiter(process.clock),
      till: process.till,
      health: new Health(),
      hedges: new HedgeBudget(),
      limits: {
        ...gatewayLimits,
        whole: { firstByteTimeoutMs: 12_000, idleTimeoutMs: 10_000 },
        stream: { firstByteTimeoutMs: 12_000, idleTimeoutMs: 10_000 },
      },
      watch: new VirtualWatch(process),
      unattended: new UnattendedRequests(),
      catalog: () => snapshot,
      openChannels: new SimulatedLanes(asked, process),
      downloads: new Downloads(mediaLimits),
      spools: new SpoolPool(),
      files: {
        put: never,
        copy: never,
        take: never,
        room: never,
        urlOf: never,
        at: never,
        find: never,
        read: never,
        remove: never,
        expire: never,
      },
      signatures: { find: never, keep: never, expire: never },
      access: tell,
      failed: tell,
      hedged,
      overran: ({ excess, ...line }) => tell({ ...line, excess: excess.toString() }),
    });
  }

  /** Whether it thinks that requests of one of these accounts run. */
  isCrowded(accounts: readonly string[]): boolean {
    const none = { rpm: undefined, tpm: undefined, concurrency: 1 };
    return accounts.some(
      (account) => 'limitOf' in this.#parts.limiter.enter(`${account}/default`, none, 0),
    );
  }

  /** What the door does with a request of a known client. */
  async serve(
    { id, account, model, stream, outputTokensMax }: SimulatedRequest,
    { reply }: SimulatedClient,
  ): Promise<void> {
    const messages = [{ role: 'user', content: `the secret words of ${id}` }];
    const body = { model, messages, stream, max_tokens: outputTokensMax };
    const principal = {
      keyId: `key-${account}`,
      userId: account,
      group: 'default',
      limit: undefined,
      expiresAt: undefined,
    };
    try {
      await run(this.#parts, parseChat({ id, principal }, sentJson(body)), reply, chatFormat);
    } catch (error) {
      if (error instanceof Refusal) sendRefusal(reply, error, chatEnvelope, id);
      else if (error instanceof LimitReached)
        sendRefusal(reply, limitRefusal(error), chatEnvelope, id);
      else this.#bug(id, error);
    }
  }
}

const never = (): never => {
  throw new Error('a chat about nothing but words needs none of this');
};

/** Looks at open streams in the time of its world. */
class VirtualWatch extends PeriodicChecks {
  readonly #process: SimulatedProcess;
  readonly #all = new Set<PeriodicCheck>();
  #looking = false;

  constructor(process: SimulatedProcess) {
    super();
    this.#process = process;
  }

  override add(watched: PeriodicCheck): void {
    this.#all.add(watched);
    if (!this.#looking) this.#look();
  }

  override remove(watched: PeriodicCheck): void {
    this.#all.delete(watched);
  }

  #look(): void {
    this.#looking = true;
    this.#process.timers.after(this.everyMs, () => {
      for (const one of this.#all) one.check();
      if (this.#all.size > 0) this.#look();
      else this.#looking = false;
    });
  }
}

/** Lanes as they are, but for where they lead. */
class SimulatedLanes extends OpenChannels {
  readonly #vendors: SimulatedVendors;
  readonly #process: SimulatedProcess;
  readonly #made = new Map<string, OpenChannel>();

  constructor(asked: SimulatedVendors, process: SimulatedProcess) {
    super(vendors, { now: () => process.clock.now(), post: never });
    this.#vendors = asked;
    this.#process = process;
  }

  override of(channel: Channel): OpenChannel {
    const made = this.#made.get(channel.name);
    if (made !== undefined) return made;
    const upstream = new SimulatedUpstream(channel, this.#vendors, this.#process);
    const openChannel: OpenChannel = { ...super.of(channel), upstream };
    this.#made.set(channel.name, openChannel);
    return openChannel;
  }
}

class SimulatedUpstream extends Upstream {
  readonly #channel: string;
  readonly #vendors: SimulatedVendors;
  readonly #process: SimulatedProcess;

  constructor(
    { name, baseUrl = 'http://vendor/v1' }: Channel,
    asked: SimulatedVendors,
    process: SimulatedProcess,
  ) {
    super(baseUrl, { connectionsMax: 1, connectTimeoutMs: 1 });
    this.#channel = name;
    this.#vendors = asked;
    this.#process = process;
  }

  override send(ask: UpstreamRequest, times: UpstreamTimes, call: UpstreamCall): void {
    this.#vendors.take(this.#channel, this.#process, ask, times, call);
  }
}
