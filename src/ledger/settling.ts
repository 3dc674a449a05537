import type { Clock } from '../base/clock.ts';
import type { Nano } from '../base/money.ts';
import type { Database } from '../storage/database.ts';
import { DurationHistogram, ownTimeRange } from '../telemetry/request-metrics.ts';
import type { BackgroundRetries } from './background-retries.ts';
import type { Charge, RecordTable, SettleResult, TillEvent } from './contract.ts';
import type { Float, FloatList } from './float.ts';
import type { Batch, Item, Pipeline } from './pipeline.ts';
import type { TillSettings } from './settings.ts';
import type { LateInput, LateReply } from './transactions/batch.ts';
import type { ProcessRow } from './transactions/process.ts';

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
  #lookedMs = Number.NEGATIVE_INFINITY;
  #wokenMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
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
    item.user.uncharge(item.amount);
    item.limits.forEach((limit, i) => limit.uncharge(item.onLimits[i] ?? 0n));
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
   * Settles again charges that are answered already but that the database may have forgotten, and
   * their refunds where the answer was withheld: their ids make it safe.
   */
  again(items: readonly Item[]): void {
    for (const item of items) {
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

/** For a charge that is in no batch yet: it is recorded at no cost. */
function withdraw(item: Item): void {
  item.user.uncharge(item.amount);
  item.limits.forEach((limit, i) => limit.uncharge(item.onLimits[i] ?? 0n));
  item.charge = { ...item.charge, cost: 0n };
  item.amount = 0n;
  item.onLimits = item.limits.map(() => 0n);
}

/** Counters of one till since it was opened, for metrics. */
export class TillStats {
  /** Charges committed by batches. */
  settled = 0;
  shortfallNano: Nano = 0n;
  /** Finished requests settled after their process was fenced. */
  late = 0;
  /** Times this process found itself fenced. */
  fenced = 0;
  /**
   * Times the database had forgotten what it committed: a failover to a lagging replica, a backup
   * restored.
   */
  behind = 0;
  /** Times memory and database disagreed: a bug. */
  broken = 0;
  batches = 0;
  /** How long each charge waited for its batch, and then for the commit of the batch. */
  readonly queued = new DurationHistogram(ownTimeRange);
  readonly committed = new DurationHistogram(ownTimeRange);
  /** Batches whose outcome was unknown at first. */
  unknownBatches = 0;
  waited = 0;
  waitedMs = 0;
  /** Requests refused for lack of money. */
  insufficient = 0;
  /** Charges that the database would not take. */
  refused = 0;
  undelivered = 0;
}

interface SilentProcess {
  readonly seq: bigint;
  readonly sinceMs: number;
  looks: number;
}

/**
 * Watches the other processes and gives back the floats of dead ones. Silence is measured on this
 * process's own clock, never by time stamps (R4); a wrong verdict does no harm (R6).
 */
export class Sweeper {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #settings: TillSettings;
  readonly #silences = new Map<string, SilentProcess>();
  /** Processes that are not fenced, this one included. */
  live = 1;
  fenced = 0;

  constructor(database: Database, clock: Clock, settings: TillSettings) {
    this.#database = database;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** One look; throws when the database does not answer. `self` is never fenced here. */
  async look(self: string | undefined): Promise<void> {
    const rows = await this.#database.call<Record<never, never>, readonly ProcessRow[]>(
      'till.look',
      {},
    );
    this.live = Math.max(1, rows.filter(({ fenced }) => !fenced).length);
    const others = rows.filter(({ id }) => id !== self);
    const known = new Set(others.map(({ id }) => id));
    for (const id of this.#silences.keys()) if (!known.has(id)) this.#silences.delete(id);
    for (const row of others) {
      if (row.fenced || (this.#isSilent(row) && (await this.#fence(row))))
        await this.#sweep(row.id);
    }
  }

  #isSilent({ id, seq }: ProcessRow): boolean {
    const nowMs = this.#clock.monotonicMs();
    const silence = this.#silences.get(id);
    if (silence === undefined || silence.seq !== seq) {
      this.#silences.set(id, { seq, sinceMs: nowMs, looks: 1 });
      return false;
    }
    silence.looks++;
    return (
      silence.looks >= this.#settings.silentLooks &&
      nowMs - silence.sinceMs >= this.#settings.silenceMs
    );
  }

  async #fence({ id, seq }: ProcessRow): Promise<boolean> {
    const fenced = await this.#database.call<object, boolean>('till.fence', { id, seq });
    if (fenced) this.fenced++;
    else this.#silences.delete(id);
    return fenced;
  }

  async #sweep(id: string): Promise<void> {
    const input = { id, floatsMax: this.#settings.sweepFloatsMax };
    while (!(await this.#database.call<object, boolean>('till.sweep', input))) continue;
  }
}
