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

/** A decimal string in yuan, exact, with at least two decimals: `12.30`, `0.000123`. */
export function formatYuan(amount: Nano): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, '').padEnd(2, '0');
  return `${amount < 0n ? '-' : ''}${whole}.${fraction}`;
}

/**
 * Yuan for one unit of a rate in nano-yuan per million units: up to fifteen decimals, all of them.
 */
export function formatUnitYuan(rate: Nano): string {
  const digits = rate.toString().padStart(16, '0');
  const fraction = digits.slice(-15).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -15)}.${fraction}`;
}

/** ⌈a ÷ b⌉ for a ≥ 0, b > 0. */
export function divideUp(a: bigint, b: bigint): bigint {
  assert(a >= 0n && b > 0n, 'divideUp takes a ≥ 0 and b > 0');
  return (a + b - 1n) / b;
}
