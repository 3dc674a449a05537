import { type ReactNode, useCallback } from 'react';
import type { BalanceView, OverviewView } from '../../src/console/contract.ts';
import { data, queryClient, useData, useMe } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Banner } from '../components/banner.tsx';
import { ButtonLink } from '../components/button.tsx';
import { FigureCard, Figures, FiguresSkeleton } from '../components/figure.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Money } from '../components/money.tsx';
import { Page, Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { RankList } from '../components/rank-list.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { SpendChart } from '../components/spend-chart.tsx';
import { Segments } from '../components/segments.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { formatYuan, parseYuan } from '../format/money.ts';
import { formatZone } from '../format/time.ts';
import { Announcement } from '../shell/announcement.tsx';
import { balanceState } from '../shell/balance-chip.tsx';
import { overviewWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { LatestCharges } from './overview-charges.tsx';
import { StartSteps } from './overview-start.tsx';

const searchDefaults = { by: 'model' };

export const ahead = ({ search }: { readonly search: Readonly<Record<string, unknown>> }) =>
  void queryClient.prefetchQuery(
    data<OverviewView>('overview', search['by'] === 'key' ? { by: 'key' } : {}),
  );

/** The balance, its runway, and the largest costs. */
export function OverviewPage(): ReactNode {
  const words = useWords(overviewWords);
  const { nav } = useWords(sharedWords);
  const [{ by }, setSearch] = useSearchState(searchDefaults);
  const overview = useData<OverviewView>('overview', by === 'key' ? { by } : {});
  const { settings } = useMe();
  const needsMoney =
    overview.data !== undefined && balanceState(overview.data.balance, settings) !== 'fine';
  const split = useCallback((next: string) => setSearch({ by: next }), [setSearch]);
  return (
    <Page
      title={nav.overview}
      actions={
        overview.data?.start.done &&
        (needsMoney ? (
          <ButtonLink look="primary" to="/top-up" icon="topUp">
            {words.topUp}
          </ButtonLink>
        ) : (
          <ButtonLink look="primary" to="/keys/new" icon="plus" data-shortcut="create">
            {words.createKey}
          </ButtonLink>
        ))
      }
    >
      <Loaded query={overview} skeleton={<OverviewSkeleton />}>
        {(view) => <Overview view={view} by={by === 'key' ? 'key' : 'model'} onSplit={split} />}
      </Loaded>
    </Page>
  );
}

interface OverviewProps {
  readonly view: OverviewView;
  readonly by: 'model' | 'key';
  readonly onSplit: (by: string) => void;
}

function Overview({ view, by, onSplit }: OverviewProps): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      {view.announcements.map((item) => (
        <Announcement key={item.id} item={item} />
      ))}
      <Numbers view={view} />
      <FirstCharge view={view} />
      {view.start.done ? (
        <Spending view={view} by={by} onSplit={onSplit} />
      ) : (
        <StartSteps view={view} />
      )}
      {view.last_charges.length > 0 && <LatestCharges view={view} />}
    </div>
  );
}

/** The end of the four steps: shown once, while there is no other charge yet. */
function FirstCharge({ view }: { readonly view: OverviewView }): ReactNode {
  const { start: words } = useWords(overviewWords);
  const charge = view.start.first_charge;
  if (!view.start.done || charge === null || view.last_charges.length !== 1) return null;
  const { model, tokens, cost, id } = charge;
  return (
    <Banner tone="good" action={<PathLink path={`/usage/${id}`}>{words.see}</PathLink>}>
      {words.works(
        model,
        formatCount(tokens?.output ?? 0),
        formatYuan(cost, 'row'),
        formatYuan(view.balance.available, 'balance'),
      )}
    </Banner>
  );
}

function Numbers({ view }: { readonly view: OverviewView }): ReactNode {
  const words = useWords(overviewWords);
  const shared = useWords(sharedWords);
  const { settings } = useMe();
  const { balance, today, yesterday_so_far: yesterday, last_7_days: week } = view;
  const state = balanceState(balance, settings);
  const held = parseYuan(balance.held) > 0n;
  return (
    <Figures>
      <FigureCard
        label={words.figures.available}
        tone={state === 'empty' ? 'bad' : state === 'low' ? 'warn' : undefined}
        value={<Money amount={balance.available} as="balance" />}
        note={
          held
            ? words.figures.held(formatYuan(balance.held, 'balance'), balance.tasks_running)
            : words.figures.nothingHeld
        }
      />
      <Runway balance={balance} />
      <FigureCard
        label={words.figures.today}
        value={<Money amount={today.cost} as="spend" />}
        note={words.figures.yesterday(formatYuan(yesterday, 'spend'))}
      />
      <FigureCard
        label={words.figures.week}
        value={<Money amount={week.cost} as="spend" />}
        note={shared.units.requests(formatCount(week.requests))}
      />
    </Figures>
  );
}

function Runway({ balance: { runway, available } }: { readonly balance: BalanceView }): ReactNode {
  const { figures } = useWords(overviewWords);
  const mean = runway.mean_per_day;
  const value = {
    unknown: figures.notEnough,
    over_a_year: figures.overAYear,
    days: figures.days(runway.days ?? 0),
  }[runway.state];
  return (
    <FigureCard
      label={figures.runway}
      value={
        runway.state === 'unknown' ? <span className="text-card text-muted">{value}</span> : value
      }
      tip={
        mean === null
          ? undefined
          : figures.formula(formatYuan(available, 'balance'), formatYuan(mean, 'spend'))
      }
      note={
        mean !== null && runway.state !== 'unknown' && figures.perDay(formatYuan(mean, 'spend'))
      }
    />
  );
}

function Spending({ view, by, onSplit }: OverviewProps): ReactNode {
  const words = useWords(overviewWords);
  return (
    <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
      <Panel
        title={
          <>
            {words.spend.title}{' '}
            <span className="text-caption font-normal text-muted">
              {words.spend.zone(formatZone(view.zone, view.as_of))}
            </span>
          </>
        }
        actions={
          <Segments
            label={words.spend.by}
            value={by}
            onChange={onSplit}
            options={[
              ['model', words.spend.model],
              ['key', words.spend.key],
            ]}
          />
        }
      >
        <SpendChart
          series={view.series}
          empty={words.spend.nothing}
          summary={(total, first, last, most) => words.spend.summary(total, first, last, most)}
        />
      </Panel>
      <Panel title={words.top.title}>
        <TopModels view={view} />
      </Panel>
    </div>
  );
}

/** As many as the chart beside it has colours; the usage page shows all. */
const ranksShown = 6;

function TopModels({ view }: { readonly view: OverviewView }): ReactNode {
  const words = useWords(overviewWords);
  const { units } = useWords(sharedWords);
  if (view.top.length === 0) return <p className="text-table text-muted">{words.top.empty}</p>;
  return (
    <RankList
      label={words.top.title}
      ranks={view.top
        .slice(0, ranksShown)
        .map(({ model, cost, share, requests, cached_share: cached }) => ({
          id: model,
          name: model,
          value: { cost },
          share,
          note:
            cached === null
              ? words.top.noteWithoutCache(units.requests(formatCount(requests)))
              : words.top.note(units.requests(formatCount(requests)), formatShare(cached)),
        }))}
    />
  );
}

function OverviewSkeleton(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <FiguresSkeleton />
      <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
        <Panel title={<Skeleton className="h-4 w-32" />}>
          <Skeleton className="h-60" />
        </Panel>
        <Panel title={<Skeleton className="h-4 w-32" />}>
          <Skeleton className="h-60" />
        </Panel>
      </div>
    </div>
  );
}
