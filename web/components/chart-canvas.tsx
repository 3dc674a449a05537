import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { announce } from '../browser/announce.ts';
import { onColours } from '../browser/theme.ts';
import type { ChartProps } from './chart.tsx';
import { chartOptions, drawn } from './chart-drawing.ts';
import { seriesBackground } from './series.ts';

interface CanvasProps extends ChartProps {
  readonly hidden: ReadonlySet<string>;
  readonly totalLabel: string;
  /** Beside a label whose period has not ended. */
  readonly openLabel: string;
}

/**
 * The canvas of a chart: arrow keys move its cursor, dragging selects. It is drawn again when data,
 * size or colours change.
 */
export function Canvas(props: CanvasProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [cursor, setCursor] = useState<Cursor>();
  const { labels, summary, kind } = props;
  const shown = props.series.filter(({ id }) => !props.hidden.has(id));
  const signature = JSON.stringify([kind, labels, shown]);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = () => {
      plot.current?.destroy();
      const { width, height } = element.getBoundingClientRect();
      plot.current = new uPlot(
        chartOptions(latest.current, { width, height, element, onCursor: setCursor }),
        drawn(latest.current),
        element,
      );
    };
    draw();
    const stopColours = onColours(draw);
    const resize = new ResizeObserver(
      ([entry]) =>
        entry &&
        plot.current?.setSize({ width: entry.contentRect.width, height: entry.contentRect.height }),
    );
    resize.observe(element);
    return () => {
      stopColours();
      resize.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [signature]);

  const move = (step: number) => {
    const index = Math.min(Math.max((cursor?.index ?? labels.length) + step, 0), labels.length - 1);
    const left = plot.current?.valToPos(index, 'x') ?? 0;
    plot.current?.setCursor({ left, top: 10 });
    announce(
      [
        labelAt(props, index),
        ...rowsAt(props, index).map(({ name, text }) => `${name} ${text}`),
      ].join(', '),
    );
  };
  return (
    <div
      className="relative h-full rounded-badge"
      role="img"
      aria-label={summary}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.preventDefault();
        move(event.key === 'ArrowLeft' ? -1 : 1);
      }}
    >
      <div ref={place} className="absolute inset-0" />
      {cursor !== undefined && <Readout {...props} cursor={cursor} />}
    </div>
  );
}

interface Cursor {
  readonly index: number;
  readonly left: number;
}

const readoutRows = 8;

/**
 * The raw values at the cursor, the largest first, with their total: a reader of stacked bars must
 * not take a sum for a value.
 */
function Readout(props: CanvasProps & { readonly cursor: Cursor }): ReactNode {
  const { cursor, labels, totals, totalLabel, series } = props;
  const rows = rowsAt(props, cursor.index);
  const side =
    cursor.index * 2 < labels.length
      ? { left: cursor.left + 12 }
      : { left: cursor.left - 12, transform: 'translateX(-100%)' };
  return (
    <div
      aria-hidden="true"
      style={side}
      className="pointer-events-none absolute top-1 z-10 max-w-64 min-w-36 rounded-control border border-line bg-surface px-2.5 py-1.5 text-caption shadow-overlay"
    >
      <p className="mb-0.5 font-medium">{labelAt(props, cursor.index)}</p>
      {rows.slice(0, readoutRows).map(({ id, name, text, colour }) => (
        <p key={id} className="flex items-center gap-1.5">
          <span className={`size-2 shrink-0 rounded-[2px] ${seriesBackground(colour)}`} />
          <span className="min-w-0 flex-1 truncate text-muted">{name}</span>
          <span className="figures">{text}</span>
        </p>
      ))}
      {totals !== undefined && series.length > 1 && (
        <p className="mt-0.5 flex justify-between gap-3 border-t border-line pt-0.5 font-medium">
          <span>{totalLabel}</span>
          <span className="figures">{totals[cursor.index]}</span>
        </p>
      )}
    </div>
  );
}

function labelAt({ labels, lastIsOpen, openLabel }: CanvasProps, index: number): string {
  const label = labels[index] ?? '';
  return lastIsOpen === true && index === labels.length - 1 ? `${label} · ${openLabel}` : label;
}

function rowsAt({ series, hidden }: CanvasProps, index: number) {
  return series
    .map((each, place) => ({
      ...each,
      value: each.values[index] ?? null,
      text: each.texts[index] ?? '—',
      colour: each.colour ?? place,
    }))
    .filter(({ id, value }) => !hidden.has(id) && value !== null && value !== 0)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
}
