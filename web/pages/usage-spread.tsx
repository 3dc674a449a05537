import { type ReactNode, useState } from 'react';
import type { UsageSeries } from '../../src/console/contract.ts';
import type { Query } from '../api/client.ts';
import { useData } from '../api/data.ts';
import { useMedia } from '../browser/media.ts';
import { EmptyState } from '../components/error-panel.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Money } from '../components/money.tsx';
import { Panel } from '../components/page.tsx';
import { seriesBackground } from '../components/series.ts';
import { Skeleton, SkeletonRows } from '../components/skeleton.tsx';
import { SpendChart } from '../components/spend-chart.tsx';
import { named } from '../components/named-columns.ts';
import { type Column, Table } from '../components/table.tsx';
import { formatCount, formatShare } from '../format/count.ts';
import { parseYuan, yuanOf } from '../format/money.ts';
import { sharedWords, usageWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import {
  type ChangeUsageSearch,
  isFiltered,
  type UsageSearch,
  usageSearch,
  useIsOver,
} from './usage-filter.tsx';

interface UsageSpreadProps {
  readonly by: 'day' | 'model' | 'key';
  readonly filter: Query;
  readonly state: UsageSearch;
  readonly onChange: ChangeUsageSearch;
}

/** The cost of each day, model or key: a chart, and rows that lead to the requests. */
export function UsageSpread({ by, filter, state, onChange }: UsageSpreadProps): ReactNode {
  const words = useWords(usageWords);
  const ended = useIsOver(filter);
  const touch = useMedia('(pointer: coarse)');
  const series = useData<UsageSeries>('usage/series', {
    ...filter,
    by: by === 'key' ? 'key' : 'model',
  });
  return (
    <Loaded query={series} skeleton={<SpreadSkeleton />}>
      {(view) => {
        if (view.series.length === 0)
          return (
            <Panel>
              <EmptyState text={isFiltered(state) ? words.nothing : words.none} />
            </Panel>
          );
        return (
          <div className="flex flex-col gap-4">
            <Panel title={words.chartTitles[by]}>
              <SpendChart
                series={by === 'day' ? unsplit(view, words.allSeries) : view}
                empty={words.nothing}
                summary={(total, first, last, most) =>
                  by === 'day'
                    ? words.chartOfDays(total, first, last)
                    : words.chart(total, first, last, most)
                }
                ended={ended}
                onSelect={(from, to) => onChange({ from, to })}
              />
              {view.days.length > 1 && (
                <p className="text-caption text-muted">
                  {touch ? words.chartHintTouch : words.chartHint}
                </p>
              )}
            </Panel>
            <Panel flush title={words.tabs[by]}>
              <Spread view={view} by={by} state={state} />
            </Panel>
          </div>
        );
      }}
    </Loaded>
  );
}

/** The days alone: the other tabs split them. */
function unsplit(view: UsageSeries, name: string): UsageSeries {
  const { days, totals, series } = view;
  const cost = series.reduce((sum, one) => sum + parseYuan(one.cost), 0n);
  const requests = days.map((_, day) =>
    series.reduce((sum, one) => sum + (one.requests[day] ?? 0), 0),
  );
  const all = { id: 'all', name, cost: yuanOf(cost), values: totals, requests };
  return { ...view, series: [all] };
}

interface SpreadRow {
  readonly id: string;
  readonly name: string;
  readonly rank: number | 'other' | undefined;
  readonly requests: number;
  readonly cost: string;
  /** Share of the dearest row, 0 to 1. */
  readonly share: number;
  readonly ofMost: number;
  readonly path: string | undefined;
}

function Spread({
  view,
  by,
  state,
}: {
  readonly view: UsageSeries;
  readonly by: 'day' | 'model' | 'key';
  readonly state: UsageSearch;
}): ReactNode {
  const words = useWords(usageWords);
  const { columns } = words;
  const [sort, setSort] = useState('');
  const rows = by === 'day' ? daysOf(view, state) : partsOf(view, by, state, words.otherSeries);
  if (rows.length === 0) return <EmptyState text={words.nothing} />;
  const shown: readonly Column<SpreadRow>[] = named(
    { ...columns, name: columns[by], bar: <span className="sr-only">{columns.share}</span> },
    [
      { id: 'name', cell: nameOf, sortBy: ({ name }) => name },
      {
        id: 'requests',
        align: 'right',
        cell: ({ requests }) => formatCount(requests),
        sortBy: ({ requests }) => requests,
      },
      { id: 'bar', spare: 1, cell: (row) => <Bar row={row} />, className: 'w-1/3 min-w-32' },
      {
        id: 'share',
        align: 'right',
        cell: ({ share }) => formatShare(share),
        className: 'text-muted',
      },
      {
        id: 'cost',
        align: 'right',
        cell: costOf,
        className: 'font-medium',
        sortBy: (row) => parseYuan(row.cost),
      },
    ],
  );
  return (
    <Table
      label={words.tabs[by]}
      rows={rows}
      rowKey={({ id }) => id}
      columns={shown}
      sort={sort}
      onSort={setSort}
      path={({ path }) => path}
      card={(row) => ({
        title: nameOf(row),
        value: costOf(row),
        detail: <Requests row={row} />,
      })}
    />
  );
}

const nameOf = ({ name, rank }: SpreadRow): ReactNode => (
  <span className="flex min-w-0 items-center gap-2">
    {rank !== undefined && (
      <span
        aria-hidden="true"
        className={`size-2.5 shrink-0 rounded-[2px] ${seriesBackground(rank)}`}
      />
    )}
    <span className="max-w-60 truncate min-[1200px]:max-w-80">{name}</span>
  </span>
);

const costOf = ({ cost }: SpreadRow): ReactNode => <Money amount={cost} as="row" />;

function Requests({ row: { requests, share } }: { readonly row: SpreadRow }): ReactNode {
  const { units } = useWords(sharedWords);
  return (
    <span>
      {units.requests(formatCount(requests))} · {formatShare(share)}
    </span>
  );
}

function Bar({ row: { ofMost, rank } }: { readonly row: SpreadRow }): ReactNode {
  return (
    <span aria-hidden="true" className="block h-1.5 rounded-full bg-idle-soft">
      <span
        className={`block h-full rounded-full ${rank === undefined ? 'bg-accent' : seriesBackground(rank)}`}
        style={{ width: `${ofMost * 100}%` }}
      />
    </span>
  );
}

/** Newest first, without days that have no request. */
function daysOf({ days, totals, series }: UsageSeries, state: UsageSearch): readonly SpreadRow[] {
  const rows = days.map((day, index) => ({
    id: day,
    name: day,
    rank: undefined,
    requests: series.reduce((sum, { requests }) => sum + (requests[index] ?? 0), 0),
    cost: totals[index] ?? '0',
    path: pathOf({ ...state, from: day, to: day }),
  }));
  return withShares(rows.filter(({ requests }) => requests > 0).reverse());
}

/** Dearest first. */
function partsOf(
  { series }: UsageSeries,
  by: 'model' | 'key',
  state: UsageSearch,
  other: string,
): readonly SpreadRow[] {
  const rows = series.map(({ id, name, cost, requests }, index) => ({
    id: id ?? 'other',
    name: id === null ? other : name,
    rank: id === null ? ('other' as const) : index,
    requests: requests.reduce((sum, count) => sum + count, 0),
    cost,
    path: id === null ? undefined : pathOf({ ...state, [by]: id }),
  }));
  return withShares(rows);
}

const parts = 1_000_000n;

function withShares(rows: readonly Omit<SpreadRow, 'share' | 'ofMost'>[]): readonly SpreadRow[] {
  const costs = rows.map(({ cost }) => parseYuan(cost));
  const total = costs.reduce((sum, cost) => sum + cost, 0n);
  const most = costs.reduce((top, cost) => (cost > top ? cost : top), 0n);
  const share = (cost: bigint, of: bigint) =>
    of === 0n ? 0 : Number((cost * parts) / of) / Number(parts);
  return rows.map((row, index) => ({
    ...row,
    share: share(costs[index] ?? 0n, total),
    ofMost: share(costs[index] ?? 0n, most),
  }));
}

/** The address of the filtered requests. */
function pathOf(state: UsageSearch): string {
  const defaults: Readonly<Record<string, string>> = usageSearch;
  const query = Object.entries({ ...state, tab: 'requests', after: '' }).filter(
    ([name, value]) => value !== defaults[name],
  );
  return `/usage?${new URLSearchParams(query)}`;
}

function SpreadSkeleton(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <Panel title={<Skeleton className="h-4 w-32" />}>
        <Skeleton className="h-50 sm:h-60 lg:h-72" />
      </Panel>
      <Panel flush>
        <SkeletonRows />
      </Panel>
    </div>
  );
}
