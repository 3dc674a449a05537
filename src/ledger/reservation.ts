import { assert } from '../base/assert.ts';
import type { Nano } from '../base/money.ts';
import type { Charge, Reservation, SettleResult } from './contract.ts';
import type { Float, Demand } from './float.ts';

/** A request that cost more than its reservation waits this long for the rest. */
const overrunWaitMs = 500;

/** A place in the queue for money. */
export interface Wait {
  /** The amount taken from each float; 0n for nothing, also after `leave`. */
  readonly taken: Promise<Nano>;
  leave(): void;
}

/** The calls of a reservation into its till. */
export interface ReservationTill {
  /** Changes when the process is fenced: earlier reservations are not backed any more. */
  readonly epoch: number;
  /** This process's current floats for the same accounts. */
  renew(floats: readonly [Float, ...Float[]]): readonly [Float, ...Float[]];
  /** The float has less left than the next request or slice needs: draws ahead of need. */
  drawAhead(float: Float, amount: Nano): void;
  /** Money of this float has become free. */
  freed(float: Float): void;
  /** A reservation has ended, by a charge or without one. */
  ended(): void;
  /** Calls `take` as soon as there is money; `take` must take it from each float. */
  wait(
    floats: readonly [Float, ...Float[]],
    demand: Demand,
    waitMs: number,
    take: (amount: Nano) => void,
  ): Wait;
  /** Charges `reserved` of each float, and `extra` of the user's. */
  charge(
    charge: Charge,
    floats: readonly [Float, ...Float[]],
    reserved: Nano,
    extra: Nano,
  ): Promise<SettleResult>;
  chargeLate(charge: Charge, floats: readonly [Float, ...Float[]]): Promise<SettleResult>;
}

/** See `Reservation`. The same amount is reserved of the user's float and of each limit's. */
export class HeldReservation implements Reservation {
  amount: Nano;
  readonly #counter: ReservationTill;
  #floats: readonly [Float, ...Float[]];
  #epoch: number;
  #waits: Wait | undefined;
  #ended = false;

  /** The caller has taken `amount` from the floats already. */
  constructor(counter: ReservationTill, floats: readonly [Float, ...Float[]], amount: Nano) {
    this.#counter = counter;
    this.#floats = floats;
    this.#epoch = counter.epoch;
    this.amount = amount;
  }

  extend(more: Nano): Nano {
    if (this.#ended || more <= 0n || !this.#isBacked()) return 0n;
    return this.#take(more);
  }

  async extendOrWait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano> {
    const got = this.extend(more);
    if (got >= minimum || this.#ended) return got;
    return got + (await this.#wait(more - got, minimum - got, waitMs));
  }

  settle(charge: Charge): Promise<SettleResult> {
    assert(charge.cost >= 0n, 'nobody is paid for a request');
    this.#end();
    if (charge.cost > this.amount || this.#epoch !== this.#counter.epoch)
      return this.#settleSlowly(charge);
    return this.#counter.charge(charge, this.#floats, this.amount, 0n);
  }

  release(): void {
    if (this.#ended) return;
    this.#end();
    if (this.#epoch !== this.#counter.epoch) return;
    for (const float of this.#floats) {
      float.release(this.amount);
      float.running--;
    }
    for (const float of this.#floats) this.#counter.freed(float);
  }

  /**
   * After a fence, reserves the same amount again if it is free; otherwise the request goes on
   * unbacked (till.md §6).
   */
  #isBacked(): boolean {
    if (this.#epoch === this.#counter.epoch) return true;
    const floats = this.#counter.renew(this.#floats);
    if (floats.some((float) => float.free < this.amount || float.frozen)) return false;
    for (const float of floats) {
      float.reserve(this.amount);
      float.running++;
    }
    this.#floats = floats;
    this.#epoch = this.#counter.epoch;
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
    for (const float of this.#floats) if (float.free < more) this.#counter.drawAhead(float, more);
    return got;
  }

  /**
   * An unbacked reservation waits for everything it should have. After a fence in the meantime the
   * wait begins anew.
   */
  async #wait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano> {
    const epoch = this.#counter.epoch;
    const backed = this.#isBacked();
    const before = backed ? this.amount : 0n;
    const behind = this.amount - before;
    const floats = backed ? this.#floats : this.#counter.renew(this.#floats);
    const demand: Demand = { want: behind + more, minimum: behind + minimum, shape: 'stream' };
    this.#waits = this.#counter.wait(floats, demand, waitMs, (amount) => {
      for (const float of floats) {
        float.reserve(amount);
        if (!backed) float.running++;
      }
      this.#floats = floats;
      this.#epoch = epoch;
      this.amount = before + amount;
    });
    const taken = await this.#waits.taken;
    this.#waits = undefined;
    if (taken === 0n && epoch !== this.#counter.epoch) return this.#wait(more, minimum, waitMs);
    return taken > behind ? taken - behind : 0n;
  }

  #end(): void {
    assert(!this.#ended, 'a reservation ends once');
    this.#ended = true;
    this.#counter.ended();
    this.#waits?.leave();
  }

  /**
   * A limit never makes a shortfall: the missing money comes from the user's float alone, and
   * limits are charged beyond what they have.
   */
  async #settleSlowly(charge: Charge): Promise<SettleResult> {
    let extra = 0n;
    if (charge.cost > this.amount && this.#isBacked()) {
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
        await this.#counter.wait(
          [user],
          { want: wanted, minimum: 1n, shape: 'stream' },
          overrunWaitMs,
          take,
        ).taken;
      if (epoch !== this.#counter.epoch) extra = 0n;
    }
    if (this.#isBacked()) return this.#counter.charge(charge, this.#floats, this.amount, extra);
    return this.#counter.chargeLate(charge, this.#floats);
  }
}
