import type { Nano } from '../base/money.ts';
import { measures } from '../base/quantities.ts';
import { decimalText } from './decimal.ts';
import type { Price } from './price.ts';
import { pricePlaces } from './price-members.ts';

/** One member of a price that is not what it was. Amounts are yuan as the configuration file writes them; undefined: no such member. */
export interface PriceDifference {
  /** `input`, `output above 32000`, `second by 720p`. */
  readonly member: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** One decimal; undefined where there is nothing to compare with. */
  readonly percent: number | undefined;
}

export function priceDifferences(old: Price, now: Price): readonly PriceDifference[] {
  const before = amounts(old);
  const after = amounts(now);
  const members = new Set([...before.keys(), ...after.keys()]);
  return [...members].flatMap((member) => {
    const [from, to] = [before.get(member), after.get(member)];
    if (from?.amount === to?.amount) return [];
    return [
      {
        member,
        from: from && textOf(from),
        to: to && textOf(to),
        percent: percentOf(from?.amount, to?.amount),
      },
    ];
  });
}

interface Amount {
  readonly amount: Nano;
  readonly places: number;
}

function amounts(price: Price): ReadonlyMap<string, Amount> {
  const all = new Map<string, Amount>();
  const tiers = price.tiers.map((tier) => ({
    suffix: ` above ${tier.aboveInputTokens}`,
    rates: tier.rates,
  }));
  for (const { suffix, rates } of [{ suffix: '', rates: price.rates }, ...tiers]) {
    for (const measure of measures) {
      const amount = rates[measure];
      if (amount !== undefined) all.set(measure + suffix, { amount, places: pricePlaces(measure) });
    }
  }
  const { by } = price;
  for (const [variant, amount] of Object.entries(by?.rates ?? {})) {
    if (by !== undefined)
      all.set(`${by.measure} by ${variant}`, { amount, places: pricePlaces(by.measure) });
  }
  return all;
}

function textOf({ amount, places }: Amount): string {
  return decimalText(amount, places);
}

function percentOf(from: Nano | undefined, to: Nano | undefined): number | undefined {
  if (from === undefined || to === undefined || from === 0n) return undefined;
  return Math.round((Number(to - from) / Number(from)) * 1000) / 10;
}
