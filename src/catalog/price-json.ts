import assert from 'node:assert/strict';
import { type Fraction, fractionText, readFraction } from '../base/fraction.ts';
import type { Nano } from '../base/money.ts';
import { type Measure, measures } from '../base/quantities.ts';
import type { PriceWindow, PriceWindows, Times } from './price-windows.ts';
import type { Mode, Price, PriceTier, Rates } from './price.ts';
import type { ModelFacts } from './snapshot.ts';

/**
 * Models in the database: JSON, amounts as decimal text, members always in the same order, so that
 * equal values are equal texts.
 */
type StoredRates = Readonly<Record<string, string>>;

/** A factor for all, or by measure. */
export type StoredTimes = string | Readonly<Record<string, string>>;

interface StoredTier {
  /** Absent: any length of input. */
  readonly above?: number | undefined;
  readonly output?: number | undefined;
  readonly rates: StoredRates;
  readonly times?: StoredTimes | undefined;
}

type StoredMode = Omit<Mode, 'times'> & { readonly times: StoredTimes };
type StoredWindow = Omit<PriceWindow, 'times'> & { readonly times: StoredTimes };

interface StoredPrice {
  readonly rates: StoredRates;
  readonly tiers?: readonly StoredTier[] | undefined;
  readonly by?: { readonly measure: Measure; readonly rates: StoredRates } | undefined;
  readonly modes?: Readonly<Record<string, StoredMode>> | undefined;
  readonly places?: Readonly<Record<string, StoredTimes>> | undefined;
  /** A price version holds the days of its calendars, so that later calendars do not change it. */
  readonly windows?:
    | { readonly moment: PriceWindows['moment']; readonly list: readonly StoredWindow[] }
    | undefined;
  readonly listFees?: boolean | undefined;
}

export function priceText(price: Price): string {
  const { tiers, by, modes, places, windows, listFees } = price;
  const stored: StoredPrice = {
    rates: ratesOut(price.rates),
    tiers: tiers.length === 0 ? undefined : tiers.map(tierOut),
    by: by && { measure: by.measure, rates: amountsOut(Object.entries(by.rates)) },
    modes: modes && mapped(modes, ({ times, only }) => ({ times: timesOut(times), only })),
    places: places && mapped(places, timesOut),
    windows: windows && { moment: windows.moment, list: windows.list.map(windowOut) },
    listFees,
  };
  return JSON.stringify(stored);
}

export function parsePrice(text: string): Price {
  const stored = JSON.parse(text) as StoredPrice;
  const { rates, tiers = [], by, modes, places, windows, listFees } = stored;
  return {
    rates: amountsIn(rates),
    tiers: tiers.map(tierIn),
    by: by && { measure: by.measure, rates: amountsIn(by.rates) },
    modes: modes && mapped(modes, withTimes),
    places: places && mapped(places, timesIn),
    windows: windows && { moment: windows.moment, list: windows.list.map(withTimes) },
    ...(listFees !== undefined && { listFees }),
  };
}

/** The same members, each with its value changed. */
export const mapped = <From, To>(
  of: Readonly<Record<string, From>>,
  change: (one: From) => To,
): Readonly<Record<string, To>> =>
  Object.fromEntries(Object.entries(of).map(([name, one]) => [name, change(one)]));

function tierOut({ aboveInputTokens, aboveOutputTokens, rates, times }: PriceTier): StoredTier {
  return {
    above: aboveInputTokens < 0 ? undefined : aboveInputTokens,
    output: aboveOutputTokens,
    rates: ratesOut(rates),
    times: times && timesOut(times),
  };
}

function tierIn({ above = -1, output, rates, times }: StoredTier): PriceTier {
  return {
    aboveInputTokens: above,
    aboveOutputTokens: output,
    rates: amountsIn(rates),
    times: times === undefined ? undefined : timesIn(times),
  };
}

function windowOut({ name, zone, days, from, to, except, times }: PriceWindow): StoredWindow {
  return { name, zone, days, from, to, except, times: timesOut(times) };
}

function timesOut({ all, each }: Times): StoredTimes {
  if (all !== undefined) return fractionText(all);
  return Object.fromEntries(
    measures.flatMap((measure) =>
      each?.[measure] === undefined ? [] : [[measure, fractionText(each[measure])]],
    ),
  );
}

export function timesIn(stored: StoredTimes): Times {
  if (typeof stored === 'string') return { all: fractionIn(stored) };
  return { each: mapped(stored, fractionIn) };
}

const withTimes = <Stored extends { readonly times: StoredTimes }>(stored: Stored) => ({
  ...stored,
  times: timesIn(stored.times),
});

function fractionIn(text: string): Fraction {
  const read = readFraction(text);
  assert('numerator' in read, `'${text}' in a stored or bundled price is no factor`);
  return read;
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
  return mapped(stored, BigInt);
}

type StoredFacts = Omit<ModelFacts, 'id' | 'price'>;

/** The facts alone, in the order in which they are written. */
function factsOf(model: StoredFacts): StoredFacts {
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
  return {
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
}

/** Everything but the id and the price. */
export const factsText = (model: ModelFacts): string => JSON.stringify(factsOf(model));

export function parseFacts(id: string, facts: string, price: string): ModelFacts {
  return { id, ...factsOf(JSON.parse(facts) as StoredFacts), price: parsePrice(price) };
}
