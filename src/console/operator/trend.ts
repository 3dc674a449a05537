import * as z from 'zod';
import { userNames } from '../../accounts/names.ts';
import { usersMadeWithin } from '../../accounts/users.ts';
import { dayMs, hourMs, nextDay, type ZoneDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import { type StoredCatalog, storedCatalog } from '../../catalog/stored-catalog.ts';
import {
  attemptsByChannel,
  type ChannelAttempts,
  oldestCounts,
} from '../../gateway/reports/report.ts';
import { type ChargeRefund, chargeRefunds } from '../../ledger/transfers.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  areFewRecords,
  hoursFrom,
  recentOf,
  startOfHour,
  type TimeRange,
} from '../../usage/ranges.ts';
import { spanIndex } from '../../usage/spans.ts';
import {
  type ChannelShare,
  channelShares,
  modelsOfCharges,
  type RangeWithTail,
  type Revenue,
  revenueByAccount,
  revenueByHour,
  revenueByModel,
} from '../../usage/totals.ts';
import type { OperatorTrend, TrendChannel, TrendFigures, TrendRank } from '../contract.ts';
import { instant, instantOrNull, ratioOf, yuan, yuanOrNull } from '../format.ts';
import { dayInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import type { OperatorContext } from './context.ts';
import { vendorCosts } from './vendor-costs.ts';

const ranked = 10;
const daysMax = 366;

const trendInput = z.object({
  period: z.enum(['today', '7d', '30d', '90d', 'month']).default('7d'),
  from: dayInput.optional(),
  to: dayInput.optional(),
});

/** A period's figures beside those of the period before, its course, and its largest parts. */
export function trendRoutes({ database }: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/trend',
      role: 'operator',
      heavy: true,
      input: trendInput,
      handle: ({ user: { zone }, input, at }) => operatorTrend(database, input, zone, at),
    }),
  ];
}

/** A period in a zone, and the one before it. */
export async function operatorTrend(
  database: Database,
  input: z.output<typeof trendInput>,
  zone: string,
  at: number,
): Promise<OperatorTrend> {
  const periods = periodsOf(input, zone, at);
  const catalog = await storedCatalog(database);
  const found = await database.snapshot(() => trend(database, catalog, periods, at));
  const largest = found.users.slice(0, ranked);
  const names = await userNames(
    database,
    largest.map(({ id }) => id),
  );
  return {
    ...found,
    users: largest.map((one) => ({ ...one, name: names.get(one.id) ?? null })),
    zone,
  };
}

interface Periods {
  /** Begins and ends at full hours. */
  readonly period: TimeRange;
  /** Begins at a full hour; as long as the part of the period that is over. */
  readonly before: TimeRange;
  /** The days of the period, to today. */
  readonly days: readonly ZoneDay[];
}

function periodsOf(
  { period, from, to }: z.output<typeof trendInput>,
  zone: string,
  at: number,
): Periods {
  const { day: today } = zoneDayAt(zone, at);
  const [first, last] =
    from === undefined && to === undefined
      ? [firstDayOf(period, today), today]
      : [from ?? to ?? today, [to ?? today, today].toSorted()[0] ?? today];
  if (first > last) throwProblem('invalid', { fields: { from: 'after_end' } });
  if (Date.parse(last) - Date.parse(first) >= daysMax * dayMs)
    throwProblem('invalid', { fields: { from: 'too_long' } });
  const days = zoneDays(zone, first, last);
  const firstBefore =
    period === 'month' && from === undefined && to === undefined
      ? `${nextDay(first, -1).slice(0, 7)}-01`
      : nextDay(first, -days.length);
  // Rolled-up figures are by full hours: in zones with a half hour, days begin at the hour before.
  const start = startOfHour(days[0]?.from ?? at);
  const end = startOfHour(days.at(-1)?.to ?? at);
  const startBefore = startOfHour(zoneDays(zone, firstBefore, firstBefore)[0]?.from ?? at);
  const endBefore = at < end ? Math.min(start, startBefore + (at - start)) : start;
  return { period: { from: start, to: end }, before: { from: startBefore, to: endBefore }, days };
}

function firstDayOf(period: z.output<typeof trendInput>['period'], today: string): string {
  if (period === 'month') return `${today.slice(0, 7)}-01`;
  return nextDay(today, 1 - { today: 1, '7d': 7, '30d': 30, '90d': 90 }[period]);
}

type Trend = Omit<OperatorTrend, 'users' | 'zone'> & { readonly users: readonly TrendRank[] };

function* trend(
  database: Database,
  catalog: StoredCatalog,
  { period, before, days }: Periods,
  at: number,
): Transaction<Trend> {
  const { until, tail } = yield* recentOf({ from: before.from, to: period.to }, at);
  const counted = (yield* oldestCounts()) ?? Number.POSITIVE_INFINITY;
  const sources = { database, catalog, counted, until, at };
  const now = yield* partsOf(sources, withTail(period, tail));
  const then = yield* partsOf(sources, yield* withPartHour(before, until));
  const unit = days.length === 1 ? 'hour' : 'day';
  const { refunds } = now;
  const hours = [
    ...(yield* revenueByHour(withTail(period, tail))),
    ...refunds.map(({ at, amount }) => ({ hour: startOfHour(at), requests: 0, cost: -amount })),
  ];
  const sold = yield* modelsOfCharges(refunds.map(({ charge }) => charge));
  const models = netOf(
    yield* revenueByModel(withTail(period, tail)),
    refunds,
    ({ charge }) => sold.get(charge) ?? '',
  );
  return {
    period: now.figures,
    before: then.figures,
    unit,
    series: seriesOf(unit === 'hour' ? hoursOf(period, at) : days, hours),
    models: ranks(models).slice(0, ranked),
    users: ranks(now.accounts),
    channels: channelsOf(now),
    as_of: instant(until),
  };
}

const withTail = (span: TimeRange, tail: TimeRange | undefined): RangeWithTail => {
  const from = Math.max(span.from, tail?.from ?? span.to);
  const to = Math.min(span.to, tail?.to ?? span.to);
  return { ...span, tail: from < to ? { from, to } : undefined };
};

/**
 * A range that may end within an hour: of that hour, the records up to the end. Where they are too
 * many to read, the range ends at the full hour.
 */
function* withPartHour({ from, to }: TimeRange, until: number): Transaction<RangeWithTail> {
  const part = { from: Math.max(from, startOfHour(Math.min(to, until))), to };
  const whole = { from, to: part.from };
  const read = part.from < part.to && (yield* areFewRecords(part));
  return read ? { ...whole, tail: part } : whole;
}

interface Sources {
  readonly database: Database;
  readonly catalog: StoredCatalog;
  /** The beginning of the counts of attempts. */
  readonly counted: number;
  /** The end of the charges that are rolled up. */
  readonly until: number;
  readonly at: number;
}

type RevenueOf = Revenue & { readonly id: string };

interface Parts {
  readonly figures: TrendFigures;
  readonly accounts: readonly RevenueOf[];
  readonly refunds: readonly ChargeRefund[];
  readonly shares: readonly ChannelShare[];
  readonly costs: ReadonlyMap<string, bigint>;
  readonly attempts: readonly ChannelAttempts[];
}

/** The figures of a period, and the parts that they are the sums of. */
function* partsOf(
  { database, catalog, counted, until, at }: Sources,
  range: RangeWithTail,
): Transaction<Parts> {
  const span = { from: range.from, to: Math.max(range.to, range.tail?.to ?? range.to) };
  // As far as the charges are read.
  const refundsTo = range.tail?.to ?? Math.min(range.to, until);
  const refunds = yield* chargeRefunds({ from: span.from, to: refundsTo });
  const accounts = netOf(yield* revenueByAccount(range), refunds, ({ account }) => account);
  const shares = yield* channelShares(range);
  const costs = yield* vendorCosts(database, catalog, range, shares);
  const since = Math.max(span.from, counted);
  const attempts = since < span.to ? yield* attemptsByChannel(since, span.to) : [];
  const sum = (of: (one: ChannelAttempts) => number): number =>
    attempts.reduce((total, one) => total + of(one), 0);
  const [failed, tried] = [sum((one) => one.failed), sum((one) => one.attempts)];
  const revenue = accounts.reduce((total, { cost }) => total + cost, 0n);
  const cost = costs.size === 0 ? undefined : [...costs.values()].reduce((a, b) => a + b, 0n);
  const figures = {
    from: instant(span.from),
    to: instant(Math.min(span.to, at)),
    revenue: yuan(revenue),
    vendor_cost: yuanOrNull(cost),
    margin: cost === undefined || revenue <= 0n ? null : ratioOf(revenue - cost, revenue),
    requests: accounts.reduce((total, { requests }) => total + requests, 0),
    failed_share: ratioOf(BigInt(failed), BigInt(tried)),
    failed_attempts: failed,
    attempts: tried,
    failed_since: instantOrNull(since < span.to ? since : undefined),
    active_users: accounts.filter(({ requests }) => requests > 0).length,
    new_users: yield* usersMadeWithin(span.from, span.to),
  };
  return { figures, accounts, refunds, shares, costs, attempts };
}

/**
 * Takes refunds off the revenue of those that `of` names. Each counts at its own time, as in the
 * ledger, so that one can be all that a period has of its charge.
 */
function netOf(
  paid: readonly RevenueOf[],
  refunds: readonly ChargeRefund[],
  of: (refund: ChargeRefund) => string,
): readonly RevenueOf[] {
  const net = new Map(paid.map((one) => [one.id, one]));
  for (const refund of refunds) {
    const id = of(refund);
    const { requests, cost } = net.get(id) ?? { requests: 0, cost: 0n };
    net.set(id, { id, requests, cost: cost - refund.amount });
  }
  return [...net.values()];
}

function hoursOf({ from, to }: TimeRange, at: number): readonly TimeRange[] {
  const count = Math.max(1, Math.ceil((Math.min(to, at + 1) - from) / hourMs));
  return hoursFrom(from, count).map((start) => ({ from: start, to: start + hourMs }));
}

function seriesOf(
  spans: readonly TimeRange[],
  hours: readonly (Revenue & { readonly hour: number })[],
): OperatorTrend['series'] {
  const starts = spans.map(({ from, to }) => ({ from: startOfHour(from), to: startOfHour(to) }));
  const sums = spans.map(() => ({ requests: 0, cost: 0n }));
  for (const { hour, requests, cost } of hours) {
    const sum = sums[spanIndex(starts, hour)];
    if (sum === undefined) continue;
    sum.requests += requests;
    sum.cost += cost;
  }
  return spans.map(({ from }, index) => ({
    at: instant(from),
    revenue: yuan(sums[index]?.cost ?? 0n),
    requests: sums[index]?.requests ?? 0,
  }));
}

/** The highest revenue first. */
const ranks = (all: readonly RevenueOf[]): readonly TrendRank[] =>
  all
    .toSorted(
      (a, b) => Number(b.cost - a.cost) || b.requests - a.requests || (a.id < b.id ? -1 : 1),
    )
    .map(({ id, cost, requests }) => ({ id, revenue: yuan(cost), requests }));

/** Channels that served requests, and those that failed in all. */
function channelsOf({ shares, costs, attempts }: Parts): readonly TrendChannel[] {
  const requests = new Map(attempts.map(({ channel }) => [channel, 0]));
  for (const share of shares)
    requests.set(share.channel, (requests.get(share.channel) ?? 0) + share.requests);
  requests.delete('');
  return [...requests]
    .toSorted(([a, most], [b, fewer]) => fewer - most || (a < b ? -1 : 1))
    .slice(0, ranked)
    .map(([name, requests]) => {
      const tried = attempts.find(({ channel }) => channel === name);
      return {
        name,
        requests,
        vendor_cost: yuanOrNull(costs.get(name)),
        attempts: tried?.attempts ?? 0,
        failed_attempts: tried?.failed ?? 0,
      };
    });
}
