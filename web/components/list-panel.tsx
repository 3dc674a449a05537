import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { List, Page as PageOf } from '../../src/console/contract.ts';
import { ApiError } from '../api/client.ts';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { Button } from './button.tsx';
import { EmptyState } from './error-panel.tsx';
import { Loaded } from './loaded.tsx';
import { Panel } from './page.tsx';
import { fromFirst, Pager } from './pager.tsx';

type State = Readonly<Record<string, string>>;
/** A list's state in the address (`useSearchState`), and what changes it: always one function. */
export type ListSearch = readonly [
  state: State,
  change: (state: State, options?: { readonly replace?: boolean }) => void,
];

export interface ListPanelProps<Row> {
  readonly title?: ReactNode;
  readonly query: UseQueryResult<List<Row> | PageOf<Row>>;
  readonly search?: ListSearch;
  /** The filters of that state, all of them off. */
  readonly noFilter?: State;
  /** For a list that is fetched whole: whether the filter leaves the row. */
  readonly keep?: (row: Row) => boolean;
  /** The text of a list without rows. */
  readonly empty: string;
  /** The text when the filter leaves no row. */
  readonly nothing?: string;
  /** The API knows no page before this one: "newer" leads to the first. */
  readonly oneWay?: boolean;
  /** Above the rows, even where there are none. */
  readonly head?: ReactNode;
  /** Left of the pager's buttons, where there are rows. */
  readonly tools?: ReactNode;
  /** A sentence below the list. */
  readonly note?: string;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/**
 * The rows of `query` in a panel, which `children` draws, with skeleton, error and pager. The pager
 * turns the `after` of `search`. A list that is empty says so; one with more pages, that the server
 * has not looked through all records yet. If a filter of `noFilter` is on, it offers to clear the
 * filter.
 */
export function ListPanel<Row>({
  title,
  query,
  search: [state, change] = noSearch,
  noFilter = {},
  keep,
  empty,
  nothing = empty,
  oneWay = false,
  head,
  tools,
  note,
  children,
}: ListPanelProps<Row>): ReactNode {
  const { actions, table } = useWords(sharedWords);
  const filtered = Object.entries(noFilter).some(([name, off]) => state[name] !== off);
  const { after = '' } = state;
  const lost = after !== '' && query.error instanceof ApiError && query.error.code === lostCode;
  useEffect(() => {
    if (lost) change({ after: '' }, { replace: true });
  }, [lost, change]);
  return (
    <Panel flush title={title}>
      <Loaded query={query}>
        {(list) => {
          const rows = keep === undefined ? list.items : list.items.filter(keep);
          const isPart = 'next' in list && list.next !== null;
          return (
            <>
              {head}
              {rows.length > 0 && children(rows)}
              {rows.length === 0 && (
                <EmptyState text={isPart ? table.noneYet : filtered ? nothing : empty}>
                  {filtered && (
                    <Button onClick={() => change(noFilter)}>{actions.clearFilter}</Button>
                  )}
                </EmptyState>
              )}
              {'next' in list && (
                <Pager
                  page={oneWay ? fromFirst(list, after) : list}
                  onTurn={(next = '') => change({ after: next })}
                >
                  {rows.length > 0 ? tools : undefined}
                </Pager>
              )}
              {note !== undefined && (
                <p className="border-t border-line px-4 py-2 text-caption text-muted">{note}</p>
              )}
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

/** `-30d` began a day earlier when the cursor was made: the list goes on at its first page. */
const lostCode = 'invalid_cursor';

const noSearch: ListSearch = [{}, () => undefined];
