import type { Clock, Timers } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';
import { LiveTill } from '../../src/ledger/till.ts';
import type { RecordTable, TillEvent } from '../../src/ledger/contract.ts';
import type { TillSettings } from '../../src/ledger/settings.ts';
import { records as ledgerRecords } from './records.ts';
import type { SimulatedNetwork } from './simulated-network.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ProcessOptions {
  readonly time: VirtualTime;
  readonly network: SimulatedNetwork;
  readonly random: Random;
  readonly newId: () => string;
  readonly settings: Partial<TillSettings>;
  /** The ledger's own, unless told. */
  readonly records?: RecordTable;
  readonly log: (event: TillEvent) => void;
}

/**
 * One process with a real till. It can be killed, and stopped for a while: what arrives meanwhile
 * waits, or is lost with its connection.
 */
export class SimulatedProcess {
  readonly till: LiveTill;
  readonly timers: Timers;
  readonly clock: Clock;
  isAlive = true;
  /** The wall clock's error; the till must not care. */
  wallOffsetMs = 0;
  readonly #time: VirtualTime;
  #stopped: (() => void)[] | undefined;

  constructor({
    time,
    network,
    random,
    newId,
    settings,
    log,
    records = ledgerRecords,
  }: ProcessOptions) {
    this.#time = time;
    this.timers = {
      after: (ms, run) => {
        let off = false;
        time.after(ms, () => this.deliver(() => off || run()));
        return () => {
          off = true;
        };
      },
      soon: (run) => time.after(0, () => this.deliver(run)),
    };
    this.clock = {
      now: () => 1_700_000_000_000 + Math.round(time.now) + this.wallOffsetMs,
      monotonicMs: () => time.now,
    };
    this.till = new LiveTill({
      db: network.for((arrival, lost) =>
        this.deliver(this.isStopped && random() < 0.5 ? lost : arrival),
      ),
      clock: this.clock,
      timers: this.timers,
      load: { busy: random },
      random,
      newId,
      records,
      settings,
      log,
    });
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Something arrives here, now: a timer, an answer, a request. */
  deliver(arrival: () => void): void {
    if (!this.isAlive) return;
    if (this.#stopped !== undefined) this.#stopped.push(arrival);
    else arrival();
  }

  stop(): void {
    this.#stopped ??= [];
  }

  wake(): void {
    const waiting = this.#stopped ?? [];
    this.#stopped = undefined;
    for (const arrival of waiting) this.#time.after(0, () => this.deliver(arrival));
  }
}
