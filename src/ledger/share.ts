import type { Nano } from '../base/money.ts';
import type { ReserveAsk } from './contract.ts';
import type { Float } from './float.ts';

/** What somebody would like to have, and the least that makes sense. */
export type Demand = Pick<ReserveAsk, 'want' | 'minimum' | 'shape' | 'once'>;

/** A burst of whole answers shares an account among so many (till.md §9). */
const shares = 64n;

/**
 * What a demand may take of an account. A whole answer cannot grow while it runs, so that it takes
 * a flat share, or half of what is free when nothing else runs. Before the account is known, only
 * the least.
 */
export function fairShare({ want, minimum, shape }: Demand, user: Float, alone: boolean): Nano {
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

/**
 * What can be taken from memory now, of all accounts alike; or the account that lacks it. Less than
 * the share is taken only when the database is known to have no more.
 */
export function available(demand: Demand, floats: readonly [Float, ...Float[]]): Nano | Float {
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
