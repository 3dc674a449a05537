/** One look at something that should stay as it is. */
export interface Sample {
  /** Minutes since the beginning. */
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  /** The middle of what was seen. */
  readonly level: number;
  /** Percent of the level that it grows by in ten minutes; negative when it shrinks. */
  readonly growth: number;
}

/**
 * How samples go, by Theil and Sen: the median of the slopes between all pairs, which a few peaks
 * do not move. What came before `from` is warming up.
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
