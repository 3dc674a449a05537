import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { formatYuan, longestFraction, type Yuan } from '../format/money.ts';
import { Money } from './money.tsx';
import { seriesBackground } from './series.ts';

export interface Rank {
  readonly id: string;
  readonly name: ReactNode;
  /** Money, or a figure as text. */
  readonly value: { readonly cost: Yuan } | string;
  /** Share of the total, 0 to 1. */
  readonly share: number;
  readonly note?: ReactNode;
}

/**
 * Rows with bars, the dearest first. The first six have their colours of the chart beside the list.
 */
export function RankList({
  label,
  ranks,
}: {
  readonly label: string;
  readonly ranks: readonly Rank[];
}): ReactNode {
  const places = longestFraction(
    ranks.flatMap(({ value }) =>
      typeof value === 'string' ? [] : [formatYuan(value.cost, 'spend')],
    ),
  );
  return (
    <ol aria-label={label} className="flex flex-col gap-2.5">
      {ranks.map(({ id, name, value, share, note }, index) => (
        <li key={id} className="min-w-0">
          <div className="flex items-baseline justify-between gap-3 text-table">
            <span className="min-w-0 truncate">{name}</span>
            {typeof value === 'string' ? (
              <span className="shrink-0 figures">{value}</span>
            ) : (
              <Money amount={value.cost} as="spend" places={places} className="shrink-0" />
            )}
          </div>
          <div className="my-1 h-1.5 overflow-hidden rounded-full bg-idle-soft" aria-hidden="true">
            <div
              className={clsx('h-full rounded-full', seriesBackground(index))}
              style={{ width: share > 0 ? `${Math.max(share * 100, 0.5)}%` : 0 }}
            />
          </div>
          {note !== undefined && <p className="text-caption text-muted figures">{note}</p>}
        </li>
      ))}
    </ol>
  );
}
