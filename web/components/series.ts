const backgrounds = [
  'bg-series-1',
  'bg-series-2',
  'bg-series-3',
  'bg-series-4',
  'bg-series-5',
  'bg-series-6',
] as const;

/** As many series as a chart tells apart: each colour plain and dotted. */
const toldApart = 2 * backgrounds.length;

/** Whether a series has dots in its colour: the second six. Stripes mean "has not ended". */
export function isDotted(rank: number | 'other'): boolean {
  return rank !== 'other' && rank >= backgrounds.length && rank < toldApart;
}

/** The classes with the look of a series, by its rank; all after the twelfth share one. */
export function seriesBackground(rank: number | 'other'): string {
  if (rank === 'other' || rank >= toldApart) return 'bg-series-other';
  const colour = backgrounds[rank % backgrounds.length] ?? 'bg-series-other';
  return isDotted(rank) ? `${colour} dotted` : colour;
}

/** The name of the colour's token, for canvases. */
export function seriesToken(rank: number | 'other'): string {
  return rank === 'other' || rank >= toldApart
    ? '--color-series-other'
    : `--color-series-${(rank % backgrounds.length) + 1}`;
}
