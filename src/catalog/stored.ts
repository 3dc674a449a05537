import type { Nano } from '../base/money.ts';
import { measures } from '../base/quantities.ts';
import type { Price, Rates } from './price.ts';
import type { ModelFacts } from './snapshot.ts';

/** How models stand in the database: JSON, amounts as decimal text, members always in the same order, so that equal things are equal texts. */
type StoredRates = Readonly<Record<string, string>>;

interface StoredPrice {
  readonly rates: StoredRates;
  readonly tiers?: readonly { readonly above: number; readonly rates: StoredRates }[];
  readonly by?: { readonly measure: (typeof measures)[number]; readonly rates: StoredRates };
}

export function priceText(price: Price): string {
  const stored: StoredPrice = {
    rates: ratesOut(price.rates),
    ...(price.tiers.length === 0
      ? {}
      : {
          tiers: price.tiers.map((tier) => ({
            above: tier.aboveInputTokens,
            rates: ratesOut(tier.rates),
          })),
        }),
    ...(price.by === undefined
      ? {}
      : { by: { measure: price.by.measure, rates: amountsOut(Object.entries(price.by.rates)) } }),
  };
  return JSON.stringify(stored);
}

export function parsePrice(text: string): Price {
  const { rates, tiers = [], by } = JSON.parse(text) as StoredPrice;
  return {
    rates: amountsIn(rates),
    tiers: tiers.map((tier) => ({ aboveInputTokens: tier.above, rates: amountsIn(tier.rates) })),
    by: by && { measure: by.measure, rates: amountsIn(by.rates) },
  };
}

function ratesOut(rates: Rates): StoredRates {
  return amountsOut(
    measures.flatMap((measure) =>
      rates[measure] === undefined ? [] : [[measure, rates[measure]]],
    ),
  );
}

function amountsOut(entries: readonly (readonly [string, Nano])[]): StoredRates {
  return Object.fromEntries(entries.map(([name, amount]) => [name, amount.toString()]));
}

function amountsIn(stored: StoredRates): Readonly<Record<string, Nano>> {
  return Object.fromEntries(Object.entries(stored).map(([name, amount]) => [name, BigInt(amount)]));
}

type StoredFacts = Omit<ModelFacts, 'id' | 'price'>;

/** Everything but the id and the price. */
export function factsText(model: ModelFacts): string {
  const {
    ownedBy,
    kind,
    context,
    outputTokensMax,
    modalities,
    topSpeed,
    hedgeAfterMs,
    durations,
    image,
    shutdownDate,
  } = model;
  const stored: StoredFacts = {
    ownedBy,
    kind,
    context,
    outputTokensMax,
    modalities,
    topSpeed,
    hedgeAfterMs,
    durations,
    image,
    shutdownDate,
  };
  return JSON.stringify(stored);
}

export function parseFacts(id: string, facts: string, price: string): ModelFacts {
  const {
    ownedBy,
    kind,
    context,
    outputTokensMax,
    modalities,
    topSpeed,
    hedgeAfterMs,
    durations,
    image,
    shutdownDate,
  } = JSON.parse(facts) as StoredFacts;
  return {
    id,
    ownedBy,
    kind,
    context,
    outputTokensMax,
    modalities,
    topSpeed,
    hedgeAfterMs,
    durations,
    image,
    shutdownDate,
    price: parsePrice(price),
  };
}
