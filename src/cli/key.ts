import type { Env } from '../base/env.ts';
import { type AuditedAction, byCommand, writeAudit } from '../accounts/audit.ts';
import { endOldSecret, type Grace, graces, rotateKey } from '../accounts/key-secrets.ts';
import {
  createKey,
  type Key,
  keyById,
  keysTopic,
  listKeys,
  type NewKey,
  setKeyStatus,
} from '../accounts/keys.ts';
import { type KeyTerms, namedMax } from '../accounts/principal.ts';
import { plainName } from '../accounts/text-fields.ts';
import { changeKey, type KeyPatch } from '../accounts/user-keys.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan, type Nano } from '../base/money.ts';
import { groupNames, modelNames } from '../catalog/catalog-store.ts';
import { keyFacts } from '../console/user/key-view.ts';
import { changeKeyLimits, paidSoFar } from '../gateway/key-limits.ts';
import { isNetwork } from '../http/client-address.ts';
import { bump } from '../storage/changes.ts';
import type { Transaction, Database } from '../storage/database.ts';
import { everyPage, Failure, print, type SharedOptions, timeIn, yuanOption } from './command-io.ts';
import { utcOffset, withDatabase } from './installation.ts';
import { table } from './terminal.ts';
import { noUser, userNamed } from './user.ts';

interface LimitOptions extends SharedOptions {
  readonly limit?: string;
  readonly dailyLimit?: string;
  readonly monthlyLimit?: string;
}

interface NewKeyOptions extends LimitOptions, TermOptions {
  readonly user: string;
  readonly group: string;
  readonly name?: string;
  readonly expires?: string;
}

type NewLimits = Pick<KeyPatch, 'limit' | 'dailyLimit' | 'monthlyLimit'>;

/** `none` takes a limit away. */
function limitsOf(options: LimitOptions): NewLimits {
  const limitOf = (option: string, text: string | undefined) =>
    text === undefined ? undefined : text === 'none' ? null : yuanOption(option, text);
  return {
    limit: limitOf('--limit', options.limit),
    dailyLimit: limitOf('--daily-limit', options.dailyLimit),
    monthlyLimit: limitOf('--monthly-limit', options.monthlyLimit),
  };
}

export async function createKeyCommand(options: NewKeyOptions, env: Env): Promise<void> {
  const { limit, dailyLimit, monthlyLimit } = limitsOf(options);
  const expiresAt = options.expires === undefined ? undefined : timeIn(options.expires);
  if (options.expires !== undefined && !(expiresAt !== undefined && expiresAt > systemClock.now()))
    throw new Failure(`--expires is a future time such as 2027-01-31, not '${options.expires}'`);
  const { name = 'key' } = options;
  if (name !== plainName(name)) throw new Failure('--name is one line of at most 100 characters');
  await withDatabase(options, env, async (database) => {
    const { group } = options;
    await requireGroup(database, group);
    const at = systemClock.now();
    const { id: userId } = await userNamed(database, options.user);
    const terms = await termsFrom(options, database);
    const made = await database.transact(() =>
      making({
        userId,
        name,
        group,
        expiresAt,
        at,
        limit: limit ?? undefined,
        dailyLimit: dailyLimit ?? undefined,
        monthlyLimit: monthlyLimit ?? undefined,
        ...terms,
      }),
    );
    if (made === undefined) throw noUser(userId);
    const { id } = made.key;
    const end = expiresAt === undefined ? {} : { expires_at: expiresAt };
    const until = expiresAt === undefined ? '' : `, until ${new Date(expiresAt).toISOString()}`;
    print(options, { id, key: made.secret, group, ...end }, [
      made.secret,
      `(key ${id}, group ${group}${until}; it is shown only once)`,
    ]);
  });
}

async function requireGroup(database: Database, group: string): Promise<void> {
  const groups = await groupNames(database);
  if (groups.includes(group)) return;
  throw new Failure(
    groups.length === 0
      ? 'there is no group yet: start the gateway once, so that it records its configuration'
      : `there is no group '${group}'; there are: ${groups.join(', ')}`,
  );
}

function* making(request: NewKey): ReturnType<typeof createKey> {
  const made = yield* createKey(request);
  if (made === undefined) return undefined;
  const after = { name: made.key.name, group: made.key.group };
  yield* auditKey(made.key, request.at, { action: 'key.create', after });
  return made;
}

/** Writes an action on a key into the audit trail, where its user can read it. */
const auditKey = (
  { id, userId }: Key,
  at: number,
  action: Pick<AuditedAction, 'action' | 'before' | 'after'>,
): Transaction<unknown> => writeAudit(at, { ...byCommand, ...action, target: id, account: userId });

/** A change and its line in the audit trail. Changes of keys take turns. */
function* changing(
  id: string,
  change: (before: Key) => Transaction<Key | undefined>,
): Transaction<Key | undefined> {
  yield bump(keysTopic);
  const before = yield* keyById(id);
  const after = before && (yield* change(before));
  if (before === undefined || after === undefined) return undefined;
  yield* auditKey(after, systemClock.now(), {
    action: 'key.update',
    before: keyFacts(before),
    after: keyFacts(after),
  });
  return after;
}

/** Undefined when there is no such key; `changed`: another change was faster. */
async function limiting(
  database: Database,
  id: string,
  limits: NewLimits,
  utcOffsetMinutes: number,
): Promise<Key | 'changed' | undefined> {
  const calendar = { utcOffsetMinutes, at: systemClock.now() };
  const known = await database.snapshot(function* () {
    const key = yield* keyById(id);
    return key && { key, paid: yield* paidSoFar(key, limits, calendar) };
  });
  if (known === undefined) return undefined;
  let changed = false;
  const after = await database.transact(() =>
    changing(id, function* (before) {
      changed = before.version !== known.key.version;
      if (changed) return undefined;
      const key = yield* changeKey(before, limits);
      if (key !== undefined) yield* changeKeyLimits(before, key, known.paid, calendar);
      return key;
    }),
  );
  return changed ? 'changed' : after;
}

function shownYuan(amount: Nano | undefined): string {
  return amount === undefined ? '' : formatYuan(amount);
}

function shown(key: Key): object {
  return {
    id: key.id,
    user: key.userId,
    name: key.name,
    group: key.group,
    key: `${key.prefix}…${key.last4}`,
    status: key.status,
    limit: shownYuan(key.limit) || null,
    daily_limit: shownYuan(key.dailyLimit) || null,
    monthly_limit: shownYuan(key.monthlyLimit) || null,
    models: key.models ?? null,
    addresses: key.addresses ?? null,
    rpm: key.rpm ?? null,
    tpm: key.tpm ?? null,
    concurrency: key.concurrency ?? null,
    expires_at: key.expiresAt ?? null,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
  };
}

export async function listKeysCommand(options: SharedOptions, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const keys = await everyPage((page) => listKeys(database, page));
    const rows = keys.map((key) => [
      key.id,
      key.userId,
      key.group,
      `${key.prefix}…${key.last4}`,
      key.status,
      [shownYuan(key.limit), shownYuan(key.dailyLimit), shownYuan(key.monthlyLimit)]
        .join('/')
        .replace(/^\/*$|\/+$/, ''),
      key.expiresAt === undefined ? '' : new Date(key.expiresAt).toISOString(),
      key.name,
    ]);
    print(
      options,
      keys.map(shown),
      table(['id', 'user', 'group', 'key', 'status', 'limit/day/month', 'expires', 'name'], rows),
    );
  });
}

/** Stops a key, or lets it work again. */
export async function switchKeyCommand(
  id: string,
  to: 'active' | 'disabled',
  options: SharedOptions,
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(() => changing(id, () => setKeyStatus(id, to)));
    if (key === undefined) throw noKey(id);
    print(options, shown(key), [`${id} is ${to}`]);
  });
}

const noKey = (id: string): Failure => new Failure(`there is no key ${id}; 'key list' shows all`);

export async function limitKeyCommand(id: string, options: LimitOptions, env: Env): Promise<void> {
  const limits = limitsOf(options);
  if (Object.values(limits).every((amount) => amount === undefined))
    throw new Failure('name a limit: --limit, --daily-limit or --monthly-limit');
  const offset = utcOffset(env);
  await withDatabase(options, env, async (database) => {
    const key = await limiting(database, id, limits, offset);
    if (key === undefined) throw noKey(id);
    if (key === 'changed') throw new Failure(`${id} was changed at the same time; try again`);
    print(options, shown(key), [`${id} ${limitsText(key)}`]);
  });
}

/** `may spend 5.00 yuan in total, 1.00 yuan per day`. */
function limitsText({ limit, dailyLimit, monthlyLimit }: Key): string {
  const limits = [
    [limit, 'in total'],
    [dailyLimit, 'per day'],
    [monthlyLimit, 'per month'],
  ] as const;
  const set = limits.flatMap(([amount, span]) =>
    amount === undefined ? [] : [`${formatYuan(amount)} yuan ${span}`],
  );
  return set.length === 0 ? 'has no spending limit' : `may spend ${set.join(', ')}`;
}

interface RotateOptions extends SharedOptions {
  readonly grace: Grace;
}

/** Gives a key a new secret; the old one works on for the grace. */
export async function rotateKeyCommand(
  id: string,
  options: RotateOptions,
  env: Env,
): Promise<void> {
  const at = systemClock.now();
  const until = at + graces[options.grace];
  const untilText = new Date(until).toISOString();
  await withDatabase(options, env, async (database) => {
    const made = await database.transact(function* () {
      yield bump(keysTopic);
      const before = yield* keyById(id);
      const done = before && (yield* rotateKey(before, options.grace, at));
      if (before === undefined || done === undefined) return undefined;
      yield* auditKey(before, at, {
        action: 'key.rotate',
        before: { last4: before.last4 },
        after: { last4: done.key.last4, old_works_until: untilText },
      });
      return done;
    });
    if (made === undefined) throw noKey(id);
    print(options, { id, key: made.secret, old_works_until: until }, [
      made.secret,
      `(the new secret of key ${id}, shown only once; the old one ${options.grace === 'now' ? 'no longer works' : `works until ${untilText}`})`,
    ]);
  });
}

/** Ends the grace of the secret before the last rotation. */
export async function endOldSecretCommand(
  id: string,
  options: SharedOptions,
  env: Env,
): Promise<void> {
  const at = systemClock.now();
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(function* () {
      const found = yield* keyById(id);
      if (found === undefined) return undefined;
      yield* endOldSecret(id, at);
      yield* auditKey(found, at, { action: 'key.end_old_secret' });
      return found;
    });
    if (key === undefined) throw noKey(id);
    print(options, { id }, [`the old secret of ${id} no longer works`]);
  });
}

/** Its records keep its name. */
export async function deleteKeyCommand(
  id: string,
  options: SharedOptions,
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(function* () {
      const gone = yield* setKeyStatus(id, 'deleted');
      if (gone === undefined) return undefined;
      const before = { name: gone.name, group: gone.group };
      yield* auditKey(gone, systemClock.now(), { action: 'key.delete', before });
      return gone;
    });
    if (key === undefined) throw noKey(id);
    print(options, { id, status: key.status }, [`${id} is deleted`]);
  });
}

interface TermOptions {
  readonly models?: string;
  readonly addresses?: string;
  readonly rpm?: string;
  readonly tpm?: string;
  readonly concurrency?: string;
}

/**
 * Reads the restrictions of a key from the options. Fails for a model that is not sold: the key
 * would open nothing.
 */
async function termsFrom(options: TermOptions, database: Database): Promise<KeyTerms> {
  const models = listOf('--models', options.models);
  const addresses = listOf('--addresses', options.addresses);
  const wrong = addresses?.find((address) => !isNetwork(address));
  if (wrong !== undefined)
    throw new Failure(`--addresses are addresses and networks such as 10.0.0.0/8, not '${wrong}'`);
  const known = models === undefined ? [] : await modelNames(database);
  const unknown = models?.find((model) => !known.includes(model));
  if (unknown !== undefined)
    throw new Failure(`there is no model '${unknown}'; 'model list' shows all`);
  return {
    models,
    addresses,
    rpm: countOf('--rpm', options.rpm),
    tpm: countOf('--tpm', options.tpm),
    concurrency: countOf('--concurrency', options.concurrency),
  };
}

function listOf(option: string, text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const list = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (list.length === 0 || list.length > namedMax)
    throw new Failure(`${option} takes 1 to ${namedMax} values, separated by commas`);
  return list;
}

function countOf(option: string, text: string | undefined): number | undefined {
  const count = text === undefined ? undefined : Number(text);
  if (count !== undefined && !(Number.isSafeInteger(count) && count > 0))
    throw new Failure(`${option} is a whole number, 1 or more, not '${text}'`);
  return count;
}
