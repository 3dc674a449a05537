import { type Fraction, fraction } from '../base/fraction.ts';

/**
 * A decimal such as `0.075`, `500000` or `1e-7`, as text or as JSON has it; undefined when it is
 * none, or negative.
 */
export function readDecimal(written: unknown): Fraction | undefined {
  if (typeof written !== 'string' && typeof written !== 'number' && typeof written !== 'bigint')
    return undefined;
  const match = /^\+?(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(
    String(written).trim(),
  );
  if (match === null) return undefined;
  const [, whole = '', decimals = '', exponent = '0'] = match;
  const places = decimals.length - Number(exponent);
  const digits = BigInt(whole + decimals);
  return places >= 0
    ? fraction(digits, 10n ** BigInt(places))
    : fraction(digits * 10n ** BigInt(-places));
}

/** `by` is not zero. */
export const divided = (a: Fraction, by: Fraction): Fraction =>
  fraction(a.numerator * by.denominator, a.denominator * by.numerator);

/** In units of 10^-`places`, rounded up: an amount above 0 is never rounded to 0. */
export function roundedUp({ numerator, denominator }: Fraction, places: number): bigint {
  return (numerator * 10n ** BigInt(places) + denominator - 1n) / denominator;
}
