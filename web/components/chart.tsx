import { clsx } from 'clsx';
import { type ReactNode, Suspense, useState } from 'react';
import { later } from '../api/later.ts';
import { longestFraction } from '../format/money.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { FractionPad } from './fraction-pad.tsx';
import { seriesBackground } from './series.ts';

/** Loaded when a page has a chart: 23 KB. */
const Canvas = later(
  () => import('./chart-canvas.tsx'),
  (file) => file.Canvas,
);

export interface ChartSeries {
  readonly id: string;
  readonly name: string;
  /** For drawing only; null is a gap. */
  readonly values: readonly (number | null)[];
  /** The same values as exact texts: money is never read from a number. */
  readonly texts: readonly string[];
  /** Rank or `other`, for its colour; its place in the list when absent. */
  readonly colour?: number | 'other';
}

export interface ChartProps {
  /** One sentence with the content of the chart, for screen readers. */
  readonly summary: string;
  /** `stacked` bars from 0 · `lines` with gaps · `steps` of a balance. */
  readonly kind: 'stacked' | 'lines' | 'steps';
  /** The labels below the chart: days, hours. */
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
  /** The total of each label, for the tooltip and the table: bars only. */
  readonly totals?: readonly string[];
  /** Formats a number of the axis: `¥3.20`. */
  readonly axis: (value: number) => string;
  /** Indexes of points on lines that are drawn as dots; unless given, those without neighbours. */
  readonly marks?: readonly number[];
  /** The last label has not ended: its bar is hatched, and the legend says why. */
  readonly lastIsOpen?: boolean;
  /** Called when dragging selects a range; offer a button that does the same. */
  readonly onSelect?: ((from: number, to: number) => void) | undefined;
  /** Header of the first column of the table. */
  readonly labelHeader: string;
}

/**
 * Data as a chart, and the same as a table. A chart without data is one sentence, one with a single
 * bucket is figures.
 */
export function Chart(props: ChartProps): ReactNode {
  const words = useWords(sharedWords);
  const [asTable, setAsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { series, labels, totals } = props;
  // The only part of a whole: nothing else names it.
  const only = series.length === 1 && totals !== undefined ? series[0] : undefined;
  const empty = series.every((each) => each.values.every((value) => value === null || value === 0));
  if (empty)
    return (
      <p className="grid h-50 place-items-center text-table text-muted sm:h-60">
        {words.chart.empty}
      </p>
    );
  const table = asTable || labels.length === 1;
  return (
    <div className="flex flex-col gap-3">
      {table ? <ChartTable {...props} /> : <Drawing {...props} hidden={hidden} />}
      <div className="flex flex-wrap items-center gap-x-1 gap-y-1">
        {!table && series.length > 1 && (
          <Legend series={series} hidden={hidden} onChange={setHidden} />
        )}
        {!table && only && (
          <span className="inline-flex min-h-6 min-w-0 items-center gap-1.5 px-1.5 text-caption">
            <Swatch look={seriesBackground(only.colour ?? 0)} />
            <span className="truncate">{only.name}</span>
          </span>
        )}
        {!table && isOpen(props) && (
          <span className="inline-flex min-h-6 items-center gap-1.5 px-1.5 text-caption text-muted">
            <span aria-hidden="true" className="hatched size-2.5 shrink-0 rounded-[2px] bg-muted" />
            {words.chart.lastOpen}
          </span>
        )}
        {labels.length > 1 && (
          <Button
            look="ghost"
            size="small"
            className="ml-auto"
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? words.actions.asChart : words.actions.asTable}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Whether something of a period that has not ended is drawn. */
const isOpen = ({ lastIsOpen = false, kind, series }: ChartProps): boolean =>
  lastIsOpen && kind === 'stacked' && series.some(({ values }) => (values.at(-1) ?? 0) > 0);

interface Hidden {
  readonly hidden: ReadonlySet<string>;
}

/** Drawn wherever it is on the page: a print, or a picture of all of the page, has it. */
function Drawing(props: ChartProps & Hidden): ReactNode {
  const { chart } = useWords(sharedWords);
  const waiting = (
    <p className="grid h-full place-items-center rounded-control bg-sunken text-table text-muted">
      {chart.loading}
    </p>
  );
  return (
    <div className="h-50 sm:h-60 lg:h-72">
      <Suspense fallback={waiting}>
        <Canvas {...props} totalLabel={chart.total} openLabel={chart.open} />
      </Suspense>
    </div>
  );
}

interface LegendProps extends Hidden {
  readonly series: readonly ChartSeries[];
  readonly onChange: (hidden: ReadonlySet<string>) => void;
}

function Legend({ series, hidden, onChange }: LegendProps): ReactNode {
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    onChange(next.size === series.length ? new Set() : next);
  };
  return series.map(({ id, name, colour }, index) => (
    <button
      key={id}
      type="button"
      aria-pressed={!hidden.has(id)}
      onClick={() => toggle(id)}
      className={clsx(
        'inline-flex min-h-6 max-w-52 items-center gap-1.5 rounded-badge px-1.5 text-caption touch:min-h-11',
        hidden.has(id) ? 'text-faint line-through' : 'text-text',
      )}
    >
      <Swatch look={hidden.has(id) ? 'bg-line' : seriesBackground(colour ?? index)} />
      <span className="truncate">{name}</span>
    </button>
  ));
}

const Swatch = ({ look }: { readonly look: string }): ReactNode => (
  <span aria-hidden="true" className={clsx('size-2.5 shrink-0 rounded-[2px]', look)} />
);

function ChartTable(props: ChartProps): ReactNode {
  const words = useWords(sharedWords);
  const { labels, series, totals, labelHeader, summary } = props;
  const columns = series.map((one) => ({ ...one, places: longestFraction(one.texts) }));
  const totalPlaces = longestFraction(totals ?? []);
  return (
    <div className="max-h-80 overflow-auto" tabIndex={0} role="region" aria-label={summary}>
      <table className="w-full border-collapse text-table figures">
        <caption className="sr-only">{summary}</caption>
        <thead>
          <tr className="sticky top-0 bg-sunken text-caption text-muted">
            <th scope="col" className="h-8 px-3 text-left font-medium">
              {labelHeader}
            </th>
            {series.map(({ id, name }) => (
              <th key={id} scope="col" className="max-w-40 truncate px-3 text-right font-medium">
                {name}
              </th>
            ))}
            {totals && (
              <th scope="col" className="px-3 text-right font-medium">
                {words.chart.total}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, index) => (
            <tr key={label} className="border-t border-line">
              <th scope="row" className="h-8 px-3 text-left font-normal whitespace-nowrap">
                {label}
                {isOpen(props) && index === labels.length - 1 && ` · ${words.chart.open}`}
              </th>
              {columns.map(({ id, texts, places }) => (
                <td key={id} className="px-3 text-right whitespace-nowrap">
                  {texts[index]}
                  <FractionPad of={texts[index] ?? ''} places={places} />
                </td>
              ))}
              {totals && (
                <td className="px-3 text-right font-medium whitespace-nowrap">
                  {totals[index]}
                  <FractionPad of={totals[index] ?? ''} places={totalPlaces} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
