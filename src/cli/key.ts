import { byCommand, writeAudit } from '../accounts/audit.ts';
import {
  createKey,
  type Key,
  keyById,
  listKeys,
  type NewKey,
  type NewLimits,
  setKeyLimits,
  setKeyStatus,
} from '../accounts/keys.ts';
import { type KeyTerms, namedMax } from '../accounts/principal.ts';
import { plainName } from '../accounts/text-fields.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan, type Nano, parseYuan } from '../base/money.ts';
import { groupNames, modelNames } from '../catalog/catalog-store.ts';
import { keyFacts } from '../console/user/key-view.ts';
import { changeKeyLimits } from '../gateway/reserve.ts';
import { isNetwork } from '../http/client-address.ts';
import type { Transaction, Database } from '../storage/database.ts';
import { everyPage, Failure, print, type SharedOptions } from './command-io.ts';
import { type Env, withDatabase } from './installation.ts';
import { table } from './terminal.ts';

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

/** Reads an option's sum in yuan. */
function yuanOf(option: string, text: string | undefined): Nano | undefined {
  const sum = text === undefined ? undefined : parseYuan(text);
  if (text !== undefined && sum === undefined)
    throw new Failure(`${option} is a sum in yuan such as 5.00, not '${text}'`);
  return sum;
}

function limitsOf(options: LimitOptions): NewLimits {
  return {
    limit: yuanOf('--limit', options.limit),
    dailyLimit: yuanOf('--daily-limit', options.dailyLimit),
    monthlyLimit: yuanOf('--monthly-limit', options.monthlyLimit),
  };
}

export async function createKeyCommand(options: NewKeyOptions, env: Env): Promise<void> {
  const { limit, dailyLimit, monthlyLimit } = limitsOf(options);
  const expiresAt = options.expires === undefined ? undefined : Date.parse(options.expires);
  if (expiresAt !== undefined && !(expiresAt > systemClock.now()))
    throw new Failure(`--expires is a time to come such as 2027-01-31, not '${options.expires}'`);
  if (options.name !== undefined && options.name !== plainName(options.name))
    throw new Failure('--name is one line of at most 100 characters');
  await withDatabase(options, env, async (database) => {
    const groups = await groupNames(database);
    if (!groups.includes(options.group)) {
      throw new Failure(
        groups.length === 0
          ? 'no group is known yet: start the gateway once, so that it records its configuration'
          : `there is no group '${options.group}'; there are: ${groups.join(', ')}`,
      );
    }
    const at = systemClock.now();
    const { user: userId, name = '', group } = options;
    const terms = await termsFrom(options, database);
    const made = await database.transact(() =>
      making({ userId, name, group, limit, dailyLimit, monthlyLimit, expiresAt, at, ...terms }),
    );
    if (made === undefined)
      throw new Failure(`there is no user ${options.user}; 'user list' shows all`);
    const value = { id: made.key.id, key: made.secret, group: made.key.group };
    print(options, value, [
      `${made.secret}`,
      `(key ${made.key.id}, group ${made.key.group}; it is shown this once)`,
    ]);
  });
}

function* making(request: NewKey): ReturnType<typeof createKey> {
  const made = yield* createKey(request);
  const entry = made && {
    target: made.key.id,
    account: made.key.userId,
    after: { name: made.key.name, group: made.key.group },
  };
  if (entry !== undefined)
    yield* writeAudit(request.at, { ...byCommand, ...entry, action: 'key.create' });
  return made;
}

function* limiting(id: string, limits: NewLimits): Transaction<Key | undefined> {
  const key = yield* changing(id, () => setKeyLimits(id, limits));
  if (key !== undefined) yield* changeKeyLimits(id, limits);
  return key;
}

/** A change and its line in the audit trail. */
function* changing(
  id: string,
  change: () => Transaction<Key | undefined>,
): Transaction<Key | undefined> {
  const before = yield* keyById(id);
  const after = yield* change();
  if (before === undefined || after === undefined) return undefined;
  const entry = {
    target: id,
    account: after.userId,
    before: keyFacts(before),
    after: keyFacts(after),
  };
  yield* writeAudit(systemClock.now(), { ...byCommand, ...entry, action: 'key.update' });
  return after;
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

export async function disableKeyCommand(
  id: string,
  options: SharedOptions,
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(() => changing(id, () => setKeyStatus(id, 'disabled')));
    if (key === undefined) throw new Failure(`there is no key ${id}; 'key list' shows all`);
    print(options, shown(key), [`${id} is disabled`]);
  });
}

export async function limitKeyCommand(id: string, options: LimitOptions, env: Env): Promise<void> {
  const limits = limitsOf(options);
  if (Object.values(limits).every((amount) => amount === undefined))
    throw new Failure('name a limit: --limit, --daily-limit or --monthly-limit');
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(() => limiting(id, limits));
    if (key === undefined)
      throw new Failure(
        `there is no key ${id} that was made with such a limit; 'key list' shows all. A key without one is replaced by a new key`,
      );
    print(options, shown(key), [
      `${id} may spend ${[key.limit, key.dailyLimit, key.monthlyLimit].map(shownYuan).join('/')}`,
    ]);
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
  if (unknown !== undefined) throw new Failure(`there is no model '${unknown}'`);
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
    throw new Failure(`${option} are one to ${namedMax}, with commas between`);
  return list;
}

function countOf(option: string, text: string | undefined): number | undefined {
  const count = text === undefined ? undefined : Number(text);
  if (count !== undefined && !(Number.isSafeInteger(count) && count > 0))
    throw new Failure(`${option} is a whole number from 1 on, not '${text}'`);
  return count;
}
