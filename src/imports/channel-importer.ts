import { plainName } from '../accounts/text-fields.ts';
import { addChannel, changeChannel, switchChannel } from '../catalog/edit-channels.ts';
import { readStoredCatalog, type StoredChannel } from '../catalog/stored-catalog.ts';
import type { Transaction } from '../storage/database.ts';
import type { ForeignInstallation, ForeignChannel } from './new-api.ts';
import { counted, leaveOut } from './report.ts';
import { type ImportContext, refusalOf } from './model-importer.ts';
import types from './data/channel-types.json' with { type: 'json' };

/** The largest weight that is imported; higher ones are cut to it. */
const weightMax = 1_000_000n;
/** The largest span of priorities that is imported unchanged. */
const spreadMax = 1_000_000n;

/**
 * Inverts priorities, since here the lower number comes first. Keeps their distance from the
 * highest one or, where their span exceeds `spreadMax`, only their order.
 */
function prioritiesOf(channels: readonly ForeignChannel[]): (theirs: bigint) => bigint {
  const descending = [...new Set([...channels.map(({ priority }) => priority), 0n])].sort((a, b) =>
    a > b ? -1 : 1,
  );
  const [top = 0n, bottom = 0n] = [descending[0], descending.at(-1)];
  if (top - bottom <= spreadMax) return (theirs) => top - theirs;
  const order = new Map(descending.map((priority, index) => [priority, BigInt(index)]));
  return (theirs) => order.get(theirs) ?? 0n;
}

/** Imports channels, each with those of its models that are sold here. */
export function* importChannels(
  foreign: ForeignInstallation,
  sold: ReadonlySet<string>,
  context: ImportContext,
): Transaction<void> {
  const { channels } = yield* readStoredCatalog();
  const target: ImportTarget = {
    sold,
    priorityOf: prioritiesOf(foreign.channels),
    names: new Set(channels.map(({ name }) => name)),
    present: new Map(channels.map((channel) => [channel.name, channel])),
    context,
  };
  for (const channel of counted('channels', foreign.channels, context.onProgress)) {
    const what = `channel ${channel.id} (${channel.name})`;
    const portions = portionsOf(channel, foreign.kind);
    if (portions.length === 0)
      leaveOut(
        context.report,
        'channels',
        what,
        channel.secrets.length === 0
          ? 'it has no key'
          : `nothing here speaks as its type ${channel.type} does`,
      );
    for (const [index, portion] of portions.entries())
      yield* importChannel(channel, portion, index, target);
    if (channel.unknown.length > 0)
      context.report.notes.push({ what, note: `not taken of it: ${channel.unknown.join(', ')}` });
  }
}

/** The keys of one channel that share an address and a state, on or off. */
interface Portion extends Omit<ChannelTarget, 'secret'> {
  readonly secrets: string[];
  readonly enabled: boolean;
}

/**
 * Most channels are one portion. A channel has several when some of its keys are switched off, or
 * when each key names its own region.
 */
function portionsOf(
  channel: ForeignChannel,
  kind: ForeignInstallation['kind'],
): readonly Portion[] {
  const portions = new Map<string, Portion>();
  for (const { secret: written, enabled } of channel.secrets) {
    const target = channelTarget(channel, written, kind);
    if (target === undefined) continue;
    const { secret, ...address } = target;
    const shared = `${enabled} ${address.baseUrl}`;
    const portion = portions.get(shared) ?? { ...address, enabled, secrets: [] };
    portion.secrets.push(secret);
    portions.set(shared, portion);
  }
  return [...portions.values()];
}

/** What a channel is imported into. */
interface ImportTarget {
  readonly sold: ReadonlySet<string>;
  readonly priorityOf: (theirs: bigint) => bigint;
  readonly names: Set<string>;
  /** The channels here before the import, by name. */
  readonly present: ReadonlyMap<string, StoredChannel>;
  readonly context: ImportContext;
}

function* importChannel(
  channel: ForeignChannel,
  portion: Portion,
  index: number,
  target: ImportTarget,
): Transaction<void> {
  const { sold, priorityOf, names, context } = target;
  const { imported, report } = context;
  const theirs = `${channel.id}/${index}`;
  const what = `channel ${channel.id} (${channel.name}${portion.enabled || !channel.enabled ? '' : ', keys that are off'})`;
  const before = imported.before('channel', theirs);
  if (before !== undefined) return yield* addLateModels(channel, theirs, what, before.ours, target);
  const models = channel.models
    .filter((id) => sold.has(id))
    .map((id) => ({ id, upstream: mapped(channel, id) }));
  if (models.length === 0) return leaveOut(report, 'channels', what, 'none of its models is sold');
  const name = freeName(channel, index, names);
  const [secret] = portion.secrets;
  const written = {
    name,
    vendor: portion.vendor,
    base_url: portion.baseUrl,
    ...(portion.secrets.length === 1 ? { api_key: secret } : { api_keys: portion.secrets }),
    groups: channel.groups.filter((group) => group !== 'auto'),
    models,
    priority: String(priorityOf(channel.priority)),
    // Weights begin at 0 there, and channels without a weight get equally many requests.
    weight: String(
      channel.weight < 1n ? 1n : channel.weight > weightMax ? weightMax : channel.weight,
    ),
  };
  const refused = refusalOf(yield* addChannel(written, context));
  if (refused !== undefined) return leaveOut(report, 'channels', what, refused);
  if (!portion.enabled)
    yield* switchChannel({ name, version: undefined }, 'disabled', context.by.at);
  names.add(name);
  report.channels.taken++;
  yield* imported.remember('channel', theirs, name, portion.vendor);
  for (const id of channel.models)
    if (!sold.has(id)) yield* imported.remember('unsold', unsoldOf(theirs, id), name, '');
}

const unsoldOf = (theirs: string, model: string): string => `${theirs} ${model}`;

/**
 * Adds to a channel of an earlier import the models that had no price then, and have one now. Once:
 * what an operator takes out of the channel stays out.
 */
function* addLateModels(
  channel: ForeignChannel,
  theirs: string,
  what: string,
  name: string,
  { sold, present, context }: ImportTarget,
): Transaction<void> {
  const { imported, report } = context;
  const late = channel.models.filter(
    (id) => sold.has(id) && imported.before('unsold', unsoldOf(theirs, id)) !== undefined,
  );
  const own = present.get(name);
  const added = own === undefined ? [] : late.filter((id) => !own.models.has(id));
  if (own === undefined || added.length === 0) report.channels.before++;
  else {
    const why = yield* addModels(
      own,
      added.map((id) => ({ id, upstream: mapped(channel, id) })),
      context,
    );
    if (why !== undefined)
      return leaveOut(report, 'channels', `${what}, its models ${added.join(', ')}`, why);
    report.channels.taken++;
    report.notes.push({ what, note: `sells now, too: ${added.join(', ')}` });
  }
  for (const id of late) yield* imported.forget('unsold', unsoldOf(theirs, id));
}

/** Returns the reason why it cannot, if there is one. */
function* addModels(
  { name, models, durations }: StoredChannel,
  added: readonly { readonly id: string; readonly upstream: string }[],
  context: ImportContext,
): Transaction<string | undefined> {
  const present = [...models].map(([id, upstream]) => ({
    id,
    upstream,
    durations: durations?.get(id),
  }));
  const written = { models: [...present, ...added] };
  return refusalOf(yield* changeChannel({ name, version: undefined }, written, context));
}

function mapped({ mapping }: ForeignChannel, id: string): string {
  let upstream = id;
  // A mapping may lead to another mapping; the number of steps ends a circular one.
  for (let steps = 0; steps < mapping.size; steps++) upstream = mapping.get(upstream) ?? upstream;
  return upstream;
}

function freeName({ id, name }: ForeignChannel, index: number, names: ReadonlySet<string>): string {
  const base = plainName(name) || `channel ${id}`;
  return names.has(base) ? `${base} (${id}/${index + 1})` : base;
}

/**
 * Types of channels are numbers there (QuantumNous/new-api constant/channel.go,
 * songquanpeng/one-api relay/channeltype/define.go, read 2026-11), and part of the address is in
 * that program's code: `path` is the part that it adds to the base address, `base` the address of a
 * channel that names none, where Tollgate's vendor has another one or none. `pair`: the key is an
 * access key and a secret key, with `|` between. Tollgate has no vendor for a type that is not in
 * the table.
 */
interface ChannelType {
  readonly vendor: string;
  readonly path: string;
  readonly base?: string;
  readonly pair?: boolean;
}

/** The vendor, address and key of an imported channel. */
interface ChannelTarget {
  readonly vendor: string;
  readonly baseUrl: string | undefined;
  readonly secret: string;
}

const regionVariable = '{region}';

/** Undefined: Tollgate has no vendor for this type of channel. */
function channelTarget(
  { type, baseUrl }: ForeignChannel,
  secret: string,
  kind: ForeignInstallation['kind'],
): ChannelTarget | undefined {
  const table: Readonly<Record<string, ChannelType | undefined>> = types[kind];
  const found = Object.hasOwn(table, type) ? table[type] : undefined;
  if (found === undefined) return undefined;
  const { vendor, base, path, pair } = found;
  if (base?.includes(regionVariable) === true) return regional(vendor, baseUrl, base, secret);
  const home = baseUrl ?? base;
  const whole = home === undefined ? undefined : withPath(home, path);
  return { vendor, baseUrl: whole, secret: pair === true ? secret.replace('|', ':') : secret };
}

/** The key ends with its region: `ACCESS|SECRET|us-east-1`, or `KEY|us-east-1`. */
function regional(
  vendor: string,
  baseUrl: string | undefined,
  base: string,
  secret: string,
): ChannelTarget | undefined {
  const parts = secret.split('|').map((part) => part.trim());
  const region = parts.pop();
  if (region === undefined || !/^[a-z0-9-]{4,30}$/.test(region) || parts.length === 0)
    return undefined;
  return {
    vendor,
    baseUrl: baseUrl ?? base.replace(regionVariable, region),
    secret: parts.join(':'),
  };
}

/** Shortens the full address of one endpoint to the base of all endpoints. */
function withPath(home: string, path: string): string {
  const begin = home.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return path !== '' && begin.endsWith(path) ? begin : begin + path;
}
