import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { UsageSummary } from '../../src/console/contract.ts';
import { addressOf, type Query } from '../api/client.ts';
import { prefetch, queryClient, sessionData, useData, type Visit } from '../api/data.ts';
import { useNow } from '../browser/now.ts';
import { useSearchState } from '../browser/search-state.ts';
import { ButtonAnchor } from '../components/button.tsx';
import { Page } from '../components/page.tsx';
import { Loaded } from '../components/loaded.tsx';
import { FiguresSkeleton } from '../components/figure.tsx';
import { Tabs } from '../components/tabs.tsx';
import { useZone, ZoneNote } from '../components/time.tsx';
import { usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { UsageCourse } from './usage-course.tsx';
import { UsageFailed } from './usage-failed.tsx';
import {
  type ChangeUsageSearch,
  failedFilterOf,
  failedSearch,
  filterOf,
  UsageFilter,
  type UsageSearch,
  usageSearch,
} from './usage-filter.tsx';
import { UsageRecord } from './usage-record.tsx';
import { UsageRequests } from './usage-requests.tsx';
import { UsageSpread } from './usage-spread.tsx';
import { UsageStrip } from './usage-strip.tsx';

/** Starts both requests of the page while its script loads. */
export function ahead({ params: { requestId }, search }: Visit): void {
  if (requestId !== undefined) return prefetch(`usage/${requestId}`);
  const zone = queryClient.getQueryData(sessionData.queryKey)?.me?.settings.zone;
  if (zone === undefined) return;
  const defaults = search['tab'] === 'failed' ? failedSearch : usageSearch;
  const state = { ...defaults, ...search } as UsageSearch; // the router gives addresses as texts
  if (state.tab === 'failed')
    return prefetch('requests', listOf(state, failedFilterOf(state, zone, Date.now())));
  const filter = filterOf(state, zone, Date.now());
  prefetch('usage/summary', filter);
  if (state.tab === 'requests') prefetch('usage', sortedOf(state, filter));
}

const listOf = ({ after, limit }: UsageSearch, filter: Query): Query => ({
  ...filter,
  limit: limit === usageSearch.limit ? '' : limit,
  after,
});

const sortedOf = (state: UsageSearch, filter: Query): Query => ({
  ...listOf(state, filter),
  sort: state.sort,
});

/**
 * Every charge. A request opened from the list stands beside it; opened by its address it is a
 * page.
 */
export function UsagePage(): ReactNode {
  const { requestId } = useParams({ strict: false });
  const [listed, setListed] = useState(requestId === undefined);
  if (requestId === undefined && !listed) setListed(true);
  if (requestId !== undefined && !listed) return <UsageRecord id={requestId} />;
  return <UsageList open={requestId} />;
}

const tabs = ['requests', 'failed', 'day', 'model', 'key', 'course'] as const;

function UsageList({ open }: { readonly open: string | undefined }): ReactNode {
  const words = useWords(usageWords);
  const [state, change] = useSearchState(usageSearch);
  const [failed, changeFailed] = useSearchState(failedSearch);
  const zone = useZone();
  const nowMs = useNow();
  const tab = tabs.find((each) => each === state.tab) ?? 'requests';
  const filter = filterOf(state, zone, nowMs);
  return (
    <Page title={words.title} wide note={<ZoneNote />}>
      {tab === 'failed' ? (
        <UsageFilter of="failed" state={failed} onChange={changeFailed} />
      ) : (
        <Charged state={state} onChange={change} />
      )}
      <Tabs
        label={words.tabs.label}
        value={tab}
        onChange={(next) => change({ tab: next })}
        tabs={tabs.map((each) => [each, words.tabs[each]] as const)}
      >
        {tab === 'requests' && (
          <UsageRequests
            query={sortedOf(state, filter)}
            state={state}
            open={open}
            onChange={change}
          />
        )}
        {tab === 'failed' && (
          <UsageFailed
            query={listOf(failed, failedFilterOf(failed, zone, nowMs))}
            state={failed}
            onChange={changeFailed}
          />
        )}
        {tab === 'course' && <UsageCourse filter={filter} />}
        {(tab === 'day' || tab === 'model' || tab === 'key') && (
          <UsageSpread by={tab} filter={filter} state={state} onChange={change} />
        )}
      </Tabs>
    </Page>
  );
}

/** The filter of charges, and their sums. */
function Charged({
  state,
  onChange,
}: {
  readonly state: UsageSearch;
  readonly onChange: ChangeUsageSearch;
}): ReactNode {
  const words = useWords(usageWords);
  const filter = filterOf(state, useZone(), useNow());
  const summary = useData<UsageSummary>('usage/summary', filter);
  return (
    <>
      <UsageFilter of="charges" state={state} onChange={onChange}>
        <ButtonAnchor
          icon="download"
          href={addressOf('usage.csv', filter)}
          download
          data-tip={words.csvTip}
        >
          {words.csv}
        </ButtonAnchor>
      </UsageFilter>
      <Loaded query={summary} skeleton={<FiguresSkeleton count={6} />}>
        {(sums) => <UsageStrip summary={sums} requestedFrom={String(filter['from'] ?? '')} />}
      </Loaded>
    </>
  );
}
