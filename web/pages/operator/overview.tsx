import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperatorOverview } from '../../../src/console/contract.ts';
import { data, prefetch, queryClient, refresh, type Visit } from '../../api/data.ts';
import { useEvent } from '../../api/events.ts';
import { buttonLook } from '../../components/button.tsx';
import { Figures, FiguresSkeleton, FigureCard } from '../../components/figure.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { Badge } from '../../components/status-badge.tsx';
import { Time, ZoneNote } from '../../components/time.tsx';
import { formatCount, formatRate, formatShare } from '../../format/count.ts';
import { formatDuration } from '../../format/time.ts';
import { operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { AttentionPanel } from './attention.tsx';
import { ErrorsByChannel } from './errors-by-channel.tsx';
import { Trend, trendData } from './trend.tsx';

const everyMs = 15_000;
const path = 'operator/overview';
const refreshOverview = (): Promise<void> => refresh(path);

export const ahead = ({ search }: Visit) => {
  prefetch(path);
  void queryClient.prefetchQuery(trendData(search));
};

/** Alerts first; then traffic, the proof of the ledger, and money. */
export function OperatorOverviewPage(): ReactNode {
  const { nav } = useWords(sharedWords);
  const overview = useQuery({ ...data<OperatorOverview>(path), refetchInterval: everyMs });
  useEvent('channel', refreshOverview);
  return (
    <Page
      title={nav.operatorOverview}
      note={overview.data && <ZoneNote at={overview.data.as_of} />}
    >
      <Loaded query={overview} skeleton={<Waiting />}>
        {(view) => (
          <div className="flex flex-col gap-4">
            {view.errors.length === 0 && <FirstChannel isFirst={view.attention.length === 0} />}
            {(view.errors.length > 0 || view.attention.length > 0) && (
              <AttentionPanel
                attention={view.attention}
                checkedAt={view.checked_at}
                onLook={() => void overview.refetch()}
              />
            )}
            <Now now={view.now} />
            <LastCheck ledger_check={view.ledger_check} />
            <Trend />
            <ErrorsByChannel errors={view.errors} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** What a new gateway needs before anything else: `errors` has a row for each channel. */
function FirstChannel({ isFirst }: { readonly isFirst: boolean }): ReactNode {
  const { overview: words } = useWords(operatorWords);
  return (
    <Panel>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Icon name="warning" className="text-warn" />
        <p className="min-w-0 flex-1 basis-60">{words.noChannel}</p>
        <PathLink
          path="/operator/channels?form=new"
          className={buttonLook({ look: isFirst ? 'primary' : 'secondary' })}
        >
          {words.addChannel}
        </PathLink>
      </div>
    </Panel>
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
          note={errors === null ? words.noRequests : words.errorNote}
          tone={errors !== null && errors >= badShare ? 'bad' : undefined}
        />
        <FigureCard
          label={words.firstByte}
          value={median === null ? '—' : formatDuration(median)}
          note={p95 === null ? words.noAnswers : words.firstByteNote(formatDuration(p95))}
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

/** What the last proof of the ledger found, and when. */
function LastCheck({ ledger_check: check }: Pick<OperatorOverview, 'ledger_check'>): ReactNode {
  const { overview } = useWords(operatorWords);
  const { check: words } = overview;
  return (
    <Panel>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
        <h2 className="text-card font-semibold">{words.title}</h2>
        {check === null ? (
          <span className="text-muted">{words.none}</span>
        ) : (
          <>
            <Badge tone={check.ok ? 'good' : 'bad'} icon={check.ok ? 'check' : 'failed'}>
              {check.ok ? words.ok : words.failed}
            </Badge>
            <span className="text-muted">
              <Time at={check.started_at} /> · {check.nightly ? words.nightly : words.byHand}
            </span>
          </>
        )}
        <span className="ml-auto">
          <PathLink path="/operator/ledger">{words.open}</PathLink>
        </span>
        {check?.ok && <p className="basis-full text-muted">{words.proves}</p>}
      </div>
    </Panel>
  );
}
