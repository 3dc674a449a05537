import type { Language } from '../words/language.ts';

/** `11,263`: in full, for tables. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** Of an axis of whole things: nothing between them. */
export function axisCount(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : '';
}

/** `0.2`, `12`: how often something happens; what is above nothing is not shown as nothing. */
export function formatRate(rate: number): string {
  if (rate === 0 || rate >= 10) return formatCount(rate);
  return rate < 0.1 ? '< 0.1' : rate.toFixed(1);
}

/** `1.28 M`, in Chinese `128.5 万`: for figures and charts, with the full one on hover. */
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

/** `6.4 %` of 0.064; what is above nothing is not shown as nothing. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1 %';
  return `${(share * 100).toFixed(1)} %`;
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(2).replace(/0$/, '');
}
