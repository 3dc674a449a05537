import assert from 'node:assert/strict';

/** Money everywhere: nano-yuan, 1 yuan = 10⁹. A signed 64-bit integer in the database. */
export type Nano = bigint;

export const nanoPerYuan = 1_000_000_000n;
const decimals = 9;

/**
 * Parses a decimal string such as `10`, `10.5` or `0.000000001` exactly; undefined when it is not
 * one, has more than nine decimals, or is negative.
 */
export function parseYuan(text: string): Nano | undefined {
  const match = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  return BigInt(match[1] ?? '0') * nanoPerYuan + BigInt((match[2] ?? '').padEnd(decimals, '0'));
}

/**
 * `amount` units of 10^-`places`, exact, without trailing zeros but for the first `placesMin`
 * decimals: `decimalText(100_000_000n, 9)` is `0.1`.
 */
export function decimalText(amount: bigint, places: number, placesMin = 0): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(placesMin, '0');
  const whole = `${amount < 0n ? '-' : ''}${digits.slice(0, point)}`;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A decimal string in yuan, exact, with at least two decimals: `12.30`, `0.000123`. */
export const formatYuan = (amount: Nano): string => decimalText(amount, decimals, 2);

/** Yuan for one unit of a rate in nano-yuan per million units: all decimals, up to fifteen. */
export const formatUnitYuan = (rate: Nano): string => decimalText(rate, decimals + 6, 2);

/** ⌈a ÷ b⌉ for a ≥ 0, b > 0. */
export function divideUp(a: bigint, b: bigint): bigint {
  assert(a >= 0n && b > 0n, 'divideUp takes a ≥ 0 and b > 0');
  return (a + b - 1n) / b;
}
