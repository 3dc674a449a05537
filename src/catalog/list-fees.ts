import { assert } from '../base/assert.ts';
import { toolMeasures } from '../base/quantities.ts';
import type { Price, Rates } from './price.ts';
import { convertedNanoPerMillion } from './price-members.ts';
import type { ModelKind } from './snapshot.ts';

/** The vendors' list fees of tools that they run, by vendor and the vendor's id of a model. */
export type ListFees = (vendor: string, model: string) => Rates;

type InDollars = (vendor: string, model: string) => Readonly<Partial<Record<keyof Rates, string>>>;

/** The list fees in yuan. `usdRatePpm`: millionths of a yuan for a dollar. */
export const listFeesAt =
  (inDollars: InDollars, usdRatePpm: bigint): ListFees =>
  (vendor, model) => {
    const fees = inDollars(vendor, model);
    return Object.fromEntries(
      toolMeasures.flatMap((measure) => {
        const dollars = fees[measure];
        if (dollars === undefined) return [];
        const rate = convertedNanoPerMillion(measure, dollars, usdRatePpm);
        assert(typeof rate === 'bigint', `list fee of ${vendor} for ${measure}: ${String(rate)}`);
        return [[measure, rate]];
      }),
    );
  };

/**
 * Whether a price takes list fees: only chat models run tools, and a price that names one fee names
 * all fees, unless `listFees` is set.
 */
export const takesListFees = (kind: ModelKind, { rates, listFees }: Price): boolean =>
  kind === 'chat' && (listFees ?? toolMeasures.every((measure) => rates[measure] === undefined));

/**
 * The price with the list fees that it takes: for each tool, the dearest of the channels. `fees`:
 * the list fees of each channel.
 */
export function withListFees(kind: ModelKind, price: Price, fees: readonly Rates[]): Price {
  if (!takesListFees(kind, price)) return price;
  const added = toolMeasures.flatMap((measure) => {
    const [first, ...more] = fees.flatMap((each) => each[measure] ?? []);
    if (first === undefined || price.rates[measure] !== undefined) return [];
    return [[measure, more.reduce((most, fee) => (fee > most ? fee : most), first)] as const];
  });
  return added.length === 0
    ? price
    : { ...price, rates: { ...price.rates, ...Object.fromEntries(added) } };
}
