import type { Measure } from '../../base/quantities.ts';
import { costOf, feesOf, type Price, tariffOf } from '../../catalog/price.ts';
import type { StoredCatalog } from '../../catalog/stored-catalog.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  type ChannelShare,
  channelShares,
  soldByModel,
  type RangeWithTail,
} from '../../usage/totals.ts';
import { wholePpm } from '../prices.ts';

/**
 * The vendors' costs of what was sold, nano-yuan by channel, where costs are entered. Exact for
 * models that one channel serves; with several, each counts for its share of the requests in every
 * quantity. Run it in a snapshot. `shares`: those of the span, where they are read already.
 */
export function* vendorCosts(
  database: Pick<Database, 'dialect'>,
  { channels }: StoredCatalog,
  span: RangeWithTail,
  shares?: readonly ChannelShare[],
): Transaction<ReadonlyMap<string, bigint>> {
  const costs = new Map<string, bigint>();
  if (channels.every((channel) => channel.costs.size === 0)) return costs;
  const sold = yield* soldByModel(database, span);
  for (const { model, channel, share } of shares ?? (yield* channelShares(span))) {
    const price = channels.find(({ name }) => name === channel)?.costs.get(model);
    if (price === undefined) continue;
    const quantities = sold
      .filter((line) => line.model === model)
      .map(({ measure, micros }) => ({ measure, micros: scaled(micros, share) }));
    costs.set(channel, (costs.get(channel) ?? 0n) + costOfQuantities(price, quantities));
  }
  return costs;
}

const scaled = (micros: bigint, share: number): bigint =>
  share === 1 ? micros : (micros * BigInt(Math.round(share * 1e6))) / wholePpm;

/**
 * The cost of quantities at a price, without tiers and variants, which sums cannot show. Rounded up
 * once per measure.
 */
export function costOfQuantities(
  price: Price,
  quantities: readonly { readonly measure: Measure; readonly micros: bigint }[],
  multiplierPpm = wholePpm,
): bigint {
  const tariff = tariffOf({ rates: price.rates, tiers: [], by: price.by }, multiplierPpm);
  return quantities.reduce(
    (sum, { measure, micros }) => sum + measureCost(tariff, measure, micros),
    0n,
  );
}

function measureCost(
  tariff: ReturnType<typeof tariffOf>,
  measure: Measure,
  micros: bigint,
): bigint {
  // A request without any quantity would be charged for itself.
  const quantities = { request: 0, [measure]: Number(micros) / 1e6 };
  return costOf(tariff, quantities).total + feesOf(tariff, quantities).total;
}
