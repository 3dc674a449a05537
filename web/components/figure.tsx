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
          // An amount is never cut: figures are large where the whole row has room for four of them
          // and has no more, so that rows below each other agree.
          'truncate text-page font-semibold figures',
          'group-not-has-[>:nth-child(5)]/figures:@min-[60rem]/figures:text-figure',
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

/**
 * Two in a row on a phone, an odd last one across both; all in one row where there is room, and
 * three in a row where five or six have none, a fifth across the rest. Hairlines between them.
 */
export function Figures({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="group/figures @container/figures grid grid-cols-2 gap-px overflow-hidden rounded-card border border-line bg-line max-lg:*:last:odd:col-span-2 lg:grid-flow-col lg:auto-cols-fr lg:grid-cols-none lg:max-xl:has-[>:nth-child(5)]:grid-flow-row lg:max-xl:has-[>:nth-child(5)]:grid-cols-3 lg:max-xl:*:last:nth-5:col-span-2">
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
