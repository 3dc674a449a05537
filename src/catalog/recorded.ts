import type { Database, Row, Script } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { Price } from './price.ts';
import { channelOf, costsOf, endingsOf, groupOf, modelOf } from './rows.ts';
import type { Channel, Group, Model } from './snapshot.ts';

/**
 * Whose an object is: what the configuration names is changed there, and the console lets it be.
 */
export type Origin = 'configuration' | 'console';

/** `version` counts the changes of one object; `changedAt` is wall clock, ms. */
export interface Managed {
  readonly origin: Origin;
  readonly version: number;
  readonly changedAt: number;
}

export interface RecordedGroup extends Group, Managed {}

export interface RecordedModel extends Model, Managed {
  readonly active: boolean;
  readonly priceVersion: number;
}

/** `draining`: takes no requests any more; what runs there ends by itself. */
export type ChannelSwitch = 'active' | 'draining' | 'disabled';

/** A channel without its secret, which is never shown again. */
export interface RecordedChannel
  extends Omit<Channel, 'secret' | 'moreSecrets' | 'resting' | 'keyNumber'>,
    Managed {
  readonly state: ChannelSwitch;
  /** `last4`: undefined where the secret is too short to tell of it. `since`: wall clock, ms. */
  readonly secret:
    | { readonly last4: string | undefined; readonly since: number | undefined }
    | undefined;
  /** What the vendor takes for each model, where the operator has entered it. */
  readonly costs: ReadonlyMap<string, Price>;
}

export function recordedGroup(row: Row): RecordedGroup {
  return { ...groupOf(row), ...managedOf(row) };
}

export function recordedModel(row: Row): RecordedModel {
  return {
    ...modelOf(row),
    ...managedOf(row),
    active: row['active'] === 1n,
    priceVersion: Number(row['price_version']),
  };
}

export function recordedChannel(row: Row): RecordedChannel {
  const { resting: _, ...channel } = channelOf(row);
  const { state, secret, secret_last4: last4, secret_at: since } = row;
  // Written by `costsText`.
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
 * What the keys of each channel end with, by its name: undefined where one is too short to tell of
 * it, or was sealed by another master key.
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

function managedOf(row: Row): Managed {
  return {
    origin: row['origin'] === 'console' ? 'console' : 'configuration',
    version: Number(row['version']),
    changedAt: Number(row['changed_at']),
  };
}

/** All that is recorded, as operators see it: models that are sold no more included. By name. */
export interface RecordedCatalogue {
  readonly groups: readonly RecordedGroup[];
  readonly models: readonly RecordedModel[];
  readonly channels: readonly RecordedChannel[];
}

export function recordedCatalogue(database: Database): Promise<RecordedCatalogue> {
  return database.snapshot(readRecorded);
}

/** The same as a part of a transaction. */
export function* readRecorded(): Script<RecordedCatalogue> {
  const groups = yield { sql: 'SELECT * FROM model_groups ORDER BY name', params: [] };
  const models = yield { sql: 'SELECT * FROM models ORDER BY id', params: [] };
  const channels = yield { sql: 'SELECT * FROM channels ORDER BY name', params: [] };
  return {
    groups: groups.map(recordedGroup),
    models: models.map(recordedModel),
    channels: channels.map(recordedChannel),
  };
}
