import { divideUp } from './money.ts';
import { reason, type Reason } from './reason.ts';

/** An exact number ≥ 0, reduced: `3/2`. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export const unity: Fraction = { numerator: 1n, denominator: 1n };

const millionth = 1_000_000n;
const digitsMax = 30;

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

/** `numerator` ÷ `denominator`, reduced; `denominator` > 0. */
export function fraction(numerator: bigint, denominator = 1n): Fraction {
  const divisor = greatestDivisor(numerator, denominator);
  return divisor <= 1n
    ? { numerator, denominator }
    : { numerator: numerator / divisor, denominator: denominator / divisor };
}

export const ofMillionths = (millionths: bigint): Fraction => fraction(millionths, millionth);

export const product = (first: Fraction, ...others: readonly Fraction[]): Fraction =>
  others.reduce(
    (a, b) => fraction(a.numerator * b.numerator, a.denominator * b.denominator),
    first,
  );

/** The least whole number that is not below the fraction. */
export const ceiling = ({ numerator, denominator }: Fraction): bigint =>
  divideUp(numerator, denominator);

export const isOne = ({ numerator, denominator }: Fraction): boolean => numerator === denominator;

/** Reads `2`, `1.1` or `3/2`, exactly. Else returns the reason why that is not possible. */
export function readFraction(text: string): Fraction | Reason {
  const match = /^(\d+)(?:\.(\d+))?(?:\/(\d+))?$/.exec(text.trim());
  const [, whole = '', decimals = '', divisor = '1'] = match ?? [];
  if (match === null || whole.length + decimals.length + divisor.length > digitsMax)
    return reason('not_a_factor', { written: text });
  const denominator = BigInt(divisor) * 10n ** BigInt(decimals.length);
  return denominator === 0n
    ? reason('divided_by_zero', { written: text })
    : fraction(BigInt(whole + decimals), denominator);
}

/** The inverse: `3/2`, or `2`. */
export const fractionText = ({ numerator, denominator }: Fraction): string =>
  denominator === 1n ? String(numerator) : `${numerator}/${denominator}`;
