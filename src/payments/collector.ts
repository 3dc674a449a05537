import { isAway } from '../storage/database.ts';
import { askOrder } from './ask-order.ts';
import { askRefund } from './ask-refund.ts';
import { claimOrders } from './orders.ts';
import type { PaymentParts } from './parts.ts';
import { claimRefunds } from './refunds.ts';
import type { Wallet, WalletId } from './wallet.ts';

/**
 * Finds the payments that no notification told of: asks wallets for what is due, so many questions
 * at a time and wallet, so that one that hangs holds no place that another needs. Every process has
 * one; a claim is one process's alone until its lease ends.
 */
export class Collector {
  readonly #parts: PaymentParts;
  readonly #busy = new Map<WalletId, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #compare: () => Promise<void>;
  #comparing = false;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #cancel: () => void = () => {};

  /** `compare`: the bills that are due. */
  constructor(parts: PaymentParts, compare: () => Promise<void>) {
    this.#parts = parts;
    this.#compare = compare;
  }

  start(): void {
    this.#cancel = this.#parts.timers.after(this.#parts.limits.lookEveryMs, () => {
      this.#keep(
        this.look().finally(() => {
          if (!this.#stopped) this.start();
        }),
      );
    });
  }

  /** Claims what is due and asks for it. */
  async look(): Promise<void> {
    this.#lookAtBills();
    await Promise.all(
      [...this.#parts.wallets.values()].map((wallet) => this.#lookAt(wallet)),
    ).catch(this.#failed);
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.idle();
  }

  async #lookAt(wallet: Wallet): Promise<void> {
    const { database, clock, limits } = this.#parts;
    const now = clock.now();
    const room = (): number =>
      this.#stopped ? 0 : limits.atOnceMax - (this.#busy.get(wallet.id) ?? 0);
    // Refunds are few, and somebody waits for them.
    if (room() > 0) {
      const refunds = await claimRefunds(database, wallet.id, room(), now, now + limits.leaseMs);
      for (const refund of refunds) this.#ask(wallet, askRefund(this.#parts, wallet, refund));
    }
    if (room() > 0) {
      const orders = await claimOrders(database, wallet.id, room(), now, now + limits.leaseMs);
      for (const order of orders) this.#ask(wallet, askOrder(this.#parts, wallet, order));
    }
  }

  #ask({ id }: Wallet, asking: Promise<void>): void {
    this.#busy.set(id, (this.#busy.get(id) ?? 0) + 1);
    const ended = (): void => {
      this.#busy.set(id, (this.#busy.get(id) ?? 1) - 1);
    };
    this.#keep(asking.catch(this.#failed).then(ended));
  }

  /** A bill is a large file, and takes its time: nobody who waits for his money waits for it. */
  #lookAtBills(): void {
    const { clock, limits } = this.#parts;
    const now = clock.now();
    if (this.#comparing || now - this.#comparedAt < limits.billLookEveryMs) return;
    this.#comparing = true;
    this.#comparedAt = now;
    const ended = (): void => {
      this.#comparing = false;
    };
    this.#keep(this.#compare().catch(this.#failed).then(ended));
  }

  /**
   * While the database is away nothing is claimed, and what was claimed is due again when its lease
   * has run out.
   */
  readonly #failed = (error: unknown): void => {
    if (!isAway(error)) this.#parts.bug(error);
  };

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }
}
