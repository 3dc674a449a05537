import { type Fraction, fraction } from '../base/fraction.ts';
import { reason, type Reason } from '../base/reason.ts';

/** The largest amount a database column holds. */
const largest = 2n ** 63n - 1n;
/** Longer than any price; keeps a hostile exponent from filling memory. */
const digitsMax = 60;

/** The decimals of multipliers and of exchange rates, which are kept in millionths. */
export const ppmPlaces = 6;

/**
 * Reads a decimal number exactly, as an integer of 10^-`places`: `exactDecimal('0.1', 9)` is
 * 100000000n. Returns the reason when the text is no number, negative, finer than `places` decimals
 * or larger than 64 bits. `decimalText` is the inverse.
 */
export function exactDecimal(text: string, places: number): bigint | Reason {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text.trim());
  const [, sign, whole = '', fraction = '', exponent = '0'] = match ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (match === null || whole + fraction === '') return reason('not_a_decimal', { written: text });
  if (digits === '') return 0n;
  if (sign === '-') return reason('negative', { written: text });
  const zeros = places - fraction.length + Number(exponent);
  if (digits.length + zeros > digitsMax) return reason('too_large', { written: text });
  const kept = zeros >= 0 ? digits + '0'.repeat(zeros) : digits.slice(0, zeros);
  const lost = zeros >= 0 ? '' : digits.slice(zeros);
  if (/[1-9]/.test(lost))
    return reason('too_many_decimals', { places: String(places), written: text });
  const value = BigInt(kept === '' ? '0' : kept);
  return value > largest ? reason('too_large', { written: text }) : value;
}

/**
 * A decimal such as `0.075`, `500000` or `1e-7`, as text or as a JSON number; undefined for
 * anything else and for negative numbers.
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
