import assert from 'node:assert/strict';
import { type Clock, pause, type Timers, nextTurn, type ThreadLoad } from '../base/clock.ts';
import type { Nano } from '../base/money.ts';
import type { Random } from '../base/random.ts';
import { type Database, isFinal, type SqlValue } from '../storage/database.ts';
import { retryMs } from './background-retries.ts';
import type { Charge, IdentityLoss, RecordTable, SettleResult } from './contract.ts';
import type { Float } from './float.ts';
import type { TillSettings } from './settings.ts';
import {
  type BatchInput,
  type BatchReply,
  type Charges,
  emptyMove,
  recordTarget,
  type ChargeLoss,
  type Spend,
  type Move,
  type FloatRow,
} from './transactions/batch.ts';

/** One finished request on its way into the database. */
export interface Item {
  charge: Charge;
  readonly user: Float;
  /** The part of the cost that the user pays; the rest is shortfall. */
  amount: Nano;
  readonly limits: readonly Float[];
  /** The part of it that each limit's float pays; the rest is charged to the limit directly. */
  onLimits: readonly Nano[];
  readonly queuedAtMs: number;
  /** The caller of `settle` has its result already: "not known yet" or refused. */
  answered: boolean;
  readonly resolve: (settled: SettleResult) => void;
}

/** One transaction: built once, sent unchanged until its outcome is known. */
export interface Batch {
  readonly number: number;
  readonly builtAtMs: number;
  readonly items: readonly Item[];
  readonly floats: ReadonlyMap<string, Float>;
  readonly input: BatchInput;
}

interface FloatMove {
  readonly float: Float;
  readonly move: Move;
}

/**
 * A batch waits for more charges from this many running requests on (`gatherFrom`), until it has
 * one charge for every `gatherShare` of them.
 */
const gatherFrom = 8;
const gatherShare = 1.25;
/**
 * The thread's busy share of the time from which on a commit saved is worth a short wait. Where
 * vendors take their time, most running requests do not end soon, and the wait is never cut short.
 */
const busyFrom = 0.9;

/** The pipeline's calls into the till. */
export interface PipelineEvents {
  /** Requests whose charges may come at any moment. */
  readonly running: number;
  /** The amounts that this float draws or gives back with the batch being built. */
  moveOf(float: Float): Move | undefined;
  /**
   * The batch is committed and the floats are up to date. `atMs`: a moment at which the database
   * had not committed it yet.
   */
  committed(batch: Batch, atMs: number): void;
  refused(item: Item, error: unknown): void;
  /** The database will never do this draw or return: a bug in Tollgate. */
  stuck(float: Float, error: unknown): void;
  /** Nothing more will be committed under this process's id. */
  lostIdentity(how: IdentityLoss, error?: unknown): void;
  /** Charges that the fenced process may or may not have committed. */
  orphaned(items: readonly Item[]): void;
  unknown(error: unknown): void;
}

export interface PipelineOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly load: ThreadLoad;
  readonly records: RecordTable;
  readonly settings: TillSettings;
}

/**
 * The only way of this process's money into the database: at most one batch at a time (R1). The
 * charges that queue meanwhile form the next batch.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #events: PipelineEvents;
  readonly #procedure: string;
  readonly #records: BatchInput['records'];
  readonly #queue: Item[] = [];
  readonly #moving = new Set<Float>();
  #process: string | undefined;
  #seq = 0n;
  #built = 0;
  #lastBuiltMs = Number.NEGATIVE_INFINITY;
  #inFlight: readonly Item[] = [];
  #running: Promise<void> | undefined;
  #beats = false;
  /** Ends the wait for a larger batch. */
  #gathered: (() => void) | undefined;

  constructor(options: PipelineOptions, events: PipelineEvents) {
    this.#options = options;
    this.#events = events;
    const thread = options.database.dialect === 'sqlite';
    this.#procedure = thread ? 'till.batch' : 'till.batch-at-once';
    this.#records = thread ? recordTarget(options.records) : options.records;
  }

  /** Batches built so far. */
  get built(): number {
    return this.#built;
  }

  /** When the last batch was built: the last sign of life, unless it is still under way. */
  get lastBuiltMs(): number {
    return this.#lastBuiltMs;
  }

  /** The number of charges that are not known to be committed. */
  get unsettled(): number {
    return this.#queue.length + this.#inFlight.length;
  }

  /** From now on batches carry this id, whose row in the database is new. */
  start(process: string): void {
    this.#process = process;
    this.#seq = 0n;
    this.#wake();
  }

  /** Sends nothing more. */
  stop(): void {
    this.#process = undefined;
  }

  enqueue(item: Item): void {
    this.#queue.push(item);
    if (this.#gathered !== undefined && this.#enough) this.#gathered();
    this.#wake();
  }

  /** The float wants to draw or give back. */
  move(float: Float): void {
    this.#moving.add(float);
    this.#wake();
  }

  /** Sends an empty batch, as a heartbeat, if there is nothing else to send. */
  beat(): void {
    this.#beats = true;
    this.#wake();
  }

  /**
   * Charges by age, those in flight first. `sent`: a batch with the charge may be in the database
   * already.
   */
  *waiting(): Iterable<{ readonly item: Item; readonly sent: boolean }> {
    for (const item of this.#inFlight) yield { item, sent: true };
    for (const item of this.#queue) yield { item, sent: false };
  }

  /** Whether a batch is in flight, or one is about to be built. */
  get isSending(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when no batch is in flight. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  get #hasWork(): boolean {
    return this.#queue.length > 0 || this.#moving.size > 0 || this.#beats;
  }

  #wake(): void {
    if (this.#process !== undefined) this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /**
   * An error here is a bug in Tollgate. The charges are saved as after a fence: their ids tell
   * which were committed.
   */
  async #run(): Promise<void> {
    try {
      await this.#sendAll();
    } catch (error) {
      this.#giveUp('broken', this.#inFlight, error);
    }
    this.#inFlight = [];
    this.#running = undefined;
    if (this.#hasWork) this.#wake();
  }

  #giveUp(how: IdentityLoss, inFlight: readonly Item[], error?: unknown): void {
    this.#process = undefined;
    this.#moving.clear();
    this.#events.lostIdentity(how, error);
    this.#events.orphaned([...inFlight, ...this.#queue.splice(0)]);
  }

  async #sendAll(): Promise<void> {
    while (this.#process !== undefined && this.#hasWork) {
      await this.#gather();
      if (this.#process === undefined) return;
      const items = this.#queue.splice(0, this.#options.settings.batchItemsMax);
      const moves = this.#takeMoves();
      if (items.length === 0 && moves.length === 0 && !this.#beats) continue;
      this.#beats = false;
      this.#inFlight = items;
      await this.#deliver(items, moves);
      this.#inFlight = [];
    }
  }

  /**
   * Charges together the answers that arrived together. While many requests run, the batch waits a
   * moment for more of them: each commit saved is a log write, an fsync and two thread switches
   * less. With few requests there is nothing to save, and a thread that has time commits at once.
   * Decision 0031.
   */
  async #gather(): Promise<void> {
    const { timers, settings, load } = this.#options;
    await nextTurn(timers);
    if (this.#events.running < gatherFrom || this.#enough || load.busy() < busyFrom) return;
    await new Promise<void>((resolve) => {
      const late = timers.after(settings.gatherMs, () => this.#gathered?.());
      this.#gathered = () => {
        late();
        this.#gathered = undefined;
        resolve();
      };
    });
  }

  /** The batch has a good part of the charges that could still come. */
  get #enough(): boolean {
    return this.#queue.length * gatherShare >= this.#events.running;
  }

  #takeMoves(): FloatMove[] {
    const moves: FloatMove[] = [];
    for (const float of this.#moving) {
      if (moves.length === this.#options.settings.batchItemsMax) break;
      this.#moving.delete(float);
      const move = this.#events.moveOf(float);
      if (move !== undefined) moves.push({ float, move });
    }
    return moves;
  }

  /** Sends one batch until its outcome is known. */
  async #deliver(items: readonly Item[], moves: readonly FloatMove[]): Promise<void> {
    assert(this.#process !== undefined, 'batches are sent by a live process');
    const batch = this.#build(this.#process, items, moves);
    const { database, clock, random, timers } = this.#options;
    const firstSentMs = clock.monotonicMs();
    for (let attempt = 0; ; attempt++) {
      const sentMs = clock.monotonicMs();
      let reply: BatchReply;
      try {
        reply = await database.call(this.#procedure, batch.input);
      } catch (error) {
        if (isFinal(error)) return this.#poisoned(batch, moves, error);
        this.#events.unknown(error);
        await pause(timers, retryMs(attempt, random));
        continue;
      }
      return this.#conclude(batch, reply, reply.outcome === 'ok' ? sentMs : firstSentMs);
    }
  }

  #conclude(batch: Batch, reply: BatchReply, atMs: number): void {
    if (reply.outcome === 'fenced' || reply.outcome === 'behind') {
      return this.#giveUp(reply.outcome, batch.items);
    }
    this.#seq++;
    for (const row of reply.floats) this.#floatOf(batch, row).see(row);
    for (const float of batch.floats.values()) float.settle();
    this.#events.committed(batch, atMs);
  }

  #floatOf(batch: Batch, { account }: FloatRow): Float {
    const float = batch.floats.get(account);
    assert(float, 'a batch answers for its own accounts');
    return float;
  }

  /**
   * The database will never take this batch. Its parts are sent one by one, so that only the part
   * at fault is refused.
   */
  async #poisoned(batch: Batch, moves: readonly FloatMove[], error: unknown): Promise<void> {
    const { items } = batch;
    for (const float of batch.floats.values()) float.refuseBatch();
    if (items.length + moves.length <= 1) {
      for (const item of items) this.#events.refused(item, error);
      for (const { float } of moves) this.#events.stuck(float, error);
      return;
    }
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      assert(item, 'an index within bounds');
      if (this.#process === undefined) return this.#events.orphaned(items.slice(i));
      await this.#deliver([item], []);
    }
    for (const { float } of moves) {
      const move = this.#process === undefined ? undefined : this.#events.moveOf(float);
      if (move !== undefined) await this.#deliver([], [{ float, move }]);
    }
  }

  #build(process: string, items: readonly Item[], moves: readonly FloatMove[]): Batch {
    const floats = new Map<string, Float>();
    const direct = new Map<Float, Nano>();
    let losses = noLosses;
    for (const { float } of moves) floats.set(float.account, float);
    for (const { charge: one, user, amount, limits, onLimits } of items) {
      charge(floats, user, amount);
      if (one.loss !== undefined)
        losses = [...losses, { id: one.id, amount: one.loss, at: one.at }];
      for (let i = 0; i < limits.length; i++) {
        const limit = limits[i];
        const paid = onLimits[i];
        if (limit === undefined || paid === undefined) continue;
        charge(floats, limit, paid);
        if (amount > paid) direct.set(limit, (direct.get(limit) ?? 0n) + amount - paid);
      }
    }
    const spends: Spend[] = [];
    for (const float of floats.values()) {
      if (float.charging > 0n) spends.push({ account: float.account, amount: float.charging });
    }
    this.#built++;
    const builtAtMs = this.#options.clock.monotonicMs();
    this.#lastBuiltMs = builtAtMs;
    const input: BatchInput = {
      process,
      seq: this.#seq,
      charges: chargesOf(items),
      losses,
      spends,
      moves: withDirect(
        moves.map(({ move }) => move),
        direct,
      ),
      records: this.#records,
    };
    return { number: this.#built, builtAtMs, items, floats, input };
  }
}

const noLosses: readonly ChargeLoss[] = [];

function charge(floats: Map<string, Float>, float: Float, amount: Nano): void {
  if (float.charging === 0n) floats.set(float.account, float);
  float.charging += amount;
}

function chargesOf(items: readonly Item[]): Charges {
  const values: SqlValue[] = [];
  for (const { charge, user, amount } of items) {
    values.push(
      charge.id,
      user.account,
      amount,
      charge.code,
      charge.at,
      charge.cost,
      charge.cost - amount,
      ...charge.record,
    );
  }
  return { count: items.length, values };
}

/**
 * All account rows of a batch by ascending id: every transaction locks them in this order (R11).
 */
function withDirect(moves: readonly Move[], direct: ReadonlyMap<Float, Nano>): readonly Move[] {
  if (moves.length + direct.size === 0) return moves;
  const all = new Map(moves.map((move) => [move.account, move]));
  for (const [{ account }, amount] of direct)
    all.set(account, { ...(all.get(account) ?? emptyMove(account)), direct: amount });
  return [...all.values()].sort((a, b) => (a.account < b.account ? -1 : 1));
}
