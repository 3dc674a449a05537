import { expect, onTestFinished, test, vi } from 'vitest';
import { forEachDatabase, onPostgres, onSqlite } from '../../test/databases.ts';
import { relayTo } from '../../test/relay.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import { changesMigrations, watchChanges } from '../storage/changes.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { rotateKey } from './key-secrets.ts';
import {
  type LiveKeyring,
  openKeyring,
  createKey,
  hashOf,
  keysTopic,
  listKeys,
  type NewKey,
  setKeyStatus,
} from './keys.ts';
import { accountsMigrations } from './migrations.ts';
import type { Principal } from './principal.ts';
import { createUser, setUserState } from './users.ts';
import { unexpected } from '../../test/support/unexpected.ts';

const migrations = [...changesMigrations, ...accountsMigrations];
const within = { timeout: 1_000, interval: 10 };

function keyringOf(db: Database, clock: Clock = systemClock, heldMax?: number): LiveKeyring {
  const keyring = openKeyring(db, clock, unexpected, heldMax);
  const watch = watchChanges(db, { [keysTopic]: () => keyring.refresh() }, unexpected);
  onTestFinished(async () => {
    await watch.stop();
    await keyring.close();
  });
  return keyring;
}

async function makeKey(db: Database, options: Partial<NewKey> = {}) {
  const user = await db.transact(() => createUser({ name: 'Ada', role: 'user', at: 1 }));
  const made = await db.transact(() =>
    createKey({
      userId: user.id,
      name: '',
      group: 'default',
      limit: undefined,
      expiresAt: undefined,
      at: 1,
      ...options,
    }),
  );
  if (made === undefined) throw new Error('no key');
  return { ...made, user };
}

/** Looks a key up as a request does. */
async function ask(
  keyring: LiveKeyring,
  secret: string,
): Promise<Principal | 'unknown' | 'unavailable'> {
  return keyring.known(secret) ?? (await keyring.lookUp(secret));
}

forEachDatabase((_, openFresh, fresh) => {
  test('a new key works at once, and then from memory', async () => {
    const db = await openFresh({ migrations });
    const keyring = keyringOf(db);
    const { secret, key, user } = await makeKey(db, { group: 'vip', limit: 7n });
    const principal = {
      keyId: key.id,
      userId: user.id,
      group: 'vip',
      limit: 7n,
      expiresAt: undefined,
    };
    expect(keyring.known(secret)).toBeUndefined();
    expect(await keyring.lookUp(secret)).toEqual(principal);
    expect(keyring.known(secret)).toEqual(principal);
  });

  test('of many keys that are new at once each is found', async () => {
    const db = await openFresh({ migrations });
    const keys: Awaited<ReturnType<typeof makeKey>>[] = [];
    for (let i = 0; i < 300; i += 1) keys.push(await makeKey(db));
    const keyring = keyringOf(db);
    const found = await Promise.all(keys.map(({ secret }) => keyring.lookUp(secret)));
    expect(found).toMatchObject(keys.map(({ key }) => ({ keyId: key.id })));
  });

  test('a wrong key is asked once and then unknown for a moment; what cannot be a key is never asked', async () => {
    const db = await openFresh({ migrations });
    let now = 0;
    const keyring = openKeyring(db, { now: () => now, monotonicMs: () => now }, unexpected);
    const wrong = `sk-${'a'.repeat(48)}`;
    expect(keyring.known('sk-short')).toBe('unknown');
    expect(keyring.known(wrong)).toBeUndefined();
    expect(await keyring.lookUp(wrong)).toBe('unknown');
    expect(keyring.known(wrong)).toBe('unknown');
    now += 1_000;
    expect(keyring.known(wrong)).toBeUndefined();
    await keyring.close();
  });

  test('a disabled key, and the keys of a suspended user, are unknown to every process within a second', async () => {
    const { open } = await fresh(migrations);
    const [db, other] = [await open(), await open()];
    const keyring = keyringOf(other);
    const [one, two] = [await makeKey(db), await makeKey(db)];
    expect(await ask(keyring, one.secret)).toMatchObject({ keyId: one.key.id });
    expect(await ask(keyring, two.secret)).toMatchObject({ keyId: two.key.id });
    await db.transact(() => setKeyStatus(one.key.id, 'disabled'));
    await db.transact(() => setUserState(two.user.id, 'suspended'));
    await vi.waitFor(
      async () =>
        expect([await ask(keyring, one.secret), await ask(keyring, two.secret)]).toEqual([
          'unknown',
          'unknown',
        ]),
      within,
    );
    await db.transact(() => setKeyStatus(one.key.id, 'active'));
    await db.transact(() => setUserState(two.user.id, 'active'));
    await vi.waitFor(
      async () => expect(await ask(keyring, one.secret)).toMatchObject({ keyId: one.key.id }),
      within,
    );
    await vi.waitFor(
      async () => expect(await ask(keyring, two.secret)).toMatchObject({ keyId: two.key.id }),
      within,
    );
  });

  test('an answer older than a change is not remembered', async () => {
    const db = await openFresh({ migrations });
    const keyring = openKeyring(db, systemClock, unexpected);
    const { secret, key } = await makeKey(db);
    await keyring.refresh();
    const lookup = keyring.lookUp(secret);
    const changed = db.transact(() => setKeyStatus(key.id, 'disabled'));
    await Promise.all([lookup, changed, keyring.refresh()]);
    await keyring.refresh();
    expect(await ask(keyring, secret)).toBe('unknown');
    await keyring.close();
  });

  test('the last use of keys that cannot be stored at the end is reported', async () => {
    const db = await openFresh({ migrations });
    const errors: string[] = [];
    const keyring = openKeyring(db, systemClock, (work, error) => {
      errors.push(`${work}: ${String(error)}`);
    });
    const { secret } = await makeKey(db);
    await ask(keyring, secret);
    await db.query('ALTER TABLE api_keys RENAME TO elsewhere');
    await keyring.close();
    expect(errors).toEqual([expect.stringMatching(/^last use of keys: .*api_keys/)]);
  });

  test('a key ends in the millisecond in which it expires', async () => {
    const db = await openFresh({ migrations });
    let now = 500;
    const keyring = openKeyring(db, { now: () => now, monotonicMs: () => now }, unexpected);
    const { secret } = await makeKey(db, { expiresAt: 1_000 });
    expect(await ask(keyring, secret)).toMatchObject({ expiresAt: 1_000 });
    now = 999;
    expect(keyring.known(secret)).toMatchObject({ expiresAt: 1_000 });
    now = 1_000;
    expect(keyring.known(secret)).toBe('unknown');
    await keyring.close();
  });

  test('memory is bounded: the key used longest ago is forgotten first', async () => {
    const db = await openFresh({ migrations });
    let now = 0;
    const keyring = openKeyring(db, { now: () => ++now, monotonicMs: () => now }, unexpected, 3);
    const [a, b, c, d] = await Promise.all([makeKey(db), makeKey(db), makeKey(db), makeKey(db)]);
    for (const { secret } of [a, b, c]) await keyring.lookUp(secret);
    keyring.known(a.secret);
    await keyring.lookUp(d.secret);
    const remembered = [a, b, c, d].map(({ secret }) => keyring.known(secret) !== undefined);
    expect(remembered).toEqual([true, false, true, true]);
    await keyring.close();
  });

  test('the time of the last use is written down', async () => {
    const db = await openFresh({ migrations });
    let now = 1_000;
    const keyring = openKeyring(db, { now: () => now, monotonicMs: () => now }, unexpected);
    const [used, idle] = [await makeKey(db), await makeKey(db)];
    await keyring.lookUp(used.secret);
    now = 1_500;
    await keyring.lookUp(idle.secret);
    now = 1_900;
    await keyring.recordUse();
    now = 2_000;
    keyring.known(used.secret);
    now = 2_100;
    await keyring.recordUse();
    const times = new Map(
      (await listKeys(db, { limit: 10 })).map(({ id, lastUsedAt }) => [id, lastUsedAt]),
    );
    expect(times.get(used.key.id)).toBe(2_000);
    expect(times.get(idle.key.id)).toBe(1_500);
    await keyring.close();
  });

  test('the last use of a rotated key is the later one of its two secrets', async () => {
    const db = await openFresh({ migrations });
    let now = 1_000;
    const keyring = openKeyring(db, { now: () => now, monotonicMs: () => now }, unexpected);
    const [newLast, oldLast] = [await makeKey(db), await makeKey(db)];
    const replaced = async ({ key, secret }: typeof newLast) => {
      const rotated = await db.transact(() => rotateKey(key, '1h', now));
      await keyring.lookUp(secret);
      return rotated?.secret ?? '';
    };
    const secrets = [await replaced(newLast), await replaced(oldLast)];
    now = 1_100;
    for (const secret of secrets) await keyring.lookUp(secret);
    now = 1_200;
    keyring.known(oldLast.secret);
    await keyring.recordUse();
    const keys = await listKeys(db, { limit: 10 });
    const lastUse = ({ key }: typeof newLast) => keys.find(({ id }) => id === key.id)?.lastUsedAt;
    expect([newLast, oldLast].map(lastUse)).toEqual([1_100, 1_200]);
    await keyring.close();
  });
});

onPostgres((_, _openFresh, fresh) => {
  test('a database that is away makes a key unavailable, never unknown; known keys go on', async () => {
    const { open, url } = await fresh(migrations);
    const direct = await open();
    const relay = await relayTo(url);
    const keyring = keyringOf(await open({}, relay.url));
    const [one, two] = [await makeKey(direct), await makeKey(direct)];
    // An answer older than the change that made the keys is not remembered.
    await vi.waitFor(async () => {
      await ask(keyring, one.secret);
      expect(keyring.known(one.secret)).toMatchObject({ keyId: one.key.id });
    }, within);
    relay.cut();
    expect(await ask(keyring, two.secret)).toBe('unavailable');
    expect(await ask(keyring, one.secret)).toMatchObject({ keyId: one.key.id });
    relay.mend();
    await vi.waitFor(
      async () => expect(await ask(keyring, two.secret)).toMatchObject({ keyId: two.key.id }),
      within,
    );
  });
});

/** A fifth of the keys shows any cost that grows with their number. */
const many = process.env['LONG_TESTS'] === 'true' ? 100_000 : 20_000;

onSqlite((_, openFresh) => {
  test(`${many} keys do not make admission slower`, { timeout: 60_000 }, async () => {
    const db = await openFresh({ migrations });
    const { user } = await makeKey(db);
    const secrets = Array.from({ length: many }, () => `sk-${randomText(48)}`);
    await db.transact(function* (): Transaction<void> {
      const sql = `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, created_at) VALUES ($1, $2, '', 'default', $3, 'sk-ab', 'wxyz', 'active', 1)`;
      for (const [i, secret] of secrets.entries())
        yield { sql, params: [`key_${i}`, user.id, hashOf(secret)] };
    });
    const keyring = openKeyring(db, systemClock, unexpected);
    const perKeyUs = (): number => {
      const start = process.cpuUsage();
      for (let i = 0; i < 20_000; i++) keyring.known(secrets[i % 100] ?? '');
      return process.cpuUsage(start).user / 20_000;
    };
    for (const secret of secrets.slice(0, 100)) await keyring.lookUp(secret);
    perKeyUs();
    const few = perKeyUs();
    for (let i = 100; i < secrets.length; i += 100)
      await Promise.all(secrets.slice(i, i + 100).map((secret) => keyring.lookUp(secret)));
    const all = perKeyUs();
    expect(keyring.known(secrets.at(-1) ?? '')).toMatchObject({ keyId: `key_${many - 1}` });
    expect(all).toBeLessThan(few * 3 + 5);
    await keyring.close();
  });
});
