import { type Bundled, type BundledModel, defaultUsdRatePpm, loadBundled } from './bundled.ts';
import { readChannels, groupFacts, factsOfWritten } from './config-entries.ts';
import {
  fileSchema,
  groupSchema,
  modelSchema,
  paymentsSchema,
  calendarSchema,
  priceSchema,
  settingsSchema,
  signinSchema,
  type WrittenModel,
  type WrittenMedia,
  type WrittenSigninMembers,
} from './config-schema.ts';
import {
  type ConfigurationContext,
  type ConfigurationResult,
  utcDate,
  defaultGroup,
  type DefaultModels,
  environmentUsdRate,
  usdRateVariable,
  type KeptSettings,
  type MediaSettings,
  type WrittenSignin,
  configurationWarnings,
} from './configuration.ts';
import { didYouMean, ConfigReport, member, reportDuplicates } from './config-report.ts';
import { calendars } from './price-windows.ts';
import type { ConfigPath } from './problem.ts';
import type { ChannelFacts, Group, ModelFacts, ModelKind } from './snapshot.ts';
import { type Calendars, checkImageVariants, readPrice } from './config-price.ts';
import { withStandIns } from './stand-ins.ts';
import { readYaml } from './yaml-source.ts';

/**
 * Reads the configuration file (docs/reference/config.md). Returns all problems at once, each with
 * its line. Loads zod, yaml and, where a channel sells what the file does not describe, the bundled
 * list: import it only when there is a file.
 */
export async function readConfiguration(
  text: string,
  context: ConfigurationContext,
): Promise<ConfigurationResult> {
  const source = readYaml(text, context.env);
  const report = new ConfigReport(source);
  const file = source.value ?? {};
  report.parse(fileSchema, file, []);
  const settings = report.parse(settingsSchema, member(file, 'settings') ?? {}, ['settings']);
  const signin = report.parse(signinSchema, member(file, 'signin') ?? {}, ['signin']);
  const payments = report.parse(paymentsSchema, member(file, 'payments') ?? {}, ['payments']);
  const groups = readGroups(items(file, 'groups'), report);
  const known = readCalendars(items(file, 'calendars'), report);
  const written = readModels(items(file, 'models'), known, report);
  const rawChannels = items(file, 'channels');
  const usdRatePpm = settings?.usd_rate ?? rateOf(context, report);
  const bundled = needsBundled(written, rawChannels)
    ? await loadBundled({ usdRatePpm, today: utcDate(context.now) })
    : new Map<string, BundledModel>();
  const groupNames =
    groups.length === 0 && items(file, 'groups').length === 0
      ? [defaultGroup.name]
      : names(items(file, 'groups'), 'name');
  const sellable = {
    groups: groupNames,
    models: kindsOf(items(file, 'models'), bundled),
    bundled,
    vendors: context.vendors,
    calendars: known,
  };
  const plain = readChannels(rawChannels, report, sellable);
  const channels = withOldIds(plain, file, bundled, context);
  const defaultModels = readDefaults(settings?.default_models, sellable.models, channels, report);
  const publicModels = settings?.public_models;
  if (publicModels !== undefined && !groupNames.includes(publicModels))
    report.add(
      ['settings', 'public_models'],
      `there is no group '${publicModels}'${didYouMean(publicModels, groupNames)}`,
    );
  const own = written.map((read) => {
    const facts = factsOf(read, bundled, channels, context);
    checkImageVariants(facts, report, read.path);
    return facts;
  });
  if (!report.clean) return { ok: false, problems: report.problems };
  const models = [...own, ...borrowed(written, bundled, channels)];
  const media = mediaSettings(settings?.media ?? {});
  const videoSeconds = settings?.video?.limit_seconds;
  const sold = { groups: groups.length === 0 ? [defaultGroup] : groups, models, channels };
  return {
    ok: true,
    configuration: {
      ...sold,
      usdRatePpm,
      media,
      defaultModels,
      ...(payments && { payments }),
      ...(signin && { signin: signinMembers(signin) }),
      ...(publicModels && { publicModels }),
      ...(videoSeconds && { video: { ageMs: videoSeconds * 1_000 } }),
      warnings: configurationWarnings(sold, {
        own: written.map(({ model }) => model.id),
        asked: plain,
        bundled,
        serves: context.serves,
      }),
    },
  };
}

/**
 * The default models of requests that name none. Each must be of the right kind, and sold over a
 * channel.
 */
function readDefaults(
  written: { readonly [kind in keyof DefaultModels]?: readonly string[] | undefined } = {},
  kinds: ReadonlyMap<string, ModelKind | undefined>,
  channels: readonly ChannelFacts[],
  report: ConfigReport,
): DefaultModels {
  for (const kind of ['image', 'video'] as const)
    for (const [index, id] of (written[kind] ?? []).entries()) {
      const sold = channels.some(({ models }) => models.has(id));
      if (sold && kinds.get(id) === kind) continue;
      const known = [...kinds].flatMap(([other, of]) => (of === kind ? [other] : []));
      report.add(
        ['settings', 'default_models', kind, index],
        sold
          ? `'${id}' is a model of another kind`
          : `'${id}' is sold over no channel${didYouMean(id, known)}`,
      );
    }
  return { image: written.image ?? [], video: written.video ?? [] };
}

/** Channels that name no models sell the old ids that a start without a file sells. */
function withOldIds(
  channels: readonly ChannelFacts[],
  file: unknown,
  bundled: Bundled,
  { serves }: ConfigurationContext,
): readonly ChannelFacts[] {
  const raw = items(file, 'channels');
  const open = new Set(
    names(
      raw.filter((one) => member(one, 'models') === undefined),
      'name',
    ),
  );
  const takes = ({ name }: ChannelFacts): boolean => open.has(name);
  const named = channels.filter((channel) => !takes(channel));
  const written = new Set([
    ...names(items(file, 'models'), 'id'),
    ...named.flatMap(({ models }) => [...models.keys()]),
  ]);
  return withStandIns(channels, { bundled, serves, takes, written });
}

/** A model and its price, both complete. */
interface ReadModel {
  readonly model: WrittenModel;
  readonly price: ModelFacts['price'];
  /** The place of the price in the file. */
  readonly path: ConfigPath;
}

/** The items of a list of the file. A value that is no list has already been reported. */
function items(file: unknown, name: string): readonly unknown[] {
  const list = member(file, name);
  return Array.isArray(list) ? list : [];
}

/** The kind of every model that can be sold, models with other mistakes included. */
function kindsOf(
  models: readonly unknown[],
  bundled: Bundled,
): ReadonlyMap<string, ModelKind | undefined> {
  const kinds = new Map<string, ModelKind | undefined>(
    [...bundled.values()].map(({ facts }) => [facts.id, facts.kind]),
  );
  for (const model of models) {
    const id = member(model, 'id');
    const kind = modelSchema.shape.kind.safeParse(member(model, 'kind'));
    if (typeof id === 'string') kinds.set(id, kind.success ? (kind.data ?? 'chat') : undefined);
  }
  return kinds;
}

/**
 * Names of items, also of items with other mistakes: a channel that names a misspelt model must not
 * get the error that the model does not exist.
 */
function names(list: readonly unknown[], name: string): readonly string[] {
  return list.flatMap((item) => {
    const value = member(item, name);
    return typeof value === 'string' ? [value] : [];
  });
}

function readGroups(list: readonly unknown[], report: ConfigReport): readonly Group[] {
  reportDuplicates(list, ['groups'], 'name', report);
  return list.flatMap((item, index) => {
    const group = report.parse(groupSchema, item, ['groups', index]);
    return group === undefined ? [] : [groupFacts(group)];
  });
}

/** The calendars that prices may name: the file's own, and those that come with the program. */
function readCalendars(list: readonly unknown[], report: ConfigReport): Calendars {
  reportDuplicates(list, ['calendars'], 'name', report);
  const own = list.flatMap((item, index) => {
    const calendar = report.parse(calendarSchema, item, ['calendars', index]);
    if (calendar === undefined) return [];
    const { name, known_until: knownUntil, days } = calendar;
    return [[name, { name, knownUntil, days }] as const];
  });
  return new Map([...calendars, ...own]);
}

function readModels(
  list: readonly unknown[],
  known: Calendars,
  report: ConfigReport,
): readonly ReadModel[] {
  reportDuplicates(list, ['models'], 'id', report);
  return list.flatMap((item, index) => {
    const model = report.parse(modelSchema, item, ['models', index]);
    const path = ['models', index, 'price'];
    if (model !== undefined)
      return [
        { model, path, price: readPrice(model.kind ?? 'chat', model.price, report, path, known) },
      ];
    checkPrice(item, report, path, known);
    return [];
  });
}

/** Checks the price of a model that has another mistake. */
function checkPrice(item: unknown, report: ConfigReport, path: ConfigPath, known: Calendars): void {
  const kind = modelSchema.shape.kind.safeParse(member(item, 'kind'));
  const price = priceSchema.safeParse(member(item, 'price'));
  if (kind.success && price.success)
    readPrice(kind.data ?? 'chat', price.data, report, path, known);
}

function needsBundled(written: readonly ReadModel[], channels: readonly unknown[]): boolean {
  const own = new Set(written.map(({ model }) => model.id));
  if (
    written.some(
      ({ model }) =>
        model.owned_by === undefined || (model.kind === 'image' && model.image === undefined),
    )
  )
    return true;
  return channels.some((channel) => {
    const models = member(channel, 'models');
    return (
      !Array.isArray(models) ||
      models.some((model: unknown) => {
        const id = typeof model === 'string' ? model : member(model, 'id');
        return typeof id !== 'string' || !own.has(id);
      })
    );
  });
}

function rateOf({ env }: ConfigurationContext, report: ConfigReport): bigint {
  const rate = environmentUsdRate(env);
  if (typeof rate === 'bigint') return rate;
  report.addOutside(usdRateVariable, rate);
  return defaultUsdRatePpm;
}

function factsOf(
  { model, price }: ReadModel,
  bundled: Bundled,
  channels: readonly ChannelFacts[],
  { vendors }: ConfigurationContext,
): ModelFacts {
  const known = bundled.get(model.id)?.facts;
  const seller = channels.find((channel) => channel.models.has(model.id))?.vendor;
  const vendor = vendors.find(({ id }) => id === seller);
  const ownedBy = known?.ownedBy ?? vendor?.ownedBy ?? 'unknown';
  return factsOfWritten(model, { ownedBy, image: known?.image }, price);
}

/** Models that channels sell and only the bundled list describes. */
function borrowed(
  written: readonly ReadModel[],
  bundled: Bundled,
  channels: readonly ChannelFacts[],
): readonly ModelFacts[] {
  const own = new Set(written.map(({ model }) => model.id));
  const served = new Set(channels.flatMap((channel) => [...channel.models.keys()]));
  return [...served].flatMap((id) => (own.has(id) ? [] : (bundled.get(id)?.facts ?? [])));
}

/** Only the written members: the code that downloads and keeps files has the defaults. */
function mediaSettings(written: WrittenMedia): MediaSettings {
  const { urls, file_bytes, request_bytes, redirects, total_ms, idle_ms, at_once, allow_private } =
    written;
  const kept = keptSettings(written);
  return {
    ...(urls === undefined ? {} : { urlsMax: urls }),
    ...(file_bytes === undefined ? {} : { fileBytesMax: file_bytes }),
    ...(request_bytes === undefined ? {} : { requestBytesMax: request_bytes }),
    ...(redirects === undefined ? {} : { redirectsMax: redirects }),
    ...(total_ms === undefined ? {} : { totalMs: total_ms }),
    ...(idle_ms === undefined ? {} : { idleMs: idle_ms }),
    ...(at_once === undefined ? {} : { atOnceMax: at_once }),
    ...(allow_private === undefined ? {} : { allowPrivate: allow_private }),
    ...(Object.keys(kept).length === 0 ? {} : { kept }),
  };
}

function keptSettings({
  kept_files,
  kept_bytes,
  kept_file_bytes,
  kept_seconds,
}: WrittenMedia): KeptSettings {
  return {
    ...(kept_files === undefined ? {} : { filesMax: kept_files }),
    ...(kept_bytes === undefined ? {} : { bytesMax: kept_bytes }),
    ...(kept_file_bytes === undefined ? {} : { fileBytesMax: kept_file_bytes }),
    ...(kept_seconds === undefined ? {} : { keptMs: kept_seconds * 1_000 }),
  };
}

/** Only the written members. */
function signinMembers({ sign_up, github, wechat }: WrittenSigninMembers): WrittenSignin {
  return {
    ...(sign_up === undefined ? {} : { signUp: sign_up }),
    ...(github && {
      github: {
        clientId: github.client_id,
        clientSecret: github.client_secret,
        ...addresses(github),
      },
    }),
    ...(wechat && {
      wechat: { appId: wechat.app_id, appSecret: wechat.app_secret, ...addresses(wechat) },
    }),
  };
}

function addresses({
  base_url,
  api_url,
}: {
  readonly base_url?: string | undefined;
  readonly api_url?: string | undefined;
}) {
  return { ...(base_url && { baseUrl: base_url }), ...(api_url && { apiUrl: api_url }) };
}
