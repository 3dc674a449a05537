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
import { plainName } from '../accounts/name.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan, type Nano, parseYuan } from '../base/money.ts';
import { groupNames } from '../catalog/recording.ts';
import { keyFacts } from '../console/key-view.ts';
import { changeWindows } from '../gateway/windows.ts';
import type { Script } from '../storage/database.ts';
import { everyPage } from './every-page.ts';
import { type Env, withDatabase } from './installation.ts';
import { type TermOptions, termsFrom } from './key-terms.ts';
import { Failure, print, type Shared, table } from './output.ts';

interface LimitOptions extends Shared {
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

/** A sum in yuan, as the option says it. */
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

export async function create(options: NewKeyOptions, env: Env): Promise<void> {
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

function* making(wish: NewKey): ReturnType<typeof createKey> {
  const made = yield* createKey(wish);
  const told = made && {
    target: made.key.id,
    account: made.key.userId,
    after: { name: made.key.name, group: made.key.group },
  };
  if (told !== undefined)
    yield* writeAudit(wish.at, { ...byCommand, ...told, action: 'key.create' });
  return made;
}

function* limiting(id: string, limits: NewLimits): Script<Key | undefined> {
  const key = yield* changing(id, () => setKeyLimits(id, limits));
  if (key !== undefined) yield* changeWindows(id, limits);
  return key;
}

/** A change and its line in the trail. */
function* changing(id: string, change: () => Script<Key | undefined>): Script<Key | undefined> {
  const before = yield* keyById(id);
  const after = yield* change();
  if (before === undefined || after === undefined) return undefined;
  const told = {
    target: id,
    account: after.userId,
    before: keyFacts(before),
    after: keyFacts(after),
  };
  yield* writeAudit(systemClock.now(), { ...byCommand, ...told, action: 'key.update' });
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

export async function list(options: Shared, env: Env): Promise<void> {
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

export async function disable(id: string, options: Shared, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(() => changing(id, () => setKeyStatus(id, 'disabled')));
    if (key === undefined) throw new Failure(`there is no key ${id}; 'key list' shows all`);
    print(options, shown(key), [`${id} is disabled`]);
  });
}

export async function limit(id: string, options: LimitOptions, env: Env): Promise<void> {
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
