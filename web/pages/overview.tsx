import type { ReactNode } from 'react';
import type { BalanceView, OverviewView } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { prefetch, useData, useMe, type Visit } from '../api/data.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Banner } from '../components/banner.tsx';
import { ButtonLink } from '../components/button.tsx';
import { Change } from '../components/change.tsx';
import { FigureCard, Figures, FiguresSkeleton } from '../components/figure.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Money } from '../components/money.tsx';
import { Page, Panel } from '../components/page.tsx';
import { PathLink } from '../components/path-link.tsx';
import { RankList } from '../components/rank-list.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { SpendChart } from '../components/spend-chart.tsx';
import { Segments } from '../components/segments.tsx';
import { Unbroken } from '../components/unbroken.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { formatYuan, parseYuan } from '../format/money.ts';
import { formatClock, formatDay, formatZone } from '../format/time.ts';
import { Announcement } from '../shell/announcement.tsx';
import { balanceState } from '../shell/balance-chip.tsx';
import { overviewWords, sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { LatestCharges } from './overview-charges.tsx';
import { StartSteps, Works } from './overview-start.tsx';

const searchDefaults = { by: 'model', period: '30d' };
const periods = ['today', '7d', '30d', '90d'] as const;

/** Of the address; what the API takes by default is left out. */
function queryOf({ by, period }: Readonly<Record<string, unknown>>): Query {
  const chosen = periods.find((each) => each === period) ?? searchDefaults.period;
  return {
    ...(by === 'key' && { by }),
    ...(chosen !== searchDefaults.period && { period: chosen }),
  };
}

export const ahead = ({ search }: Visit) => prefetch('overview', queryOf(search));

/** The balance, its runway, and the largest costs. */
export function OverviewPage(): ReactNode {
  const words = useWords(overviewWords);
  const { nav } = useWords(sharedWords);
  const [search, setSearch] = useSearchState(searchDefaults);
  const overview = useData<OverviewView>('overview', queryOf(search));
  const { settings } = useMe();
  const needsMoney =
    overview.data !== undefined && balanceState(overview.data.balance, settings) !== 'fine';
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
        {(view) => <Overview view={view} onChange={setSearch} />}
      </Loaded>
    </Page>
  );
}

interface OverviewProps {
  readonly view: OverviewView;
  readonly onChange: (change: { readonly by?: string; readonly period?: string }) => void;
}

function Overview({ view, onChange }: OverviewProps): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      {view.announcements.map((item) => (
        <Announcement key={item.id} item={item} />
      ))}
      <Numbers view={view} />
      <FirstCharge view={view} />
      {view.start.done ? <Spending view={view} onChange={onChange} /> : <StartSteps view={view} />}
      {view.last_charges.length > 0 && <LatestCharges view={view} />}
    </div>
  );
}

/** The end of the four steps: shown once, while there is no other charge yet. */
function FirstCharge({ view }: { readonly view: OverviewView }): ReactNode {
  const { start: words } = useWords(overviewWords);
  const charge = view.start.first_charge;
  if (!view.start.done || charge === null || view.last_charges.length !== 1) return null;
  return (
    <Banner tone="good" action={<PathLink path={`/usage/${charge.id}`}>{words.see}</PathLink>}>
      <Works charge={charge} balance={view.balance} />
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
          : figures.formula(formatYuan(available, 'balance'), formatYuan(mean, 'mean'))
      }
      note={mean !== null && runway.state !== 'unknown' && figures.perDay(formatYuan(mean, 'mean'))}
    />
  );
}

function Spending({ view, onChange }: OverviewProps): ReactNode {
  const { spend: words } = useWords(overviewWords);
  const { period, series, zone, as_of: now } = view;
  return (
    <section aria-label={words.section} className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-card font-semibold">
          {words.section}{' '}
          <span className="text-caption font-normal text-muted">
            {words.zone(formatZone(zone, now))}
          </span>
        </h2>
        <Segments
          label={words.period}
          value={period.name}
          onChange={(next) => onChange({ period: next })}
          options={periods.map((each) => [each, words.periods[each]] as const)}
        />
      </div>
      <Compared view={view} />
      <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
        <Panel
          title={
            <>
              {period.name === 'today' ? words.perHour : words.perDay}{' '}
              <span className="text-caption font-normal text-muted figures">
                <Unbroken text={spanOf(period.from, now, zone)} />
              </span>
            </>
          }
          actions={
            <Segments
              label={words.by}
              value={series.by}
              onChange={(next) => onChange({ by: next })}
              options={[
                ['model', words.model],
                ['key', words.key],
              ]}
            />
          }
        >
          <SpendChart
            series={series}
            {...(period.name === 'today' && { labelHeader: words.hour })}
            empty={words.nothing}
            summary={(total, first, last, most) => words.summary(total, first, last, most)}
          />
        </Panel>
        <TopModels view={view} />
      </div>
    </section>
  );
}

/** The period's sums beside those of the period before, up to the same time. */
function Compared({ view: { period, zone, as_of: now } }: Pick<OverviewProps, 'view'>): ReactNode {
  const { spend: words } = useWords(overviewWords);
  const { before, cost, refunded, requests } = period;
  const charged = parseYuan(cost) + parseYuan(refunded);
  const amount = (text: string) => Number(parseYuan(text));
  const since = (now: number, was: number, told: string) =>
    before.requests === 0 && amount(before.cost) === 0 ? (
      words.nothingBefore
    ) : (
      <>
        <Change now={now} before={was} /> {words.before(told)}
      </>
    );
  return (
    <div className="flex flex-col gap-2">
      <Figures>
        <FigureCard
          label={words.cost}
          value={<Money amount={cost} as="spend" />}
          note={since(amount(cost), amount(before.cost), formatYuan(before.cost, 'spend'))}
        />
        <FigureCard
          label={words.requests}
          value={formatCount(requests)}
          note={since(requests, before.requests, formatCount(before.requests))}
        />
      </Figures>
      <p className="text-caption text-muted figures">
        <Unbroken
          text={words.compared(
            spanOf(period.from, now, zone),
            spanOf(before.from, before.to, zone),
          )}
        />
      </p>
      {parseYuan(refunded) > 0n && (
        <p className="text-caption text-muted figures">
          {words.refunded(formatYuan(charged, 'exact'), formatYuan(refunded, 'exact'))}
        </p>
      )}
    </div>
  );
}

/** `2026-11-15 – 2026-11-21 14:05`, or `2026-11-21 00:00 – 14:05`. */
function spanOf(from: string, to: string, zone: string): string {
  const [first, last] = [formatDay(from, zone), formatDay(to, zone)];
  const end = formatClock(to, zone);
  return first === last
    ? `${first} ${formatClock(from, zone)} – ${end}`
    : `${first} – ${last} ${end}`;
}

/** As many as stand beside the chart; the usage page shows all. */
const ranksShown = 6;

function TopModels({ view }: { readonly view: OverviewView }): ReactNode {
  const words = useWords(overviewWords);
  const { units } = useWords(sharedWords);
  return (
    <Panel title={words.top.title}>
      {view.top.length === 0 ? (
        <p className="text-table text-muted">{words.top.empty}</p>
      ) : (
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
      )}
    </Panel>
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
