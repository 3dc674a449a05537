import type { ReactNode } from 'react';
import type { FailedRequest, Page } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { requestWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { FailedList } from './request-parts.tsx';
import type { ChangeUsageSearch, UsageSearch } from './usage-filter.tsx';

interface FailedProps {
  readonly query: Query;
  readonly state: UsageSearch;
  readonly onChange: ChangeUsageSearch;
}

/** The requests of the filter that got no whole answer; each opens on a page of its own. */
export function UsageFailed({ query, state, onChange }: FailedProps): ReactNode {
  const words = useWords(requestWords);
  const { actions } = useWords(sharedWords);
  const list = useData<Page<FailedRequest>>('requests', query);
  const { key, model, http, code } = state;
  const filtered = [key, model, http, code].some((value) => value !== '');
  const clear = () => onChange({ key: '', model: '', http: '', code: '' });
  return (
    <Loaded query={list}>
      {(page) => (
        <FailedList
          page={page}
          after={state.after}
          path={({ id }) => `/requests/${id}`}
          onTurn={(after) => onChange({ after })}
          empty={
            <EmptyState text={filtered ? words.nothing : words.none}>
              {filtered && <Button onClick={clear}>{actions.clearFilter}</Button>}
            </EmptyState>
          }
        />
      )}
    </Loaded>
  );
}
