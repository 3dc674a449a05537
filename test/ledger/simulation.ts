import { type Random, seededRandom } from '../../src/base/random.ts';
import { createAccount, credit } from '../../src/ledger/ledger.ts';
import type { TillEvent } from '../../src/ledger/contract.ts';
import type { Database } from '../../src/storage/database.ts';
import { Audit } from './audit.ts';
import { type Faults, noFaults, type OnUnknown, SimulatedNetwork } from './simulated-network.ts';
import { operate, type Operations } from './simulated-operations.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { VirtualTime } from './virtual-time.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Empty, migrated, opened with the ledger's procedures, sabotaged or not. */
  readonly database: Database;
  /** Requests, top-ups, refunds, tasks, freezes. */
  readonly operations: number;
  readonly onUnknown?: OnUnknown;
  /** Only the books and the clients count, not what the till reports. */
  readonly deaf?: boolean;
}

export interface SimulationReport {
  readonly seed: number;
  readonly operations: number;
  readonly requests: number;
  readonly paid: number;
  readonly insufficient: number;
  readonly unavailable: number;
  readonly left: number;
  readonly transactions: number;
  readonly crashes: number;
  readonly pauses: number;
  readonly fences: number;
  readonly unknown: number;
  readonly late: number;
  readonly lateSettled: number;
  readonly withheld: number;
  readonly virtualSeconds: number;
}

const faults: Faults = { lostBefore: 12, lostAfter: 12, late: 8, slow: 30 };
const processCount = 5;
const accountCount = 9;
/** Operations per virtual second. */
const pace = 25;

/**
 * Several processes with real tills on one real database, through everything that can happen to
 * them. Deterministic by its seed.
 */
export class Simulation {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly database: Database;
  readonly network: SimulatedNetwork;
  readonly audit: Audit;
  readonly accounts = Array.from({ length: accountCount }, (_, i) => `user-${i}`);
  readonly #options: SimulationOptions;
  readonly #slots: (SimulatedProcess | undefined)[] = [];
  readonly #ended: SimulatedProcess[] = [];
  #ids = 0;
  #crashes = 0;
  #pauses = 0;
  #isCalm = false;

  constructor(options: SimulationOptions) {
    const { seed, database, onUnknown = () => undefined } = options;
    this.#options = options;
    this.random = seededRandom(seed);
    this.database = database;
    this.network = new SimulatedNetwork(database, this.time, this.random, faults, onUnknown);
    this.audit = new Audit(database);
  }

  async run(): Promise<SimulationReport> {
    const { operations, seed } = this.#options;
    for (const [i, account] of this.accounts.entries()) {
      await createAccount(this.database, account);
      const amount = i % 2 === 0 ? 1_000_000_000n : this.nano(30_000_000n);
      await credit(this.database, {
        id: `first-${account}`,
        account,
        amount,
        from: 'wallet:test',
        code: 'topup',
        at: 1,
      });
    }
    for (let slot = 0; slot < processCount; slot++) this.#startProcess(slot);
    const done: Operations = { count: 0, requests: 0, running: 0 };
    this.#schedule(
      1_000 / pace,
      () => done.count < operations,
      () => operate(this, done),
    );
    this.#schedule(
      2_500,
      () => !this.#isCalm,
      () => this.#disturb(),
    );
    await this.#until(() => done.count >= operations);
    await this.#calmDown(done);
    await this.audit.verifyEnd();
    const tills = [...this.#ended, ...this.#slots.flatMap((process) => process ?? [])].map(
      ({ till }) => till.stats,
    );
    return {
      seed,
      operations: done.count,
      requests: done.requests,
      paid: this.audit.paid,
      ...this.audit.refusals,
      transactions: this.network.calls,
      crashes: this.#crashes,
      pauses: this.#pauses,
      fences: tills.reduce((sum, { fenced }) => sum + fenced, 0),
      unknown: this.network.unknown,
      late: this.network.late,
      lateSettled: tills.reduce((sum, { late }) => sum + late, 0),
      withheld: tills.reduce((sum, { undelivered }) => sum + undelivered, 0),
      virtualSeconds: Math.round(this.time.now / 1000),
    };
  }

  /** Up to `max`, small amounts as likely as large ones. */
  nano(max: bigint): bigint {
    return BigInt(Math.ceil(Number(max) ** this.random()));
  }

  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.random() * list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  get processes(): readonly SimulatedProcess[] {
    return this.#slots.flatMap((process) => process ?? []);
  }

  async #until(isOver: () => boolean): Promise<void> {
    await this.time.run(() => isOver() || this.audit.violation !== undefined);
    if (this.audit.violation !== undefined) throw this.audit.violation;
  }

  #schedule(everyMs: number, goesOn: () => boolean, run: () => void | Promise<void>): void {
    this.time.after(-Math.log(1 - this.random()) * everyMs, async () => {
      if (!goesOn()) return;
      await run();
      this.#schedule(everyMs, goesOn, run);
    });
  }

  #startProcess(slot: number): void {
    const process = new SimulatedProcess({
      time: this.time,
      network: this.network,
      random: this.random,
      newId: () => `process-${this.#ids++}`,
      settings: { sweepFloatsMax: 2 },
      log: (event) => this.#hear(event),
    });
    this.#slots[slot] = process;
    process.till
      .open()
      .catch((error: unknown) => this.audit.violate('a process could not start', error));
  }

  #hear(event: TillEvent): void {
    if (event.event === 'unknown_outcome' || event.event === 'fenced' || this.#options.deaf) return;
    this.audit.violate(`the till reports '${event.event}'`, event.error);
  }

  async #disturb(): Promise<void> {
    const dice = this.random();
    const slot = Math.floor(this.random() * processCount);
    const process = this.#slots[slot];
    if (process === undefined) return;
    if (dice < 0.4) {
      process.isAlive = false;
      this.#slots[slot] = undefined;
      this.#ended.push(process);
      this.#crashes++;
      await this.audit.verifyCrash(process);
      this.time.after(this.random() * 10_000, () => this.#startProcess(slot));
    } else if (dice < 0.9 && !process.isStopped) {
      this.#pauses++;
      process.stop();
      this.time.after(this.random() * 45_000, () => process.wake());
      if (this.random() < 0.7) this.#wakeWhenFenced(process);
    } else if (dice < 0.93) {
      this.network.outageUntil =
        this.time.now + this.random() * (this.random() < 0.2 ? 40_000 : 5_000);
    } else {
      process.wallOffsetMs += Math.round((this.random() - 0.5) * 2 * 86_400_000);
    }
  }

  /** The worst moment to come back: others are taking over what it had. */
  #wakeWhenFenced(process: SimulatedProcess): void {
    this.time.after(this.random() * 1_000, async () => {
      if (!process.isAlive || !process.isStopped) return;
      const [row] = await this.database.query('SELECT fenced FROM process WHERE id=$1', [
        process.till.process ?? '',
      ]);
      if (row?.['fenced'] === 0n) this.#wakeWhenFenced(process);
      else process.wake();
    });
  }

  /**
   * Nothing fails any more: what is under way ends, late calls run, the dead are swept, the living
   * close.
   */
  async #calmDown(done: Operations): Promise<void> {
    this.#isCalm = true;
    this.network.faults = noFaults;
    this.network.outageUntil = 0;
    const calmFrom = this.time.now;
    await this.#until(() => this.time.now > calmFrom + 180_000);
    if (this.#slots.some((process) => process === undefined))
      this.audit.violate('a process did not come back');
    let open = this.#slots.length;
    for (const process of this.processes) {
      process.deliver(
        () =>
          void process.till.close().then(
            () => open--,
            (error: unknown) => this.audit.violate('a till could not close', error),
          ),
      );
    }
    await this.#until(() => open === 0);
    if (done.running > 0) await this.audit.verifyUnfinished();
  }
}

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  return new Simulation(options).run();
}
