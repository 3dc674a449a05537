import type { Clock, Timers } from '../base/clock.ts';
import type { ReserveRefusal } from './contract.ts';
import { type Float, available, drawEveryMs, type Waiter } from './float.ts';

/** How often the queue is checked. */
const lookEveryMs = 100;

/** The queue for money: first come, first served, for each account. */
export class Waiting {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #draw: (float: Float) => void;
  readonly #isAway: () => boolean;
  readonly #users = new Set<Float>();
  #looking = false;

  /**
   * `draw` gets every account that needs to draw with the next batch; `isAway`: the database has
   * not answered for long.
   */
  constructor(clock: Clock, timers: Timers, draw: (float: Float) => void, isAway: () => boolean) {
    this.#clock = clock;
    this.#timers = timers;
    this.#draw = draw;
    this.#isAway = isAway;
  }

  add(waiter: Waiter): void {
    for (const float of waiter.floats) float.waiters.push(waiter);
    this.#users.add(waiter.floats[0]);
    this.serve(waiter.floats[0]);
    this.#keepLooking();
  }

  /** Its client has disconnected. */
  remove(waiter: Waiter): void {
    for (const float of waiter.floats) {
      const place = float.waiters.indexOf(waiter);
      if (place >= 0) float.waiters.splice(place, 1);
    }
    if (waiter.floats[0].waiters.length === 0) this.#users.delete(waiter.floats[0]);
  }

  /** Serves an account's waiters after its money or state has changed. */
  serve(float: Float): void {
    if (float.waiters.length === 0) return;
    if (float.limit === undefined) this.#serveUser(float);
    else
      for (const user of new Set(float.waiters.map(({ floats }) => floats[0])))
        this.#serveUser(user);
  }

  /**
   * Serves in turn. A waiter that lacks money of one account blocks those behind it that need the
   * same account.
   */
  #serveUser(user: Float): void {
    const lacking = new Set<Float>();
    for (let place = 0; place < user.waiters.length && !lacking.has(user); ) {
      const waiter = user.waiters[place];
      if (waiter === undefined || waiter.floats.some((float) => lacking.has(float))) {
        place++;
        continue;
      }
      const amount = available(waiter.demand, waiter.floats);
      if (typeof amount === 'bigint') {
        this.remove(waiter);
        waiter.take(amount);
      } else if (isHopeless(waiter, amount)) {
        this.#refuse(waiter, 'insufficient');
      } else {
        lacking.add(amount);
        place++;
        if (this.#clock.monotonicMs() - amount.lastFailedMs >= drawEveryMs) this.#draw(amount);
      }
    }
  }

  /**
   * Refuses the waiters that run already: they have lost their reservation and come again with what
   * they need now.
   */
  refuseRunning(): void {
    for (const waiter of [...this.all()]) if (waiter.runs) this.#refuse(waiter, 'unavailable');
  }

  /** Refuses every waiter: the process is draining. */
  refuseAll(): void {
    for (const waiter of [...this.all()]) this.#refuse(waiter, 'unavailable');
  }

  #refuse(waiter: Waiter, why: ReserveRefusal): void {
    this.remove(waiter);
    waiter.refuse(why);
  }

  /** All of them, once each. */
  *all(): Iterable<Waiter> {
    for (const user of this.#users) yield* user.waiters;
  }

  #keepLooking(): void {
    if (this.#looking || this.#users.size === 0) return;
    this.#looking = true;
    this.#timers.after(lookEveryMs, () => {
      this.#looking = false;
      const nowMs = this.#clock.monotonicMs();
      for (const user of [...this.#users]) {
        for (const waiter of user.waiters.filter(({ untilMs }) => untilMs <= nowMs)) {
          const answered = wasAnswered(waiter);
          // A database that is busy, or a long queue, is no reason to give up: each request waits
          // for one draw.
          if (!answered && !this.#isAway()) continue;
          this.#refuse(waiter, answered ? 'insufficient' : 'unavailable');
        }
        this.#serveUser(user);
      }
      this.#keepLooking();
    });
  }
}

/**
 * True after one draw for this waiter, when the account lends nothing more, or when all money in
 * use would not suffice even if it came back. A request that already runs still waits for a credit,
 * because a refusal would cut its stream short.
 */
function isHopeless(waiter: Waiter, lacking: Float): boolean {
  if (!hasAnswered(waiter, lacking)) return false;
  const { want, minimum, shape, once } = waiter.demand;
  return (
    lacking.frozen ||
    once === true ||
    (!waiter.runs && lacking.most < (shape === 'fixed' ? want : minimum))
  );
}

function hasAnswered(
  { since, cameMs = Number.POSITIVE_INFINITY }: Waiter,
  { answeredBy, lastFailedMs }: Float,
): boolean {
  return answeredBy > since || lastFailedMs > cameMs;
}

/** Whether a draw has answered the waiter. False while the database does not answer. */
function wasAnswered(waiter: Waiter): boolean {
  return waiter.floats.some((float) => hasAnswered(waiter, float));
}
