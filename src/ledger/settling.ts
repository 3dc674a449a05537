import type { Nano } from '../base/money.ts';
import type { Database } from '../storage/database.ts';
import type { BackgroundRetries } from './background-retries.ts';
import type { Charge, RecordTable, SettleResult, TillEvent } from './contract.ts';
import type { Float, FloatList } from './float.ts';
import type { Batch, Item, Pipeline } from './pipeline.ts';
import type { TillSettings } from './settings.ts';
import type { TillStats } from './till-metrics.ts';
import type { LateInput, LateReply } from './transactions/charge.ts';

const none: readonly Nano[] = [];
const unlimited: readonly Float[] = [];
/** A gap this long between two looks, one second apart, means that the process was stopped. */
const asleepMs = 5_000;
/**
 * After such a stop the database has this long to answer before any caller is told that it does
 * not.
 */
const wokenWaitMs = 5_000;

export interface SettlingParts {
  readonly dialect: Database['dialect'];
  readonly pipeline: Pipeline;
  readonly retries: BackgroundRetries;
  readonly stats: TillStats;
  readonly settings: TillSettings;
  readonly records: RecordTable;
  readonly log: (event: TillEvent) => void;
}

/** From the end of a request to the result that its charge is committed. */
export class Settling {
  readonly #parts: SettlingParts;
  /** Charges settled late: in no batch, but still on their way. */
  readonly #late = new Set<Item>();
  readonly #recent: RecentCharges;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #wokenMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
    const { rememberedMax, rememberMs } = parts.settings;
    this.#recent = new RecentCharges(parts.dialect === 'postgres' ? rememberedMax : 0, rememberMs);
  }

  /**
   * Charges up to the reservation: `reserved` of each float, and `extra` of the user's. The rest of
   * it is free again.
   */
  charge(
    charge: Charge,
    floats: FloatList,
    reserved: Nano,
    extra: Nano,
    nowMs: number,
  ): Promise<SettleResult> {
    const [user] = floats;
    const limits = floats.length === 1 ? unlimited : floats.slice(1);
    const available = reserved + extra;
    const amount = charge.cost < available ? charge.cost : available;
    user.finish(available, amount, nowMs);
    let onLimits = none;
    if (limits.length > 0) {
      onLimits = limits.map((limit) => {
        const there = reserved + limit.free;
        const paid = amount < there ? amount : there;
        limit.finish(reserved, paid, nowMs);
        return paid;
      });
    }
    return new Promise((resolve) => {
      this.#parts.pipeline.enqueue({
        charge,
        user,
        amount,
        limits,
        onLimits,
        queuedAtMs: nowMs,
        answered: false,
        resolve,
      });
    });
  }

  /** For a process that was fenced since it reserved the money: charges the account itself (R6). */
  chargeLate(charge: Charge, [user, ...limits]: FloatList, nowMs: number): Promise<SettleResult> {
    return new Promise((resolve) => {
      this.orphaned([
        {
          charge,
          user,
          amount: 0n,
          limits,
          onLimits: none,
          queuedAtMs: nowMs,
          answered: false,
          resolve,
        },
      ]);
    });
  }

  committed({ items, builtAtMs }: Batch, nowMs: number): void {
    const { stats } = this.#parts;
    this.#recent.add(items, nowMs);
    for (const item of items) {
      stats.queued.observe(builtAtMs - item.queuedAtMs);
      stats.committed.observe(nowMs - builtAtMs);
      const shortfall = item.charge.cost - item.amount;
      landed(item);
      stats.settled++;
      stats.shortfallNano += shortfall;
      if (item.answered) this.#refundWithheld(item, item.amount);
      else item.resolve({ outcome: 'paid', amount: item.amount, shortfall });
    }
  }

  /** The database will never take this charge: nobody pays, and the operator is informed. */
  refused(item: Item, error: unknown): void {
    uncharge(item);
    landed(item);
    this.#fail(item, error);
  }

  /** The charges' ids tell whether the fenced process had committed them. */
  orphaned(items: readonly Item[]): void {
    for (const item of items) {
      this.#late.add(item);
      const input = this.#lateInput(item);
      this.#parts.retries.add({
        procedure: 'till.late',
        input,
        done: (reply) => this.#lateDone(item, input().charge.cost, reply as LateReply),
        refused: (error) => {
          this.#late.delete(item);
          this.#fail(item, error);
        },
      });
    }
  }

  /**
   * Settles again the charges of the last minute, which are answered already but which the database
   * may have forgotten, and their refunds where the answer was withheld: their ids make it safe.
   */
  again(): void {
    for (const item of this.#recent.all()) {
      this.#parts.retries.add({
        procedure: 'till.late',
        input: this.#lateInput(item),
        done: (reply) => {
          const { outcome, amount } = reply as LateReply;
          if (item.answered && outcome !== 'clash') this.#refundWithheld(item, amount);
        },
        refused: (error) => this.#fail(item, error),
      });
    }
  }

  /**
   * Once a second: answers `unavailable` for every charge that has waited too long. The charges go
   * on; those of answers that are now withheld cost nothing in the end. A process that was itself
   * stopped gives the database time first, because it was not listening for its replies.
   */
  expire(nowMs: number): void {
    this.#recent.prune(nowMs);
    if (nowMs - this.#lookedMs > asleepMs) this.#wokenMs = nowMs;
    this.#lookedMs = nowMs;
    if (nowMs - this.#wokenMs < wokenWaitMs) return;
    const before = nowMs - this.#parts.settings.settleWaitMs;
    for (const { item, sent } of this.#parts.pipeline.waiting()) {
      if (item.queuedAtMs > before) break;
      this.#giveUp(item, sent);
    }
    for (const item of this.#late) if (item.queuedAtMs <= before) this.#giveUp(item, true);
  }

  #giveUp(item: Item, sent: boolean): void {
    if (item.answered) return;
    item.answered = true;
    if (item.charge.withheld === true) {
      this.#parts.stats.undelivered++;
      if (!sent) withdraw(item);
    }
    item.resolve({ outcome: 'unavailable', amount: 0n, shortfall: 0n });
  }

  /** Read at the time of sending, because by then the answer may have been withheld. */
  #lateInput(item: Item): () => LateInput {
    const { user, limits } = item;
    const accounts = limits.map(({ account }) => account);
    return () => {
      const { id, cost, code, at, loss, record } = item.charge;
      return {
        charge: { id, account: user.account, cost, code, at, loss, record },
        limits: accounts,
        records: this.#parts.records,
      };
    };
  }

  #lateDone(item: Item, cost: Nano, { outcome, amount }: LateReply): void {
    this.#late.delete(item);
    if (outcome === 'clash') return this.#fail(item, new Error('the id is that of another charge'));
    this.#parts.stats.late++;
    const shortfall = cost - amount;
    if (outcome === 'paid') this.#parts.stats.shortfallNano += shortfall;
    if (item.answered) this.#refundWithheld(item, amount);
    else item.resolve({ outcome: 'paid', amount, shortfall });
  }

  #refundWithheld({ charge: { id, withheld, at } }: Item, amount: Nano): void {
    if (withheld !== true || amount === 0n) return;
    this.#parts.retries.add({
      procedure: 'till.refund',
      input: () => ({ id: `${id}/refund`, original: id, amount, at }),
      refused: (error) => this.#parts.log({ event: 'refused', id: `${id}/refund`, error }),
    });
  }

  #fail(item: Item, error: unknown): void {
    const { stats, retries, log } = this.#parts;
    const { id, cost, code, at } = item.charge;
    stats.refused++;
    log({ event: 'refused', id, error });
    retries.add({
      procedure: 'till.failed',
      input: () => ({
        charge: { id, account: item.user.account, cost, code, at },
        why: String(error),
      }),
      refused: (again) => log({ event: 'refused', id, error: again }),
    });
    if (!item.answered) item.resolve({ outcome: 'refused', amount: 0n, shortfall: 0n });
    item.answered = true;
  }
}

function landed({ user, limits }: Item): void {
  user.unsettled--;
  for (const limit of limits) limit.unsettled--;
}

function uncharge({ user, amount, limits, onLimits }: Item): void {
  user.uncharge(amount);
  limits.forEach((limit, i) => limit.uncharge(onLimits[i] ?? 0n));
}

/** For a charge that is in no batch yet: it is recorded at no cost. */
function withdraw(item: Item): void {
  uncharge(item);
  item.charge = { ...item.charge, cost: 0n };
  item.amount = 0n;
  item.onLimits = item.limits.map(() => 0n);
}

/** The charges of the last minute, in case the database forgets them. */
class RecentCharges {
  readonly #max: number;
  readonly #keptMs: number;
  #batches: { readonly atMs: number; readonly items: readonly Item[] }[] = [];
  #size = 0;

  constructor(max: number, keptMs: number) {
    this.#max = max;
    this.#keptMs = keptMs;
  }

  add(items: readonly Item[], nowMs: number): void {
    if (this.#max === 0 || items.length === 0) return;
    this.#batches.push({ atMs: nowMs, items });
    this.#size += items.length;
  }

  prune(nowMs: number): void {
    let dropped = 0;
    for (const { atMs, items } of this.#batches) {
      if (nowMs - atMs < this.#keptMs && this.#size <= this.#max) break;
      this.#size -= items.length;
      dropped++;
    }
    if (dropped > 0) this.#batches = this.#batches.slice(dropped);
  }

  all(): readonly Item[] {
    return this.#batches.flatMap(({ items }) => items);
  }
}
