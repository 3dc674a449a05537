import { createKey, type Key, listKeys, setKeyStatus } from '../accounts/keys.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan, parseYuan } from '../base/money.ts';
import { groupNames } from '../catalog/recording.ts';
import { type Env, withDatabase } from './installation.ts';
import { Failure, print, table } from './output.ts';

interface Options {
  readonly data?: string;
  readonly json?: true;
}

const pageSize = 1_000;

interface NewKeyOptions extends Options {
  readonly user: string;
  readonly group: string;
  readonly name: string;
  readonly expires?: string;
  readonly limit?: string;
}

export async function create(options: NewKeyOptions, env: Env): Promise<void> {
  const limit = options.limit === undefined ? undefined : parseYuan(options.limit);
  if (options.limit !== undefined && limit === undefined)
    throw new Failure(`--limit is a sum in yuan such as 5.00, not '${options.limit}'`);
  const expiresAt = options.expires === undefined ? undefined : Date.parse(options.expires);
  if (expiresAt !== undefined && !(expiresAt > systemClock.now()))
    throw new Failure(`--expires is a time to come such as 2027-01-31, not '${options.expires}'`);
  await withDatabase(options, env, async (database) => {
    const groups = await groupNames(database);
    if (!groups.includes(options.group)) {
      throw new Failure(
        groups.length === 0
          ? 'no group is known yet: start the gateway once, so that it records its configuration'
          : `there is no group '${options.group}'; there are: ${groups.join(', ')}`,
      );
    }
    const made = await database.transact(() =>
      createKey({ userId: options.user, name: options.name, group: options.group, limit, expiresAt, at: systemClock.now() }),
    );
    if (made === undefined) throw new Failure(`there is no user ${options.user}; 'user list' shows all`);
    const value = { id: made.key.id, key: made.secret, group: made.key.group };
    print(options.json === true, value, [`${made.secret}`, `(key ${made.key.id}, group ${made.key.group}; it is shown this once)`]);
  });
}

function shown(key: Key): object {
  return {
    id: key.id,
    user: key.userId,
    name: key.name,
    group: key.group,
    key: `${key.prefix}…${key.last4}`,
    status: key.status,
    limit: key.limit === undefined ? null : formatYuan(key.limit),
    expires_at: key.expiresAt ?? null,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt ?? null,
  };
}

export async function list(options: Options, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const keys: Key[] = [];
    for (let after = ''; ; ) {
      const page = await listKeys(database, { after, limit: pageSize });
      keys.push(...page);
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      after = last.id;
    }
    const rows = keys.map((key) => [
      key.id,
      key.userId,
      key.group,
      `${key.prefix}…${key.last4}`,
      key.status,
      key.limit === undefined ? '' : formatYuan(key.limit),
      key.expiresAt === undefined ? '' : new Date(key.expiresAt).toISOString(),
      key.name,
    ]);
    print(options.json === true, keys.map(shown), table(['id', 'user', 'group', 'key', 'status', 'limit', 'expires', 'name'], rows));
  });
}

export async function disable(id: string, options: Options, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const key = await database.transact(() => setKeyStatus(id, 'disabled'));
    if (key === undefined) throw new Failure(`there is no key ${id}; 'key list' shows all`);
    print(options.json === true, shown(key), [`${id} is disabled`]);
  });
}
