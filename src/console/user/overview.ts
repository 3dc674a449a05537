import * as z from 'zod';
import type { Key } from '../../accounts/keys.ts';
import { newestActiveKey } from '../../accounts/user-keys.ts';
import type { Clock } from '../../base/clock.ts';
import {
  endOfTime,
  hourMs,
  nextDay,
  type ZoneDay,
  zoneDayAt,
  zoneDays,
  zoneTimeAt,
} from '../../base/calendar.ts';
import type { Nano } from '../../base/money.ts';
import { sampleModel } from '../../catalog/sample-model.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { chargeRefunds, transfersOf } from '../../ledger/transfers.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { hoursFrom, type TimeRange } from '../../usage/ranges.ts';
import { usagePage } from '../../usage/page.ts';
import { charged, metered, spending } from '../../usage/spending.ts';
import { balanceView } from './balance.ts';
import { chargeViews, mixOf } from './charges.ts';
import type {
  AnnouncementView,
  OverviewPeriod,
  OverviewView,
  Spending,
  StartCard,
  TopModel,
} from '../contract.ts';
import { type ConsoleRoute, type Owner, defineRoute } from '../route.ts';
import { byCost, type Daily, daily, type SeriesBy, seriesView } from './series.ts';
import { instant, ratioOf, yuan } from '../format.ts';

/** Today, or so many days with today. */
const periodDays = { today: 1, '7d': 7, '30d': 30, '90d': 90 } as const;
const topMax = 10;
const lastCharges = 8;

export interface OverviewContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  /** The announcements for this user now. */
  readonly announced: (userId: string, now: number) => Promise<readonly AnnouncementView[]>;
}

const input = z.object({
  by: z.enum(['model', 'key']).default('model'),
  period: z.enum(['today', '7d', '30d', '90d']).default('30d'),
});

/** The whole page in one request, from one snapshot. */
export function overviewRoutes({
  database,
  clock,
  catalog,
  announced,
}: OverviewContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'overview',
      role: 'user',
      heavy: true,
      input,
      async handle({ user, owner, input: { by, period } }): Promise<OverviewView> {
        const now = clock.now();
        const view = await database.snapshot(() =>
          overview({ database, snapshot: catalog(), owner, now, by, period }),
        );
        return { ...view, announcements: await announced(user.id, now) };
      },
    }),
  ];
}

interface OverviewQuery {
  readonly database: Database;
  readonly snapshot: Snapshot;
  readonly owner: Owner;
  readonly now: number;
  readonly by: SeriesBy;
  readonly period: keyof typeof periodDays;
}

function* overview(query: OverviewQuery): Transaction<Omit<OverviewView, 'announcements'>> {
  const { owner, now, by, snapshot } = query;
  const { id: ownerId, zone } = owner;
  const today = zoneDayAt(zone, now);
  const [yesterday = today] = zoneDays(zone, nextDay(today.day, -1), today.day);
  const [weekAgo = today] = zoneDays(zone, nextDay(today.day, -6), today.day);
  const { days, before } = periodOf(query, today);
  const span = { from: days[0]?.from ?? today.from, to: today.to };
  const earliest = Math.min(before.from, weekAgo.from);
  const refunds = yield* chargeRefunds({ from: earliest, to: today.to }, [ownerId]);
  const refunded = ({ from, to }: TimeRange): Nano =>
    refunds.reduce((sum, { at, amount }) => (at >= from && at < to ? sum + amount : sum), 0n);
  const spent = function* (of: TimeRange): Transaction<Spending> {
    const { cost, requests } = yield* charged(ownerId, of);
    return { cost: yuan(cost - refunded(of)), requests };
  };
  const soFar = yield* spent({
    from: yesterday.from,
    to: Math.min(yesterday.to, yesterday.from + (now - today.from)),
  });
  const models = yield* spending({ account: ownerId, ...span }, ['model']);
  const period: OverviewPeriod = {
    name: query.period,
    from: instant(span.from),
    ...(yield* spent(span)),
    refunded: yuan(refunded(span)),
    before: {
      from: instant(before.from),
      to: instant(before.to),
      ...(yield* spent(before)),
    },
  };
  const { rows } = yield* usagePage({
    account: ownerId,
    from: 0,
    to: endOfTime,
    limit: lastCharges,
  });
  return {
    balance: yield* balanceView(owner, snapshot, now),
    today: yield* spent(today),
    yesterday_so_far: soFar.cost,
    last_7_days: yield* spent({ from: weekAgo.from, to: today.to }),
    period,
    series: yield* seriesView(
      ownerId,
      zone,
      { days, by },
      yield* daily({ account: ownerId, days, by }),
    ),
    top: yield* topModels(
      query.database,
      ownerId,
      span,
      models.map(({ of, cost, requests }) => ({ id: of.model ?? '', cost, requests })).sort(byCost),
    ),
    last_charges: yield* chargeViews(ownerId, rows),
    start: yield* startCard(query, rows.length > 0),
    zone,
    as_of: instant(now),
  };
}

/** The days of the period, of today its hours, and the period before up to the same time. */
function periodOf(
  { owner: { zone }, now, period }: OverviewQuery,
  today: ZoneDay,
): { readonly days: readonly ZoneDay[]; readonly before: TimeRange } {
  const count = periodDays[period];
  const whole = zoneDays(zone, nextDay(today.day, 1 - count), today.day);
  const from = whole[0]?.from ?? today.from;
  const [first = today] = zoneDays(zone, nextDay(today.day, 1 - 2 * count), today.day);
  const before = { from: first.from, to: Math.min(from, first.from + (now - from)) };
  return { days: period === 'today' ? hoursOf(zone, today, now) : whole, before };
}

/** The hours of a day up to now; `day` is the hour's time in the zone. */
function hoursOf(zone: string, { from, to }: ZoneDay, now: number): readonly ZoneDay[] {
  const count = Math.ceil((Math.min(to, now + 1) - from) / hourMs);
  return hoursFrom(from, count).map((start) => ({
    day: zoneTimeAt(zone, start).time.slice(11, 16),
    from: start,
    to: Math.min(start + hourMs, to),
  }));
}

/** The models with the highest cost, highest first, and the cached share of their input. */
export function* topModels(
  database: Database,
  account: string,
  span: { readonly from: number; readonly to: number },
  models: readonly Pick<Daily, 'id' | 'cost' | 'requests'>[],
  keyId?: string,
): Transaction<readonly TopModel[]> {
  const total = models.reduce((sum, { cost }) => sum + cost, 0n);
  const lines = yield* metered(database, { account, ...span, filter: { keyId } }, ['model']);
  return models.slice(0, topMax).map(({ id, cost, requests }) => {
    const mix = mixOf(
      lines.flatMap(({ of, measure, micros }) =>
        of.model === id ? [{ measure, quantity: Number(micros / 1_000_000n) }] : [],
      ),
    );
    return {
      model: id,
      cost: yuan(cost),
      share: ratioOf(cost, total) ?? 0,
      requests,
      cached_share: ratioOf(BigInt(mix.cached_input), BigInt(mix.input)),
    };
  });
}

function* startCard(
  { owner: { id: ownerId }, snapshot, now }: OverviewQuery,
  isCharged: boolean,
): Transaction<StartCard> {
  const moves = yield* transfersOf(ownerId, { from: 0, to: endOfTime });
  const key = yield* newestActiveKey(ownerId, now);
  const oldest = isCharged
    ? yield* usagePage({ account: ownerId, from: 0, to: endOfTime, order: 'oldest', limit: 1 })
    : undefined;
  const [first] = yield* chargeViews(ownerId, oldest?.rows ?? []);
  const toppedUp = moves.some(({ amount }) => amount > 0n);
  return {
    done: toppedUp && key !== undefined && isCharged,
    topped_up: toppedUp,
    has_key: key !== undefined,
    charged: isCharged,
    first_charge: first ?? null,
    sample_model: (key && sampleFor(key, snapshot)) ?? null,
  };
}

/** The model for the sample, of those that the key may use. */
function sampleFor({ group, models }: Key, snapshot: Snapshot): string | undefined {
  return sampleModel(snapshot.listing(group).filter(({ id }) => models?.includes(id) ?? true));
}
