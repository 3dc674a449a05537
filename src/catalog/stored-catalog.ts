import { routingPolicies } from '../base/routing-policy.ts';
import type { Row, SqlValue, Statement, Database, Transaction } from '../storage/database.ts';
import { optionalNumber, placeholders } from '../storage/sql.ts';
import type { Resealer, Sealer } from '../storage/seal.ts';
import type { Price } from './price.ts';
import type { Channel, ChannelFacts, Group, Model } from './snapshot.ts';
import { parseFacts, parsePrice, priceText } from './price-json.ts';

/** A row of a group, model or channel, by column. */
export type Columns = Readonly<Record<string, SqlValue>>;

const secretPurpose = 'channel';
const moreSecretsPurpose = 'more keys of a channel';
const shownChars = 4;
/** Four characters of a shorter secret would reveal too much. */
const shownOfChars = 12;

/**
 * The statement that writes one row: `values` by column, the key first. Empty where the row already
 * has these values.
 */
export function upsert(
  table: string,
  values: Columns,
  before: Row | undefined,
  at: number,
): readonly Statement[] {
  if (
    before !== undefined &&
    Object.entries(values).every(([column, value]) => sameValue(value, before[column]))
  )
    return [];
  const columns = [...Object.keys(values), 'changed_at'];
  const [key] = columns;
  const updates = [
    ...columns.slice(1).map((column) => `${column}=excluded.${column}`),
    `version=${table}.version+1`,
  ];
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders(columns)}) ON CONFLICT (${key}) DO UPDATE SET ${updates.join(', ')}`;
  return [{ sql, params: [...Object.values(values), at] }];
}

function sameValue(a: SqlValue | undefined, b: SqlValue | undefined): boolean {
  return a === b || (a !== null && b !== null && typeof a !== typeof b && String(a) === String(b));
}

export function groupColumns({
  name,
  multiplierPpm,
  limits: { rpm, tpm, concurrency },
  policy = 'weighted',
  fallbackModels,
}: Group): Columns {
  return {
    name,
    multiplier_ppm: multiplierPpm,
    rpm: rpm ?? null,
    tpm: tpm ?? null,
    concurrency: concurrency ?? null,
    policy,
    fallback_models: fallbackModels === undefined ? null : JSON.stringify(fallbackModels),
  };
}

/** All columns except those of `secretColumns`. */
export function channelColumns(channel: ChannelFacts): Columns {
  const {
    name,
    vendor,
    baseUrl,
    groups,
    models,
    durations,
    priority,
    weight,
    billsCancelledInput = false,
  } = channel;
  const sold = [...models].map(([id, upstream]) => {
    const lengths = durations?.get(id);
    return lengths === undefined ? [id, upstream] : [id, upstream, lengths];
  });
  const lists = { group_names: JSON.stringify(groups), models: JSON.stringify(sold) };
  return {
    name,
    vendor,
    base_url: baseUrl ?? null,
    ...lists,
    priority,
    weight,
    bills_cancelled_input: billsCancelledInput ? 1 : 0,
  };
}

/**
 * The columns that depend on the secret. Another secret or address gives the channel a new
 * `revision`; the same ones leave these columns unchanged.
 */
export function secretColumns(
  { vendor, baseUrl, secret, moreSecrets }: ChannelFacts,
  row: Row | undefined,
  {
    sealer,
    version,
    at,
  }: { readonly sealer: Sealer; readonly version: bigint; readonly at: number },
): Columns {
  const [first, ...more] = row === undefined ? [null] : (secretsIn(row, sealer) ?? [null]);
  const sameSecret =
    row !== undefined &&
    first === secret &&
    JSON.stringify(more) === JSON.stringify(moreSecrets ?? []);
  const sameAddress =
    sameSecret && row['vendor'] === vendor && row['base_url'] === (baseUrl ?? null);
  const revision = sameAddress ? (row['revision'] ?? version) : version;
  if (sameSecret) return { revision };
  const sealed = secret === undefined ? null : sealer.seal(secretPurpose, secret);
  const last4 = (secret === undefined ? undefined : endingOf(secret)) ?? null;
  const moreSealed =
    moreSecrets === undefined ? null : sealer.seal(moreSecretsPurpose, JSON.stringify(moreSecrets));
  return {
    revision,
    secret: sealed,
    more_secrets: moreSealed,
    secret_last4: last4,
    secret_at: secret === undefined ? null : at,
  };
}

const endingOf = (secret: string): string | undefined =>
  secret.length < shownOfChars ? undefined : secret.slice(-shownChars);

/** The last characters of each of a channel's keys. A single key does not have to be unsealed. */
export function endingsOf(row: Row, sealer: Sealer): readonly (string | undefined)[] {
  const { secret, more_secrets: more, secret_last4: last4 } = row;
  if (typeof secret !== 'string') return [];
  if (typeof more !== 'string') return [typeof last4 === 'string' ? last4 : undefined];
  return (secretsIn(row, sealer) ?? ['', '']).map((key) =>
    key === undefined ? undefined : endingOf(key),
  );
}

/**
 * Returns undefined for secrets that another master key sealed: they are replaced by newly sealed
 * ones.
 */
function secretsIn(
  row: Row,
  sealer: Sealer,
): readonly [string | undefined, ...string[]] | undefined {
  try {
    const { secret, moreSecrets = [] } = openSecrets(row, sealer);
    return [secret, ...moreSecrets];
  } catch {
    return undefined;
  }
}

/** Throws when the master key is not the one that sealed it. */
export function openSecrets(
  { secret, more_secrets: more }: Row,
  sealer: Sealer,
): Pick<ChannelFacts, 'secret' | 'moreSecrets'> {
  return {
    secret: typeof secret === 'string' ? sealer.unseal(secretPurpose, secret) : undefined,
    ...(typeof more === 'string'
      ? { moreSecrets: JSON.parse(sealer.unseal(moreSecretsPurpose, more)) as readonly string[] }
      : {}),
  };
}

/** The same secrets, sealed anew; undefined where nothing is to be done. */
export function resealedSecrets(
  { secret = null, more_secrets: more = null }: Row,
  resealer: Resealer,
): { readonly secret: SqlValue; readonly more_secrets: SqlValue } | undefined {
  const again = (purpose: string, sealed: SqlValue) =>
    typeof sealed === 'string' ? resealer.reseal(purpose, sealed) : undefined;
  const [one, several] = [again(secretPurpose, secret), again(moreSecretsPurpose, more)];
  if (one === undefined && several === undefined) return undefined;
  return { secret: one ?? secret, more_secrets: several ?? more };
}

export function groupOf(row: Row): Group {
  return {
    name: String(row['name']),
    multiplierPpm: BigInt(row['multiplier_ppm'] ?? 0),
    limits: {
      rpm: optionalNumber(row, 'rpm'),
      tpm: optionalNumber(row, 'tpm'),
      concurrency: optionalNumber(row, 'concurrency'),
    },
    ...policyOf(row),
    ...fallbackModelsOf(row),
  };
}

function fallbackModelsOf({ fallback_models: written }: Row): Pick<Group, 'fallbackModels'> {
  return typeof written === 'string' ? { fallbackModels: JSON.parse(written) } : {};
}

/** A policy that a newer version has written and this one does not know is ignored. */
function policyOf({ policy: written }: Row): Pick<Group, 'policy'> {
  const policy = routingPolicies.find((one) => one === written);
  return policy === undefined || policy === 'weighted' ? {} : { policy };
}

export function modelOf(row: Row): Model {
  return {
    ...parseFacts(String(row['id']), String(row['facts']), String(row['price'])),
    created: Number(row['created']),
  };
}

/** The vendor's prices by model, from the column `costs`. */
export function costsOf({ costs }: Row): ReadonlyMap<string, Price> {
  const stored = Object.entries(JSON.parse(String(costs)) as Readonly<Record<string, string>>);
  return new Map(stored.map(([model, price]) => [model, parsePrice(price)]));
}

export function costsText(costs: ReadonlyMap<string, Price>): string {
  return JSON.stringify(
    Object.fromEntries([...costs].map(([model, price]) => [model, priceText(price)])),
  );
}

export function channelOf(row: Row): Omit<Channel, 'secret' | 'moreSecrets'> {
  const { base_url: baseUrl } = row;
  const models = JSON.parse(String(row['models'])) as readonly (readonly [
    string,
    string,
    (readonly number[])?,
  ])[];
  const durations = models.flatMap(([id, , lengths]) =>
    lengths === undefined ? [] : [[id, lengths] as const],
  );
  return {
    name: String(row['name']),
    vendor: String(row['vendor']),
    baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined,
    groups: JSON.parse(String(row['group_names'])) as readonly string[],
    priority: Number(row['priority']),
    weight: Number(row['weight']),
    models: new Map(models.map(([id, upstream]) => [id, upstream])),
    ...(durations.length === 0 ? {} : { durations: new Map(durations) }),
    ...(row['bills_cancelled_input'] === 1n && { billsCancelledInput: true as const }),
    ...(row['costs'] === '{}' ? {} : { costs: costsOf(row) }),
    revision: Number(row['revision']),
    ...(row['state'] === 'active' ? {} : { resting: true as const }),
  };
}

/** The owner of an object. Only the file changes objects that the configuration names. */
type EntryOrigin = 'configuration' | 'console';

/** `version` counts the changes of one object; `changedAt` is wall clock, ms. */
export interface StoredEntry {
  readonly origin: EntryOrigin;
  readonly version: number;
  readonly changedAt: number;
}

export interface StoredGroup extends Group, StoredEntry {}

export interface StoredModel extends Model, StoredEntry {
  readonly active: boolean;
  readonly priceVersion: number;
}

/** `draining`: gets no new requests; those that run there finish. */
export type ChannelSwitch = 'active' | 'draining' | 'disabled';

/** A channel without its secret, which is never shown again. */
export interface StoredChannel
  extends Omit<Channel, 'secret' | 'moreSecrets' | 'resting' | 'keyNumber'>,
    StoredEntry {
  readonly state: ChannelSwitch;
  /**
   * `last4`: undefined where the secret is too short to show four characters of it. `since`: wall
   * clock, ms.
   */
  readonly secret:
    | { readonly last4: string | undefined; readonly since: number | undefined }
    | undefined;
  /** The vendor's price of each model, where the operator has entered it. */
  readonly costs: ReadonlyMap<string, Price>;
}

export function storedGroup(row: Row): StoredGroup {
  return { ...groupOf(row), ...managedOf(row) };
}

export function storedModel(row: Row): StoredModel {
  return {
    ...modelOf(row),
    ...managedOf(row),
    active: row['active'] === 1n,
    priceVersion: Number(row['price_version']),
  };
}

export function storedChannel(row: Row): StoredChannel {
  const { resting: _, ...channel } = channelOf(row);
  const { state, secret, secret_last4: last4, secret_at: since } = row;
  return {
    ...channel,
    ...managedOf(row),
    state: state === 'draining' || state === 'disabled' ? state : 'active',
    secret:
      typeof secret === 'string'
        ? {
            last4: typeof last4 === 'string' ? last4 : undefined,
            since: typeof since === 'bigint' ? Number(since) : undefined,
          }
        : undefined,
    costs: costsOf(row),
  };
}

/**
 * The last characters of each channel's keys, by channel name; undefined for a key that is too
 * short to show them, or that another master key sealed.
 */
export async function keyEndings(
  database: Database,
  sealer: Sealer,
): Promise<ReadonlyMap<string, readonly (string | undefined)[]>> {
  const rows = await database.query(
    'SELECT name, secret, more_secrets, secret_last4 FROM channels',
  );
  return new Map(rows.map((row) => [String(row['name']), endingsOf(row, sealer)]));
}

function managedOf(row: Row): StoredEntry {
  return {
    origin: row['origin'] === 'console' ? 'console' : 'configuration',
    version: Number(row['version']),
    changedAt: Number(row['changed_at']),
  };
}

/**
 * The whole recorded catalog as operators see it, by name; models that are no longer sold are
 * included.
 */
export interface StoredCatalog {
  readonly groups: readonly StoredGroup[];
  readonly models: readonly StoredModel[];
  readonly channels: readonly StoredChannel[];
}

export function storedCatalog(database: Database): Promise<StoredCatalog> {
  return database.snapshot(readStoredCatalog);
}

/** `storedCatalog` as a part of a transaction. */
export function* readStoredCatalog(): Transaction<StoredCatalog> {
  const groups = yield { sql: 'SELECT * FROM model_groups ORDER BY name', params: [] };
  const models = yield { sql: 'SELECT * FROM models ORDER BY id', params: [] };
  const channels = yield { sql: 'SELECT * FROM channels ORDER BY name', params: [] };
  return {
    groups: groups.map(storedGroup),
    models: models.map(storedModel),
    channels: channels.map(storedChannel),
  };
}
