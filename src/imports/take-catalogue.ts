import { plainName } from '../accounts/name.ts';
import type { Bundled } from '../catalog/bundled.ts';
import { decimalText } from '../catalog/decimal.ts';
import { addChannel, type ChannelDesk, switchChannel } from '../catalog/edit-channels.ts';
import { addGroup, changeGroup } from '../catalog/edit-groups.ts';
import { modelFrom, putModel } from '../catalog/edit-models.ts';
import { lineless, type Written } from '../catalog/editing.ts';
import { publishPrice } from '../catalog/prices.ts';
import { readRecorded, type RecordedCatalogue } from '../catalog/recorded.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import { catalogTopic } from '../catalog/topic.ts';
import { priceText } from '../catalog/stored.ts';
import { bump } from '../storage/changes.ts';
import type { Script } from '../storage/database.ts';
import kinds from './data/model-kinds.json' with { type: 'json' };
import { type Reached, reached } from './channel-types.ts';
import type { Foreign, ForeignChannel } from './foreign.ts';
import { roundedUp } from './fraction.ts';
import type { Ratios } from './ratios.ts';
import type { Imported } from './remembered.ts';
import { type ImportReport, leaveOut } from './report.ts';

/** What is needed to write into the catalogue, and what has been found there. */
export interface Desk extends ChannelDesk {
  readonly imported: Imported;
  readonly report: ImportReport;
  readonly ratios: Ratios;
}

const multiplierPlaces = 6;

/** Groups that users, keys or channels name, or that have a ratio. One that is here already keeps what it costs, unless nobody has ever touched it. */
export function* takeGroups(foreign: Foreign, { imported, report, ratios, by }: Desk): Script<void> {
  const { groups: present } = yield* readRecorded();
  const ours = new Map(present.map((group) => [group.name, group]));
  for (const name of groupsOf(foreign, ratios)) {
    if (imported.before('group', name) !== undefined) {
      report.groups.before++;
      continue;
    }
    const ratio = ratios.groups.get(name);
    const multiplierPpm = ratio === undefined ? 1_000_000n : roundedUp(ratio, multiplierPlaces);
    const multiplier = decimalText(multiplierPpm, multiplierPlaces);
    const own = ours.get(name);
    const written = { name, price_multiplier: multiplier };
    const untouched = own !== undefined && own.origin === 'console' && own.version === 1;
    const done =
      own === undefined
        ? yield* addGroup(written, by.at)
        : untouched
          ? yield* changeGroup({ name, version: undefined }, written, by.at)
          : undefined;
    if (done !== undefined && done.kind !== 'done')
      leaveOut(report, 'groups', `group ${name}`, done.kind === 'wrong' ? messages(done.problems) : done.kind);
    else if (done === undefined && own?.multiplierPpm !== multiplierPpm)
      leaveOut(
        report,
        'groups',
        `group ${name}`,
        `it costs ${multiplier} there, and is here already with ${decimalText(own?.multiplierPpm ?? 0n, multiplierPlaces)}, which stays`,
      );
    else {
      report.groups.taken++;
      report.multipliers.push({ group: name, multiplier });
      yield* imported.remember('group', name, name, multiplier);
    }
    const what = `group ${name}`;
    if (ratio === undefined) report.notes.push({ what, note: 'no ratio is saved for it: prices are not multiplied' });
    if (multiplierPpm === 0n) report.notes.push({ what, note: 'everything is free there, and here' });
    if (ratios.usable?.has(name) === false)
      report.notes.push({ what, note: 'users could not choose it there (UserUsableGroups); here everybody may make a key of it' });
  }
}

function groupsOf({ users, keys, channels }: Foreign, { groups }: Ratios): readonly string[] {
  const named = [...users.map(({ group }) => group), ...keys.map(({ group }) => group), ...channels.flatMap((channel) => channel.groups)];
  return [...new Set([...groups.keys(), ...named])].filter((name) => name !== '' && name !== 'auto');
}

const messages = (problems: readonly { readonly path: string; readonly message: string }[]): string =>
  problems.map(({ path, message }) => `${path} ${message}`).join('; ');

/** Models that channels sell, with their prices. Gives those that are sold here from now on, or were before. */
export function* takeModels(foreign: Foreign, desk: Desk): Script<ReadonlySet<string>> {
  const { imported, report } = desk;
  const recorded = yield* readRecorded();
  const sold = new Set(recorded.models.filter(({ active }) => active).map(({ id }) => id));
  let changed = false;
  for (const id of new Set(foreign.channels.flatMap(({ models }) => models))) {
    if (imported.before('model', id) !== undefined) {
      report.models.before++;
      continue;
    }
    const done = yield* takeModel(id, sold.has(id), recorded, desk);
    if (done === undefined) continue;
    sold.add(id);
    report.models.taken++;
    changed = true;
    yield* imported.remember('model', id, id, done);
  }
  if (changed) yield bump(catalogTopic);
  return sold;
}

/** Its price as the database has it now; undefined: it stayed behind. */
function* takeModel(id: string, isSold: boolean, { models }: RecordedCatalogue, desk: Desk): Script<string | undefined> {
  const { report, ratios, bundled, by } = desk;
  const known = bundled.get(id);
  const own = models.find((model) => model.id === id);
  const kind = own?.kind ?? known?.facts.kind ?? kindNamed(id);
  const ratio = ratios.priceOf(id, kind, known);
  if (typeof ratio === 'string') {
    const stays = isSold ? own?.price : known?.facts.price;
    if (stays === undefined) {
      leaveOut(report, 'models', `model ${id}`, `${ratio}; name a price and import again`);
      return undefined;
    }
    report.notes.push({ what: `model ${id}`, note: `${ratio}: it costs what ${isSold ? 'it costs here' : 'the bundled list says'}` });
    return isSold ? priceText(stays) : yield* begin(id, known?.facts, desk);
  }
  const problems = lineless();
  const facts = modelFrom(writtenModel(id, kind, known, ratio.price), known?.facts, problems);
  if (facts === undefined || !problems.clean) {
    leaveOut(report, 'models', `model ${id}`, messages(problems.problems));
    return undefined;
  }
  report.prices.push({ model: id, price: ratio.price });
  report.notes.push(...ratio.notes.map((note) => ({ what: `model ${id}`, note })));
  if (Object.values(ratio.price).every((yuan) => yuan === '0'))
    report.notes.push({ what: `model ${id}`, note: 'it is free there, and here' });
  if (!isSold) return yield* begin(id, facts, desk);
  if (own !== undefined && priceText(own.price) !== priceText(facts.price)) yield* publishPrice(id, facts.price, by);
  return priceText(facts.price);
}

function* begin(id: string, facts: Parameters<typeof putModel>[0] | undefined, { by }: Desk): Script<string | undefined> {
  if (facts === undefined) return undefined;
  const [row] = yield { sql: 'SELECT * FROM models WHERE id=$1', params: [id] };
  yield* putModel(facts, row, by);
  return priceText(facts.price);
}

function writtenModel(id: string, kind: ModelKind, known: ReturnType<Bundled['get']>, price: Readonly<Record<string, string>>): Written {
  const { ownedBy, context, outputTokensMax, modalities, topSpeed, durations, shutdownDate } = known?.facts ?? {};
  const facts = { context, max_output: outputTokensMax, modalities, top_speed: topSpeed, durations, shutdown_date: shutdownDate };
  return { id, kind, owned_by: ownedBy, ...facts, price };
}

/** What a model does that no list knows, as its name says. */
function kindNamed(id: string): ModelKind {
  const found = kinds.find(({ named }) => new RegExp(named, 'i').test(id));
  // Checked by this room's tests.
  return found === undefined ? 'chat' : (found.kind as ModelKind);
}

/** More than a million to one is nobody's share. */
const weightMax = 1_000_000n;
/** As far apart as priorities may be here. */
const spreadMax = 1_000_000n;

/** Turned around, ours being lower first: as far from the highest as they are there, or, where that is out of reach, by their order. */
function prioritiesOf(channels: readonly ForeignChannel[]): (theirs: bigint) => bigint {
  const descending = [...new Set(channels.map(({ priority }) => priority)), 0n].sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  const [top = 0n, bottom = 0n] = [descending[0], descending.at(-1)];
  if (top - bottom <= spreadMax) return (theirs) => top - theirs;
  const order = new Map([...new Set(descending)].map((priority, index) => [priority, BigInt(index)]));
  return (theirs) => order.get(theirs) ?? 0n;
}

/** Channels, for the models that are sold. */
export function* takeChannels(foreign: Foreign, sold: ReadonlySet<string>, desk: Desk): Script<void> {
  const { channels } = yield* readRecorded();
  const place = { foreign, sold, priorityOf: prioritiesOf(foreign.channels), names: new Set(channels.map(({ name }) => name)), desk };
  for (const channel of foreign.channels) {
    const what = `channel ${channel.id} (${channel.name})`;
    const parts = partsOf(channel, foreign.kind);
    if (parts.length === 0)
      leaveOut(
        desk.report,
        'channels',
        what,
        channel.secrets.length === 0 ? 'it has no key' : `nothing here speaks as its type ${channel.type} does`,
      );
    for (const [index, part] of parts.entries()) yield* takeChannel(channel, part, index, place);
    if (channel.unknown.length > 0) desk.report.notes.push({ what, note: `not taken of it: ${channel.unknown.join(', ')}` });
  }
}

/** Keys of one channel that go to one address, and are used or not. */
interface Part extends Omit<Reached, 'secret'> {
  readonly secrets: string[];
  readonly enabled: boolean;
}

/** Most channels are one part: others have keys that were switched off, or whose key names the place where it is good. */
function partsOf(channel: ForeignChannel, kind: Foreign['kind']): readonly Part[] {
  const parts: Part[] = [];
  for (const { secret, enabled } of channel.secrets) {
    const place = reached(channel, secret, kind);
    if (place === undefined) continue;
    const same = parts.find((part) => part.enabled === enabled && part.baseUrl === place.baseUrl);
    if (same === undefined) parts.push({ vendor: place.vendor, baseUrl: place.baseUrl, secrets: [place.secret], enabled });
    else same.secrets.push(place.secret);
  }
  return parts;
}

interface Place {
  readonly foreign: Foreign;
  readonly sold: ReadonlySet<string>;
  readonly priorityOf: (theirs: bigint) => bigint;
  readonly names: Set<string>;
  readonly desk: Desk;
}

function* takeChannel(channel: ForeignChannel, part: Part, index: number, { sold, priorityOf, names, desk }: Place): Script<void> {
  const { imported, report } = desk;
  const theirs = `${channel.id}/${index}`;
  const what = `channel ${channel.id} (${channel.name}${part.enabled || !channel.enabled ? '' : ', keys that are off'})`;
  if (imported.before('channel', theirs) !== undefined) {
    report.channels.before++;
    return;
  }
  const models = channel.models.filter((id) => sold.has(id)).map((id) => ({ id, upstream: mapped(channel, id) }));
  if (models.length === 0) return leaveOut(report, 'channels', what, 'none of its models is sold');
  const name = freeName(channel, index, names);
  const [secret] = part.secrets;
  const written = {
    name,
    vendor: part.vendor,
    base_url: part.baseUrl,
    ...(part.secrets.length === 1 ? { api_key: secret } : { api_keys: part.secrets }),
    groups: channel.groups.filter((group) => group !== 'auto'),
    models,
    priority: String(priorityOf(channel.priority)),
    // Weights there begin at 0, and channels that have none are asked as often as each other.
    weight: String(channel.weight < 1n ? 1n : channel.weight > weightMax ? weightMax : channel.weight),
  };
  const done = yield* addChannel(written, desk);
  if (done.kind !== 'done') return leaveOut(report, 'channels', what, done.kind === 'wrong' ? messages(done.problems) : done.kind);
  if (!part.enabled) yield* switchChannel({ name, version: undefined }, 'disabled', desk.by.at);
  names.add(name);
  report.channels.taken++;
  yield* imported.remember('channel', theirs, name, part.vendor);
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
