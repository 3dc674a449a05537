import assert from 'node:assert/strict';
import { dayMs } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';

/** Both wallets use one time zone, which has no summer time. */
const offsetMs = 8 * 3_600_000;

const local = (at: number): string => new Date(at + offsetMs).toISOString();

/** `2026-11-21T10:00:00+08:00` */
export const rfc3339 = (at: number): string => `${local(at).slice(0, 19)}+08:00`;

/** `2026-11-21 10:00:00` */
export const plainTime = (at: number): string => local(at).slice(0, 19).replace('T', ' ');

/** `2026-11-21` */
export const chinaDate = (at: number): string => local(at).slice(0, 10);

/** Reads `2026-11-21 10:00:00` as milliseconds since 1970; undefined when it is no such time. */
export function readPlainTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)
    ? Date.parse(`${text.replace(' ', 'T')}+08:00`)
    : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** Reads a time with its zone (RFC 3339). */
export function readTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * The bounds of a day, wall clock: `from` inclusive, `to` exclusive. Undefined when there is no
 * such day.
 */
export function dayBounds(
  date: string,
): { readonly from: number; readonly to: number } | undefined {
  const from = readPlainTime(`${date} 00:00:00`);
  return from === undefined || chinaDate(from) !== date ? undefined : { from, to: from + dayMs };
}

/** The day before that of `at`. */
export const dayBefore = (at: number): string => chinaDate(at - dayMs);

/** Milliseconds since midnight in China. */
export const timeOfDay = (at: number): number => (at + offsetMs) % dayMs;

/** Wallets count in fen, a hundredth of a yuan. */
const nanoPerFen = 10_000_000n;

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

/** Reads an amount in fen, as in a wallet's JSON; undefined when it is none. */
export function ofFen(fen: unknown): Nano | undefined {
  return typeof fen === 'number' && Number.isSafeInteger(fen) && fen >= 0
    ? BigInt(fen) * nanoPerFen
    : undefined;
}

/** Reads `1.00` or `-1.0`; undefined when it is no amount in whole fen. */
export function ofYuanText(text: unknown): Nano | undefined {
  const parts = typeof text === 'string' ? /^(-?)(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) : null;
  if (parts === null) return undefined;
  const nano =
    (BigInt(parts[2] ?? '0') * 100n + BigInt((parts[3] ?? '').padEnd(2, '0'))) * nanoPerFen;
  return parts[1] === '-' ? -nano : nano;
}

/** A text that is not empty. */
export function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
