const backgrounds = [
  'bg-series-1',
  'bg-series-2',
  'bg-series-3',
  'bg-series-4',
  'bg-series-5',
  'bg-series-6',
] as const;

/** The class with the colour of a series, by its rank; all after the sixth share one. */
export function seriesBackground(rank: number | 'other'): string {
  return rank === 'other' ? 'bg-series-other' : (backgrounds[rank] ?? 'bg-series-other');
}

/** The name of the colour's token, for canvases. */
export function seriesToken(rank: number | 'other'): string {
  return rank === 'other' || rank >= backgrounds.length
    ? '--color-series-other'
    : `--color-series-${rank + 1}`;
}
