import { createHash } from 'node:crypto';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { Snapshot } from '../../src/catalog/snapshot.ts';
import { createAccount, credit } from '../../src/ledger/ledger.ts';
import type { Database } from '../../src/storage/database.ts';
import { recordColumns } from '../../src/usage/record.ts';
import { noFaults, SimulatedNetwork } from '../ledger/simulated-network.ts';
import { SimulatedProcess } from '../ledger/simulated-process.ts';
import { VirtualTime } from '../ledger/virtual-time.ts';
import { Promises } from './promises.ts';
import { SimulatedClient } from './simulated-client.ts';
import { SimulatedNode, type SimulatedRequest, type Tamper } from './simulated-node.ts';
import { SimulatedVendors } from './simulated-vendor.ts';

export interface HistoryOptions {
  readonly seed: number;
  /** Empty and migrated, with the ledger's procedures. */
  readonly database: Database;
  readonly snapshot: Snapshot;
  readonly tamper?: Tamper;
}

export interface History {
  readonly seed: number;
  readonly requests: number;
  readonly whole: number;
  readonly refused: number;
  readonly broken: number;
  readonly left: number;
  readonly calls: number;
  readonly crashes: number;
  readonly pauses: number;
  readonly jumps: number;
  readonly unknown: number;
  readonly unreturned: number;
  readonly lies: number;
  /**
   * Requests that two channels were asked for, by who answered, and those whose node crashed in
   * between.
   */
  readonly hedgedFirst: number;
  readonly hedgedSecond: number;
  readonly hedgedNeither: number;
  readonly hedgedCrashed: number;
  /** Of everything that clients were told and the database holds. */
  readonly digest: string;
}

const nodeCount = 3;
const requestCount = 40;
/** Requests per virtual second. */
const pace = 4;
const networkFaults = { lostBefore: 8, lostAfter: 8, late: 4, slow: 20 };
/** Users with plenty, and some whose money ends within a few answers. */
const balances = [1_000_000_000_000n, 1_000_000_000_000n, 300_000_000n, 60_000_000n];
/**
 * What is not at rest by then never will be: beyond every limit of time that a request has, and the
 * takeover of a dead process.
 */
const calmMs = 120_000;
/** A steady vendor has answered by then. */
const answerMs = 30_000;
/** The nodes have to rest for this long: by then each has learned what happened. */
const restMs = 2_000;
const lookEveryMs = 1_000;
/** Vendors that have begun to dribble go on; the slowest has said everything by now. */
const dribbledMs = 1_200_000;

/**
 * One history of several nodes, from the first request until everything has come to rest.
 * Deterministic by its seed.
 */
class World {
  readonly time = new VirtualTime();
  readonly #random: Random;
  readonly #options: HistoryOptions;
  readonly #network: SimulatedNetwork;
  readonly #vendors: SimulatedVendors;
  readonly #promises: Promises;
  readonly #nodes: (SimulatedNode | undefined)[] = [];
  #ids = 0;
  #asked = 0;
  #calm = false;
  readonly #counts = { left: 0, crashes: 0, pauses: 0, jumps: 0, hedgedCrashed: 0 };

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#network = new SimulatedNetwork(options.database, this.time, this.#random, networkFaults);
    this.#vendors = new SimulatedVendors(this.time, this.#random);
    this.#promises = new Promises(options.database, this.#vendors, this.time);
  }

  async live(): Promise<History> {
    for (const [i, amount] of balances.entries()) {
      const account = `user-${i}`;
      await createAccount(this.#options.database, account);
      await credit(this.#options.database, {
        id: `first-${account}`,
        account,
        amount,
        from: 'grants',
        code: 'grant',
        ref: 'test',
        at: 1,
      });
    }
    for (let slot = 0; slot < nodeCount; slot++) this.#start(slot);
    this.#every(
      1_000 / pace,
      () => this.#asked < requestCount,
      () => this.#ask(),
    );
    this.#every(
      2_000,
      () => !this.#calm,
      () => this.#disturb(),
    );
    await this.#until(() => this.#asked >= requestCount);
    await this.#calmDown();
    await this.#promises.verifyEnd();
    return this.#told();
  }

  #told(): History {
    const clients = this.#promises.requests.map(({ client }) => client);
    const { first, second, neither } = this.#promises.hedges;
    const digest = createHash('sha256')
      .update(this.#promises.trace.join('\n'))
      .digest('hex')
      .slice(0, 16);
    return {
      seed: this.#options.seed,
      requests: clients.length,
      whole: clients.filter(({ isWhole }) => isWhole).length,
      refused: clients.filter(({ status }) => status >= 400).length,
      broken: clients.filter(({ isWhole, status }) => !isWhole && status < 400).length,
      calls: this.#vendors.asked.length,
      unknown: this.#network.unknown,
      unreturned: this.#promises.unreturned,
      lies: this.#promises.lies,
      hedgedFirst: first,
      hedgedSecond: second,
      hedgedNeither: neither,
      ...this.#counts,
      digest,
    };
  }

  async #until(isOver: () => boolean): Promise<void> {
    await this.time.run(() => isOver() || this.#promises.violation !== undefined);
    this.#promises.raise();
  }

  #every(ms: number, goesOn: () => boolean, run: () => void): void {
    this.time.after(-Math.log(1 - this.#random()) * ms, () => {
      if (!goesOn()) return;
      run();
      this.#every(ms, goesOn, run);
    });
  }

  #start(slot: number): void {
    const { snapshot, tamper = (parts) => parts } = this.#options;
    const process = new SimulatedProcess({
      time: this.time,
      network: this.#network,
      random: this.#random,
      newId: () => `process-${this.#ids++}`,
      // Sooner than outages end, so that some answers are withheld.
      settings: { settleWaitMs: 2_000 },
      records: { table: 'usage', columns: recordColumns },
      log: ({ event, error }) => {
        if (event !== 'unknown_outcome' && event !== 'fenced')
          this.#promises.violate(`the till reports '${event}'`, error);
      },
    });
    this.#nodes[slot] = new SimulatedNode({
      process,
      vendors: this.#vendors,
      snapshot,
      random: this.#random,
      tamper,
      tell: (line) => this.#promises.told(line),
      hedged: (line) => this.#promises.hedged(line),
      bug: (id, error) => this.#promises.violate(`${id} met a bug`, error),
    });
    process.till
      .open()
      .catch((error: unknown) => this.#promises.violate('a node could not start', error));
  }

  #ask(): void {
    const random = this.#random;
    const node = this.#nodes[Math.floor(random() * nodeCount)];
    const id = `req_${String(this.#asked++).padStart(8, '0')}`;
    if (node === undefined) return;
    const account = `user-${Math.floor(random() * balances.length)}`;
    const dice = random();
    const model = dice < 0.4 ? 'plain' : dice < 0.6 ? 'other' : 'hedged';
    this.#send(node, {
      id,
      account,
      model,
      stream: random() < 0.6,
      outputTokensMax: 1 + Math.floor(random() * 60),
    });
  }

  #send(node: SimulatedNode, request: SimulatedRequest): void {
    const { process } = node;
    const random = this.#random;
    const slow = !this.#calm && random() < 0.15;
    const takes = (taken: () => void): boolean => {
      if (slow) this.time.after(random() * 1_000, () => process.deliver(taken));
      return !slow;
    };
    process.deliver(() => {
      const client = new SimulatedClient(request.id, takes, () =>
        this.time.after(0, () => this.#promises.verifyGiven(request.id)),
      );
      const kept = this.#promises.add({ ...request, client, process, leftAt: undefined });
      if (!this.#calm && random() < 0.12) this.#leaveAfter(random() * 6_000, kept);
      void node.serve(request, client);
    });
  }

  #leaveAfter(ms: number, request: ReturnType<Promises['add']>): void {
    const { process, client } = request;
    this.time.after(ms, () =>
      process.deliver(() => {
        if (client.complete) return;
        this.#counts.left++;
        request.leftAt = this.time.now;
        client.destroy();
        this.time.after(1_000, () => this.#promises.verifyStopped(request));
      }),
    );
  }

  #disturb(): void {
    const dice = this.#random();
    const slot = Math.floor(this.#random() * nodeCount);
    const process = this.#nodes[slot]?.process;
    if (process === undefined) return;
    if (dice < 0.3) {
      this.#counts.crashes++;
      this.#counts.hedgedCrashed += this.#vendors.hedgesOf(process);
      process.isAlive = false;
      this.#nodes[slot] = undefined;
      this.time.after(this.#random() * 8_000, () => this.#start(slot));
    } else if (dice < 0.65 && !process.isStopped) {
      this.#counts.pauses++;
      process.stop();
      this.time.after(this.#random() * 30_000, () => process.wake());
    } else if (dice < 0.75) {
      this.#network.outageUntil = this.time.now + this.#random() * 4_000;
    } else if (dice < 0.95) {
      this.#counts.jumps++;
      process.wallOffsetMs += Math.round((this.#random() - 0.5) * 2 * 86_400_000);
    }
  }

  /**
   * Nothing fails any more: what is under way ends, each node answers once more, and then they
   * leave.
   */
  async #calmDown(): Promise<void> {
    this.#calm = true;
    this.#vendors.calm = true;
    this.#network.faults = noFaults;
    this.#network.outageUntil = 0;
    await this.#comeToRest();
    for (const [slot, node] of this.#nodes.entries()) {
      if (node === undefined) return this.#promises.violate('a node did not come back');
      const last = {
        account: 'user-0',
        model: 'plain',
        stream: slot % 2 === 0,
        outputTokensMax: 60,
      };
      this.#send(node, { id: `req_9${String(slot).padStart(7, '0')}`, ...last });
    }
    const answeredFrom = this.time.now;
    await this.#until(() => this.#isAnswered || this.time.now > answeredFrom + answerMs);
    let open = nodeCount;
    for (const node of this.#nodes) {
      for (const { account, reserved } of node?.process.till.held ?? [])
        if (reserved > 0n)
          this.#promises.violate(
            `a node keeps ${reserved} of ${account} for requests that have ended`,
          );
      if (node?.isCrowded(balances.map((_, i) => `user-${i}`)))
        this.#promises.violate('a node keeps places for requests that have ended');
      node?.process.till.close().then(
        () => open--,
        (error: unknown) => this.#promises.violate('a node could not leave', error),
      );
    }
    await this.#until(() => open === 0);
  }

  /** What never comes to rest is looked at as it is: then some promise is broken. */
  async #comeToRest(): Promise<void> {
    const calmFrom = this.time.now;
    let untilMs = calmFrom;
    for (
      let restingMs = 0;
      restingMs <= restMs;
      restingMs = (await this.#isAtRest()) ? restingMs + lookEveryMs : 0
    ) {
      untilMs += lookEveryMs;
      await this.#until(() => this.time.now > untilMs);
      if (this.time.now > calmFrom + (this.#vendors.busy ? dribbledMs : calmMs)) return;
    }
  }

  /** Nobody waits for anything, and what crashed has been taken over. */
  async #isAtRest(): Promise<boolean> {
    if (!this.#isAnswered || this.#vendors.busy || this.#network.stray > 0) return false;
    for (const node of this.#nodes) {
      if (node === undefined || node.process.isStopped) return false;
      if (node.process.till.process === undefined || node.process.till.unsettled > 0) return false;
    }
    const processes = await this.#options.database.query('SELECT id FROM process');
    return processes.length === nodeCount;
  }

  get #isAnswered(): boolean {
    return this.#promises.requests.every(
      ({ client, process }) => client.isOver || !process.isAlive,
    );
  }
}

export const live = (options: HistoryOptions): Promise<History> => new World(options).live();
