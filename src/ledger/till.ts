import assert from 'node:assert/strict';
import {
  type Clock,
  pause,
  systemTimers,
  type Timers,
  type ThreadLoad,
  systemLoad,
} from '../base/clock.ts';
import { randomText, type Random, systemRandom } from '../base/random.ts';
import type { Nano } from '../base/money.ts';
import { type Database, DatabaseError, isAway } from '../storage/database.ts';
import { WorkOutcomes } from '../storage/repeat.ts';
import {
  BackgroundRetries,
  queueFence,
  queueFenceAndSweep,
  retryMs,
} from './background-retries.ts';
import type {
  Charge,
  IdentityLoss,
  RecordTable,
  Reservation,
  ReserveRequest,
  ReserveRefusal,
  SettleResult,
  Till,
  TillEvent,
} from './contract.ts';
import {
  type Float,
  type FloatList,
  Floats,
  available,
  type Demand,
  type Waiter,
} from './float.ts';
import { type Batch, Pipeline, type PipelineEvents, type Item } from './pipeline.ts';
import { type TillSettings, tillSettings } from './settings.ts';
import { Settling } from './settling.ts';
import { Sweeper } from './sweeper.ts';
import { TillStats } from './till-metrics.ts';
import type { Move } from './transactions/batch.ts';
import type { CallInRow } from './transactions/process.ts';
import { Waiting } from './waiting.ts';

export interface TillOptions {
  /** Must be opened with `ledgerProcedures`. */
  readonly db: Database;
  readonly clock: Clock;
  readonly random?: Random;
  /** The table of the usage record, and the columns that `Charge.record` fills. */
  readonly records: RecordTable;
  readonly timers?: Timers;
  readonly load?: ThreadLoad;
  /** A process id that was never used before. */
  readonly newId?: () => string;
  readonly settings?: Partial<TillSettings>;
  readonly log?: (event: TillEvent) => void;
}

/**
 * Opens this process's till: as soon as it resolves, money can be reserved. Throws a
 * `DatabaseError` when the database refuses.
 */
export async function openTill(options: TillOptions): Promise<LiveTill> {
  const till = new LiveTill(options);
  await till.open();
  return till;
}

const tickMs = 1_000;

/** One process's till. Call `open` before use. */
export class LiveTill implements Till, ReservationTill, PipelineEvents {
  readonly stats = new TillStats();
  /** Requests with reserved money: their charges may come at any moment. */
  running = 0;
  /** Changes when earlier reservations lose their backing. */
  epoch = 0;
  readonly #database: Database;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #newId: () => string;
  readonly #settings: TillSettings;
  readonly #log: (event: TillEvent) => void;
  readonly #floats: Floats;
  readonly #pipeline: Pipeline;
  readonly #waiting: Waiting;
  readonly #retries: BackgroundRetries;
  readonly #settling: Settling;
  readonly #sweeper: Sweeper;
  readonly #looks: WorkOutcomes;
  #process: string | undefined;
  #lastGoodMs = Number.NEGATIVE_INFINITY;
  #closed = false;
  #looking = false;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(options: TillOptions) {
    const {
      db: database,
      clock,
      records,
      random = systemRandom,
      timers = systemTimers,
      load = systemLoad,
      newId = () => randomText(20),
      log = () => {},
    } = options;
    const settings = { ...tillSettings, ...options.settings };
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#timers = timers;
    this.#newId = newId;
    this.#log = log;
    this.#settings = settings;
    const draw = (float: Float): void => this.#pipeline.move(float);
    this.#waiting = new Waiting(clock, timers, draw, () => !this.admitting);
    this.#pipeline = new Pipeline(
      { database, clock, random, timers, load, records, settings },
      this,
    );
    this.#sweeper = new Sweeper(database, clock, settings);
    this.#floats = new Floats(settings);
    this.#retries = new BackgroundRetries(database, random, timers);
    this.#looks = new WorkOutcomes('look', (_, error) => log({ event: 'look_failed', error }));
    this.#settling = new Settling({
      dialect: database.dialect,
      pipeline: this.#pipeline,
      retries: this.#retries,
      stats: this.stats,
      settings,
      records,
      log,
    });
  }

  async open(): Promise<void> {
    await this.#begin(true);
    await this.#look(this.#clock.monotonicMs());
    this.#tick();
  }

  get admitting(): boolean {
    return this.#admits(this.#clock.monotonicMs());
  }

  /** This process's id in the database; undefined between a fence and the next id. */
  get process(): string | undefined {
    return this.#process;
  }

  /** Every account that this process holds money of, for metrics and checks. */
  get held(): Iterable<Readonly<Float>> {
    return this.#floats.all();
  }

  /** Charges that are not known to be committed. */
  get unsettled(): number {
    return this.#pipeline.unsettled;
  }

  tryReserve(request: ReserveRequest): Reservation | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#admits(nowMs)) return undefined;
    const floats = this.#floats.known(request);
    if (floats === undefined || floats[0].waiters.length > 0) return undefined;
    const amount = available(request, floats);
    return typeof amount === 'bigint' ? this.#reserved(floats, amount, nowMs) : undefined;
  }

  reserve(request: ReserveRequest, signal: AbortSignal): Promise<Reservation | ReserveRefusal> {
    const quick = this.tryReserve(request);
    if (quick !== undefined) return Promise.resolve(quick);
    if (signal.aborted) return Promise.resolve('left');
    const nowMs = this.#clock.monotonicMs();
    const floats = this.#floats.open(request);
    if (!this.#admits(nowMs)) return Promise.resolve('unavailable');
    if (floats[0].waiters.length >= this.#settings.waitersMax) return Promise.resolve('crowded');
    const waitMs = request.once
      ? 0
      : request.shape === 'stream'
        ? this.#settings.streamWaitMs
        : this.#settings.wholeWaitMs;
    return new Promise((resolve) => {
      const end = (outcome: Reservation | ReserveRefusal): void => {
        signal.removeEventListener('abort', leave);
        const endMs = this.#clock.monotonicMs();
        this.stats.waited++;
        this.stats.waitedMs += endMs - nowMs;
        if (outcome === 'insufficient') this.stats.insufficient++;
        resolve(outcome);
      };
      const waiter: Waiter = {
        demand: request,
        floats,
        runs: false,
        untilMs: nowMs + waitMs - (request.requestedMsAgo ?? 0),
        since: this.#pipeline.built,
        ...(request.requestedMsAgo === undefined ? {} : { cameMs: nowMs - request.requestedMsAgo }),
        take: (amount) => end(this.#reserved(floats, amount, this.#clock.monotonicMs())),
        refuse: end,
      };
      const leave = (): void => {
        this.#waiting.remove(waiter);
        end('left');
      };
      signal.addEventListener('abort', leave);
      this.#waiting.add(waiter);
    });
  }

  /**
   * Resolves when every charge is committed and every float is given back, or after `closeWaitMs`:
   * then other processes take over as after a crash.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting.refuseAll();
    const finished = this.#finish();
    await Promise.race([finished, pause(this.#timers, this.#settings.closeWaitMs)]);
  }

  async #finish(): Promise<void> {
    // A request that still runs may end during either wait.
    do {
      await this.#pipeline.idle();
      await this.#retries.idle();
    } while (this.#pipeline.isSending);
    const id = this.#process;
    if (id === undefined) return;
    this.#pipeline.stop();
    this.#process = undefined;
    this.#forget();
    await queueFenceAndSweep(this.#retries, id, this.#settings.sweepFloatsMax);
  }

  // Called by reservations.

  ended(): void {
    this.running--;
  }
  renew(floats: FloatList): FloatList {
    return this.#floats.renew(floats);
  }

  drawAhead(float: Float, amount: Nano): void {
    if (float.ahead > 0n || float.low || float.spare < amount * 2n * BigInt(this.#sweeper.live))
      return;
    float.ahead = amount;
    this.#pipeline.move(float);
  }

  freed(float: Float): void {
    if (float.waiters.length > 0) this.#waiting.serve(float);
    else if (float.low && float.isReturnable) this.#pipeline.move(float);
  }

  wait(floats: FloatList, demand: Demand, waitMs: number, take: (amount: Nano) => void): Wait {
    let resolve: (taken: Nano) => void = () => {};
    const taken = new Promise<Nano>((done) => {
      resolve = done;
    });
    const waiter: Waiter = {
      demand,
      floats,
      runs: true,
      untilMs: this.#clock.monotonicMs() + waitMs,
      since: this.#pipeline.built,
      take: (amount) => {
        take(amount);
        resolve(amount);
      },
      refuse: () => resolve(0n),
    };
    if (this.#closed) resolve(0n);
    else this.#waiting.add(waiter);
    return {
      taken,
      leave: () => {
        this.#waiting.remove(waiter);
        resolve(0n);
      },
    };
  }

  charge(charge: Charge, floats: FloatList, reserved: Nano, extra: Nano): Promise<SettleResult> {
    // A request that has reserved nothing counts as backed even after the last batch of `close`.
    if (this.#closed && this.#process === undefined) return this.chargeLate(charge, floats);
    const nowMs = this.#clock.monotonicMs();
    const settled = this.#settling.charge(charge, floats, reserved, extra, nowMs);
    for (const float of floats) {
      float.running--;
      float.lastUsedMs = nowMs;
      this.freed(float);
    }
    return settled;
  }

  chargeLate(charge: Charge, floats: FloatList): Promise<SettleResult> {
    return this.#settling.chargeLate(charge, floats, this.#clock.monotonicMs());
  }

  // Called by the pipeline.

  moveOf(float: Float): Move | undefined {
    return this.#floats.moveOf(float, this.#clock.monotonicMs(), this.#sweeper.live);
  }

  committed(batch: Batch, atMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#lastGoodMs = atMs;
    this.stats.batches++;
    this.#settling.committed(batch, nowMs);
    for (const move of batch.input.moves) {
      const float = batch.floats.get(move.account);
      if (float !== undefined) this.#floats.moved(float, move, batch.number, nowMs);
    }
    for (const float of batch.floats.values()) {
      if (float.waiters.length > 0 || float.low) this.freed(float);
      this.#floats.dropEmpty(float);
    }
  }

  refused(item: Item, error: unknown): void {
    this.#settling.refused(item, error);
    this.freed(item.user);
  }

  stuck(float: Float, error: unknown): void {
    float.lastFailedMs = this.#clock.monotonicMs();
    float.givesBack = false;
    this.#log({ event: 'stuck', account: float.account, error });
  }

  unknown(error: unknown): void {
    this.stats.unknownBatches++;
    this.#failed(error);
    this.#log({ event: 'unknown_outcome', error });
  }

  lostIdentity(how: IdentityLoss, error?: unknown): void {
    const id = this.#process ?? '';
    this.#log({ event: how, process: id, unsettled: this.#pipeline.unsettled, error });
    this.stats[how]++;
    this.#process = undefined;
    this.#forget();
    // No other process has fenced it, and a copy of a batch may still be on its way.
    if (how !== 'fenced') queueFence(this.#retries, id);
    if (how === 'behind') this.#settling.again();
    if (!this.#closed) void this.#begin(false);
  }

  orphaned(items: readonly Item[]): void {
    this.#settling.orphaned(items);
  }

  #forget(): void {
    this.epoch++;
    this.#floats.forget();
    this.#waiting.refuseRunning();
  }

  #reserved(floats: FloatList, amount: Nano, nowMs: number): Reservation {
    for (const float of floats) {
      float.reserve(amount);
      float.running++;
      float.lastUsedMs = nowMs;
      if (float.free < amount) this.drawAhead(float, amount);
    }
    this.running++;
    return new HeldReservation(this, floats, amount);
  }

  #admits(nowMs: number): boolean {
    const { doubtfulMs, unsettledMax } = this.#settings;
    return (
      !this.#closed &&
      this.#process !== undefined &&
      nowMs - this.#lastGoodMs < doubtfulMs &&
      this.#pipeline.unsettled <= unsettledMax
    );
  }

  /**
   * Takes a new id (rule R6 of the till's protocol), and another one for each try: a try that was
   * given up may still arrive, and must not bring a swept row back. While opening, a refusal of the
   * database goes to the caller; later the till tries until the database answers.
   */
  async #begin(opening: boolean): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const id = this.#newId();
      const sentMs = this.#clock.monotonicMs();
      try {
        await this.#database.call('till.start', { id, at: this.#clock.now() });
        this.#lastGoodMs = sentMs;
        this.#process = id;
        break;
      } catch (error) {
        if (opening && !isAway(error)) throw error;
        await pause(this.#timers, retryMs(attempt, this.#random));
      }
    }
    this.#pipeline.start(this.#process);
    if (this.#closed) return void this.#finish();
    for (const { floats } of [...this.#waiting.all()]) this.#waiting.serve(floats[0]);
  }

  #tick(): void {
    this.#timers.after(tickMs, () => {
      if (this.#closed && this.#process === undefined && this.#retries.size === 0) return;
      const nowMs = this.#clock.monotonicMs();
      this.#settling.expire(nowMs);
      if (nowMs - this.#pipeline.lastBuiltMs >= this.#settings.heartbeatMs) this.#pipeline.beat();
      for (const float of this.#floats.unused(nowMs)) this.#pipeline.move(float);
      if (!this.#looking) void this.#look(nowMs);
      this.#tick();
    });
  }

  /**
   * Reads other processes' heartbeats and the call-ins. A failure is tried again at the next tick.
   */
  async #look(nowMs: number): Promise<void> {
    this.#looking = true;
    try {
      const process = this.#process;
      if (process !== undefined && this.#floats.size > 0) {
        const rows = await this.#database.call<object, readonly CallInRow[]>('till.calls', {
          process,
        });
        for (const float of this.#floats.calledIn(rows)) this.freed(float);
      }
      if (nowMs - this.#lookedMs >= this.#settings.lookEveryMs) {
        this.#lookedMs = nowMs;
        await this.#sweeper.look(this.#process);
        this.#looks.succeeded();
      }
    } catch (error) {
      // That the database does not answer is noticed by the batches, too, which do what is needed.
      this.#failed(error);
      if (!this.#closed) this.#looks.failed(error);
    }
    this.#looking = false;
  }

  /**
   * A database that does not answer may be back in a moment. One whose file is gone may not: from
   * then on no request goes to a vendor, because its answer could not be charged.
   */
  #failed(error: unknown): void {
    if (error instanceof DatabaseError && error.kind === 'gone')
      this.#lastGoodMs = Number.NEGATIVE_INFINITY;
  }
}

/** A request that cost more than its reservation waits this long for the rest. */
const excessWaitMs = 500;

/** A place in the queue for money. */
interface Wait {
  /** The amount taken from each float; 0n for nothing, also after `leave`. */
  readonly taken: Promise<Nano>;
  leave(): void;
}

/** The calls of a reservation into its till. */
interface ReservationTill {
  /** Changes when the process is fenced: earlier reservations are not backed any more. */
  readonly epoch: number;
  /** This process's current floats for the same accounts. */
  renew(floats: FloatList): FloatList;
  /** The float has less left than the next request or slice needs: draws ahead of need. */
  drawAhead(float: Float, amount: Nano): void;
  /** Money of this float has become free. */
  freed(float: Float): void;
  /** A reservation has ended, by a charge or without one. */
  ended(): void;
  /** Calls `take` as soon as there is money; `take` must take it from each float. */
  wait(floats: FloatList, demand: Demand, waitMs: number, take: (amount: Nano) => void): Wait;
  /** Charges `reserved` of each float, and `extra` of the user's. */
  charge(charge: Charge, floats: FloatList, reserved: Nano, extra: Nano): Promise<SettleResult>;
  chargeLate(charge: Charge, floats: FloatList): Promise<SettleResult>;
}

/** See `Reservation`. The same amount is reserved of the user's float and of each limit's. */
class HeldReservation implements Reservation {
  amount: Nano;
  readonly #till: ReservationTill;
  #floats: FloatList;
  #epoch: number;
  #waits: Wait | undefined;
  #ended = false;

  /** The caller has taken `amount` from the floats already. */
  constructor(till: ReservationTill, floats: FloatList, amount: Nano) {
    this.#till = till;
    this.#floats = floats;
    this.#epoch = till.epoch;
    this.amount = amount;
  }

  extend(more: Nano): Nano {
    if (this.#ended || this.#waits !== undefined || more <= 0n || !this.#ensureBacked()) return 0n;
    return this.#take(more);
  }

  /**
   * One wait at a time, though the models that a request falls back to share its reservation: a
   * second wait begins after the first, and what that brought counts for both.
   */
  async extendOrWait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano> {
    const before = this.amount;
    while (this.#waits !== undefined) await this.#waits.taken;
    let got = this.amount - before;
    got += this.extend(more - got);
    if (got >= minimum || this.#ended) return got;
    return got + (await this.#wait(more - got, minimum - got, waitMs));
  }

  settle(charge: Charge): Promise<SettleResult> {
    assert(charge.cost >= 0n, 'nobody is paid for a request');
    this.#end();
    if (charge.cost > this.amount || this.#epoch !== this.#till.epoch)
      return this.#settleSlowly(charge);
    return this.#till.charge(charge, this.#floats, this.amount, 0n);
  }

  release(): void {
    if (this.#ended) return;
    this.#end();
    if (this.#epoch !== this.#till.epoch) return;
    for (const float of this.#floats) {
      float.release(this.amount);
      float.running--;
    }
    for (const float of this.#floats) this.#till.freed(float);
  }

  /**
   * After a fence, reserves the same amount again if it is free; otherwise the request goes on
   * unbacked.
   */
  #ensureBacked(): boolean {
    if (this.#epoch === this.#till.epoch) return true;
    const floats = this.#till.renew(this.#floats);
    if (floats.some((float) => float.free < this.amount || float.frozen)) return false;
    for (const float of floats) {
      float.reserve(this.amount);
      float.running++;
    }
    this.#floats = floats;
    this.#epoch = this.#till.epoch;
    return true;
  }

  /** Takes what is free, at once; nothing while other requests wait for it. */
  #take(more: Nano): Nano {
    let got = more;
    for (const { free, frozen, waiters } of this.#floats) {
      if (frozen || waiters.length > 0) return 0n;
      if (free < got) got = free;
    }
    if (got > 0n) {
      for (const float of this.#floats) float.reserve(got);
      this.amount += got;
    }
    for (const float of this.#floats) if (float.free < more) this.#till.drawAhead(float, more);
    return got;
  }

  /**
   * An unbacked reservation waits for everything it should have. After a fence in the meantime the
   * wait begins anew.
   */
  async #wait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano> {
    const epoch = this.#till.epoch;
    const backed = this.#ensureBacked();
    const behind = backed ? 0n : this.amount;
    const floats = backed ? this.#floats : this.#till.renew(this.#floats);
    const demand: Demand = { want: behind + more, minimum: behind + minimum, shape: 'stream' };
    this.#waits = this.#till.wait(floats, demand, waitMs, (amount) => {
      for (const float of floats) {
        float.reserve(amount);
        if (!backed) float.running++;
      }
      this.#floats = floats;
      this.#epoch = epoch;
      this.amount += amount - behind;
    });
    const taken = await this.#waits.taken;
    this.#waits = undefined;
    if (taken === 0n && epoch !== this.#till.epoch && !this.#ended)
      return this.#wait(more, minimum, waitMs);
    return taken > behind ? taken - behind : 0n;
  }

  #end(): void {
    assert(!this.#ended, 'a reservation ends once');
    this.#ended = true;
    this.#till.ended();
    this.#waits?.leave();
  }

  /**
   * A limit never makes a shortfall: the missing money comes from the user's float alone, and
   * limits are charged beyond what they have.
   */
  async #settleSlowly(charge: Charge): Promise<SettleResult> {
    let extra = 0n;
    if (charge.cost > this.amount && this.#ensureBacked()) {
      const [user] = this.#floats;
      const take = (amount: Nano): void => {
        user.reserve(amount);
        extra += amount;
      };
      const epoch = this.#epoch;
      const missing = charge.cost - this.amount;
      if (user.waiters.length === 0) take(user.free < missing ? user.free : missing);
      const wanted = missing - extra;
      if (wanted > 0n)
        await this.#till.wait(
          [user],
          { want: wanted, minimum: 1n, shape: 'stream' },
          excessWaitMs,
          take,
        ).taken;
      if (epoch !== this.#till.epoch) extra = 0n;
    }
    if (this.#ensureBacked()) return this.#till.charge(charge, this.#floats, this.amount, extra);
    return this.#till.chargeLate(charge, this.#floats);
  }
}
