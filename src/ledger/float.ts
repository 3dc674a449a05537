import assert from 'node:assert/strict';
import type { Nano } from '../base/money.ts';
import type { ReserveRequest, ReserveRefusal } from './contract.ts';
import type { TillSettings } from './settings.ts';
import { emptyMove, type Move, type FloatRow } from './transactions/batch.ts';
import type { CallInRow } from './transactions/process.ts';

/** More than any account has. */
const unknown: Nano = 1n << 62n;
/** A draw ahead covers the spending of this much of the past. */
const rateWindowMs = 5_000;
/** A draw that got nothing is repeated after this time. */
export const drawEveryMs = 300;

/**
 * This process's view of one account, and the part of the account's money that only this process
 * may spend. `free = granted − spent − queued − reserved − returning`, and is never negative.
 */
export class Float {
  readonly account: string;
  /** The limit with which a limit's account is made; undefined for a user's account. */
  readonly limit: Nano | undefined;
  /** As the last batch returned it, like `spent`. */
  granted: Nano = 0n;
  spent: Nano = 0n;
  /** Charges that wait for a batch or are in one. */
  queued: Nano = 0n;
  /** The part of `queued` in the batch that is in flight. */
  charging: Nano = 0n;
  /** Reserved for running requests. */
  reserved: Nano = 0n;
  /** Being given back by the batch that is in flight. */
  returning: Nano = 0n;
  free: Nano = 0n;

  /** Requests that have a reservation here. */
  running = 0;
  /** Finished requests whose charge is queued or in a batch. */
  unsettled = 0;
  lastUsedMs = 0;
  readonly waiters: Waiter[] = [];
  /** The floats of a request without limits. */
  readonly alone: readonly [Float] = [this];

  /** The account's money that nothing holds, as last seen: the most that a draw could get. */
  spare: Nano = unknown;
  /** Credits less debits, as last seen. */
  total: Nano = 0n;
  /** Held by other processes and by tasks, as last seen. */
  elsewhere: Nano = 0n;
  frozen = false;
  callIn = 0n;

  /** The next batch draws ahead of need, this much at most. */
  ahead: Nano = 0n;
  /** The next batch gives back what is free. */
  givesBack = false;
  /**
   * Free money goes back at once: other processes want it, or the account has nothing else left.
   */
  low = false;
  /** The batch that last answered a draw. */
  answeredBy = 0;
  /** When a draw last got nothing. */
  lastFailedMs = Number.NEGATIVE_INFINITY;

  #spentBefore: Nano = 0n;
  #spentLately: Nano = 0n;
  #windowFromMs = 0;

  constructor(account: string, limit: Nano | undefined) {
    this.account = account;
    this.limit = limit;
  }

  reserve(amount: Nano): void {
    this.free -= amount;
    this.reserved += amount;
    assert(this.free >= 0n, 'no money is reserved twice');
  }

  release(amount: Nano): void {
    this.reserved -= amount;
    this.free += amount;
    assert(this.reserved >= 0n, 'only what is reserved is released');
  }

  /** A running request ends: of `reserved` and what is free, `charged` waits for the next batch. */
  finish(reserved: Nano, charged: Nano, nowMs: number): void {
    this.reserved -= reserved;
    this.queued += charged;
    this.unsettled++;
    this.free += reserved - charged;
    assert(this.free >= 0n && this.reserved >= 0n, 'no more is charged than this process has');
    this.#countSpent(charged, nowMs);
  }

  /**
   * Takes a queued charge back: its answer was not delivered, or the database will never take it.
   */
  uncharge(amount: Nano): void {
    this.queued -= amount;
    this.free += amount;
  }

  /** Free money goes back with the batch that is being built; returns how much. */
  takeBack(): Nano {
    this.returning = this.free;
    this.free = 0n;
    return this.returning;
  }

  /**
   * Takes over the database's values after a batch. `charging` and `returning` name the batch's
   * part.
   */
  see({ granted, spent, facts }: FloatRow): void {
    this.granted = granted;
    this.spent = spent;
    if (facts === undefined) return;
    this.total = facts.credits - facts.debits - spent;
    this.spare = facts.credits - facts.debits - facts.held;
    this.elsewhere = facts.held - granted;
    this.frozen = facts.frozen;
    this.callIn = facts.callIn;
  }

  /** After `see`, once for each float of a batch. */
  settle(): void {
    this.queued -= this.charging;
    this.charging = 0n;
    this.returning = 0n;
    this.free = this.granted - this.spent - this.queued - this.reserved;
    assert(this.free >= 0n && this.queued >= 0n, 'memory and database agree on what is free');
  }

  /** The batch was refused: nothing of it happened. */
  refuseBatch(): void {
    this.charging = 0n;
    this.free += this.returning;
    this.returning = 0n;
  }

  /** The process is fenced: it holds nothing any more. Waiters stay in the queue. */
  forget(): void {
    this.granted =
      this.spent =
      this.queued =
      this.charging =
      this.reserved =
      this.returning =
      this.free =
        0n;
    this.running = 0;
    this.unsettled = 0;
    this.spare = unknown;
    this.ahead = 0n;
    this.givesBack = false;
    this.lastFailedMs = Number.NEGATIVE_INFINITY;
  }

  /** The most that a waiter could get if all reserved money, here and elsewhere, came back. */
  get most(): Nano {
    return this.free + this.reserved + this.returning + this.spare + this.elsewhere;
  }

  /**
   * Whether a return changes anything in the database: there is free money to give back, or the
   * float is wholly spent and its row can be deleted.
   */
  get isReturnable(): boolean {
    return this.free > 0n || (this.granted > 0n && this.reserved === 0n && this.queued === 0n);
  }

  /** Whether the database has reported the account's money. */
  get isKnown(): boolean {
    return this.spare !== unknown;
  }

  /** Nothing in this process needs it. */
  get isIdle(): boolean {
    return this.running === 0 && this.unsettled === 0 && this.waiters.length === 0;
  }

  /** The spending of this account in this process in the last five seconds or so. */
  refill(nowMs: number): Nano {
    this.#turnWindow(nowMs);
    return this.#spentBefore > this.#spentLately ? this.#spentBefore : this.#spentLately;
  }

  #countSpent(amount: Nano, nowMs: number): void {
    this.#turnWindow(nowMs);
    this.#spentLately += amount;
  }

  #turnWindow(nowMs: number): void {
    const age = nowMs - this.#windowFromMs;
    if (age < rateWindowMs) return;
    this.#spentBefore = age < 2 * rateWindowMs ? this.#spentLately : 0n;
    this.#spentLately = 0n;
    this.#windowFromMs = nowMs;
  }
}

/**
 * The accounts that this process holds money of or has waiters for, and the amounts that each of
 * them exchanges with the database.
 */
export class Floats {
  readonly #floats = new Map<string, Float>();
  readonly #settings: TillSettings;

  constructor(settings: TillSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#floats.size;
  }

  all(): Iterable<Float> {
    return this.#floats.values();
  }

  /** The user's float first, then the limits'; undefined when one of them is not in memory. */
  known({ account, limits }: ReserveRequest): FloatList | undefined {
    const user = this.#floats.get(account);
    if (user === undefined) return undefined;
    if (limits.length === 0) return user.alone;
    const floats: [Float, ...Float[]] = [user];
    for (const { id } of limits) {
      const float = this.#floats.get(id);
      if (float === undefined) return undefined;
      floats.push(float);
    }
    return floats;
  }

  /** Like `known`, but makes the missing floats. */
  open({ account, limits }: ReserveRequest): FloatList {
    return [
      this.#open(account, undefined),
      ...limits.map(({ id, amount }) => this.#open(id, amount)),
    ];
  }

  renew([user, ...limits]: FloatList): FloatList {
    return [
      this.#open(user.account, user.limit),
      ...limits.map(({ account, limit }) => this.#open(account, limit)),
    ];
  }

  /** The process is fenced: it holds nothing any more. Accounts with waiters stay. */
  forget(): void {
    for (const float of this.#floats.values()) {
      float.forget();
      if (float.waiters.length === 0) this.#floats.delete(float.account);
    }
  }

  /** The amounts that the account draws or gives back with the next batch. */
  moveOf(float: Float, nowMs: number, liveProcesses: number): Move | undefined {
    const { account, limit } = float;
    if (this.#floats.get(account) !== float) return undefined;
    const ahead = float.ahead;
    float.ahead = 0n;
    const need = needOf(float);
    const spareParts = 2n * BigInt(liveProcesses);
    if (need !== undefined) {
      if (nowMs - float.lastFailedMs < drawEveryMs) return undefined;
      float.givesBack = false;
      const refill = float.refill(nowMs);
      const spare = refill > need.spare ? refill : need.spare;
      // Money that is too little here may be enough in another process, together with its own
      // returns.
      const back = float.low ? float.takeBack() : 0n;
      return {
        ...emptyMove(account),
        limit,
        want: need.want + back,
        least: need.least + back,
        spare,
        spareParts,
        back,
      };
    }
    if (float.waiters.length > 0) return undefined;
    if (float.givesBack || float.low) {
      float.givesBack = false;
      if (float.granted === 0n) return undefined;
      return { ...emptyMove(account), back: float.takeBack() };
    }
    if (ahead === 0n) return undefined;
    const refill = float.refill(nowMs);
    return { ...emptyMove(account), limit, spare: refill > ahead ? refill : ahead, spareParts };
  }

  /** A batch with this move is committed, and the float has its result. */
  moved(float: Float, move: Move, batch: number, nowMs: number): void {
    if (move.want === 0n && move.spare === 0n) return;
    float.answeredBy = batch;
    const need = needOf(float);
    const failed = need !== undefined && (float.frozen || float.spare < need.least);
    if (failed) float.lastFailedMs = nowMs;
    float.low = failed || float.frozen || float.spare <= 0n;
  }

  /**
   * Other processes want the idle money: from now on all that is free goes back, until a draw finds
   * that there is more again.
   */
  calledIn(rows: readonly CallInRow[]): readonly Float[] {
    const called: Float[] = [];
    for (const { account, callIn, frozen } of rows) {
      const float = this.#floats.get(account);
      if (float === undefined) continue;
      float.frozen = frozen;
      if (callIn <= float.callIn && !frozen) continue;
      float.callIn = callIn;
      float.low = true;
      called.push(float);
    }
    return called;
  }

  /**
   * Accounts whose money goes back because they were idle for a while, or there are too many of
   * them.
   */
  unused(nowMs: number): readonly Float[] {
    const unused: Float[] = [];
    const before = nowMs - this.#settings.idleMs;
    for (const float of this.#floats.values()) {
      if (!float.isIdle || float.lastUsedMs > before) continue;
      if (float.granted === 0n) this.dropEmpty(float);
      else unused.push(float);
    }
    const excess = this.#floats.size - unused.length - this.#settings.accountsHeldMax;
    if (excess > 0) {
      const idle = [...this.#floats.values()].filter(
        (float) => float.isIdle && float.lastUsedMs > before,
      );
      unused.push(...idle.sort((a, b) => a.lastUsedMs - b.lastUsedMs).slice(0, excess));
    }
    for (const float of unused) float.givesBack = true;
    return unused;
  }

  dropEmpty(float: Float): void {
    if (float.granted === 0n && float.isIdle && this.#floats.get(float.account) === float)
      this.#floats.delete(float.account);
  }

  #open(account: string, limit: Float['limit']): Float {
    let float = this.#floats.get(account);
    if (float === undefined) {
      float = new Float(account, limit);
      this.#floats.set(account, float);
    }
    return float;
  }
}

/** The amount a request would like, and the least that makes sense for it. */
export type Demand = Pick<ReserveRequest, 'want' | 'minimum' | 'shape' | 'once'>;

/** Whole answers of a burst share an account in this many parts. */
const shares = 64n;

/**
 * The amount that a demand may take of an account. A whole answer takes a flat share, since most of
 * them cannot take more while they run, or half of the free money when nothing else runs. Before
 * the account is known, it takes only the minimum.
 */
function fairShare({ want, minimum, shape }: Demand, user: Float, alone: boolean): Nano {
  if (shape !== 'whole') return want;
  if (!user.isKnown) return minimum;
  let share = user.total / shares;
  if (alone) {
    const half = (user.free + user.spare) / 2n;
    if (half > share) share = half;
  }
  if (share < minimum) return minimum;
  return share < want ? share : want;
}

/** The floats of a request: the user's, then those of its limits. */
export type FloatList = readonly [Float, ...Float[]];

/**
 * The amount that can be taken from memory now, of all accounts alike; or the account that lacks
 * it. Less than the share is taken only when the database is known to have no more.
 */
export function available(demand: Demand, floats: FloatList): Nano | Float {
  const [user] = floats;
  let amount = fairShare(demand, user, user.running === 0);
  for (let i = 0; i < floats.length; i++) {
    const float = floats[i];
    if (float === undefined || float.free >= amount) continue;
    if (!sufficesFor(demand, float, amount)) return float;
    amount = float.free;
  }
  return amount;
}

function sufficesFor({ minimum, shape }: Demand, float: Float, amount: Nano): boolean {
  return shape !== 'fixed' && float.free >= minimum && float.spare < amount - float.free;
}

/** What one account's waiters need the next batch to draw. */
interface Need {
  readonly want: Nano;
  readonly least: Nano;
  /** Drawn on top when the account has plenty, for the next requests. */
  readonly spare: Nano;
}

/** Undefined when the free money is enough, or nothing waits. */
function needOf(float: Float): Need | undefined {
  const [first] = float.waiters;
  if (first === undefined) return undefined;
  let want = -float.free;
  let wanted = 0n;
  let alone = float.running === 0;
  for (const { demand, floats } of float.waiters) {
    want += fairShare(demand, floats[0], alone);
    wanted += demand.want;
    alone = false;
  }
  if (want <= 0n) return undefined;
  const least = first.demand.minimum - float.free;
  return { want, least: least > 1n ? (least < want ? least : want) : 1n, spare: wanted };
}

/** Somebody who waits for money: a request, or one that runs and wants more. */
export interface Waiter {
  readonly demand: Demand;
  /** The user's first. */
  readonly floats: FloatList;
  /** It has begun already, and wants more. */
  readonly runs: boolean;
  readonly untilMs: number;
  /** Batches built before it came: a later one answers it. */
  readonly since: number;
  /**
   * It came before, with a rougher estimate: a draw that has got nothing after this time has
   * answered it, too.
   */
  readonly cameMs?: number;
  /** `amount` may be taken from each float, and must be. */
  readonly take: (amount: Nano) => void;
  readonly refuse: (why: ReserveRefusal) => void;
}
