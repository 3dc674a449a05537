import type { Fraction } from '../base/fraction.ts';
import { type JsonObject, objectOf, parse } from '../base/json.ts';
import type { Row } from '../storage/database.ts';
import { type ImportSource, ImportSourceError } from './source.ts';
import types from './data/channel-types.json' with { type: 'json' };

/** Reads a whole new-api or one-api database. Throws an `ImportSourceError` when it is none. */
export async function readNewApi(source: ImportSource): Promise<ForeignInstallation> {
  // Tollgate's own database has users and channels, with other columns, and neither of these two.
  const tokens = await rowsOf(source, 'tokens', 'id');
  const options = await rowsOf(source, 'options', 'key');
  const users = await rowsOf(source, 'users', 'id');
  const channels = await rowsOf(source, 'channels', 'id');
  // one-api has none of these columns. An empty table shows no columns.
  const markers: readonly (readonly [readonly Row[], string])[] = [
    [users, 'aff_quota'],
    [tokens, 'model_limits_enabled'],
    [channels, 'setting'],
  ];
  const descended = markers.some(([rows, column]) => rows[0] !== undefined && column in rows[0]);
  const kind = descended ? 'new-api' : 'one-api';
  return {
    kind,
    users: users.map((row) => userOf(row, kind)),
    keys: tokens.map(keyOf),
    channels: channels.map(channelOf),
    options: new Map(options.map((row) => [text(row, 'key'), text(row, 'value')])),
    beside: await leftOutTables(source),
  };
}

async function rowsOf(source: ImportSource, table: string, by: string): Promise<readonly Row[]> {
  const rows = await source.rows(table, by);
  if (rows !== undefined) return rows;
  throw new ImportSourceError(
    `this is no database of new-api or one-api: it has no table ${table}`,
  );
}

/**
 * Roles: 1 user, 10 administrator, 100 root; 0 is a guest, who has no account
 * (common/constants.go).
 */
function userOf(row: Row, kind: ForeignInstallation['kind']): ForeignUser {
  const github = text(row, 'github_id');
  return {
    id: text(row, 'id'),
    name: text(row, 'username'),
    email: text(row, 'email').trim() || undefined,
    operator: number(row, 'role') >= 10n,
    enabled: number(row, 'status') === 1n,
    deleted: isDeleted(row),
    // one-api stores the login name in this column, as new-api did at first; a login name may later
    // belong to another person, and may be all digits.
    github: kind === 'new-api' && /^[1-9]\d{0,18}$/.test(github) ? github : undefined,
    group: text(row, 'group') || 'default',
    quota: number(row, 'quota'),
    rewards: number(row, 'aff_quota'),
    createdAt: time(row, 'created_at'),
  };
}

/**
 * States: 1 enabled, 2 disabled, 3 expired, 4 exhausted. A key of any state but 1 is refused there,
 * also where its expiry or limit was changed later (model/token.go, ValidateUserToken).
 */
function keyOf(row: Row): ForeignKey {
  const secret = text(row, 'key').trim();
  const limited = number(row, 'model_limits_enabled') === 1n;
  // one-api has one column for the models: `models`.
  const models = listed(limited ? text(row, 'model_limits') : text(row, 'models'), /,/);
  const remaining = number(row, 'remain_quota');
  return {
    id: text(row, 'id'),
    userId: text(row, 'user_id'),
    secret: secret.startsWith('sk-') ? secret : `sk-${secret}`,
    name: text(row, 'name'),
    // A key that is limited to no model at all cannot be used there either.
    enabled: number(row, 'status') === 1n && !(limited && models.length === 0),
    deleted: isDeleted(row),
    expiresAt: expiryOf(row),
    createdAt: time(row, 'created_time'),
    lastUsedAt: time(row, 'accessed_time'),
    remaining: number(row, 'unlimited_quota') === 1n ? undefined : remaining < 0n ? 0n : remaining,
    group: text(row, 'group'),
    models,
    addresses: listed(text(row, 'allow_ips') || text(row, 'subnet'), /[\n,\s]/),
  };
}

/** States: 1 enabled, 2 disabled by hand, 3 disabled by a fault. */
function channelOf(row: Row): ForeignChannel {
  const enabled = number(row, 'status') === 1n;
  const info = object(text(row, 'channel_info'));
  const states = objectOf(info['multi_key_status_list']) ?? {};
  const several = info['is_multi_key'] === true;
  const secrets = secretsIn(text(row, 'key'), several);
  return {
    id: text(row, 'id'),
    name: text(row, 'name').trim(),
    type: text(row, 'type'),
    baseUrl: text(row, 'base_url').trim().replace(/\/+$/, '') || undefined,
    secrets: secrets.map((secret, index) => ({
      secret,
      enabled: enabled && (!several || (states[String(index)] ?? 1) === 1),
    })),
    models: listed(text(row, 'models'), /,/),
    mapping: new Map(
      Object.entries(object(text(row, 'model_mapping'))).map(([from, to]) => [from, String(to)]),
    ),
    groups: listed(text(row, 'group') || 'default', /,/),
    priority: number(row, 'priority'),
    weight: number(row, 'weight'),
    enabled,
    unknown: types.untaken.filter((name) => !isEmpty(text(row, name))),
  };
}

/**
 * Several keys are written one per line, or in a JSON list (of credentials files). A key of one
 * line is one key, whatever it contains.
 */
function secretsIn(key: string, several: boolean): readonly string[] {
  const trimmed = key.trim();
  if (trimmed === '') return [];
  if (trimmed.startsWith('[')) {
    const list = parse(trimmed);
    if (Array.isArray(list))
      return list.map((one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one)));
  }
  if (trimmed.startsWith('{')) return [trimmed];
  const lines = listed(trimmed, /\n/);
  return several || lines.length > 1 ? lines : [trimmed];
}

/**
 * Unused redemption codes, active subscriptions and unfinished tasks, which are not imported: one
 * sentence each.
 */
async function leftOutTables(source: ImportSource): Promise<readonly string[]> {
  const notes: string[] = [];
  const codes = ((await source.rows('redemptions', 'id')) ?? []).filter(
    (row) => number(row, 'status') === 1n && !isDeleted(row),
  );
  const worth = codes.reduce((sum, row) => sum + number(row, 'quota'), 0n);
  if (codes.length > 0)
    notes.push(
      `${codes.length} redemption codes that nobody has used, worth ${worth} units: credit whoever brings one with 'user credit'`,
    );
  const subscriptions = ((await source.rows('user_subscriptions', 'id')) ?? []).filter(
    (row) => text(row, 'status') === 'active',
  );
  if (subscriptions.length > 0)
    notes.push(
      `${subscriptions.length} subscriptions that run: there are none here; credit what is left of them`,
    );
  const tasks = ((await source.rows('tasks', 'id')) ?? []).filter(
    (row) => !['SUCCESS', 'FAILURE'].includes(text(row, 'status')),
  );
  if (tasks.length > 0)
    notes.push(`${tasks.length} tasks that have not ended: let them end there first`);
  return notes;
}

const isEmpty = (value: string): boolean => ['', '{}', '[]', 'null'].includes(value.trim());
const isDeleted = (row: Row): boolean => text(row, 'deleted_at') !== '';

const text = (row: Row, column: string): string => String(row[column] ?? '');

/** A whole number; fractions are cut off, since units are never fractions. 0 for anything else. */
function number(row: Row, column: string): bigint {
  const value = row[column] ?? 0n;
  if (typeof value === 'bigint') return value;
  const written = String(value);
  if (written === 'true' || written === 'false') return written === 'true' ? 1n : 0n;
  if (/^-?\d+$/.test(written)) return BigInt(written);
  const rounded = Math.trunc(Number(written));
  return Number.isFinite(rounded) ? BigInt(rounded) : 0n;
}

/** The end of the year 9999, in seconds. */
const endOfYear9999 = 253_402_300_799n;

/** Wall clock, ms; undefined: never. -1 is never there, and 0 is the year 1970. */
function expiryOf(row: Row): number | undefined {
  const seconds = number(row, 'expired_time');
  if (seconds === -1n || seconds > endOfYear9999) return undefined;
  return time(row, 'expired_time') ?? 0;
}

/** Seconds → ms; undefined where none is known, and for times after the year 9999. */
function time(row: Row, column: string): number | undefined {
  const seconds = number(row, column);
  return seconds > 0n && seconds <= endOfYear9999 ? Number(seconds) * 1_000 : undefined;
}

const listed = (written: string, between: RegExp): readonly string[] => [
  ...new Set(
    written
      .split(between)
      .map((one) => one.trim())
      .filter(Boolean),
  ),
];

const object = (json: string): JsonObject => objectOf(parse(json)) ?? {};

/**
 * The contents of another gateway's database, in its own terms: new-api, or one-api, from which it
 * descends. Facts of QuantumNous/new-api model/{user,token,channel,option}.go and
 * songquanpeng/one-api model/{user,token,channel}.go, read 2026-11.
 */
export interface ForeignInstallation {
  readonly kind: 'new-api' | 'one-api';
  readonly users: readonly ForeignUser[];
  readonly keys: readonly ForeignKey[];
  readonly channels: readonly ForeignChannel[];
  /**
   * Options that the administrator saved; the defaults of the others are in that program's code,
   * not in its database.
   */
  readonly options: ReadonlyMap<string, string>;
  /** Data that has no place in Tollgate: one sentence each. */
  readonly beside: readonly string[];
}

export interface ForeignUser {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly operator: boolean;
  readonly enabled: boolean;
  readonly deleted: boolean;
  /** GitHub's number for the person, where the column surely holds one. */
  readonly github: string | undefined;
  readonly group: string;
  /** Units: 500,000 are a dollar unless QuotaPerUnit says otherwise. May be negative. */
  readonly quota: bigint;
  /** Units earned by invitations and not yet moved to the balance. */
  readonly rewards: bigint;
  /** Wall clock, ms; undefined: not known. */
  readonly createdAt: number | undefined;
}

export interface ForeignKey {
  readonly id: string;
  readonly userId: string;
  /** With its `sk-`, as clients send it. */
  readonly secret: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly deleted: boolean;
  /** Wall clock, ms; undefined: never. */
  readonly expiresAt: number | undefined;
  readonly createdAt: number | undefined;
  readonly lastUsedAt: number | undefined;
  /** Units that the key may still spend; undefined: as many as its user has. */
  readonly remaining: bigint | undefined;
  /** Empty: the group of its user. */
  readonly group: string;
  /** The only models that the key may use; empty: all. */
  readonly models: readonly string[];
  /** The only addresses and networks that may use the key; empty: all. */
  readonly addresses: readonly string[];
}

export interface ForeignChannel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly baseUrl: string | undefined;
  readonly secrets: readonly { readonly secret: string; readonly enabled: boolean }[];
  readonly models: readonly string[];
  /** Public id → the vendor's. */
  readonly mapping: ReadonlyMap<string, string>;
  readonly groups: readonly string[];
  /** Higher first. */
  readonly priority: bigint;
  readonly weight: bigint;
  readonly enabled: boolean;
  /** The names of its settings that have no place in Tollgate. */
  readonly unknown: readonly string[];
}

/** The value of units. */
export interface UnitWorth {
  /** Units for a dollar. */
  readonly perDollar: Fraction;
  /** Yuan for a dollar. */
  readonly rate: Fraction;
}
