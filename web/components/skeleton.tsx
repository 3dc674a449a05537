import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/**
 * A grey box of the size of the content that loads (give it width and height by class); invisible
 * for the first 150 ms.
 */
export function Skeleton({ className }: { readonly className?: string }): ReactNode {
  return (
    <span aria-hidden="true" className={clsx('block late', className)}>
      <span className="block size-full min-h-3 rounded-badge bg-idle-soft skeleton-pulse" />
    </span>
  );
}

/** Placeholder rows of a table. */
export function SkeletonRows({ rows = 8 }: { readonly rows?: number }): ReactNode {
  return (
    <div aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div
          key={index}
          className="flex h-9 items-center gap-4 border-b border-line px-3 last:border-b-0"
        >
          <Skeleton className="h-3 w-1/4" />
          <Skeleton className="h-3 w-1/3" />
          <Skeleton className="ml-auto h-3 w-16" />
        </div>
      ))}
    </div>
  );
}
