import type { ReactNode } from 'react';
import type { FailedPage, FailedRequest } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { FailedList } from './request-parts.tsx';
import type { ChangeUsageSearch, UsageSearch } from './usage-filter.tsx';

interface FailedProps {
  readonly query: Query;
  readonly state: UsageSearch;
  readonly onChange: ChangeUsageSearch;
}

const noFilter = { key: '', model: '', http: '', code: '' };

/** The requests of the filter that got no whole answer; each opens on a page of its own. */
export function UsageFailed({ query, state, onChange }: FailedProps): ReactNode {
  return (
    <FailedList
      query={useData<FailedPage<FailedRequest>>('requests', query)}
      search={[state, onChange]}
      noFilter={noFilter}
      path={({ id }) => `/requests/${id}`}
    />
  );
}
