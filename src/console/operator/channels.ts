import * as z from 'zod';
import { hourMs } from '../../base/calendar.ts';
import { type AuditFacts, writeAudit } from '../../accounts/audit.ts';
import {
  addChannel,
  changeChannel,
  type ChannelEditContext,
  type ChannelEditResult,
  removeChannel,
  switchChannel,
} from '../../catalog/edit-channels.ts';
import { type EditDone, lockCatalogVersion, type WrittenMembers } from '../../catalog/editing.ts';
import {
  keyEndings,
  storedCatalog,
  type ChannelSwitch,
  readStoredCatalog,
  type StoredChannel,
} from '../../catalog/stored-catalog.ts';
import {
  channelCounts,
  healthChanges,
  overrunsByChannel,
  countTotals,
} from '../../gateway/reports/report.ts';
import type { Vendor } from '../../providers/vendor.ts';
import type { Transaction } from '../../storage/database.ts';
import { hoursFrom, recentOf, startOfHour } from '../../usage/ranges.ts';
import { lossesByChannel } from '../../usage/totals.ts';
import type { ChannelHealth, ChannelView, List, VendorView, ChannelEffect } from '../contract.ts';
import { instant } from '../format.ts';
import { textInput, versionIn } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { auditedCosts } from './audited-price.ts';
import { type ChannelReadings, channelView, whyCode, unservedBy } from './channel-view.ts';
import { type OperatorContext, byOperator, editOrThrow, auditFacts } from './context.ts';
import { auditModel } from './models.ts';
import { channelActivity } from './serving.ts';
import { vendorCosts } from './vendor-costs.ts';

const hoursShown = 24;
const storyMax = 50;
const role = 'operator';
const base = 'operator/channels';

/** The channels, their health, and their changes. */
export function channelRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [...readingRoutes(context), ...writingRoutes(context)];
}

const nameOf = ({ params }: Pick<SignedInRequest, 'params'>): string => params['name'] ?? '';

function readingRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: base,
      role,
      async handle(): Promise<List<ChannelView>> {
        const seen = await readingsWithKeys(context);
        return { items: seen.catalog.channels.map((channel) => channelView(channel, seen)) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/:name`,
      role,
      handle: (request) => one(context, nameOf(request)),
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/:name/health`,
      role,
      handle: (request) => health(context, nameOf(request), request.at),
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/vendors',
      role,
      handle: (): List<VendorView> => ({ items: [...context.vendors.values()].map(vendorView) }),
    }),
  ];
}

/** The state that a channel has after each verb. */
const switches: Readonly<Record<string, ChannelSwitch>> = {
  drain: 'draining',
  disable: 'disabled',
  resume: 'active',
};

function writingRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'POST',
      path: base,
      role,
      input: newChannelInput,
      async handle(request) {
        await createChannel(context, request);
        request.reply.status(201);
        return one(context, request.input.name);
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${base}/:name`,
      role,
      input: channelChangeInput,
      async handle(request) {
        const effect = await editChannel(context, request);
        return request.input.dry_run === true ? effect : one(context, nameOf(request));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/:name`,
      role,
      input: z.object({ accept_unserved: z.literal('1').optional() }),
      handle: (request) => dropChannel(context, request, request.input.accept_unserved === '1'),
    }),
    ...Object.entries(switches).map(([verb, state]) =>
      defineRoute({
        method: 'POST',
        path: `${base}/:name/${verb}`,
        role,
        input: acceptInput,
        async handle(request) {
          const accept = request.input.accept_unserved === true;
          const of = { name: nameOf(request), version: undefined };
          await applyAction(context, request, { action: `channel.${verb}`, accept }, () =>
            switchChannel(of, state, request.at),
          );
          return one(context, of.name);
        },
      }),
    ),
  ];
}

/** All of `ChannelReadings` at this moment; `endings` are shown where the caller may unseal. */
export async function channelReadings(
  { database, clock, vendors }: Pick<OperatorContext, 'database' | 'clock' | 'vendors'>,
  endings: ChannelReadings['endings'],
): Promise<ChannelReadings> {
  const now = clock.now();
  const from = now - hoursShown * hourMs;
  const catalog = await storedCatalog(database);
  const activity = await channelActivity(database, clock);
  const counts = await channelCounts(database, { from: now - hourMs });
  const overruns = await overrunsByChannel(database, from);
  const losses = await database.snapshot(() => lossesByChannel(from));
  const span = { from: startOfHour(from), to: now };
  const costs = await database.snapshot(function* () {
    const { tail } = yield* recentOf(span, now);
    return yield* vendorCosts(database, catalog, { ...span, tail });
  });
  return { catalog, vendors, ...activity, endings, counts, costs, overruns, losses };
}

const readingsWithKeys = async (context: OperatorContext): Promise<ChannelReadings> =>
  channelReadings(context, await keyEndings(context.database, context.sealer));

async function one(context: OperatorContext, name: string): Promise<ChannelView> {
  const seen = await readingsWithKeys(context);
  const channel = seen.catalog.channels.find((some) => some.name === name);
  return channel === undefined ? throwProblem('not_found') : channelView(channel, seen);
}

async function health(
  { database }: OperatorContext,
  name: string,
  at: number,
): Promise<ChannelHealth> {
  if (!(await storedCatalog(database)).channels.some((channel) => channel.name === name))
    throwProblem('not_found');
  const first = startOfHour(at) - (hoursShown - 1) * hourMs;
  const counts = await channelCounts(database, { from: first, channel: name });
  const hours = hoursFrom(first, hoursShown).map((hour) => {
    const { requests, faults, medianMs, p95Ms } = countTotals(
      counts.filter(({ slot }) => slot >= hour && slot < hour + hourMs),
    );
    return {
      hour: instant(hour),
      requests,
      errors: faults,
      first_byte_median_ms: medianMs ?? null,
      first_byte_p95_ms: p95Ms ?? null,
    };
  });
  const turns = await healthChanges(database, name, storyMax);
  const story = turns.map(({ at: since, state, why, until, node }) => ({
    at: instant(since),
    code: state,
    values: {
      node,
      ...(why !== undefined && { why: whyCode(why) }),
      ...(until !== undefined && { until: instant(until) }),
    },
  }));
  return { hours, story };
}

function vendorView(vendor: Vendor): VendorView {
  const { id, baseUrl, adapters: speaks, env, authorizer, consoleUrl } = vendor;
  return {
    name: id,
    default_base_url: baseUrl ?? null,
    capabilities: Object.keys(speaks),
    needs_secret: env !== undefined || authorizer !== undefined,
    console_url: consoleUrl ?? null,
  };
}

/** The most keys of one channel. */
const keysMax = 100;

/**
 * The members of a channel's change; their values are checked by the same code as the configuration
 * file.
 */
const channelChangeInput = z.strictObject({
  vendor: z.string().optional(),
  base_url: z.string().nullable().optional(),
  secret: z.string().min(1, 'empty').max(20_000, 'too_long').optional(),
  secrets: z
    .array(z.union([z.string().min(1, 'empty').max(20_000, 'too_long'), z.int().min(1)]))
    .min(1, 'empty')
    .max(keysMax, 'too_many')
    .optional(),
  groups: z.array(z.string()).optional(),
  models: z.array(z.unknown()).max(2_000, 'too_many').optional(),
  priority: z.number().optional(),
  weight: z.number().optional(),
  bills_cancelled_input: z.boolean().optional(),
  disabled: z.boolean().optional(),
  costs: z.record(z.string(), z.unknown()).optional(),
  new_models: z.array(z.record(z.string(), z.unknown())).max(2_000, 'too_many').optional(),
  dry_run: z.boolean().optional(),
  accept_unserved: z.boolean().optional(),
});
const newChannelInput = channelChangeInput.extend({
  name: textInput(100),
  vendor: z.string(),
});
const acceptInput = z.object({ accept_unserved: z.boolean().optional() });
type Change = z.output<typeof channelChangeInput>;

/**
 * One change of a channel. `accept`: the operator accepts that models are left without a channel.
 */
interface ChannelAction {
  readonly action: string;
  readonly accept: boolean;
  /** Changes nothing, and reports the effect. */
  readonly dry?: boolean | undefined;
}

async function createChannel(
  context: OperatorContext,
  request: SignedInRequest<z.output<typeof newChannelInput>>,
): Promise<void> {
  const { name, ...input } = request.input;
  const editor = await editorFor(context, request);
  await applyAction(context, request, { action: 'channel.create', accept: true }, () =>
    addChannel({ name, ...writtenOf(input) }, editor, input.new_models),
  );
}

async function editChannel(
  context: OperatorContext,
  request: SignedInRequest<Change>,
): Promise<ChannelEffect> {
  const { input, headers, at } = request;
  const { new_models: newModels = [] } = input;
  const of = { name: nameOf(request), version: versionIn(headers) };
  const editor = await editorFor(context, request);
  const written = writtenOf(input);
  return applyAction(
    context,
    request,
    { action: 'channel.update', accept: input.accept_unserved === true, dry: input.dry_run },
    function* () {
      if (input.disabled === undefined) return yield* changeChannel(of, written, editor, newModels);
      const switched = yield* switchChannel(of, input.disabled ? 'disabled' : 'active', at);
      const rest = Object.keys(written).length + newModels.length;
      if (switched.kind !== 'done' || rest === 0) return switched;
      const done = yield* changeChannel(
        { name: of.name, version: switched.after?.version },
        written,
        editor,
        newModels,
      );
      return done.kind === 'done' ? { ...done, before: switched.before } : done;
    },
  );
}

async function dropChannel(
  context: OperatorContext,
  request: SignedInRequest<unknown>,
  accept: boolean,
): Promise<void> {
  const of = { name: nameOf(request), version: versionIn(request.headers) };
  await applyAction(context, request, { action: 'channel.remove', accept }, () =>
    removeChannel(of),
  );
}

/**
 * Makes a change, after checking that it leaves no model without a channel unaccepted, and records
 * it in the audit trail. A dry run is rolled back.
 */
async function applyAction(
  { database }: OperatorContext,
  request: SignedInRequest<unknown>,
  { action, accept, dry }: ChannelAction,
  edit: () => Transaction<ChannelEditResult>,
): Promise<ChannelEffect> {
  const run = function* (): Transaction<ChannelEffect> {
    // Another change may be taking the last other channel of a model away.
    yield* lockCatalogVersion();
    const catalog = yield* readStoredCatalog();
    const { before, after, models } = editOrThrow(yield* edit(), asWritten);
    const effect = {
      unserved_models: before === undefined ? [] : unservedBy(catalog, before.name, after),
    };
    if (dry === true) throw new DryRun(effect);
    if (effect.unserved_models.length > 0 && !accept)
      return throwProblem('would_unserve', { current: effect });
    const target = after?.name ?? before?.name ?? '';
    for (const model of models) yield* auditModel(request, 'model.create', model);
    yield* writeAudit(request.at, {
      ...byOperator(request),
      action,
      target: `channel:${target}`,
      ...auditedChange({ before, after }),
    });
    return effect;
  };
  return database.transact(run).catch((error: unknown) => {
    if (error instanceof DryRun) return error.effect;
    throw error;
  });
}

/** The channel in the format of a change, for comparison after a conflict. */
const asWritten = ({
  name,
  vendor,
  baseUrl,
  groups,
  models,
  priority,
  weight,
  billsCancelledInput,
  version,
  origin,
}: StoredChannel) => ({
  name,
  vendor,
  base_url: baseUrl ?? null,
  groups,
  priority,
  weight,
  version,
  origin,
  bills_cancelled_input: billsCancelledInput ?? false,
  models: [...models].map(([id, upstream]) => (id === upstream ? { id } : { id, upstream })),
});

class DryRun extends Error {
  readonly effect: ChannelEffect;

  constructor(effect: ChannelEffect) {
    super('a dry run');
    this.effect = effect;
  }
}

/**
 * Of a secret the audit trail says only that it is set, or that it was changed; of costs, each line
 * that differs.
 */
function auditedChange({ before, after }: Pick<EditDone<StoredChannel>, 'before' | 'after'>) {
  const costs = auditedCosts(before?.costs, after?.costs);
  const factsOf = (channel: StoredChannel, word: string, lines: AuditFacts) => ({
    ...auditFacts({
      ...channel,
      secret: channel.secret === undefined ? undefined : word,
      costs: undefined,
    }),
    ...lines,
  });
  const same = before?.secret?.since === after?.secret?.since;
  const word = same || before?.secret === undefined ? 'set' : 'changed';
  return {
    before: before && factsOf(before, 'set', costs.before),
    after: after && factsOf(after, word, costs.after),
  };
}

function writtenOf({
  secret,
  secrets,
  disabled: _,
  new_models: __,
  dry_run: ___,
  accept_unserved: ____,
  ...rest
}: Change): WrittenMembers {
  const members = Object.entries({
    ...rest,
    ...(secret !== undefined && { api_key: secret }),
    api_keys: secrets,
  }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members);
}

async function editorFor(
  { sealer, vendors, bundled }: OperatorContext,
  { user, at }: SignedInRequest<unknown>,
): Promise<ChannelEditContext> {
  return {
    sealer,
    vendors: [...vendors.values()],
    bundled: await bundled(),
    by: { source: 'console', actor: user.id, at },
  };
}
