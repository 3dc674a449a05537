import { formatYuan, type Nano } from '../base/money.ts';
import type { Instant, Yuan } from './contract.ts';

/** Money as the contract has it: always nine decimals. */
export function yuan(amount: Nano): Yuan {
  const [whole = '0', fraction = ''] = formatYuan(amount).split('.');
  return `${whole}.${fraction.padEnd(9, '0')}`;
}

/** The inverse of `yuan`. */
export const nanoOf = (amount: Yuan): Nano => BigInt(amount.replace('.', ''));

export const instant = (at: number): Instant => new Date(at).toISOString();

export const instantOrNull = (at: number | undefined): Instant | null =>
  at === undefined ? null : instant(at);

export const yuanOrNull = (amount: Nano | undefined): Yuan | null =>
  amount === undefined ? null : yuan(amount);

/** `part`, or a change, relative to `whole`, cut to six decimals; null when `whole` is 0. */
export const ratioOf = (part: bigint, whole: bigint): number | null =>
  whole === 0n ? null : Number((part * 1_000_000n) / whole) / 1_000_000;

/** Millionths of a unit as a decimal: `1155`, `1.5`. */
export function microsText(micros: bigint): string {
  const fraction = (micros % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  const whole = (micros / 1_000_000n).toString();
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The console's page of a channel. */
export const channelPath = (name: string): string =>
  `/operator/channels/${encodeURIComponent(name)}`;
