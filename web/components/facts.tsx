import type { ReactNode } from 'react';

/** A list of names on the left and values on the right. */
export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <dl className="grid grid-cols-[fit-content(45%)_minmax(0,1fr)] items-baseline gap-x-4 gap-y-2 text-table">
      {children}
    </dl>
  );
}

export function Fact({
  name,
  children,
}: {
  readonly name: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-baseline justify-end gap-1 text-right wrap-anywhere">
        {children}
      </dd>
    </div>
  );
}
