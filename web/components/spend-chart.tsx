import type { ReactNode } from 'react';
import type { SeriesView } from '../../src/console/contract.ts';
import { formatYuan } from '../format/money.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Chart } from './chart.tsx';

interface SpendChartProps {
  readonly series: SeriesView;
  readonly empty: string;
  /** What the bars are; days unless given. */
  readonly labelHeader?: string;
  /** The chart in one sentence: total, first day, last day, the dearest. */
  readonly summary: (total: string, first: string, last: string, most: string) => string;
  /** The last day is over; unless given, it is today. */
  readonly ended?: boolean;
  readonly onSelect?: (fromDay: string, toDay: string) => void;
}

/** What each day cost, stacked by model or key; today is hatched. */
export function SpendChart({
  series: view,
  labelHeader,
  empty,
  summary,
  ended = false,
  onSelect,
}: SpendChartProps): ReactNode {
  const { chart } = useWords(sharedWords);
  const { days, series, totals } = view;
  const total = series.reduce((sum, { cost }) => sum + nanoOf(cost), 0n);
  if (total === 0n)
    return <p className="grid h-50 place-items-center text-table text-muted sm:h-60">{empty}</p>;
  const textsOf = (values: readonly string[]) => values.map((value) => formatYuan(value, 'spend'));
  const select =
    onSelect && ((from: number, to: number) => onSelect(days[from] ?? '', days[to] ?? ''));
  return (
    <Chart
      kind="stacked"
      labels={days}
      labelHeader={labelHeader ?? chart.day}
      lastIsOpen={!ended}
      summary={summary(
        formatYuan(total, 'spend'),
        days[0] ?? '',
        days.at(-1) ?? '',
        series[0]?.name ?? '',
      )}
      series={series.map(({ id, name, values }) => ({
        id: id ?? 'other',
        name: id === null ? chart.other : name,
        values: values.map(Number), // only for the height of bars; figures are exact texts
        texts: textsOf(values),
        ...(id === null && { colour: 'other' as const }),
      }))}
      totals={textsOf(totals)}
      axis={axisYuan}
      onSelect={select}
    />
  );
}

/** Round numbers of an axis: `¥3`, `¥0.5`, `¥0.0002`. */
export function axisYuan(value: number): string {
  return `¥${value.toLocaleString('en', { maximumFractionDigits: 9 })}`;
}

function nanoOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
