import type { Language } from '../words/language.ts';
import { shortest } from './money.ts';

/** `11,263`: in full, for tables. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** A label of a count axis: empty between whole numbers. */
export function axisCount(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : '';
}

/** `0.2`, `12`: a frequency; more than zero never shows as zero. */
export function formatRate(rate: number): string {
  if (rate === 0 || rate >= 10) return formatCount(rate);
  return rate < 0.1 ? '< 0.1' : rate.toFixed(1);
}

/** `1.28 M`, in Chinese `128.5 万` or `2,518 万`: the full number shows on hover. */
export function formatCompact(count: number, language: Language): string {
  const steps: readonly (readonly [number, string])[] =
    language === 'zh'
      ? [
          [1e8, ' 亿'],
          [1e4, ' 万'],
        ]
      : [
          [1e9, ' B'],
          [1e6, ' M'],
          [1e3, ' k'],
        ];
  const step = steps.find(([size]) => Math.abs(count) >= size);
  return step === undefined ? formatCount(count) : `${short(count / step[0])}${step[1]}`;
}

/** `6.4 %` of 0.064; more than zero never shows as zero. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1 %';
  return `${oneDecimal(share * 100)} %`;
}

/** `+12.5`, `−60`, `+99,900`: percents as the server rounds them. */
export function signedCount(count: number): string {
  return signed(count, Math.abs(count).toLocaleString('en'));
}

/** `1,250.0`. */
export function oneDecimal(count: number): string {
  return count.toFixed(1).replace(/\B(?=(\d{3})+\.)/g, ',');
}

/** `−7.9`, `+12.0`. */
export function signedPercent(share: number): string {
  return signed(share, oneDecimal(Math.abs(share) * 100));
}

function signed(count: number, size: string): string {
  if (count < 0) return `\u2212${size}`;
  return count > 0 ? `+${size}` : size;
}

function short(value: number): string {
  if (Math.abs(value) >= 1_000) return formatCount(value);
  return shortest(value.toFixed(Math.abs(value) >= 100 ? 1 : 2));
}
