import assert from 'node:assert/strict';
import { nextDay, zoneDayAt, zoneDays, dayMs } from '../../base/calendar.ts';
import type { Nano } from '../../base/money.ts';
import { worstCase } from '../../catalog/price.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { fundsOf } from '../../ledger/transfers.ts';
import type { Transaction } from '../../storage/database.ts';
import { chargedBySpan } from '../../usage/spending.ts';
import { firstChargeAt } from '../../usage/ranges.ts';
import type { BalanceView, Runway } from '../contract.ts';
import { yuan } from '../format.ts';
import type { Owner } from '../route.ts';

const meanOfDays = 7;
/** Fewer days are too few for an estimate. */
const daysMin = 2;
const daysMax = 365;

/** An owner's balance and how long it lasts. Run it in a snapshot. */
export function* balanceView(
  owner: Owner,
  snapshot: Snapshot,
  now: number,
): Transaction<BalanceView> {
  const funds = yield* fundsOf(owner.id);
  assert(funds !== undefined, 'a user has an account');
  const available = funds.balance - funds.held;
  return {
    available: yuan(available),
    held: yuan(funds.held),
    total: yuan(funds.balance),
    tasks_running: funds.holds,
    runway: yield* runwayOf(available, owner, now),
    empty: available < cheapest(snapshot),
    unfunded: funds.credited === 0n,
  };
}

function* runwayOf(available: Nano, { id, zone }: Owner, now: number): Transaction<Runway> {
  const today = zoneDayAt(zone, now);
  const days = zoneDays(zone, nextDay(today.day, -meanOfDays), nextDay(today.day, -1));
  const spent = yield* chargedBySpan(id, days);
  const first = yield* firstChargeAt(id);
  // The day of the first charge is not a full one.
  const full =
    first === undefined
      ? 0
      : Math.min(meanOfDays, Math.floor((today.from - zoneDayAt(zone, first).to) / dayMs + 0.5));
  if (full < daysMin) return { state: 'unknown', days: null, mean_per_day: null };
  const mean = spent.slice(-full).reduce((sum, { cost }) => sum + cost, 0n) / BigInt(full);
  const left = mean === 0n ? undefined : Number((available * 10n) / mean) / 10;
  if (left === undefined || left > daysMax)
    return { state: 'over_a_year', days: null, mean_per_day: yuan(mean) };
  return { state: 'days', days: Math.max(0, left), mean_per_day: yuan(mean) };
}

const cheapestOf = new WeakMap<Snapshot, Nano>();

/** The cost of the shortest request to the cheapest model; less than that pays for nothing. */
function cheapest(snapshot: Snapshot): Nano {
  const known = cheapestOf.get(snapshot);
  if (known !== undefined) return known;
  const costs = [...snapshot.groups.keys()].flatMap((group) =>
    snapshot.listing(group).flatMap(({ id, kind }) => {
      const offer = kind === 'chat' ? snapshot.offer(group, id) : undefined;
      return offer === undefined ? [] : [worstCase(offer.tariff, 1, 1)];
    }),
  );
  const least = costs.reduce<Nano>((min, cost) => (cost < min ? cost : min), costs[0] ?? 1n);
  cheapestOf.set(snapshot, least);
  return least;
}
