import { dayMs, hourMs, minuteMs } from '../../base/calendar.ts';
import {
  storedCatalog,
  type StoredCatalog,
  type StoredModel,
} from '../../catalog/stored-catalog.ts';
import {
  attemptsByHour,
  channelCounts,
  channelAcrossNodes,
  type NodeReport,
  currentLoad,
  overrunsByChannel,
  parkedEverywhereSince,
  countTotals,
} from '../../gateway/reports/report.ts';
import { recentMinutes } from '../../gateway/reports/counts.ts';
import { type CheckRun, checkRuns } from '../../ledger/check-runs.ts';
import type { Database } from '../../storage/database.ts';
import { lossesByChannel } from '../../usage/totals.ts';
import { hoursFrom, startOfHour } from '../../usage/ranges.ts';
import type { Attention, OperatorOverview } from '../contract.ts';
import { overrunsOf, whyCode } from './channel-view.ts';
import type { OperatorContext } from './context.ts';
import {
  type ChannelActivity,
  channelActivity,
  isServed,
  type JudgedChannel,
  judgedOf,
} from './serving.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { channelPath, instant } from '../format.ts';

const hoursShown = 24;
const retiringWithinMs = 30 * dayMs;
const slowDatabaseMs = 500;
/** Running and lost checks are passed over. */
const checksRead = 10;

/** Problems that need attention first; then the traffic of this moment. */
export function operatorOverviewRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/overview',
      role: 'operator',
      handle: ({ at }) => operatorOverview(context, at),
    }),
  ];
}

/** What an overview is made from. */
type OverviewContext = Pick<OperatorContext, 'database' | 'clock' | 'attention'>;

/** The overview at a moment (wall clock, ms). */
export async function operatorOverview(
  context: OverviewContext,
  at: number,
): Promise<OperatorOverview> {
  const { database, clock } = context;
  const catalog = await storedCatalog(database);
  const activity = await channelActivity(database, clock);
  const now = currentLoad(activity.reports);
  const check = (await checkRuns(database, at, checksRead)).find(({ ok }) => ok !== undefined);
  return {
    attention: await attention(context, { catalog, ...activity, at, check }),
    checked_at: instant(at),
    now: {
      requests_per_minute: now.requestsPerMinute,
      error_share: now.errorShare ?? null,
      first_byte_median_ms: now.medianMs ?? null,
      first_byte_p95_ms: now.p95Ms ?? null,
      open_streams: now.openStreams,
      open_tasks: [...activity.tasks.values()].reduce((sum, count) => sum + count, 0),
    },
    ledger_check:
      check === undefined
        ? null
        : {
            ok: check.ok ?? null,
            nightly: check.nightly,
            started_at: instant(check.startedAt),
          },
    errors: await errorsByChannel(database, catalog, at),
    as_of: instant(at),
  };
}

async function errorsByChannel(
  database: Database,
  { channels }: StoredCatalog,
  at: number,
): Promise<OperatorOverview['errors']> {
  const first = startOfHour(at) - (hoursShown - 1) * hourMs;
  const counted = await database.snapshot(() => attemptsByHour(first));
  const known = new Map(counted.map((one) => [`${one.hour} ${one.channel}`, one]));
  return channels.map(({ name }) => ({
    channel: name,
    hours: hoursFrom(first, hoursShown).map((hour) => {
      const { attempts = 0, failed = 0 } = known.get(`${hour} ${name}`) ?? {};
      return { hour: instant(hour), requests: attempts, errors: failed };
    }),
  }));
}

interface AttentionInput extends ChannelActivity {
  readonly catalog: StoredCatalog;
  readonly at: number;
  /** The last one that has ended. */
  readonly check: CheckRun | undefined;
}

async function attention(
  { database, attention: others }: OverviewContext,
  seen: AttentionInput,
): Promise<readonly Attention[]> {
  const elsewhere = await Promise.all(others.map((look) => look(seen.at)));
  return [
    ...parkedChannels(seen),
    ...(await failing(database, seen)),
    ...elsewhere.flat(),
    ...failedCheck(seen),
    ...(await overran(database, seen)),
    ...unserved(seen),
    ...retiring(seen),
    ...slowDatabase(seen.reports),
  ];
}

function parkedChannels({ catalog, reports }: AttentionInput): readonly Attention[] {
  return catalog.channels.flatMap(({ name, state, origin }) => {
    const { state: seen, why, since } = channelAcrossNodes(reports, name);
    if (state !== 'active' || seen !== 'parked') return [];
    const code = why === 'credentials' ? 'credentials_refused' : 'channel_parked';
    return [
      {
        code,
        values: { channel: name, why: whyCode(why ?? ''), origin },
        since: instant(since),
        path: channelPath(name),
      },
    ];
  });
}

const failingShare = 0.5;
/** Fewer attempts of an hour than this say little. */
const failingAttemptsMin = 5;

/**
 * Half of the last hour's attempts failed or more, whatever the state of the channels; else, half
 * of the last minutes' requests.
 */
async function failing(
  database: Database,
  { reports, at }: AttentionInput,
): Promise<readonly Attention[]> {
  const counts = await channelCounts(database, { from: at - hourMs });
  const { requests, errors } = countTotals(counts);
  if (requests < failingAttemptsMin || errors < requests * failingShare)
    return failingNow(reports, at);
  return [
    {
      code: 'requests_failing',
      values: { failed: String(errors), attempts: String(requests) },
      since: instant(Math.min(...counts.map(({ slot }) => slot))),
      path: '/operator/requests',
    },
  ];
}

function failingNow(reports: readonly NodeReport[], at: number): readonly Attention[] {
  const { requests, errors } = currentLoad(reports);
  // A single request says whether the gateway answers at all.
  if (requests === 0 || errors < requests * failingShare) return [];
  return [
    {
      code: 'requests_failing_now',
      values: {
        failed: String(errors),
        requests: String(requests),
        minutes: String(recentMinutes),
      },
      since: instant(at - recentMinutes * minuteMs),
      path: '/operator/requests',
    },
  ];
}

function failedCheck({ check: last }: AttentionInput): readonly Attention[] {
  if (last === undefined || last.ok === true) return [];
  const failed = last.rules.filter(({ state }) => state === 'failed').map(({ rule }) => rule);
  return [
    {
      code: 'ledger_check_failed',
      values: { rules: failed.join(', ') },
      since: instant(last.startedAt),
      path: '/operator/ledger',
    },
  ];
}

/**
 * Channels whose vendors reported more than requests can have cost, or did not end their answers,
 * in the last day, and the operator's loss by it.
 */
async function overran(
  database: Database,
  { catalog, at }: AttentionInput,
): Promise<readonly Attention[]> {
  const from = at - dayMs;
  const overruns = await overrunsByChannel(database, from);
  const losses = await database.snapshot(() => lossesByChannel(from));
  return catalog.channels.flatMap(({ name }) => {
    const { answers, loss } = overrunsOf(name, { overruns, losses });
    if (answers === 0) return [];
    const values = { channel: name, answers: String(answers), loss };
    const since = instant(losses.get(name)?.last ?? at);
    return [{ code: 'vendor_overran' as const, values, since, path: channelPath(name) }];
  });
}

interface ListedModel {
  readonly model: StoredModel;
  readonly listing: readonly JudgedChannel[];
}

/**
 * Listed models that no channel serves; then, by group, those that only channels of other groups
 * serve. A model that no channel of a group lists is not sold there.
 */
function unserved({
  catalog: { groups, models, channels },
  ...seen
}: AttentionInput): readonly Attention[] {
  // An installation without any channel is told so by the page itself.
  if (channels.length === 0) return [];
  const listed = models
    .filter(({ active }) => active)
    .map((model) => ({ model, listing: judgedOf(model.id, channels, seen) }));
  const partly = listed.filter(
    ({ listing }) => isServed(listing) && listing.some(({ why }) => why !== undefined),
  );
  return [
    ...unservedRow(
      listed.filter(({ listing }) => !isServed(listing)),
      seen.reports,
    ),
    ...groups.flatMap(({ name }) => {
      const inGroup = partly.map(({ model, listing }) => ({
        model,
        listing: listing.filter(({ channel }) => channel.groups.includes(name)),
      }));
      return unservedRow(
        inGroup.filter(({ listing }) => listing.length > 0 && !isServed(listing)),
        seen.reports,
        name,
      );
    }),
  ];
}

/**
 * One model by its name, and by its channel where a single one lists it; several as one row.
 * `group`: where no channel serves them.
 */
function unservedRow(
  lost: readonly ListedModel[],
  reports: readonly NodeReport[],
  group?: string,
): readonly Attention[] {
  const [first] = lost;
  if (first === undefined) return [];
  const since = instant(
    Math.min(...lost.map(({ model, listing }) => unservedSince(model, listing, reports))),
  );
  const where = group === undefined ? undefined : { group };
  const groupPath =
    group === undefined ? undefined : `/operator/groups/${encodeURIComponent(group)}`;
  if (lost.length > 1)
    return [
      {
        code: group === undefined ? 'models_without_channel' : 'models_without_channel_in_group',
        values: { count: String(lost.length), ...where },
        since,
        path: groupPath ?? '/operator/models?listed=unserved',
      },
    ];
  const { model, listing } = first;
  const [one] = listing;
  const named =
    listing.length === 1 && one?.why !== undefined
      ? { channel: one.channel.name, why: one.why }
      : undefined;
  return [
    {
      code: group === undefined ? 'model_without_channel' : 'model_without_channel_in_group',
      values: { model: model.id, ...where, ...named },
      since,
      path: groupPath ?? modelPath(model.id),
    },
  ];
}

/** When the last of its channels ceased to serve it, or it was listed without one. */
const unservedSince = (
  { changedAt }: StoredModel,
  listing: readonly JudgedChannel[],
  reports: readonly NodeReport[],
): number =>
  Math.max(
    ...(listing.length === 0 ? [changedAt] : []),
    ...listing.map(
      ({ channel: { name, changedAt: at }, why }) =>
        (why === 'parked' ? parkedEverywhereSince(reports, name) : undefined) ?? at,
    ),
  );

/** Models that their vendors retire soon: one by its name, several as one row. */
function retiring({ catalog: { models, channels }, at }: AttentionInput): readonly Attention[] {
  const soon = models
    .flatMap(({ id, active, shutdownDate: date }) => {
      const served = active && channels.some((channel) => channel.models.has(id));
      if (!served || date === undefined || !(Date.parse(date) - at < retiringWithinMs)) return [];
      return [{ id, date }];
    })
    .toSorted((a, b) => Date.parse(a.date) - Date.parse(b.date));
  const [first] = soon;
  if (first === undefined) return [];
  const { id, date } = first;
  const since = instant(Date.parse(date) - retiringWithinMs);
  return [
    soon.length === 1
      ? { code: 'model_retiring', values: { model: id, date }, since, path: modelPath(id) }
      : {
          code: 'models_retiring',
          values: { count: String(soon.length), date },
          since,
          path: '/operator/models?listed=retiring',
        },
  ];
}

const modelPath = (id: string): string => `/operator/models/${encodeURIComponent(id)}`;

function slowDatabase(reports: readonly NodeReport[]): readonly Attention[] {
  const slowest = reports.reduce<NodeReport | undefined>(
    (most, one) => (one.databaseMs > (most?.databaseMs ?? 0) ? one : most),
    undefined,
  );
  if (slowest === undefined || slowest.databaseMs < slowDatabaseMs) return [];
  return [
    {
      code: 'database_slow',
      values: { ms: String(slowest.databaseMs), node: slowest.node },
      since: instant(slowest.at),
      path: '/operator',
    },
  ];
}
