/** One measurement of something that should stay stable. */
export interface Sample {
  /** Minutes since the start. */
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  /** The median. */
  readonly level: number;
  /** Growth in ten minutes, in percent of the level; negative when it shrinks. */
  readonly growth: number;
}

/**
 * The trend of samples, by Theil and Sen: the median of the slopes between all pairs, which a few
 * peaks do not move. Samples before `from` are warm-up.
 */
export function trendOf(samples: readonly Sample[], from: number): Trend {
  const counted = samples.filter(({ at }) => at >= from);
  const slopes = counted.flatMap((first, n) =>
    counted
      .slice(n + 1)
      .flatMap((later) =>
        later.at > first.at ? (later.value - first.value) / (later.at - first.at) : [],
      ),
  );
  const level = middle(counted.map(({ value }) => value));
  return { level, growth: (100 * 10 * middle(slopes)) / level };
}

export function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('nothing was measured');
  return (low + high) / 2;
}
