import { plainName } from '../accounts/name.ts';
import { addChannel, switchChannel } from '../catalog/edit-channels.ts';
import { readRecorded } from '../catalog/recorded.ts';
import type { Script } from '../storage/database.ts';
import { type Reached, reached } from './channel-types.ts';
import type { Foreign, ForeignChannel } from './foreign.ts';
import { leaveOut } from './report.ts';
import { type Desk, messages } from './take-catalogue.ts';

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
export function* takeChannels(
  foreign: Foreign,
  sold: ReadonlySet<string>,
  desk: Desk,
): Script<void> {
  const { channels } = yield* readRecorded();
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
      yield* takeChannel(channel, portion, index, place);
    if (channel.unknown.length > 0)
      desk.report.notes.push({ what, note: `not taken of it: ${channel.unknown.join(', ')}` });
  }
}

/** Keys of one channel that go to one address, and are used or not. */
interface Portion extends Omit<Reached, 'secret'> {
  readonly secrets: string[];
  readonly enabled: boolean;
}

/**
 * Most channels are one portion: others have keys that were switched off, or whose key names the
 * place where it is good.
 */
function portionsOf(channel: ForeignChannel, kind: Foreign['kind']): readonly Portion[] {
  const portions: Portion[] = [];
  for (const { secret, enabled } of channel.secrets) {
    const place = reached(channel, secret, kind);
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
  readonly desk: Desk;
}

function* takeChannel(
  channel: ForeignChannel,
  portion: Portion,
  index: number,
  { sold, priorityOf, names, desk }: Place,
): Script<void> {
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
