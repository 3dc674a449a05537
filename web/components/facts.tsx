import type { ReactNode } from 'react';

/** A list of names on the left and values on the right, each with the room that its name leaves. */
export function Facts({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className="flex flex-col gap-y-2 text-table">{children}</dl>;
}

export function Fact({
  name,
  children,
}: {
  readonly name: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="flex items-baseline gap-x-4">
      <dt className="max-w-[45%] shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-1 flex-wrap items-baseline justify-end gap-1 text-right wrap-anywhere">
        {children}
      </dd>
    </div>
  );
}
