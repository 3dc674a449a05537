import { ceiling, isOne, ofMillionths, product } from '../base/fraction.ts';
import { divideUp, formatUnitYuan, formatYuan, type Nano } from '../base/money.ts';
import { isToolMeasure, type Measure, measures, toolMeasures } from '../base/quantities.ts';
import type { Times } from '../catalog/price-windows.ts';
import { factorOf, type Price, type PriceTier, rateOf, type Rates } from '../catalog/price.ts';
import type { PriceUnit, UnitPrice } from './contract.ts';

/** A multiplier or share of one, in millionths. */
export const wholePpm = 1_000_000n;

const units: Readonly<Partial<Record<Measure, PriceUnit>>> = {
  image: 'image',
  megapixel: 'megapixel',
  second: 'second',
  character: 'character',
  request: 'request',
  ...Object.fromEntries(toolMeasures.map((measure) => [measure, 'call' as const])),
};

export const unitOf = (measure: Measure): PriceUnit => units[measure] ?? 'token';

/** Tokens and characters are priced per million, everything else per unit. */
export const perOf = (measure: Measure): 1 | 1_000_000 =>
  ['token', 'character'].includes(unitOf(measure)) ? 1_000_000 : 1;

/** A rate in nano-yuan per million units, as the console shows it. */
export function unitPrice(
  measure: Measure,
  rate: Nano,
  more: Pick<UnitPrice, 'variant' | 'above_input_tokens'> = {},
): UnitPrice {
  const per = perOf(measure);
  return {
    amount: per === 1 ? formatUnitYuan(rate) : formatYuan(rate),
    per,
    unit: unitOf(measure),
    class: measure,
    ...more,
  };
}

/**
 * A price by class, variant and input length, at a multiplier in millionths, rounded up as charges
 * are.
 */
export function pricesOf({ rates, tiers, by }: Price, multiplierPpm: bigint): readonly UnitPrice[] {
  return [
    ...ratePrices(rates, multiplierPpm),
    ...tiers
      .filter(isSimpleTier)
      .flatMap((tier) =>
        ratePrices(tier.rates, multiplierPpm, { above_input_tokens: tier.aboveInputTokens }),
      ),
    ...Object.entries(by?.rates ?? {}).map(([variant, rate]) =>
      unitPrice(by?.measure ?? 'request', soldAt(rate, multiplierPpm), { variant }),
    ),
  ];
}

const soldAt = (rate: Nano, multiplierPpm: bigint): Nano =>
  divideUp(rate * multiplierPpm, wholePpm);

const ratePrices = (
  rates: Rates,
  multiplierPpm: bigint,
  more?: Pick<UnitPrice, 'variant' | 'above_input_tokens'>,
): readonly UnitPrice[] =>
  measures.flatMap((measure) => {
    const rate = rates[measure];
    return rate === undefined ? [] : [unitPrice(measure, soldAt(rate, multiplierPpm), more)];
  });

/** A tier that the console's form of amounts can express. */
export const isSimpleTier = ({ aboveOutputTokens, times }: PriceTier): boolean =>
  aboveOutputTokens === undefined && times === undefined;

/**
 * The same, and in addition the prices by mode, place, hours and output length, as named variants.
 */
export function allPricesOf(price: Price, multiplierPpm: bigint): readonly UnitPrice[] {
  const lengths = price.tiers
    .filter((tier) => !isSimpleTier(tier))
    .flatMap((tier) => {
      const { aboveInputTokens: input, aboveOutputTokens: output, rates, times } = tier;
      const variant = [
        ...(input < 0 ? [] : [`> ${input} in`]),
        ...(output === undefined ? [] : [`> ${output} out`]),
      ].join(', ');
      return [
        ...ratePrices(rates, multiplierPpm, { variant }),
        ...multiplied(price, times, multiplierPpm, variant),
      ];
    });
  return [
    ...pricesOf(price, multiplierPpm),
    ...lengths,
    ...termsOf(price).flatMap(([variant, times]) =>
      multiplied(price, times, multiplierPpm, variant),
    ),
  ];
}

/** The lines of `charged` that the console's form of the amounts of `price` does not show. */
export function furtherPricesOf(price: Price, charged: Price): readonly UnitPrice[] {
  const shown = new Set(pricesOf(price, wholePpm).map(lineOf));
  return allPricesOf(charged, wholePpm).filter((line) => !shown.has(lineOf(line)));
}

const lineOf = ({ class: measure, variant, above_input_tokens: above }: UnitPrice): string =>
  JSON.stringify([measure, variant, above]);

/** Modes, places and windows, each name once. */
function termsOf({
  modes = {},
  places = {},
  windows,
}: Price): readonly (readonly [string, Times])[] {
  const hours = new Map((windows?.list ?? []).map(({ name, times }) => [name, times]));
  return [
    ...Object.entries(modes).map(([name, { times }]) => [name, times] as const),
    ...Object.entries(places),
    ...hours,
  ];
}

function multiplied(
  price: Price,
  times: Times | undefined,
  multiplierPpm: bigint,
  variant: string,
): readonly UnitPrice[] {
  if (times === undefined) return [];
  return measures.flatMap((measure) => {
    const rate = price.rates[measure] ?? (times.each?.[measure] && rateOf(price.rates, measure));
    const factor = factorOf(times, measure);
    if (rate === undefined || isOne(factor) || isToolMeasure(measure)) return [];
    const exact = product(
      { numerator: rate, denominator: 1n },
      product(factor, ofMillionths(multiplierPpm)),
    );
    return [unitPrice(measure, ceiling(exact), { variant })];
  });
}

/** `0.85` of 850000n. */
export const multiplierText = (ppm: bigint): string => formatYuan(ppm * 1_000n);
