import { plainName } from '../accounts/text-fields.ts';
import { addChannel, switchChannel } from '../catalog/edit-channels.ts';
import { readStoredCatalog } from '../catalog/stored-catalog.ts';
import type { Transaction } from '../storage/database.ts';
import type { ForeignInstallation, ForeignChannel } from './new-api.ts';
import { leaveOut } from './report.ts';
import { type ImportContext, messages } from './model-importer.ts';
import types from './data/channel-types.json' with { type: 'json' };

/** More than a million to one is nobody's share. */
const weightMax = 1_000_000n;
/** As far apart as priorities may be here. */
const spreadMax = 1_000_000n;

/**
 * Turned around, ours being lower first: as far from the highest as they are there, or, where that
 * is out of reach, by their order.
 */
function prioritiesOf(channels: readonly ForeignChannel[]): (theirs: bigint) => bigint {
  const descending = [...new Set(channels.map(({ priority }) => priority)), 0n].sort((a, b) =>
    a > b ? -1 : a < b ? 1 : 0,
  );
  const [top = 0n, bottom = 0n] = [descending[0], descending.at(-1)];
  if (top - bottom <= spreadMax) return (theirs) => top - theirs;
  const order = new Map(
    [...new Set(descending)].map((priority, index) => [priority, BigInt(index)]),
  );
  return (theirs) => order.get(theirs) ?? 0n;
}

/** Channels, for the models that are sold. */
export function* importChannels(
  foreign: ForeignInstallation,
  sold: ReadonlySet<string>,
  desk: ImportContext,
): Transaction<void> {
  const { channels } = yield* readStoredCatalog();
  const place = {
    sold,
    priorityOf: prioritiesOf(foreign.channels),
    names: new Set(channels.map(({ name }) => name)),
    desk,
  };
  for (const channel of foreign.channels) {
    const what = `channel ${channel.id} (${channel.name})`;
    const portions = portionsOf(channel, foreign.kind);
    if (portions.length === 0)
      leaveOut(
        desk.report,
        'channels',
        what,
        channel.secrets.length === 0
          ? 'it has no key'
          : `nothing here speaks as its type ${channel.type} does`,
      );
    for (const [index, portion] of portions.entries())
      yield* importChannel(channel, portion, index, place);
    if (channel.unknown.length > 0)
      desk.report.notes.push({ what, note: `not taken of it: ${channel.unknown.join(', ')}` });
  }
}

/** Keys of one channel that go to one address, and are used or not. */
interface Portion extends Omit<ChannelTarget, 'secret'> {
  readonly secrets: string[];
  readonly enabled: boolean;
}

/**
 * Most channels are one portion: others have keys that were switched off, or whose key names the
 * place where it is good.
 */
function portionsOf(
  channel: ForeignChannel,
  kind: ForeignInstallation['kind'],
): readonly Portion[] {
  const portions: Portion[] = [];
  for (const { secret, enabled } of channel.secrets) {
    const place = channelTarget(channel, secret, kind);
    if (place === undefined) continue;
    const same = portions.find(
      (portion) => portion.enabled === enabled && portion.baseUrl === place.baseUrl,
    );
    if (same === undefined)
      portions.push({
        vendor: place.vendor,
        baseUrl: place.baseUrl,
        secrets: [place.secret],
        enabled,
      });
    else same.secrets.push(place.secret);
  }
  return portions;
}

interface Place {
  readonly sold: ReadonlySet<string>;
  readonly priorityOf: (theirs: bigint) => bigint;
  readonly names: Set<string>;
  readonly desk: ImportContext;
}

function* importChannel(
  channel: ForeignChannel,
  portion: Portion,
  index: number,
  { sold, priorityOf, names, desk }: Place,
): Transaction<void> {
  const { imported, report } = desk;
  const theirs = `${channel.id}/${index}`;
  const what = `channel ${channel.id} (${channel.name}${portion.enabled || !channel.enabled ? '' : ', keys that are off'})`;
  if (imported.before('channel', theirs) !== undefined) {
    report.channels.before++;
    return;
  }
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
    // Weights there begin at 0, and channels that have none are asked as often as each other.
    weight: String(
      channel.weight < 1n ? 1n : channel.weight > weightMax ? weightMax : channel.weight,
    ),
  };
  const done = yield* addChannel(written, desk);
  if (done.kind !== 'done')
    return leaveOut(
      report,
      'channels',
      what,
      done.kind === 'wrong' ? messages(done.problems) : done.kind,
    );
  if (!portion.enabled) yield* switchChannel({ name, version: undefined }, 'disabled', desk.by.at);
  names.add(name);
  report.channels.taken++;
  yield* imported.remember('channel', theirs, name, portion.vendor);
}

function mapped({ mapping }: ForeignChannel, id: string): string {
  let upstream = id;
  // A mapping may lead to another; one that leads around ends where it began.
  for (let steps = 0; steps < mapping.size; steps++) upstream = mapping.get(upstream) ?? upstream;
  return upstream;
}

function freeName({ id, name }: ForeignChannel, index: number, names: ReadonlySet<string>): string {
  const base = plainName(name) || `channel ${id}`;
  return names.has(base) ? `${base} (${id}/${index + 1})` : base;
}

/**
 * Channels' types are numbers there (QuantumNous/new-api constant/channel.go, songquanpeng/one-api
 * relay/channeltype/define.go, read 2026-11), and part of an address stands in the code: `path` is
 * what it adds to the base address, `base` where it goes when none is written and our vendor has
 * another address, or none. `pair`: the key is an access key and a secret key, with `|` between. A
 * type that is not in the table speaks a language that no vendor here speaks.
 */
interface ChannelType {
  readonly vendor: string;
  readonly path: string;
  readonly base?: string;
  readonly pair?: boolean;
}

/** Where a channel goes, and as whom. */
interface ChannelTarget {
  readonly vendor: string;
  readonly baseUrl: string | undefined;
  readonly secret: string;
}

const regionPlace = '{region}';

/** Undefined: no vendor here is reached so. */
function channelTarget(
  { type, baseUrl }: ForeignChannel,
  secret: string,
  kind: ForeignInstallation['kind'],
): ChannelTarget | undefined {
  const table: Readonly<Record<string, ChannelType | undefined>> = types[kind];
  const found = Object.hasOwn(table, type) ? table[type] : undefined;
  if (found === undefined) return undefined;
  const { vendor, base, path, pair } = found;
  if (base?.includes(regionPlace) === true) return regional(vendor, baseUrl, base, secret);
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
  return { vendor, baseUrl: baseUrl ?? base.replace(regionPlace, region), secret: parts.join(':') };
}

/** A whole address of one endpoint is cut back to where all of them begin. */
function withPath(home: string, path: string): string {
  const begin = home.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return path !== '' && begin.endsWith(path) ? begin : begin + path;
}
