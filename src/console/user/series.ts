import { keyNamesOf } from '../../accounts/user-keys.ts';
import type { Nano } from '../../base/money.ts';
import { type ZoneDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import type { Transaction } from '../../storage/database.ts';
import type { TimeRange, UsageFilter } from '../../usage/ranges.ts';
import { meetAt } from '../../usage/spans.ts';
import { type SpendingRow, spending } from '../../usage/spending.ts';
import type { Series, UsageSeries } from '../contract.ts';
import { yuan } from '../format.ts';

/** The column that separates the series. */
export type SeriesBy = 'model' | 'key';

/** The cost of one model, key or status on each of the days. */
export interface Daily {
  readonly id: string;
  readonly cost: Nano;
  readonly requests: number;
  readonly costs: readonly Nano[];
  readonly counts: readonly number[];
}

/** Further series are merged into one: as many as a chart has colours, plain and hatched. */
const seriesMax = 12;

interface DailyQuery {
  readonly account: string;
  readonly days: readonly ZoneDay[];
  readonly by: SeriesBy | 'status';
  readonly filter?: UsageFilter;
}

/**
 * Highest cost first. One query where all days begin at full hours, else day by day. Run it in a
 * snapshot.
 */
export function* daily({
  account,
  days,
  by,
  filter = {},
}: DailyQuery): Transaction<readonly Daily[]> {
  const column = by === 'key' ? 'key_id' : by;
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const found: { readonly day: number; readonly spent: SpendingRow }[] = [];
  // The first and the last day may be cut anywhere; those between show the zone's offset from the
  // full hour.
  if (meetAt(days, 'hour')) {
    const spent = yield* spending({ account, from: first.from, to: last.to, filter, spans: days }, [
      'span',
      column,
    ]);
    for (const one of spent) found.push({ day: Number(one.of.span), spent: one });
  } else {
    for (const [day, { from, to }] of days.entries())
      for (const one of yield* spending({ account, from, to, filter }, [column]))
        found.push({ day, spent: one });
  }
  const series = new Map<
    string,
    { cost: Nano; requests: number; costs: Nano[]; counts: number[] }
  >();
  for (const { day, spent } of found) {
    const id = spent.of[column] ?? '';
    const one = series.get(id) ?? {
      cost: 0n,
      requests: 0,
      costs: days.map(() => 0n),
      counts: days.map(() => 0),
    };
    one.cost += spent.cost;
    one.requests += spent.requests;
    one.costs[day] = (one.costs[day] ?? 0n) + spent.cost;
    one.counts[day] = (one.counts[day] ?? 0) + spent.requests;
    series.set(id, one);
  }
  return [...series].map(([id, one]) => ({ id, ...one })).sort(byCost);
}

/** The order of highest cost first. */
export const byCost = (a: Pick<Daily, 'id' | 'cost'>, b: Pick<Daily, 'id' | 'cost'>): number =>
  a.cost === b.cost ? (a.id < b.id ? -1 : 1) : a.cost < b.cost ? 1 : -1;

/** The days of a range, up to today; the first and the last are cut at the ends of the range. */
export function daysWithin(zone: string, { from, to }: TimeRange, now: number): readonly ZoneDay[] {
  const last = Math.max(from, Math.min(to, now + 1) - 1);
  return zoneDays(zone, zoneDayAt(zone, from).day, zoneDayAt(zone, last).day).map((one) => ({
    day: one.day,
    from: Math.max(one.from, from),
    to: Math.max(one.from, Math.min(one.to, to)),
  }));
}

/** As the contract has it: the first twelve, one for all others, and the sums. */
export function* seriesView(
  ownerId: string,
  zone: string,
  { days, by }: Pick<DailyQuery, 'days'> & { readonly by: SeriesBy },
  all: readonly Daily[],
): Transaction<UsageSeries> {
  const names =
    by === 'key'
      ? yield* keyNamesOf(
          ownerId,
          all.slice(0, seriesMax).map(({ id }) => id),
        )
      : new Map<string, string>();
  const rest = all.slice(seriesMax);
  const shown = all
    .slice(0, seriesMax)
    .map((one) => seriesOf(one, one.id, names.get(one.id) ?? one.id));
  return {
    by,
    zone,
    days: days.map(({ day }) => day),
    series:
      rest.length === 0
        ? shown
        : [...shown, seriesOf(sumOfDaily(rest, days.length), null, 'other')],
    totals: sumOfDaily(all, days.length).costs.map(yuan),
  };
}

function sumOfDaily(all: readonly Daily[], days: number): Daily {
  const range = Array.from({ length: days }, (_, day) => day);
  return {
    id: '',
    cost: all.reduce((sum, { cost }) => sum + cost, 0n),
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    costs: range.map((day) => all.reduce((sum, { costs }) => sum + (costs[day] ?? 0n), 0n)),
    counts: range.map((day) => all.reduce((sum, { counts }) => sum + (counts[day] ?? 0), 0)),
  };
}

function seriesOf({ cost, costs, counts }: Daily, id: string | null, name: string): Series {
  return { id, name, cost: yuan(cost), values: costs.map(yuan), requests: counts };
}
