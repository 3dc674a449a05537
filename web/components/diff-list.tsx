import type { ReactNode } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Icon } from './icon.tsx';

export interface Difference {
  readonly member: string;
  /** null: there was none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Before → after, member by member. */
export function DiffList({
  differences,
}: {
  readonly differences: readonly Difference[];
}): ReactNode {
  const { diff } = useWords(sharedWords);
  return (
    <dl className="grid gap-x-4 gap-y-1.5 text-table sm:grid-cols-[minmax(6rem,auto)_minmax(0,1fr)]">
      {differences.map(({ member, before, after }) => (
        <div key={member} className="contents">
          <dt className="text-muted">{member}</dt>
          <dd className="flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-1 font-mono text-caption wrap-anywhere max-sm:mb-1.5">
            {before !== null && (
              <del className="rounded-badge bg-bad-soft px-1 text-bad decoration-1">
                <span className="sr-only">{diff.before}</span>
                {before}
              </del>
            )}
            {before !== null && after !== null && (
              <Icon name="right" className="size-3 self-center text-muted" />
            )}
            {after !== null && (
              <ins className="rounded-badge bg-good-soft px-1 text-good no-underline">
                <span className="sr-only">{diff.after}</span>
                {after}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
