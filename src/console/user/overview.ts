import * as z from 'zod';
import { groupOfLatestKey } from '../../accounts/user-keys.ts';
import type { Clock } from '../../base/clock.ts';
import { nextDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { transfersOf } from '../../ledger/transfers.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { endOfTime } from '../../usage/ranges.ts';
import { usagePage } from '../../usage/page.ts';
import { charged, metered } from '../../usage/spending.ts';
import { balanceView } from './balance.ts';
import { chargeViews, mixOf } from './charges.ts';
import type { AnnouncementView, OverviewView, StartCard, TopModel } from '../contract.ts';
import { type ConsoleRoute, type Owner, defineRoute } from '../route.ts';
import { type Daily, daily, type SeriesBy, seriesView, sumOfDaily } from './series.ts';
import { instant, ratioOf, yuan } from '../format.ts';

const seriesDays = 30;
const topMax = 10;
const lastCharges = 8;

export interface OverviewContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  /** The announcements for this user now. */
  readonly announced: (userId: string, now: number) => Promise<readonly AnnouncementView[]>;
}

const input = z.object({ by: z.enum(['model', 'key']).default('model') });

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
      input,
      async handle({ user, owner, input: { by } }): Promise<OverviewView> {
        const now = clock.now();
        const view = await database.snapshot(() =>
          overview({ database, snapshot: catalog(), owner, now, by }),
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
}

function* overview(asked: OverviewQuery): Transaction<Omit<OverviewView, 'announcements'>> {
  const { owner, now, by, snapshot } = asked;
  const { id: ownerId, zone } = owner;
  const today = zoneDayAt(zone, now);
  const days = zoneDays(zone, nextDay(today.day, 1 - seriesDays), today.day);
  const yesterday = days.at(-2) ?? today;
  const models = yield* daily({ account: ownerId, days, by: 'model' });
  const series = by === 'model' ? models : yield* daily({ account: ownerId, days, by });
  const all = sumOfDaily(models, days.length);
  const last = (count: number) => ({
    cost: yuan(all.costs.slice(-count).reduce((sum, cost) => sum + cost, 0n)),
    requests: all.counts.slice(-count).reduce((sum, requests) => sum + requests, 0),
  });
  const soFar = yield* charged(ownerId, {
    from: yesterday.from,
    to: Math.min(yesterday.to, yesterday.from + (now - today.from)),
  });
  const { rows } = yield* usagePage({
    account: ownerId,
    from: 0,
    to: endOfTime,
    limit: lastCharges,
  });
  return {
    balance: yield* balanceView(owner, snapshot, now),
    today: last(1),
    yesterday_so_far: yuan(soFar.cost),
    last_7_days: last(7),
    series: yield* seriesView(ownerId, zone, { days, by }, series),
    top: yield* topModels(
      asked.database,
      ownerId,
      { from: days[0]?.from ?? today.from, to: today.to },
      models,
    ),
    last_charges: yield* chargeViews(ownerId, rows),
    start: yield* startCard(asked, rows.length > 0),
    zone,
    as_of: instant(now),
  };
}

/** The models with the highest cost, and the cached share of their input. */
export function* topModels(
  database: Database,
  account: string,
  span: { readonly from: number; readonly to: number },
  models: readonly Daily[],
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
  { owner: { id: ownerId }, snapshot }: OverviewQuery,
  isCharged: boolean,
): Transaction<StartCard> {
  const moves = yield* transfersOf(ownerId, { from: 0, to: endOfTime });
  const group = yield* groupOfLatestKey(ownerId, 'made');
  const oldest = isCharged
    ? yield* usagePage({ account: ownerId, from: 0, to: endOfTime, order: 'oldest', limit: 1 })
    : undefined;
  const [first] = yield* chargeViews(ownerId, oldest?.rows ?? []);
  const sample =
    group === undefined ? undefined : snapshot.listing(group).find(({ kind }) => kind === 'chat');
  const toppedUp = moves.some(({ amount }) => amount > 0n);
  return {
    done: toppedUp && group !== undefined && isCharged,
    topped_up: toppedUp,
    has_key: group !== undefined,
    charged: isCharged,
    first_charge: first ?? null,
    sample_model: sample?.id ?? null,
  };
}
