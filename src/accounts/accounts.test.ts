import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { changesMigrations } from '../storage/changes.ts';
import { createKey, hashOf, listKeys, setKeyStatus } from './keys.ts';
import { accountsMigrations } from './migrations.ts';
import { createUser, findUser, listUsers, setUserState } from './users.ts';

const migrations = [...changesMigrations, ...accountsMigrations];

forEachDatabase((_, openFresh) => {
  test('users are listed in the order in which they were made, page by page', async () => {
    const db = await openFresh({ migrations });
    for (let i = 0; i < 5; i++)
      await db.transact(() =>
        createUser({
          name: `user ${i}`,
          role: i === 0 ? 'operator' : 'user',
          at: 1_700_000_000_000 + i,
        }),
      );
    const first = await listUsers(db, { limit: 3 });
    expect(first.map(({ name, role }) => [name, role])).toEqual([
      ['user 0', 'operator'],
      ['user 1', 'user'],
      ['user 2', 'user'],
    ]);
    const rest = await listUsers(db, { limit: 3, after: first[2]?.id ?? '' });
    expect(rest.map(({ name }) => name)).toEqual(['user 3', 'user 4']);
    expect(await findUser(db, first[0]?.id ?? '')).toEqual(first[0]);
    expect(await findUser(db, 'nobody')).toBeUndefined();
  });

  test('a key is stored as its hash and shown by its ends', async () => {
    const db = await openFresh({ migrations });
    const user = await db.transact(() => createUser({ name: 'Ada', role: 'user', at: 1 }));
    const made = await db.transact(() =>
      createKey({
        userId: user.id,
        name: 'laptop',
        group: 'default',
        limit: 5_000_000_000n,
        expiresAt: 99,
        at: 2,
      }),
    );
    if (made === undefined) throw new Error('no key');
    expect(made.secret).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    expect([made.secret.slice(0, 5), made.secret.slice(-4)]).toEqual([
      made.key.prefix,
      made.key.last4,
    ]);
    expect(await listKeys(db, { userId: user.id, limit: 10 })).toEqual([made.key]);
    expect(await listKeys(db, { userId: 'other', limit: 10 })).toEqual([]);
    expect(made.key).toMatchObject({
      status: 'active',
      limit: 5_000_000_000n,
      expiresAt: 99,
      createdAt: 2,
      lastUsedAt: undefined,
    });
    const rows = await db.query('SELECT * FROM api_keys');
    expect(rows[0]?.['hash']).toBe(hashOf(made.secret));
    expect(rows.flatMap((row) => Object.values(row))).not.toContain(made.secret);
  });

  test('there are no keys of nobody', async () => {
    const db = await openFresh({ migrations });
    expect(
      await db.transact(() =>
        createKey({
          userId: 'nobody',
          name: '',
          group: 'default',
          limit: undefined,
          expiresAt: undefined,
          at: 2,
        }),
      ),
    ).toBeUndefined();
    expect(await db.transact(() => setKeyStatus('none', 'disabled'))).toBeUndefined();
    expect(await db.transact(() => setUserState('nobody', 'suspended'))).toBeUndefined();
  });

  test('a deleted key stays deleted', async () => {
    const db = await openFresh({ migrations });
    const user = await db.transact(() => createUser({ name: 'Ada', role: 'user', at: 1 }));
    const made = await db.transact(() =>
      createKey({
        userId: user.id,
        name: '',
        group: 'default',
        limit: undefined,
        expiresAt: undefined,
        at: 2,
      }),
    );
    const id = made?.key.id ?? '';
    expect(await db.transact(() => setKeyStatus(id, 'disabled'))).toMatchObject({
      status: 'disabled',
    });
    expect(await db.transact(() => setKeyStatus(id, 'active'))).toMatchObject({ status: 'active' });
    expect(await db.transact(() => setKeyStatus(id, 'deleted'))).toMatchObject({
      status: 'deleted',
    });
    expect(await db.transact(() => setKeyStatus(id, 'active'))).toBeUndefined();
    expect(await listKeys(db, { limit: 10 })).toEqual([]);
  });
});
