import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatClock } from '../format/time.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { useSentenceGap } from '../words/language.ts';
import { ErrorPanel, useErrorText } from './error-panel.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { SkeletonRows } from './skeleton.tsx';
import { useZone } from './time.tsx';

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** A skeleton of the same height as the content. */
  readonly skeleton?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/**
 * A panel of fetched data: a skeleton at first, a thin bar during later fetches, an error in place.
 * If a later fetch fails, the old data stay, with their time.
 */
export function Loaded<Data>({
  query,
  skeleton = <SkeletonRows />,
  children,
}: LoadedProps<Data>): ReactNode {
  const words = useWords(sharedWords);
  const errorText = useErrorText();
  const { data, error, isFetching, dataUpdatedAt } = query;
  const retry = () => void query.refetch();
  if (data === undefined) {
    if (error !== null) return <ErrorPanel error={error} onRetry={retry} />;
    return (
      <div aria-busy="true">
        <span className="sr-only">{words.live.loading}</span>
        {skeleton}
      </div>
    );
  }
  return (
    <div className="relative" aria-busy={isFetching || undefined}>
      {isFetching && <LoadingBar />}
      {error !== null && (
        <Old error={errorText(error)} updatedAtMs={dataUpdatedAt} onRetry={retry} />
      )}
      {children(data)}
    </div>
  );
}

function LoadingBar(): ReactNode {
  return (
    <span
      aria-hidden="true"
      className="absolute inset-x-0 top-0 z-10 block h-0.5 overflow-hidden late"
    >
      <span className="block h-full w-1/3 bg-accent sweep" />
    </span>
  );
}

function Old({
  error,
  updatedAtMs,
  onRetry,
}: {
  readonly error: string;
  readonly updatedAtMs: number;
  readonly onRetry: () => void;
}): ReactNode {
  const words = useWords(sharedWords);
  const zone = useZone();
  const gap = useSentenceGap();
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-3 py-1 text-caption text-warn"
    >
      <Icon name="warning" />
      <span>
        {error}
        {gap}
        {words.live.asOf(formatClock(new Date(updatedAtMs).toISOString(), zone))}
      </span>
      <Button size="small" look="ghost" className="ml-auto" onClick={onRetry}>
        {words.errors.retry}
      </Button>
    </div>
  );
}
