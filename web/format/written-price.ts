import type { PriceClass, UnitPrice, WrittenPrices } from '../../src/console/contract.ts';
import { nanoDigits, shortest } from './money.ts';
import { lineKey, pieceDigits, scaled } from './price.ts';

/** One line of a price as typed; an empty amount is no line. */
export interface PriceLine
  extends Pick<UnitPrice, 'class' | 'unit' | 'per' | 'variant' | 'above_input_tokens'> {
  readonly amount: string;
}

const sides: Partial<Record<PriceClass, 'input' | 'output'>> = {
  cached_input: 'input',
  cache_write_5m: 'input',
  cache_write_1h: 'input',
  audio_input: 'input',
  image_input: 'input',
  reasoning: 'output',
  audio_output: 'output',
  image_output: 'output',
};

/** What users pay for tokens of a line that is taken out of `lines`: the gateway's own rule. */
export function chargedAs(
  line: PriceLine,
  lines: readonly PriceLine[],
): 'input' | 'output' | undefined {
  const side = sides[line.class];
  if (side === undefined) return undefined;
  const key = lineKey({ ...line, class: side });
  return lines.some((each) => each.amount !== '' && lineKey(each) === key) ? side : undefined;
}

const pieces: ReadonlySet<PriceClass> = new Set(['image', 'megapixel', 'second', 'request']);

/** A line of that class, in the unit in which it is sold. */
export function emptyLine(of: PriceClass): PriceLine {
  if (of === 'character') return { class: of, unit: 'character', per: 1_000_000, amount: '' };
  const unit = pieces.has(of) ? (of as 'image' | 'megapixel' | 'second' | 'request') : 'token';
  return { class: of, unit, per: unit === 'token' ? 1_000_000 : 1, amount: '' };
}

export function linesOf(prices: readonly UnitPrice[]): readonly PriceLine[] {
  return prices.map((price) => ({ ...price, amount: shortest(price.amount) }));
}

/** The prices as the configuration and `publish` take them. */
export function writtenPrices(lines: readonly PriceLine[]): WrittenPrices {
  const filled = lines.filter(({ amount }) => amount !== '');
  const plain = filled.filter(
    ({ variant, above_input_tokens: above }) => variant === undefined && above === undefined,
  );
  const variants = filled.filter(({ variant }) => variant !== undefined);
  const bands = bandsOf(filled);
  return {
    ...ratesOf(plain),
    ...(bands.length > 0 && {
      tiers: bands.map((band) => ({
        above_input_tokens: band,
        ...ratesOf(filled.filter((line) => line.above_input_tokens === band)),
      })),
    }),
    ...(variants.length > 0 && {
      by: Object.fromEntries(variants.map((line) => [line.variant ?? '', writtenAmount(line)])),
    }),
  };
}

const bandsOf = (lines: readonly PriceLine[]): readonly number[] =>
  [...new Set(lines.flatMap(({ above_input_tokens: above }) => above ?? []))].toSorted(
    (a, b) => a - b,
  );

/** The member of the price that `writtenPrices` makes of one of the lines. */
export function writtenPath(
  { class: of, variant, above_input_tokens: above }: PriceLine,
  lines: readonly PriceLine[],
): string {
  if (variant !== undefined) return `by.${variant}`;
  if (above === undefined) return of;
  const bands = bandsOf(lines.filter(({ amount }) => amount !== ''));
  return `tiers[${bands.indexOf(above)}].${of}`;
}

function ratesOf(lines: readonly PriceLine[]): Readonly<Record<string, string>> {
  return Object.fromEntries(lines.map((line) => [line.class, writtenAmount(line)]));
}

const millionDigits = 6;

/** Amounts as shown: tokens by the million, characters one by one. */
function writtenAmount({ class: of, amount }: PriceLine): string {
  if (of !== 'character') return amount;
  const [whole = '0', fraction = ''] = amount.split('.');
  const digits = whole.padStart(millionDigits + 1, '0') + fraction;
  const point = digits.length - fraction.length - millionDigits;
  return shortest(`${digits.slice(0, point)}.${digits.slice(point)}`);
}

const ppm = 1_000_000n;

/**
 * A base price times a group's multiplier, as charged: rounded up once, in the ninth decimal for
 * tokens, in the fifteenth for pieces.
 */
export function atMultiplier(
  { amount, per }: Pick<UnitPrice, 'amount' | 'per'>,
  multiplier: string,
): string {
  const digits = per === 1 ? pieceDigits : nanoDigits;
  const product = scaled(amount, digits) * scaled(multiplier, millionDigits);
  const rate = ((product + ppm - 1n) / ppm).toString().padStart(digits + 1, '0');
  return shortest(`${rate.slice(0, -digits)}.${rate.slice(-digits)}`);
}
