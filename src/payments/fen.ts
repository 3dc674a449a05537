import { assert } from '../base/assert.ts';
import type { Nano } from '../base/money.ts';

/** Wallets count in fen, a hundredth of a yuan. */
export const nanoPerFen = 10_000_000n;

export const isWholeFen = (amount: Nano): boolean => amount % nanoPerFen === 0n;

export function fenOf(amount: Nano): number {
  assert(amount > 0n && isWholeFen(amount), 'a wallet moves whole fen');
  return Number(amount / nanoPerFen);
}

/** `1.00` */
export function yuanText(amount: Nano): string {
  const fen = String(fenOf(amount)).padStart(3, '0');
  return `${fen.slice(0, -2)}.${fen.slice(-2)}`;
}

/** Of fen as a wallet's JSON has them; undefined when it is no amount. */
export function ofFen(fen: unknown): Nano | undefined {
  return typeof fen === 'number' && Number.isSafeInteger(fen) && fen >= 0
    ? BigInt(fen) * nanoPerFen
    : undefined;
}

/** Of `1.00` or `-1.0`; undefined when it is no amount in whole fen. */
export function ofYuanText(text: unknown): Nano | undefined {
  const parts = typeof text === 'string' ? /^(-?)(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) : null;
  if (parts === null) return undefined;
  const nano =
    (BigInt(parts[2] ?? '0') * 100n + BigInt((parts[3] ?? '').padEnd(2, '0'))) * nanoPerFen;
  return parts[1] === '-' ? -nano : nano;
}
