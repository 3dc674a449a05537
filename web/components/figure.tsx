import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';

interface FigureProps {
  readonly label: ReactNode;
  readonly value: ReactNode;
  /** A line below: a comparison, or the amount that is held. */
  readonly note?: ReactNode;
  readonly tone?: 'warn' | 'bad' | undefined;
  /** How the figure is calculated. */
  readonly tip?: string | undefined;
}

/** A key figure. In a row of them: `<Figures>`. */
export function FigureCard({ label, value, note, tone, tip }: FigureProps): ReactNode {
  return (
    <div className="min-w-0 bg-surface p-3 md:p-4">
      <p className="flex items-center gap-1 text-caption text-muted">{label}</p>
      <p
        data-figure
        className={clsx(
          'figure-size truncate font-semibold figures',
          tone === 'warn' && 'text-warn',
          tone === 'bad' && 'text-bad',
        )}
        {...(tip !== undefined && { 'data-tip': tip, tabIndex: 0 })}
      >
        {value}
      </p>
      <p className="min-h-4.5 text-caption text-muted">{note}</p>
    </div>
  );
}

/** Figures beside each other, hairlines between them. */
export function Figures({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="figure-row @container/figures overflow-hidden rounded-card border border-line bg-line">
      {children}
    </div>
  );
}

export function FiguresSkeleton({ count = 4 }: { readonly count?: number }): ReactNode {
  return (
    <Figures>
      {Array.from({ length: count }, (_, index) => (
        <FigureCard
          key={index}
          label={<Skeleton className="h-3 w-16" />}
          value={<Skeleton className="my-1.5 h-6 w-24" />}
          note={<Skeleton className="h-3 w-20" />}
        />
      ))}
    </Figures>
  );
}
