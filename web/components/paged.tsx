import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Page as PageOf } from '../../src/console/contract.ts';
import { EmptyState } from './error-panel.tsx';
import { Loaded } from './loaded.tsx';
import { Pager } from './table.tsx';

interface PagedProps<Row> {
  readonly query: UseQueryResult<PageOf<Row>>;
  /** The text when the list is empty. */
  readonly empty: string;
  readonly onTurn: (after: string | undefined) => void;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** A list that is read page by page. */
export function Paged<Row>({ query, empty, onTurn, children }: PagedProps<Row>): ReactNode {
  return (
    <Loaded query={query}>
      {(page) => (
        <>
          {page.items.length === 0 ? <EmptyState text={empty} /> : children(page.items)}
          <Pager page={page} onTurn={onTurn} />
        </>
      )}
    </Loaded>
  );
}
