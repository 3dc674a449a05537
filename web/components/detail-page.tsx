import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import type { Crumb } from '../browser/title.ts';
import { Loaded } from './loaded.tsx';
import { MissingPage, Page, Panel } from './page.tsx';
import { ZoneNote } from './time.tsx';

interface DetailPageProps<Data extends object> {
  readonly query: UseQueryResult<Data>;
  readonly title: string;
  /** The list that the breadcrumb leads back to. */
  readonly list: Crumb;
  readonly actions?: (data: Data) => ReactNode;
  /** Below the title; without it, the zone of the times. */
  readonly note?: (data: Data) => ReactNode;
  /** Says below the title that it does not exist; without it, the page is "not found". */
  readonly missing?: ReactNode;
  readonly skeleton?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/**
 * The page of the one thing that `query` fetches: its title at once, then its note, its actions
 * and what `children` draws. It shows a skeleton, an error, or that there is no such thing.
 */
export function DetailPage<Data extends object>({
  query,
  title,
  list,
  actions,
  note = () => <ZoneNote />,
  missing,
  skeleton,
  children,
}: DetailPageProps<Data>): ReactNode {
  const { data, error } = query;
  const isMissing = error instanceof ApiError && error.status === 404;
  if (isMissing && missing === undefined) return <MissingPage />;
  return (
    <Page title={title} above={[list]} note={data && note(data)} actions={data && actions?.(data)}>
      {isMissing ? (
        <Panel>{missing}</Panel>
      ) : (
        <Loaded query={query} skeleton={skeleton}>
          {children}
        </Loaded>
      )}
    </Page>
  );
}
