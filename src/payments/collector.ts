import { askOrder } from './ask-order.ts';
import { askRefund } from './ask-refund.ts';
import { claimOrders } from './orders.ts';
import type { PaymentParts } from './parts.ts';
import { claimRefunds } from './refunds.ts';
import type { Wallet, WalletId } from './wallet.ts';

/**
 * Finds the payments that no notification told of: asks wallets for what is due, so many questions at a time and wallet, so that one that hangs holds
 * no place that another needs. Every process has one; a claim is one process's alone until its lease ends.
 */
export class Collector {
  readonly #parts: PaymentParts;
  readonly #busy = new Map<WalletId, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #also: () => Promise<void>;
  #stopped = false;
  #cancel: () => void = () => {};

  /** `also`: what else is to be done at each look. */
  constructor(parts: PaymentParts, also: () => Promise<void>) {
    this.#parts = parts;
    this.#also = also;
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

  /** Claims what is due and asks for it. A database that is away is asked again at the next look. */
  async look(): Promise<void> {
    try {
      await Promise.all([...this.#parts.wallets.values()].map((wallet) => this.#lookAt(wallet)));
      await this.#also();
    } catch {
      // Nothing was claimed, or what was claimed is due again when its lease has run out.
    }
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
    const room = (): number => (this.#stopped ? 0 : limits.atOnceMax - (this.#busy.get(wallet.id) ?? 0));
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
    // What could not be written is due again when its lease has run out.
    this.#keep(asking.then(ended, ended));
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }
}
