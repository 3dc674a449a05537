import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { activeKeysByGroup } from '../../accounts/user-keys.ts';
import { dayMs } from '../../base/calendar.ts';
import type { Measure } from '../../base/quantities.ts';
import { routingPolicies } from '../../base/routing-policy.ts';
import { exactDecimal, ppmPlaces } from '../../catalog/decimal.ts';
import { addGroup, changeGroup, removeGroup } from '../../catalog/edit-groups.ts';
import type { EditResult, WrittenMembers } from '../../catalog/editing.ts';
import type { ListFees } from '../../catalog/build-snapshot.ts';
import {
  readStoredCatalog,
  type StoredCatalog,
  type StoredGroup,
  storedCatalog,
} from '../../catalog/stored-catalog.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { startOfUtcDay } from '../../usage/ranges.ts';
import { soldInGroup, type SoldQuantity } from '../../usage/totals.ts';
import type { List, OperatorGroup, GroupPreview } from '../contract.ts';
import { ratioOf, yuan } from '../format.ts';
import { textInput, versionIn } from '../input.ts';
import { belowCost, chargedBy } from './price-preview.ts';
import {
  type ChannelActivity,
  channelActivity,
  judged,
  type JudgedChannel,
  notServingByName,
} from './serving.ts';
import { costOfQuantities } from './vendor-costs.ts';
import { type OperatorContext, byOperator, editOrThrow, auditFacts } from './context.ts';
import { multiplierText } from '../prices.ts';
import { throwProblem, throwWrong } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

const limit = z.number().nullable().optional();
const changeInput = z.strictObject({
  multiplier: z.string().optional(),
  rpm: limit,
  tpm: limit,
  concurrency: limit,
  policy: z.enum(routingPolicies).optional(),
  fallback_models: z.array(z.string()).optional(),
});
const newGroupInput = changeInput.extend({ name: textInput(100) });

/**
 * Groups: the models their keys may call, their multiplier of the prices, and their rate limits.
 */
export function groupRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  const { database, clock } = context;
  const role = 'operator';
  const viewed = async (name?: string): Promise<readonly OperatorGroup[]> => {
    const activity = await channelActivity(database, clock);
    return database.snapshot(() => views(activity, name));
  };
  const one = async (name: string): Promise<OperatorGroup> => {
    const [group] = await viewed(name);
    return group ?? throwProblem('not_found');
  };
  const nameOf = ({ params }: SignedInRequest<unknown>): string => params['name'] ?? '';
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/groups',
      role,
      handle: async (): Promise<List<OperatorGroup>> => ({ items: await viewed() }),
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/groups/:name',
      role,
      handle: (request) => one(nameOf(request)),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/groups',
      role,
      input: newGroupInput,
      async handle(request) {
        const { name, ...rest } = request.input;
        await applyEdit(database, request, 'group.create', () =>
          addGroup({ name, ...writtenOf(rest) }, request.at),
        );
        request.reply.status(201);
        return one(name);
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: 'operator/groups/:name',
      role,
      input: changeInput,
      async handle(request) {
        const of = { name: nameOf(request), version: versionIn(request.headers) };
        await applyEdit(database, request, 'group.update', () =>
          changeGroup(of, writtenOf(request.input), request.at),
        );
        return one(of.name);
      },
    }),
    groupPreviewRoute(context),
    defineRoute({
      method: 'DELETE',
      path: 'operator/groups/:name',
      role,
      async handle(request) {
        const of = { name: nameOf(request), version: versionIn(request.headers) };
        await applyEdit(database, request, 'group.remove', () => removeGroup(of));
      },
    }),
  ];
}

/** A change of a group, and its line in the audit trail. */
function applyEdit(
  database: Database,
  request: SignedInRequest<unknown>,
  action: string,
  edit: () => Transaction<EditResult<StoredGroup>>,
): Promise<void> {
  return database.transact(function* () {
    const { before, after } = editOrThrow(yield* edit(), asWritten);
    const target = after?.name ?? before?.name ?? '';
    if (after === undefined) yield* throwIfUsed(target);
    yield* writeAudit(request.at, {
      ...byOperator(request),
      action,
      target: `group:${target}`,
      before: auditFacts(before),
      after: auditFacts(after),
    });
  });
}

function writtenOf({
  multiplier,
  policy,
  fallback_models,
  ...limits
}: z.output<typeof changeInput>): WrittenMembers {
  return {
    ...(multiplier !== undefined && { price_multiplier: multiplier }),
    ...(policy !== undefined && { policy }),
    ...(fallback_models !== undefined && { fallback_models }),
    limits,
  };
}

/** The group in the format of a change, for comparison after a conflict. */
const asWritten = ({
  name,
  multiplierPpm,
  limits: { rpm, tpm, concurrency },
  policy = 'weighted',
  fallbackModels = [],
  version,
  origin,
}: StoredGroup) => ({
  name,
  multiplier: multiplierText(multiplierPpm),
  rpm: rpm ?? null,
  tpm: tpm ?? null,
  concurrency: concurrency ?? null,
  policy,
  fallback_models: fallbackModels,
  version,
  origin,
});

/** All groups, or the one of this name. */
function* views(activity: ChannelActivity, name?: string): Transaction<readonly OperatorGroup[]> {
  const catalog = yield* readStoredCatalog();
  const keys = yield* activeKeysByGroup();
  const groups = catalog.groups.filter((group) => name === undefined || group.name === name);
  return groups.map((group) =>
    viewOf(
      group,
      catalog.models,
      judged(
        catalog.channels.filter(({ groups }) => groups.includes(group.name)),
        activity,
      ),
      keys.get(group.name) ?? 0,
    ),
  );
}

function viewOf(
  group: StoredGroup,
  models: StoredCatalog['models'],
  own: readonly JudgedChannel[],
  keys: number,
): OperatorGroup {
  const { name, multiplierPpm, limits, origin, version } = group;
  const { policy = 'weighted', fallbackModels = [] } = group;
  const listed = models
    .filter(({ active }) => active)
    .map(({ id }) => ({
      id,
      channels: own
        .filter(({ channel }) => channel.models.has(id))
        .map(({ channel }) => channel.name),
    }));
  return {
    name,
    multiplier: multiplierText(multiplierPpm),
    rpm: limits.rpm ?? null,
    tpm: limits.tpm ?? null,
    concurrency: limits.concurrency ?? null,
    policy,
    fallback_models: fallbackModels,
    models: listed
      .filter((model) => model.channels.length > 0)
      .toSorted((a, b) => a.id.localeCompare(b.id, 'en')),
    not_serving: notServingByName(own),
    keys,
    origin,
    version,
  };
}

/** Refuses to remove a group that keys or channels use. */
function* throwIfUsed(name: string): Transaction<void> {
  const keys = (yield* activeKeysByGroup()).get(name) ?? 0;
  const { channels } = yield* readStoredCatalog();
  const naming = channels
    .filter(({ groups }) => groups.includes(name))
    .map((channel) => channel.name);
  if (keys > 0 || naming.length > 0)
    throwProblem('in_use', { current: { keys, channels: naming } });
}

const previewInput = z.strictObject({ multiplier: z.string() });
const daysBack = 7;

/** The effect of another multiplier on a group, before it is changed. */
function groupPreviewRoute({ database, clock, listFees }: OperatorContext): ConsoleRoute {
  return defineRoute({
    method: 'POST',
    path: 'operator/groups/:name/preview',
    role: 'operator',
    input: previewInput,
    async handle({ params, input }): Promise<GroupPreview> {
      const catalog = await storedCatalog(database);
      const group =
        catalog.groups.find(({ name }) => name === params['name']) ?? throwProblem('not_found');
      const multiplierPpm = exactDecimal(input.multiplier, ppmPlaces);
      if (typeof multiplierPpm !== 'bigint')
        return throwWrong([{ path: 'multiplier', ...multiplierPpm }]);
      return groupPreview(database, catalog, listFees, group, multiplierPpm, clock.now());
    },
  });
}

/**
 * The revenue that another multiplier would have brought with the usage of the last seven whole
 * days (UTC), and the models that it would sell below cost.
 */
async function groupPreview(
  database: Database,
  catalog: StoredCatalog,
  listFees: ListFees,
  group: StoredGroup,
  multiplierPpm: bigint,
  now: number,
): Promise<GroupPreview> {
  const to = startOfUtcDay(now);
  const sold = await soldInGroup(database, group.name, { from: to - daysBack * dayMs, to });
  const quantities = quantitiesByModel(sold);
  const charges = catalog.models.flatMap((model) => {
    const sums = quantities.get(model.id);
    if (sums === undefined) return [];
    const lines = Array.from(sums, ([measure, micros]) => ({ measure, micros }));
    return [{ price: chargedBy(catalog, model, model.price, listFees), lines }];
  });
  const paid = (multiplier: bigint): bigint =>
    charges.reduce((sum, { price, lines }) => sum + costOfQuantities(price, lines, multiplier), 0n);
  const [before, after] = [paid(group.multiplierPpm), paid(multiplierPpm)];
  const then = { ...catalog, groups: [{ ...group, multiplierPpm }] };
  const below = catalog.models.filter(
    ({ id, active, price }) => active && belowCost(then, id, price).length > 0,
  );
  return {
    revenue: {
      now: yuan(before),
      new: yuan(after),
      change: ratioOf(after - before, before),
    },
    users: new Set(sold.map(({ account }) => account)).size,
    below_vendor_cost: below.map(({ id }) => id),
  };
}

/** The sums of each model, by measure. */
function quantitiesByModel(
  sold: readonly SoldQuantity[],
): ReadonlyMap<string, ReadonlyMap<Measure, bigint>> {
  const models = new Map<string, Map<Measure, bigint>>();
  for (const { model, measure, micros } of sold) {
    const sums = models.get(model) ?? new Map<Measure, bigint>();
    models.set(model, sums.set(measure, (sums.get(measure) ?? 0n) + micros));
  }
  return models;
}
