import { divideUp, formatYuan, type Nano } from '../base/money.ts';
import { type Measure, measures } from '../base/quantities.ts';
import type { Price, Rates } from '../catalog/price.ts';
import type { PriceUnit, UnitPrice } from './contract.ts';

const million = 1_000_000n;
/** A multiplier, or a share, of one, in millionths. */
export const one = million;

const units: Readonly<Partial<Record<Measure, PriceUnit>>> = {
  image: 'image',
  megapixel: 'megapixel',
  second: 'second',
  character: 'character',
  request: 'request',
};

export const unitOf = (measure: Measure): PriceUnit => units[measure] ?? 'token';

/** Tokens and characters are priced by the million, everything else by the piece. */
export const perOf = (measure: Measure): 1 | 1_000_000 =>
  ['token', 'character'].includes(unitOf(measure)) ? 1_000_000 : 1;

/** A rate in nano-yuan per million units, as it is shown. */
export function unitPrice(
  measure: Measure,
  rate: Nano,
  more: Pick<UnitPrice, 'variant' | 'above_input_tokens'> = {},
): UnitPrice {
  const per = perOf(measure);
  return {
    amount: per === 1 ? pieceText(rate) : formatYuan(rate),
    per,
    unit: unitOf(measure),
    class: measure,
    ...more,
  };
}

/** Yuan for one piece, of nanos for a million: up to fifteen decimals, all of them. */
function pieceText(rate: Nano): string {
  const digits = rate.toString().padStart(16, '0');
  const fraction = digits.slice(-15).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -15)}.${fraction}`;
}

/** All that a price says, at a multiplier in millionths, rounded up as charges are. */
export function pricesOf({ rates, tiers, by }: Price, multiplierPpm: bigint): readonly UnitPrice[] {
  const sold = (rate: Nano): Nano => divideUp(rate * multiplierPpm, million);
  const plain = (
    some: Rates,
    more: Pick<UnitPrice, 'above_input_tokens'> = {},
  ): readonly UnitPrice[] =>
    measures.flatMap((measure) => {
      const rate = some[measure];
      return rate === undefined ? [] : [unitPrice(measure, sold(rate), more)];
    });
  return [
    ...plain(rates),
    ...tiers.flatMap((tier) => plain(tier.rates, { above_input_tokens: tier.aboveInputTokens })),
    ...Object.entries(by?.rates ?? {}).map(([variant, rate]) =>
      unitPrice(by?.measure ?? 'request', sold(rate), { variant }),
    ),
  ];
}

/** `0.85` of 850000n. */
export const multiplierText = (ppm: bigint): string => formatYuan(ppm * 1_000n);
