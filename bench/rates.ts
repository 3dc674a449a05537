import type { AtRate, Figures, Placing, Rate } from './figures.ts';
import { rates } from './figures.ts';
import { markdownTable } from './markdown-table.ts';
import { added, type Column, type Latency, median } from './report.ts';

/** The share of a rate that its answers must have, all of them 200. */
const enough = 0.95;

export const wholeAt =
  (rate: Rate): Latency =>
  ({ at }) =>
    at[rate].wholeMs;

/** Answers a second where a contender does not reach a rate; undefined where it does. */
export function atMost(figures: Figures, placing: Placing, rate: Rate): number | undefined {
  const { at, requestsPerSecond } = figures.waits[placing];
  const answered = median(at[rate].answersPerSecond);
  if (answered === undefined) return median(requestsPerSecond);
  return reached(at[rate], rate) ? undefined : answered;
}

function reached({ answersPerSecond, errors }: AtRate, rate: Rate): boolean {
  const answered = median(answersPerSecond) ?? 0;
  return answered >= enough * rate && (median(errors) ?? 0) === 0;
}

const nameOf = { pinned: 'one core', free: 'not pinned' } as const satisfies Record<
  Placing,
  string
>;

/** What every contender adds at the same rates: p50 and p99, or how much it answers at most. */
export function rateTable(columns: readonly Column[], bare: Figures): string {
  const head = ['requests/s', ...columns.map(({ name }) => name)];
  const lines = (['pinned', 'free'] as const).flatMap((placing) =>
    rates.map((rate) => [
      `${rate.toLocaleString('en')}, ${nameOf[placing]}`,
      ...columns.map(({ figures }) => cell(figures, bare, placing, rate)),
    ]),
  );
  return markdownTable(head, lines);
}

function cell(figures: Figures, bare: Figures, placing: Placing, rate: Rate): string {
  const most = atMost(figures, placing, rate);
  if (most !== undefined) return `answers ${Math.round(most).toLocaleString('en')}/s`;
  const [middle, tail] = ([0, 1] as const).map((index) =>
    added(figures, bare, placing, wholeAt(rate), index),
  );
  return middle === undefined || tail === undefined
    ? '–'
    : `${middle.toFixed(2)} / ${tail.toFixed(2)}`;
}
