import { reason } from '../base/reason.ts';
import { type Bundled, modelsOfVendor } from './bundled.ts';
import { addressProblem } from './channel-access.ts';
import {
  allContents,
  channelSchema,
  type WrittenChannel,
  type WrittenGroup,
  type WrittenImage,
  type WrittenModel,
} from './config-schema.ts';
import { defaultGroup, type VendorFacts } from './configuration.ts';
import type { ImageTerms } from './image-terms.ts';
import { type ConfigReport, member, reportDuplicates, unknownName } from './config-report.ts';
import type { ConfigPath } from './problem.ts';
import type { ChannelFacts, ModelFacts, ModelKind, Group } from './snapshot.ts';
import { type Calendars, readPrice } from './config-price.ts';

/** The names that a channel may refer to. */
export interface ChannelContext {
  readonly groups: readonly string[];
  /** By id; undefined for a model whose kind is written wrongly. */
  readonly models: ReadonlyMap<string, ModelKind | undefined>;
  readonly bundled: Bundled;
  readonly vendors: readonly VendorFacts[];
  /** The calendars of the file; absent: those that come with the program. */
  readonly calendars?: Calendars;
}

export function readChannels(
  list: readonly unknown[],
  report: ConfigReport,
  known: ChannelContext,
): readonly ChannelFacts[] {
  reportDuplicates(list, ['channels'], 'name', report);
  return list.flatMap((item, index) => {
    const path = ['channels', index];
    const channel = report.parse(channelSchema, item, path);
    checkVendor(item, report, path, known);
    checkGroups(item, report, [...path, 'groups'], known);
    checkModels(item, report, [...path, 'models'], known);
    checkKeys(item, report, path);
    return channel === undefined
      ? []
      : [withCosts(channelFacts(channel, known), channel, report, [...path, 'costs'], known)];
  });
}

function channelFacts(channel: WrittenChannel, { bundled }: ChannelContext): ChannelFacts {
  const durations = new Map(
    channel.models?.flatMap(({ id, durations: lengths }) =>
      lengths === undefined ? [] : [[id, lengths]],
    ),
  );
  return {
    name: channel.name,
    vendor: channel.vendor,
    baseUrl: channel.base_url,
    ...secretsOf(channel),
    groups: [...new Set(channel.groups ?? [defaultGroup.name])],
    priority: channel.priority ?? 0,
    weight: channel.weight ?? 1,
    models: new Map(
      channel.models?.map(({ id, upstream }) => [id, upstream ?? id]) ??
        allOf(channel.vendor, bundled),
    ),
    ...(durations.size === 0 ? {} : { durations }),
    ...(channel.bills_cancelled_input === true && { billsCancelledInput: true as const }),
  };
}

function secretsOf({
  api_key: one,
  api_keys: several = [],
}: WrittenChannel): Pick<ChannelFacts, 'secret' | 'moreSecrets'> {
  const [first, ...more] = new Set(several);
  return { secret: first ?? one, ...(more.length === 0 ? {} : { moreSecrets: more }) };
}

function withCosts(
  facts: ChannelFacts,
  { costs }: WrittenChannel,
  report: ConfigReport,
  path: ConfigPath,
  known: ChannelContext,
): ChannelFacts {
  if (costs === undefined) return facts;
  const read = Object.entries(costs).map(([model, written]) => {
    if (!facts.models.has(model)) report.add([...path, model], reason('not_in_channel'));
    return [
      model,
      readPrice(
        known.models.get(model) ?? 'chat',
        written,
        report,
        [...path, model],
        known.calendars,
      ),
    ] as const;
  });
  return { ...facts, costs: new Map(read) };
}

/** A channel that names no models sells every bundled model of its vendor. */
function allOf(vendor: string, bundled: Bundled): readonly (readonly [string, string])[] {
  return modelsOfVendor(vendor, bundled).map((model) => [model.facts.id, model.upstream]);
}

// The checks below read the channel as it is written, so that a mistake in one member hides none in
// another.

function checkVendor(
  channel: unknown,
  report: ConfigReport,
  path: ConfigPath,
  { vendors }: ChannelContext,
): void {
  const name = member(channel, 'vendor');
  const baseUrl = member(channel, 'base_url');
  const vendor = vendors.find(({ id }) => id === name);
  if (typeof name === 'string' && vendor === undefined) {
    const ids = vendors.map(({ id }) => id);
    report.add(
      [...path, 'vendor'],
      reason('unknown_vendor', { ...unknownName(name, ids), choices: ids.join(', ') }),
    );
  }
  if (baseUrl === undefined && vendor !== undefined && vendor.baseUrl === undefined) {
    report.add([...path, 'base_url'], reason('address_needed', { vendor: vendor.id }));
  }
  const why = typeof baseUrl === 'string' ? addressProblem(baseUrl) : undefined;
  if (why !== undefined) report.add([...path, 'base_url'], why);
}

function checkKeys(channel: unknown, report: ConfigReport, path: ConfigPath): void {
  const keys = member(channel, 'api_keys');
  if (keys === undefined) return;
  if (member(channel, 'api_key') !== undefined)
    report.add([...path, 'api_keys'], reason('two_key_members'));
  if (Array.isArray(keys) && keys.length === 0) report.add([...path, 'api_keys'], reason('empty'));
}

function checkGroups(
  channel: unknown,
  report: ConfigReport,
  path: ConfigPath,
  { groups }: ChannelContext,
): void {
  const written = member(channel, 'groups') ?? [defaultGroup.name];
  if (!Array.isArray(written)) return;
  written.forEach((group: unknown, index) => {
    if (typeof group === 'string' && !groups.includes(group))
      report.add([...path, index], reason('unknown_group', unknownName(group, groups)));
  });
}

function checkModels(
  channel: unknown,
  report: ConfigReport,
  path: ConfigPath,
  known: ChannelContext,
): void {
  const written = member(channel, 'models');
  if (written === undefined)
    return checkVendorsModels(member(channel, 'vendor'), report, path, known);
  if (!Array.isArray(written)) return;
  const seen = new Set<string>();
  written.forEach((model: unknown, index) => {
    const id = typeof model === 'string' ? model : member(model, 'id');
    if (typeof id !== 'string') return;
    const at = [...path, index];
    if (!known.models.has(id))
      report.add(at, reason('model_of_no_list', unknownName(id, known.models.keys())));
    if (seen.has(id)) report.add(at, reason('twice_in_channel', { written: id }));
    seen.add(id);
  });
}

function checkVendorsModels(
  vendor: unknown,
  report: ConfigReport,
  path: ConfigPath,
  { vendors, bundled }: ChannelContext,
): void {
  const known = vendors.find(({ id }) => id === vendor);
  if (known !== undefined && allOf(known.id, bundled).length === 0)
    report.add(path, reason('models_needed', { vendor: known.id }));
}

/** A group as it is written, in the configuration file or in the console. */
export function groupFacts({
  name,
  price_multiplier: multiplierPpm,
  limits = {},
  policy,
  fallback_models: fallbackModels = [],
}: WrittenGroup): Group {
  const { rpm, tpm, concurrency } = limits;
  return {
    name,
    multiplierPpm: multiplierPpm ?? defaultGroup.multiplierPpm,
    limits: { rpm, tpm, concurrency },
    ...(policy === undefined ? {} : { policy }),
    ...(fallbackModels.length === 0 ? {} : { fallbackModels }),
  };
}

/** A model as written. `known` has the owner and the image terms that it may leave out. */
export function factsOfWritten(
  written: WrittenModel,
  known: Pick<ModelFacts, 'ownedBy' | 'image'>,
  price: ModelFacts['price'],
): ModelFacts {
  const bare: ModelFacts = {
    id: written.id,
    ownedBy: known.ownedBy,
    kind: 'chat',
    context: undefined,
    outputTokensMax: undefined,
    modalities: undefined,
    topSpeed: undefined,
    durations: undefined,
    image: known.image,
    shutdownDate: undefined,
    price,
  };
  return changedFacts(bare, written, new Set());
}

/** A written member replaces the old one, a null member is removed, and every other one stays. */
export function changedFacts(
  facts: ModelFacts,
  written: Partial<WrittenModel>,
  gone: ReadonlySet<string>,
): ModelFacts {
  const { modalities, image } = written;
  const one = <Value>(name: string, value: Value | undefined, before: Value): Value | undefined =>
    gone.has(name) ? undefined : (value ?? before);
  return {
    id: facts.id,
    ownedBy: written.owned_by ?? facts.ownedBy,
    kind: written.kind ?? facts.kind,
    context: one('context', written.context, facts.context),
    outputTokensMax: one('max_output', written.max_output, facts.outputTokensMax),
    modalities: one(
      'modalities',
      modalities && { in: modalities.in ?? allContents, out: modalities.out ?? allContents },
      facts.modalities,
    ),
    topSpeed: one('top_speed', written.top_speed, facts.topSpeed),
    hedgeAfterMs: one('hedge_after_ms', written.hedge_after_ms, facts.hedgeAfterMs),
    durations: one('durations', written.durations, facts.durations),
    image: one('image', image && imageTerms(image), facts.image),
    shutdownDate: one('shutdown_date', written.shutdown_date, facts.shutdownDate),
    price: facts.price,
  };
}

/** `image` of a model as written → the limits of a request for its images. */
export function imageTerms({
  sizes,
  any_size: any,
  qualities,
  usual,
  n,
  prompt_chars: promptCharsMax,
  returns,
  tokens,
}: WrittenImage): ImageTerms {
  const anySize = any && {
    step: any.step,
    longest: any.longest,
    ratio: any.ratio,
    pixelsMin: any.pixels_min,
    pixelsMax: any.pixels_max,
  };
  return { sizes, anySize, qualities, usual, nMax: n, promptCharsMax, returns, tokens };
}

/** The facts of a model, without id, kind and price, as the configuration file writes them. */
export function writtenFacts(facts: ModelFacts): Readonly<Record<string, unknown>> {
  const { image } = facts;
  return {
    owned_by: facts.ownedBy,
    context: facts.context,
    max_output: facts.outputTokensMax,
    modalities: facts.modalities,
    top_speed: facts.topSpeed,
    durations: facts.durations,
    shutdown_date: facts.shutdownDate,
    image: image && writtenImage(image),
  };
}

function writtenImage({
  anySize: any,
  nMax: n,
  promptCharsMax,
  ...terms
}: ImageTerms): Readonly<Record<string, unknown>> {
  const { step, longest, ratio, pixelsMin, pixelsMax } = any ?? {};
  const anySize = { step, longest, ratio, pixels_min: pixelsMin, pixels_max: pixelsMax };
  return { ...terms, any_size: any && anySize, n, prompt_chars: promptCharsMax };
}
