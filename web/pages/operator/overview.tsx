import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { OperatorOverview } from '../../../src/console/contract.ts';
import { data, queryClient } from '../../api/data.ts';
import { useEvent } from '../../api/events.ts';
import { Figures, FiguresSkeleton, FigureCard } from '../../components/figure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { useZone, ZoneNote } from '../../components/time.tsx';
import { formatCount, formatRate, formatShare } from '../../format/count.ts';
import { formatClock, formatDuration } from '../../format/time.ts';
import { operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { AttentionPanel } from './attention.tsx';
import { ErrorsByChannel } from './errors-by-channel.tsx';
import { refresh } from './parts.tsx';

const everyMs = 15_000;
const path = 'operator/overview';

export const ahead = () => void queryClient.prefetchQuery(data<OperatorOverview>(path));

/** Alerts first; then traffic and money. */
export function OperatorOverviewPage(): ReactNode {
  const { nav } = useWords(sharedWords);
  const overview = useQuery({ ...data<OperatorOverview>(path), refetchInterval: everyMs });
  useEvent(
    'channel',
    useCallback(() => void refresh(path), []),
  );
  return (
    <Page
      title={nav.operatorOverview}
      note={overview.data && <ZoneNote at={overview.data.as_of} />}
    >
      <Loaded query={overview} skeleton={<Waiting />}>
        {(view) => (
          <div className="flex flex-col gap-4">
            <AttentionPanel
              attention={view.attention}
              checkedAt={view.checked_at}
              onLook={() => void overview.refetch()}
            />
            <Now now={view.now} />
            <Today today={view.today} at={view.as_of} />
            <ErrorsByChannel errors={view.errors} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Waiting(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <Panel flush>
        <SkeletonRows rows={2} />
      </Panel>
      <FiguresSkeleton />
      <FiguresSkeleton />
    </div>
  );
}

const badShare = 0.05;

function Now({ now }: Pick<OperatorOverview, 'now'>): ReactNode {
  const { overview: words } = useWords(operatorWords);
  const { first_byte_median_ms: median, first_byte_p95_ms: p95, error_share: errors } = now;
  return (
    <section aria-label={words.now}>
      <h2 className="mb-1.5 text-caption font-medium text-muted">{words.now}</h2>
      <Figures>
        <FigureCard label={words.requestsPerMinute} value={formatRate(now.requests_per_minute)} />
        <FigureCard
          label={words.errorShare}
          value={errors === null ? '—' : formatShare(errors)}
          note={words.errorNote}
          tone={errors !== null && errors >= badShare ? 'bad' : undefined}
        />
        <FigureCard
          label={words.firstByte}
          value={median === null ? '—' : formatDuration(median)}
          note={p95 !== null && words.firstByteNote(formatDuration(p95))}
        />
        <FigureCard
          label={words.open}
          value={formatCount(now.open_streams)}
          note={words.openNote(formatCount(now.open_tasks))}
        />
      </Figures>
    </section>
  );
}

function Today({
  today,
  at,
}: Pick<OperatorOverview, 'today'> & { readonly at: string }): ReactNode {
  const { overview: words } = useWords(operatorWords);
  const zone = useZone();
  const { revenue, vendor_cost: cost, margin, requests, as_of: until } = today;
  const note = until === at ? words.requestsNote : words.requestsUpTo(formatClock(until, zone));
  return (
    <section aria-label={words.today}>
      <h2 className="mb-1.5 text-caption font-medium text-muted">{words.today}</h2>
      <Figures>
        <FigureCard label={words.revenue} value={<Money amount={revenue} as="spend" />} />
        <FigureCard
          label={words.vendorCost}
          value={<Money amount={cost} as="spend" />}
          note={cost === null ? words.noCost : words.vendorCostNote}
        />
        <FigureCard
          label={words.margin}
          value={margin === null ? '—' : formatShare(margin)}
          note={words.marginNote}
          tone={margin !== null && margin < 0 ? 'bad' : undefined}
        />
        <FigureCard label={words.requests} value={formatCount(requests)} note={note} />
      </Figures>
    </section>
  );
}
