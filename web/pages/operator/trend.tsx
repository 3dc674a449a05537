import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OperatorTrend, TrendFigures } from '../../../src/console/contract.ts';
import { data } from '../../api/data.ts';
import { useSearchState } from '../../browser/search-state.ts';
import { Arrow, Change } from '../../components/change.tsx';
import { Chart } from '../../components/chart.tsx';
import { FigureCard, Figures, FiguresSkeleton } from '../../components/figure.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Money } from '../../components/money.tsx';
import { Panel } from '../../components/page.tsx';
import { PathLink } from '../../components/path-link.tsx';
import { type Rank, RankList } from '../../components/rank-list.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { axisYuan } from '../../components/spend-chart.tsx';
import { Segments } from '../../components/segments.tsx';
import { Unbroken } from '../../components/unbroken.tsx';
import { axisCount, formatCount, formatShare, oneDecimal } from '../../format/count.ts';
import { formatYuan, parseYuan } from '../../format/money.ts';
import { formatClock, formatDay } from '../../format/time.ts';
import { userMark } from './user-mark.ts';
import { operatorWords, sharedWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { useSentenceGap } from '../../words/language.ts';
import { channelPath } from './channel-parts.tsx';
import { operatorModelPath } from './model-parts.ts';
import { userPath } from './user-name.tsx';

/** A long period is many rows to add up, and changes little in a minute. */
const everyMs = { today: 60_000, '7d': 60_000, '30d': 600_000, '90d': 600_000, month: 600_000 };
const periods = ['today', '7d', '30d', '90d', 'month'] as const;
const shows = ['revenue', 'requests'] as const;
const defaults = { period: '7d', show: 'revenue' };

export const trendData = (search: Readonly<Record<string, unknown>>) =>
  data<OperatorTrend>('operator/trend', { period: periodIn(search['period']) });

const periodIn = (text: unknown) => periods.find((period) => period === text) ?? '7d';

/** Money, traffic and users of a period beside those of the period before. */
export function Trend(): ReactNode {
  const { overview } = useWords(operatorWords);
  const { trend: words } = overview;
  const [state, setState] = useSearchState(defaults);
  const period = periodIn(state.period);
  const found = useQuery({ ...trendData(state), refetchInterval: everyMs[period] });
  return (
    <section aria-label={words.title} className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-card font-semibold">{words.title}</h2>
        <Segments
          label={words.period}
          value={period}
          onChange={(chosen) => setState({ period: chosen })}
          options={periods.map((each) => [each, words.periods[each]] as const)}
        />
      </div>
      <Loaded query={found} skeleton={<Waiting />}>
        {(trend) => (
          <div className="flex flex-col gap-4">
            <Comparison trend={trend} />
            <Course
              trend={trend}
              show={shows.find((show) => show === state.show) ?? 'revenue'}
              onShow={(show) => setState({ show })}
            />
            <Largest trend={trend} />
          </div>
        )}
      </Loaded>
    </section>
  );
}

function Waiting(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-4 w-64" />
      <FiguresSkeleton />
      <FiguresSkeleton count={3} />
      <Panel title={<Skeleton className="h-4 w-32" />}>
        <Skeleton className="h-60 sm:h-70 lg:h-82" />
      </Panel>
      <div className="grid gap-4 lg:grid-cols-3">
        {['models', 'users', 'channels'].map((list) => (
          <Panel key={list} title={<Skeleton className="h-4 w-32" />}>
            <Skeleton className="h-60" />
          </Panel>
        ))}
      </div>
    </div>
  );
}

interface TrendProps {
  readonly trend: OperatorTrend;
}

function Comparison({ trend }: TrendProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { trend: words } = overview;
  const gap = useSentenceGap();
  const { period, before, zone, as_of: until } = trend;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-caption text-muted figures">
        <Unbroken text={words.compared(spanOf(period, zone), spanOf(before, zone))} />
        {gap}
        {until < period.to && `${words.upTo(formatClock(until, zone))}${gap}`}
        {words.counted}
      </p>
      <Business trend={trend} />
      <Demand trend={trend} />
    </div>
  );
}

const nanoOf = (amount: string | null) => (amount === null ? null : Number(parseYuan(amount)));

function Business({ trend: { period, before } }: TrendProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { trend: words } = overview;
  const { revenue, vendor_cost: cost, margin, requests } = period;
  const noMargin = cost === null ? words.noCost : words.noRevenue;
  const marginNote =
    margin === null ? noMargin : <PointChange now={margin} before={before.margin} />;
  return (
    <Figures>
      <FigureCard
        label={words.revenue}
        value={<Money amount={revenue} as="spend" />}
        tip={words.revenueTip}
        note={<Compared now={nanoOf(revenue)} before={nanoOf(before.revenue)} />}
      />
      <FigureCard
        label={words.vendorCost}
        value={<Money amount={cost} as="spend" />}
        tip={words.costTip}
        note={
          cost === null ? (
            words.noCost
          ) : (
            <Compared now={nanoOf(cost)} before={nanoOf(before.vendor_cost)} />
          )
        }
      />
      <FigureCard
        label={words.margin}
        value={margin === null ? '—' : formatShare(margin)}
        tone={margin !== null && margin < 0 ? 'bad' : undefined}
        tip={words.marginTip}
        note={marginNote}
      />
      <FigureCard
        label={words.requests}
        value={formatCount(requests)}
        note={<Compared now={requests} before={before.requests} />}
      />
    </Figures>
  );
}

/** A share is compared only where both periods are counted from their beginning. */
function Demand({ trend: { period, before, zone } }: TrendProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { trend: words } = overview;
  const { failed_share: failed, failed_attempts: failures, attempts } = period;
  const { failed_since: since, from } = period;
  const isCounted = since === from && before.failed_since === before.from;
  const failedNote =
    since === null || since === from ? (
      <PointChange now={failed} before={isCounted ? before.failed_share : null} />
    ) : (
      <Unbroken text={words.failedSince(formatDay(since, zone))} />
    );
  return (
    <Figures>
      <FigureCard
        label={words.failed}
        value={failed === null ? '—' : formatShare(failed)}
        tip={words.failedTip}
        note={
          failed === null ? (
            overview.noAttempts
          ) : (
            <span className="flex flex-wrap gap-x-2">
              <span>{words.failedOf(formatCount(failures), formatCount(attempts))}</span>
              <span>{failedNote}</span>
            </span>
          )
        }
      />
      <FigureCard
        label={words.activeUsers}
        value={formatCount(period.active_users)}
        note={<Compared now={period.active_users} before={before.active_users} />}
      />
      <FigureCard
        label={words.newUsers}
        value={formatCount(period.new_users)}
        note={<Compared now={period.new_users} before={before.new_users} />}
      />
    </Figures>
  );
}

/** `2026-11-15 – 2026-11-21 14:05`. */
function spanOf({ from, to }: TrendFigures, zone: string): string {
  const [clock, first] = [formatClock(to, zone), formatDay(from, zone)];
  if (clock !== '00:00') return `${first} – ${formatDay(to, zone)} ${clock}`;
  const last = formatDay(new Date(Date.parse(to) - 1).toISOString(), zone);
  return first === last ? first : `${first} – ${last}`;
}

interface BesideProps {
  readonly now: number | null;
  readonly before: number | null;
}

/** The change since the period before, or why it is no share: no data, or nothing to divide by. */
function Compared({ now, before }: BesideProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { change } = useWords(sharedWords);
  if (now === null || before === null) return overview.trend.noEarlier;
  if (now === before) return change.same;
  return before === 0 ? overview.trend.fromZero : <Change now={now} before={before} />;
}

/** The change of a share, in points of a hundred. */
function PointChange({ now, before }: BesideProps): ReactNode {
  const { overview } = useWords(operatorWords);
  if (now === null || before === null) return overview.trend.noEarlier;
  const points = (now - before) * 100;
  return <Arrow sign={points} size={overview.trend.points(oneDecimal(Math.abs(points)))} />;
}

interface CourseProps extends TrendProps {
  readonly show: (typeof shows)[number];
  readonly onShow: (show: string) => void;
}

function Course({ trend, show, onShow }: CourseProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { chart } = useWords(sharedWords);
  const { trend: words } = overview;
  const { unit, series, zone, period } = trend;
  const labels = series.map(({ at }) => (unit === 'hour' ? formatClock : formatDay)(at, zone));
  const isMoney = show === 'revenue';
  const total = isMoney ? formatYuan(period.revenue, 'spend') : formatCount(period.requests);
  return (
    <Panel
      title={
        <>
          {words.charts[unit]}{' '}
          <span className="text-caption font-normal text-muted figures">
            <Unbroken text={spanOf(period, zone)} />
          </span>
        </>
      }
      actions={
        <Segments
          label={words.show}
          value={show}
          onChange={onShow}
          options={shows.map((each) => [each, words[each]] as const)}
        />
      }
    >
      <Chart
        kind="stacked"
        lastIsOpen
        labels={labels}
        labelHeader={unit === 'hour' ? words.hour : chart.day}
        summary={words.summary(words[show], total, labels[0] ?? '', labels.at(-1) ?? '')}
        series={[
          {
            id: show,
            name: words[show],
            // Only for the height of bars; figures are exact texts.
            values: series.map((each) => Number(each[show])),
            texts: series.map(({ revenue, requests }) =>
              isMoney ? formatYuan(revenue, 'spend') : formatCount(requests),
            ),
          },
        ]}
        axis={isMoney ? axisYuan : axisCount}
      />
    </Panel>
  );
}

function Largest({ trend: { period, zone, models, users, channels } }: TrendProps): ReactNode {
  const { overview } = useWords(operatorWords);
  const { units } = useWords(sharedWords);
  const { trend: words } = overview;
  const { failed_since: since } = period;
  const ofRevenue = (revenue: string) => shareOf(Number(revenue), Number(period.revenue));
  const count = (requests: number) => units.requests(formatCount(requests));
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      <Ranked
        title={words.models}
        ranks={models.map(({ id, revenue, requests }) => ({
          id,
          name: <PathLink path={operatorModelPath(id)}>{id}</PathLink>,
          value: { cost: revenue },
          share: ofRevenue(revenue),
          note: count(requests),
        }))}
      />
      <Ranked
        title={words.users}
        ranks={users.map(({ id, name, revenue, requests }) => ({
          id,
          name: <PathLink path={userPath(id)}>{name ?? id}</PathLink>,
          value: { cost: revenue },
          share: ofRevenue(revenue),
          note: `${userMark(id)} · ${count(requests)}`,
        }))}
      />
      <Ranked
        title={words.channels}
        ranks={channels.map(
          ({ name, requests, vendor_cost: cost, attempts, failed_attempts: failed }) => ({
            id: name,
            name: <PathLink path={channelPath(name)}>{name}</PathLink>,
            value: count(requests),
            share: shareOf(requests, period.requests),
            note: (
              <Unbroken
                text={[
                  cost === null ? '' : words.cost(formatYuan(cost, 'spend')),
                  attempts === 0
                    ? words.noAttempts
                    : words.attemptsFailed(formatCount(failed), formatCount(attempts)),
                  attempts > 0 && since !== null && since !== period.from
                    ? words.failedSince(formatDay(since, zone))
                    : '',
                ]
                  .filter(Boolean)
                  .join(' · ')}
              />
            ),
          }),
        )}
      />
    </div>
  );
}

/** Only for the width of a bar. */
const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

interface RankedProps {
  readonly title: string;
  readonly ranks: readonly Rank[];
}

function Ranked({ title, ranks }: RankedProps): ReactNode {
  const { overview } = useWords(operatorWords);
  return (
    <Panel title={title}>
      {ranks.length === 0 ? (
        <p className="text-table text-muted">{overview.trend.nothing}</p>
      ) : (
        <RankList label={title} ranks={ranks} />
      )}
    </Panel>
  );
}
