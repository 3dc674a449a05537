import uPlot from 'uplot';
import type { ChartProps, ChartSeries } from './chart.tsx';
import { isDotted, seriesToken } from './series.ts';

interface Drawn extends ChartProps {
  readonly hidden: ReadonlySet<string>;
}

interface Place {
  readonly width: number;
  readonly height: number;
  readonly element: HTMLElement;
  readonly onCursor: (
    cursor: { readonly index: number; readonly left: number } | undefined,
  ) => void;
}

/**
 * The data for uPlot. Bars are cumulative sums, the tallest first, so that each covers the foot of
 * the next.
 */
export function drawn(props: Drawn): uPlot.AlignedData {
  const x = props.labels.map((_, index) => index);
  const values = shownOf(props).map(({ values }) => values);
  // the library's type wants a tuple
  if (props.kind !== 'stacked') return [x, ...values] as uPlot.AlignedData;
  const sums = values.map((_, upTo) =>
    x.map((index) => values.slice(0, upTo + 1).reduce((sum, each) => sum + (each[index] ?? 0), 0)),
  );
  return [x, ...sums.reverse()] as uPlot.AlignedData;
}

export function chartOptions(
  props: Drawn,
  { width, height, element, onCursor }: Place,
): uPlot.Options {
  const colour = colours(element);
  const shown = shownOf(props);
  const ordered = props.kind === 'stacked' ? shown.toReversed() : shown;
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: colour('--color-muted'), font, ticks: { show: false } };
  const grid = { stroke: colour('--color-line'), width: 1 };
  const labelPx = longestPx([shortLabel(props.labels, props.labels.length - 1)], font);
  return {
    width,
    height,
    // At the right half of the last label.
    padding: [8, Math.max(20, labelPx / 2), 0, 0],
    legend: { show: false },
    cursor: {
      points: { show: props.kind !== 'stacked' },
      y: false,
      drag: { x: props.onSelect !== undefined, y: false, setScale: false },
    },
    scales: {
      x: { time: false, range: () => [-0.6, props.labels.length - 0.4] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: Math.max(64, labelPx + 8),
        // So far below the axis, the first label does not touch the 0 of the other axis.
        gap: 10,
        size: 33,
        incrs: [1, 2, 5, 7, 10, 14, 30],
        splits: (_plot, _axis, _min, _max, every) => labelled(props.labels.length, every),
        values: (_plot, splits) => splits.map((at) => shortLabel(props.labels, at)),
      },
      {
        ...axis,
        grid,
        space: 48,
        size: (_plot, texts: readonly string[] | null) => longestPx(texts ?? [], font) + 16,
        values: (_plot, splits) => splits.map(props.axis),
      },
    ],
    series: [
      {},
      ...ordered.map((each, index) => {
        const rank = each.colour ?? props.series.indexOf(each);
        const dots = isDotted(rank) ? colour('--color-surface') : undefined;
        const tone = colour(seriesToken(rank));
        return drawnSeries(props, each, { colour: tone, dots, dashed: index > 0 });
      }),
    ],
    hooks: {
      setCursor: [
        ({ cursor, bbox }) =>
          onCursor(
            cursor.idx == null || cursor.left == null || cursor.left < 0
              ? undefined
              : { index: cursor.idx, left: cursor.left + bbox.left / devicePixelRatio },
          ),
      ],
      setSelect: [(plot) => select(plot, props)],
      draw: [(plot) => hatchOpen(plot, props, colour('--color-surface'))],
    },
  };
}

/** Current colours of the design tokens: a canvas knows no CSS variables. */
function colours(element: HTMLElement): (token: string) => string {
  const probe = document.createElement('span');
  return (token) => {
    element.append(probe);
    probe.style.color = `var(${token})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

interface Ink {
  readonly colour: string;
  /** The colour of the dots, for a bar that has them. */
  readonly dots: string | undefined;
  /** A line over the first: the first is seen through it where both are equal. */
  readonly dashed: boolean;
}

function drawnSeries(
  { kind, marks }: Drawn,
  { values }: ChartSeries,
  { colour, dots: ofDots, dashed }: Ink,
): uPlot.Series {
  if (kind === 'stacked')
    return {
      fill: ofDots === undefined ? colour : dotted(colour, ofDots),
      stroke: colour,
      width: 0,
      ...(bars && { paths: bars }),
      points: { show: false },
    };
  const dots = marks ?? lonely(values);
  const points = {
    show: dots.length > 0,
    filter: () => [...dots],
    size: 9,
    width: 2,
    stroke: colour,
    fill: colour,
  };
  return {
    stroke: colour,
    width: 2,
    spanGaps: false,
    points,
    ...(kind === 'steps' && steps && { paths: steps }),
    ...(kind === 'lines' && dashed && { dash: [6, 5] }),
  };
}

/** The points without neighbours, which no line would show. */
function lonely(values: ChartSeries['values']): readonly number[] {
  return values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
      ? [index]
      : [],
  );
}

const bars = uPlot.paths.bars?.({ size: [0.72, 40], align: 0 });
const steps = uPlot.paths.stepped?.({ align: 1 });

function select({ select: { left, width }, posToIdx }: uPlot, { onSelect }: Drawn): void {
  if (width > 4) onSelect?.(posToIdx(left), posToIdx(left + width));
}

/** Hatches the bucket that has not ended. */
function hatchOpen(
  plot: uPlot,
  { lastIsOpen = false, kind, labels }: Drawn,
  surface: string,
): void {
  const last = labels.length - 1;
  const tallest = plot.data[1]?.[last];
  if (!lastIsOpen || kind !== 'stacked' || !tallest) return;
  const slot = plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true);
  const width = Math.min(slot * 0.72, 40 * devicePixelRatio) + 2;
  const top = plot.valToPos(tallest, 'y', true);
  plot.ctx.save();
  plot.ctx.fillStyle = hatch(surface);
  plot.ctx.fillRect(
    plot.valToPos(last, 'x', true) - width / 2,
    top,
    width,
    plot.valToPos(0, 'y', true) - top,
  );
  plot.ctx.restore();
}

const stripePx = 6;

/** Stripes of the colour, over what is drawn below them. */
function hatch(colour: string): CanvasPattern | string {
  return patternOf(stripePx, colour, (context) => {
    context.strokeStyle = colour;
    context.lineWidth = 2;
    for (const shift of [-stripePx, 0, stripePx]) {
      context.moveTo(shift, stripePx);
      context.lineTo(shift + stripePx, 0);
    }
    context.stroke();
  });
}

const dotGapPx = 5;

function dotted(colour: string, dots: string): CanvasPattern | string {
  return patternOf(dotGapPx, colour, (context) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, dotGapPx, dotGapPx);
    context.fillStyle = dots;
    context.arc(dotGapPx / 2, dotGapPx / 2, 1.25, 0, 2 * Math.PI);
    context.fill();
  });
}

/** A square tile, repeated; the plain colour where there is no canvas. */
function patternOf(
  side: number,
  colour: string,
  draw: (context: CanvasRenderingContext2D) => void,
): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = side;
  tile.height = side;
  const context = tile.getContext('2d');
  if (context === null) return colour;
  draw(context);
  return context.createPattern(tile, 'repeat') ?? colour;
}

/** The width of the longest of these labels, px. */
function longestPx(texts: readonly string[], font: string): number {
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) return 40;
  context.font = font;
  return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
}

/** Indexes of the labels that are written, counted from the last: what is newest has its label. */
export function labelled(count: number, every: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  return all.filter((index) => (count - 1 - index) % every === 0);
}

/** Days without their year: the page shows it. */
function shortLabel(labels: readonly string[], at: number): string {
  return labels[at]?.replace(/^\d{4}-(?=\d\d-\d\d)/, '') ?? '';
}

function shownOf({ series, hidden }: Drawn): ChartSeries[] {
  return series.filter(({ id }) => !hidden.has(id));
}
