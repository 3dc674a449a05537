import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Script, SqlValue, Statement } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { Catalogue } from './build-snapshot.ts';
import type { Configuration } from './configuration.ts';
import type { Channel, ChannelFacts, Group, Model } from './snapshot.ts';
import { factsText, parseFacts, priceText } from './stored.ts';

/** The topic under which every process hears that the catalogue changed. */
export const catalogTopic = 'catalog';
const secretPurpose = 'channel';

/** What `record` found. `changed`: something did, and the other processes hear of it. */
export interface Recorded {
  readonly changed: boolean;
  /** Models that keep an imported price which the configuration does not name. */
  readonly keptPrices: readonly string[];
}

/**
 * Makes the database say what the configuration says. A model's `created` stays what it was when it was first recorded. A price that was
 * changed in the database (by an import) holds until the configuration names another one than it did the last time.
 */
export function record(database: Database, configuration: Configuration, sealer: Sealer, clock: Clock): Promise<Recorded> {
  const created = Math.floor(clock.now() / 1000);
  return database.transact(() => recording(configuration, sealer, created));
}

function* recording(configuration: Configuration, sealer: Sealer, created: number): Script<Recorded> {
  const version = (yield* lockVersion()) + 1n;
  const changes = [
    ...groupChanges(configuration.groups, yield select('SELECT * FROM model_groups')),
    ...channelChanges(configuration.channels, yield select('SELECT * FROM channels'), sealer, version),
  ];
  const before = byName(yield select('SELECT * FROM models'), 'id');
  changes.push(...modelChanges(configuration, before, created));
  for (const change of changes) yield change;
  if (changes.length > 0) yield bump(catalogTopic);
  const keptPrices = configuration.models.filter((model) => keepsPrice(before.get(model.id), priceText(model.price))).map(({ id }) => id);
  return { changed: changes.length > 0, keptPrices };
}

/** Takes the catalogue for this transaction alone; returns its version. */
export function* lockVersion(): Script<bigint> {
  const [row] = yield { sql: 'UPDATE change SET version = version WHERE topic = $1 RETURNING version', params: [catalogTopic] };
  assert(typeof row?.['version'] === 'bigint', 'the catalogue has a version');
  return row['version'];
}

function select(sql: string): Statement {
  return { sql, params: [] };
}

function byName(rows: readonly Row[], name: string): ReadonlyMap<unknown, Row> {
  return new Map(rows.map((row) => [row[name], row]));
}

/** One row to be written: `values` by column, the key first. Nothing where the row already says so. */
function upsert(table: string, values: Readonly<Record<string, SqlValue>>, before: Row | undefined): readonly Statement[] {
  const columns = Object.keys(values);
  if (before !== undefined && columns.every((column) => sameValue(values[column], before[column]))) return [];
  const [key] = columns;
  const places = columns.map((_, index) => `$${index + 1}`);
  const updates = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')}) ON CONFLICT (${key}) DO UPDATE SET ${updates.join(', ')}`;
  return [{ sql, params: Object.values(values) }];
}

function sameValue(a: SqlValue | undefined, b: SqlValue | undefined): boolean {
  return a === b || (a !== null && b !== null && typeof a !== typeof b && String(a) === String(b));
}

function removals(table: string, key: string, before: ReadonlyMap<unknown, Row>, kept: ReadonlySet<unknown>): readonly Statement[] {
  const gone = [...before.values()].map((row) => row[key] ?? null).filter((name) => !kept.has(name));
  return gone.map((name) => ({ sql: `DELETE FROM ${table} WHERE ${key} = $1`, params: [name] }));
}

function groupChanges(groups: readonly Group[], rows: readonly Row[]): readonly Statement[] {
  const before = byName(rows, 'name');
  const written = groups.flatMap(({ name, multiplierPpm, limits: { rpm = null, tpm = null, concurrency = null } }) =>
    upsert('model_groups', { name, multiplier_ppm: multiplierPpm, rpm, tpm, concurrency }, before.get(name)),
  );
  return [...written, ...removals('model_groups', 'name', before, new Set(groups.map(({ name }) => name)))];
}

function channelChanges(channels: readonly ChannelFacts[], rows: readonly Row[], sealer: Sealer, version: bigint): readonly Statement[] {
  const before = byName(rows, 'name');
  const written = channels.flatMap((channel) => {
    const row = before.get(channel.name);
    const { name, vendor, baseUrl = null, priority, weight } = channel;
    const sameSecret = row !== undefined && secretIn(row, sealer) === channel.secret;
    const secret = sameSecret ? (row['secret'] ?? null) : channel.secret === undefined ? null : sealer.seal(secretPurpose, channel.secret);
    const sameAddress = sameSecret && row['vendor'] === vendor && row['base_url'] === baseUrl;
    const revision = sameAddress ? (row['revision'] ?? version) : version;
    const models = JSON.stringify([...channel.models].map(([id, upstream]) => [id, upstream, ...lengthsOf(channel, id)]));
    return upsert(
      'channels',
      { name, vendor, base_url: baseUrl, secret, group_names: JSON.stringify(channel.groups), models, priority, weight, revision },
      row,
    );
  });
  return [...written, ...removals('channels', 'name', before, new Set(channels.map(({ name }) => name)))];
}

const lengthsOf = ({ durations }: ChannelFacts, id: string): readonly (readonly number[])[] => {
  const lengths = durations?.get(id);
  return lengths === undefined ? [] : [lengths];
};

/** What cannot be opened any more, because the master key is another one, is sealed anew. */
function secretIn(row: Row, sealer: Sealer): string | undefined | null {
  const { secret } = row;
  if (typeof secret !== 'string') return undefined;
  try {
    return sealer.unseal(secretPurpose, secret);
  } catch {
    return null;
  }
}

function modelChanges({ models }: Configuration, before: ReadonlyMap<unknown, Row>, created: number): readonly Statement[] {
  const written = models.flatMap((model) => {
    const row = before.get(model.id);
    const configured = priceText(model.price);
    const price = keepsPrice(row, configured) ? (row?.['price'] ?? configured) : configured;
    return upsert(
      'models',
      { id: model.id, facts: factsText(model), configured_price: configured, price, created: row?.['created'] ?? created, active: 1n },
      row,
    );
  });
  const kept = new Set<unknown>(models.map(({ id }) => id));
  const gone = [...before.values()].filter((row) => row['active'] === 1n && !kept.has(row['id']));
  return [...written, ...gone.map((row) => ({ sql: 'UPDATE models SET active = 0 WHERE id = $1', params: [row['id'] ?? null] }))];
}

function keepsPrice(row: Row | undefined, configured: string): boolean {
  return row !== undefined && row['configured_price'] === configured && row['price'] !== configured;
}

/** The catalogue as recorded, secrets opened. Throws when the master key is not the one that sealed them. */
export function load(database: Database, sealer: Sealer): Promise<Catalogue> {
  return database.snapshot(() => loading(sealer));
}

function* loading(sealer: Sealer): Script<Catalogue> {
  const [change] = yield { sql: 'SELECT version FROM change WHERE topic = $1', params: [catalogTopic] };
  const groups = (yield select('SELECT * FROM model_groups ORDER BY name')).map(groupOf);
  const models = (yield select('SELECT * FROM models WHERE active = 1 ORDER BY id')).map(modelOf);
  const channels = (yield select('SELECT * FROM channels ORDER BY name')).map((row) => channelOf(row, sealer));
  return { version: String(change?.['version']), groups, models, channels };
}

/** The names of the groups that a key can be made for. */
export async function groupNames(database: Database): Promise<readonly string[]> {
  const rows = await database.query('SELECT name FROM model_groups ORDER BY name');
  return rows.map((row) => String(row['name']));
}

function groupOf(row: Row): Group {
  const limit = (column: string): number | undefined => (row[column] === null ? undefined : Number(row[column]));
  return {
    name: String(row['name']),
    multiplierPpm: BigInt(row['multiplier_ppm'] ?? 0),
    limits: { rpm: limit('rpm'), tpm: limit('tpm'), concurrency: limit('concurrency') },
  };
}

function modelOf(row: Row): Model {
  return { ...parseFacts(String(row['id']), String(row['facts']), String(row['price'])), created: Number(row['created']) };
}

function channelOf(row: Row, sealer: Sealer): Channel {
  const { base_url: baseUrl, secret } = row;
  const models = JSON.parse(String(row['models'])) as readonly (readonly [string, string, (readonly number[])?])[];
  const durations = models.flatMap(([id, , lengths]) => (lengths === undefined ? [] : [[id, lengths] as const]));
  return {
    name: String(row['name']),
    vendor: String(row['vendor']),
    baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined,
    secret: typeof secret === 'string' ? sealer.unseal(secretPurpose, secret) : undefined,
    groups: JSON.parse(String(row['group_names'])) as readonly string[],
    priority: Number(row['priority']),
    weight: Number(row['weight']),
    models: new Map(models.map(([id, upstream]) => [id, upstream])),
    ...(durations.length === 0 ? {} : { durations: new Map(durations) }),
    revision: Number(row['revision']),
  };
}
