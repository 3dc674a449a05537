import type { ReserveRequest } from './contract.ts';
import { Float } from './float.ts';
import { emptyMove } from './pipeline.ts';
import type { CallInRow } from './transactions/process.ts';
import type { FloatChange } from './transactions/move.ts';
import type { TillSettings } from './settings.ts';
import { drawEveryMs, type Waiting } from './waiting.ts';

type FloatList = readonly [Float, ...Float[]];

/**
 * The accounts that this process holds money of or has waiters for, and the amounts that each of
 * them exchanges with the database.
 */
export class Floats {
  readonly #floats = new Map<string, Float>();
  readonly #waiting: Waiting;
  readonly #settings: TillSettings;

  constructor(waiting: Waiting, settings: TillSettings) {
    this.#waiting = waiting;
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
  moveOf(float: Float, nowMs: number, liveProcesses: number): FloatChange | undefined {
    const { account, limit } = float;
    if (this.#floats.get(account) !== float) return undefined;
    const ahead = float.ahead;
    float.ahead = 0n;
    const need = this.#waiting.needOf(float);
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
  moved(float: Float, move: FloatChange, batch: number, nowMs: number): void {
    if (move.want === 0n && move.spare === 0n) return;
    float.answeredBy = batch;
    const need = this.#waiting.needOf(float);
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
