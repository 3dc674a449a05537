import type { Clock } from '../base/clock.ts';
import { bump, readVersion } from '../storage/changes.ts';
import type { Database, Row, Transaction, Statement } from '../storage/database.ts';
import type { Resealer, Sealer } from '../storage/seal.ts';
import type { Catalog } from './build-snapshot.ts';
import { type Configuration, defaultGroup } from './configuration.ts';
import { publishPrice } from './price-versions.ts';
import {
  channelColumns,
  costsText,
  channelOf,
  groupColumns,
  groupOf,
  modelOf,
  openSecrets,
  resealedSecrets,
  secretColumns,
  upsert,
} from './stored-catalog.ts';
import type { ChannelFacts, Group, ModelFacts } from './snapshot.ts';
import { factsText, priceText } from './price-json.ts';
import { catalogTopic, lockCatalogVersion } from './editing.ts';

/**
 * The result of `recordConfiguration`. `changed`: something changed, and the other processes are
 * notified.
 */
export interface RecordResult {
  readonly changed: boolean;
  /** Models that keep an imported price which the configuration does not name. */
  readonly keptPrices: readonly string[];
  /** Models that lose a price of an import or of the console to a new one of the configuration. */
  readonly replacedPrices: readonly string[];
}

interface Recording {
  readonly sealer: Sealer;
  readonly version: bigint;
  readonly at: number;
  /** Who may change what is recorded. */
  readonly origin: 'configuration' | 'console';
}

/**
 * Makes the database match the configuration. Entries that the configuration names belong to it,
 * even those that the console made; entries that the console made and the configuration does not
 * name stay. A model keeps the `created` of its first recording. A price that was changed in the
 * database (by an import, or in the console) holds until the configuration names another price than
 * it did the last time.
 */
export function recordConfiguration(
  database: Database,
  configuration: Configuration,
  sealer: Sealer,
  clock: Clock,
): Promise<RecordResult> {
  const at = clock.now();
  return database.transact(() =>
    configuration.seed === true
      ? seeding(configuration, sealer, at)
      : recording(configuration, sealer, at, 'configuration'),
  );
}

/** Fills an empty catalog; what another one holds becomes the console's. */
function* seeding(
  configuration: Configuration,
  sealer: Sealer,
  at: number,
): Transaction<RecordResult> {
  const channels = yield select('SELECT * FROM channels');
  if (channels.length === 0) return yield* recording(configuration, sealer, at, 'console');
  yield* lockCatalogVersion();
  for (const table of ['model_groups', 'models', 'channels'])
    yield {
      sql: `UPDATE ${table} SET origin='console', version=version+1 WHERE origin='configuration'`,
      params: [],
    };
  for (const { name, baseUrl } of configuration.channels) {
    const kept = channels.find((row) => row['name'] === name)?.['base_url'];
    if (baseUrl !== undefined && kept !== baseUrl && differsInPort(String(kept), baseUrl))
      yield {
        sql: 'UPDATE channels SET base_url=$1, version=version+1 WHERE name=$2',
        params: [baseUrl, name],
      };
  }
  yield bump(catalogTopic);
  return { changed: true, keptPrices: [], replacedPrices: [] };
}

/** The seed's vendors are at another port than at the last start. */
function differsInPort(kept: string, now: string): boolean {
  if (!URL.canParse(kept)) return false;
  const [a, b] = [new URL(kept), new URL(now)];
  a.port = b.port;
  return a.href === b.href;
}

function* recording(
  { groups, channels, models }: Configuration,
  sealer: Sealer,
  at: number,
  origin: Recording['origin'],
): Transaction<RecordResult> {
  const version = (yield* lockCatalogVersion()) + 1n;
  const by = { sealer, version, at, origin };
  const changes = [
    ...groupChanges(groups, yield select('SELECT * FROM model_groups'), by),
    ...channelChanges(channels, yield select('SELECT * FROM channels'), by),
  ];
  const before = byName(yield select('SELECT * FROM models'), 'id');
  changes.push(...modelChanges(models, before, by));
  for (const change of changes) yield change;
  const repriced = models.filter(
    ({ id, price }) => before.has(id) && namesNewPrice(before.get(id), priceText(price)),
  );
  for (const { id, price } of repriced)
    yield* publishPrice(id, price, { source: 'configuration', at });
  const changed = changes.length > 0 || repriced.length > 0;
  if (changed) yield bump(catalogTopic);
  return {
    changed,
    keptPrices: models
      .filter((model) => keepsPrice(before.get(model.id), priceText(model.price)))
      .map(({ id }) => id),
    replacedPrices: repriced.filter(({ id }) => changedHere(before.get(id))).map(({ id }) => id),
  };
}

function select(sql: string): Statement {
  return { sql, params: [] };
}

function byName(rows: readonly Row[], name: string): ReadonlyMap<unknown, Row> {
  return new Map(rows.map((row) => [row[name], row]));
}

const ofConfiguration = (row: Row): boolean => row['origin'] === 'configuration';

/** Deletes the rows that the configuration made and no longer names. */
function removals(
  table: string,
  key: string,
  before: ReadonlyMap<unknown, Row>,
  kept: ReadonlySet<unknown>,
): readonly Statement[] {
  const gone = [...before.values()].filter((row) => ofConfiguration(row) && !kept.has(row[key]));
  return gone.map((row) => ({
    sql: `DELETE FROM ${table} WHERE ${key} = $1`,
    params: [row[key] ?? null],
  }));
}

function groupChanges(
  groups: readonly Group[],
  rows: readonly Row[],
  { at, origin }: Recording,
): readonly Statement[] {
  const before = byName(rows, 'name');
  const written = groups.flatMap((group) => {
    const row = before.get(group.name);
    if (group !== defaultGroup)
      return upsert('model_groups', { ...groupColumns(group), origin }, row, at);
    // No file names the default group: it exists from the beginning, and the console may change it.
    const untouched = row === undefined || ofConfiguration(row);
    return untouched
      ? upsert('model_groups', { ...groupColumns(group), origin: 'console' }, row, at)
      : [];
  });
  return [
    ...written,
    ...removals('model_groups', 'name', before, new Set(groups.map(({ name }) => name))),
  ];
}

function channelChanges(
  channels: readonly ChannelFacts[],
  rows: readonly Row[],
  recording: Recording,
): readonly Statement[] {
  const before = byName(rows, 'name');
  const written = channels.flatMap((channel) => {
    const row = before.get(channel.name);
    const costs = channel.costs === undefined ? {} : { costs: costsText(channel.costs) };
    const columns = {
      ...channelColumns(channel),
      ...secretColumns(channel, row, recording),
      ...costs,
      origin: recording.origin,
    };
    return upsert('channels', columns, row, recording.at);
  });
  return [
    ...written,
    ...removals('channels', 'name', before, new Set(channels.map(({ name }) => name))),
  ];
}

function modelChanges(
  models: readonly ModelFacts[],
  before: ReadonlyMap<unknown, Row>,
  { at, origin }: Recording,
): readonly Statement[] {
  const written = models.flatMap((model) => {
    const row = before.get(model.id);
    const price = priceText(model.price);
    const columns = {
      id: model.id,
      facts: factsText(model),
      configured_price: origin === 'configuration' ? price : '',
      active: 1n,
      origin,
    };
    const begun = {
      price: row?.['price'] ?? price,
      created: row?.['created'] ?? Math.floor(at / 1000),
    };
    return [
      ...upsert('models', { ...columns, ...begun }, row, at),
      ...(row === undefined ? [firstPrice(model.id, price, at, origin)] : []),
    ];
  });
  const kept = new Set<unknown>(models.map(({ id }) => id));
  const gone = [...before.values()].filter(
    (row) => row['active'] === 1n && ofConfiguration(row) && !kept.has(row['id']),
  );
  return [
    ...written,
    ...gone.map((row) => ({
      sql: 'UPDATE models SET active = 0 WHERE id = $1',
      params: [row['id'] ?? null],
    })),
  ];
}

/** One statement, since the first start records hundreds of models. */
function firstPrice(id: string, price: string, at: number, source: Recording['origin']): Statement {
  const sql =
    'INSERT INTO price_versions (model, version, price, source, published_at, effective_at) VALUES ($1, 1, $2, $4, $3, $3)';
  return { sql, params: [id, price, at, source] };
}

function namesNewPrice(row: Row | undefined, price: string): boolean {
  return row?.['price'] !== price && !keepsPrice(row, price);
}

/** The price in the database is an import's or the console's. */
function changedHere(row: Row | undefined): boolean {
  return row !== undefined && row['configured_price'] !== row['price'];
}

function keepsPrice(row: Row | undefined, price: string): boolean {
  return changedHere(row) && row?.['configured_price'] === price;
}

/**
 * The recorded catalog, with secrets opened. Throws when the master key is not the one that
 * sealed them.
 */
export function loadCatalog(database: Database, sealer: Sealer): Promise<Catalog> {
  return database.snapshot(() => loading(sealer), 'brief');
}

function* loading(sealer: Sealer): Transaction<Catalog> {
  const [change] = yield readVersion(catalogTopic);
  const groups = (yield select('SELECT * FROM model_groups ORDER BY name')).map(groupOf);
  const models = (yield select('SELECT * FROM models WHERE active = 1 ORDER BY id')).map(modelOf);
  const channels = (yield select('SELECT * FROM channels ORDER BY name')).map((row) => ({
    ...channelOf(row),
    ...openSecrets(row, sealer),
  }));
  return { version: String(change?.['version']), groups, models, channels };
}

/**
 * Seals the channels' secrets anew that the master key before has sealed; returns how many channels
 * had such.
 */
export function resealChannels(database: Database, resealer: Resealer): Promise<number> {
  return database.transact(function* (): Transaction<number> {
    yield* lockCatalogVersion();
    let resealed = 0;
    for (const row of yield select('SELECT name, secret, more_secrets FROM channels')) {
      const columns = resealedSecrets(row, resealer);
      if (columns === undefined) continue;
      const { secret, more_secrets: more } = columns;
      yield {
        sql: 'UPDATE channels SET secret=$2, more_secrets=$3 WHERE name=$1',
        params: [row['name'] ?? null, secret, more],
      };
      resealed++;
    }
    return resealed;
  });
}

/** The ids of all recorded models, retired ones included. */
export async function modelNames(database: Database): Promise<readonly string[]> {
  const rows = await database.query('SELECT id FROM models');
  return rows.map((row) => String(row['id']));
}

/** The names of the groups that a key can be made for. */
export async function groupNames(database: Database): Promise<readonly string[]> {
  const rows = await database.query('SELECT name FROM model_groups ORDER BY name');
  return rows.map((row) => String(row['name']));
}
