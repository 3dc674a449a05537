import { setTimeout as wait } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { auditPage } from '../accounts/audit.ts';
import { systemClock } from '../base/clock.ts';
import { defaultGroup } from '../catalog/configuration.ts';
import { recordConfiguration } from '../catalog/catalog-store.ts';
import { openSealer } from '../storage/seal.ts';
import { withDatabase } from './installation.ts';
import * as key from './key.ts';
import * as user from './user.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-trail-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('what commands do to users, their keys and their money is in the trail, where the user finds it, too', async () => {
  const data = temporaryFolder();
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const printed = () => JSON.parse(String(log.mock.lastCall?.[0]));
  const env = {};
  // Records of one millisecond have no order.
  const then = async (command: Promise<unknown>): Promise<void> => {
    await command;
    await wait(2);
  };
  await then(user.createUserCommand({ data, json: true, name: 'Ada', role: 'user' }, env));
  const { id } = printed();
  await withDatabase({ data }, env, async (database) => {
    const configuration = { groups: [defaultGroup], models: [], channels: [], warnings: [] };
    await recordConfiguration(database, configuration, openSealer(Buffer.alloc(32)), systemClock);
  });
  await then(
    user.creditUserCommand({ data, json: true, user: id, amount: '10.00', reason: 'welcome' }, env),
  );
  await then(
    key.createKeyCommand(
      { data, json: true, user: id, group: 'default', name: 'ci', limit: '5.00' },
      env,
    ),
  );
  const made = printed();
  await then(key.limitKeyCommand(made.id, { data, json: true, limit: '7.50' }, env));
  await then(key.switchKeyCommand(made.id, 'disabled', { data, json: true }, env));
  await then(key.switchKeyCommand(made.id, 'active', { data, json: true }, env));
  await then(key.rotateKeyCommand(made.id, { data, json: true, grace: '1h' }, env));
  const rotated = printed();
  await then(key.endOldSecretCommand(made.id, { data, json: true }, env));
  const others = { limit: 'none', dailyLimit: '2' };
  await then(key.limitKeyCommand(made.id, { data, json: true, ...others }, env));
  expect(printed()).toMatchObject({ limit: null, daily_limit: '2.00' });
  await then(key.deleteKeyCommand(made.id, { data, json: true }, env));
  expect(printed()).toEqual({ id: made.id, status: 'deleted' });
  await expect(key.switchKeyCommand(made.id, 'active', { data }, env)).rejects.toThrow(
    `there is no key ${made.id}`,
  );
  log.mockRestore();
  const entries = await withDatabase({ data }, env, (database) =>
    auditPage(database, { account: id, limit: 20 }),
  );
  expect(
    entries
      .map(({ actorKind, action, target, before, after }) => ({
        actorKind,
        action,
        target,
        before,
        after,
      }))
      .reverse(),
  ).toEqual(
    [
      { action: 'user.create', target: `user:${id}`, after: { name: 'Ada', role: 'user' } },
      {
        action: 'user.credit',
        target: `user:${id}`,
        after: { amount: '10.00', transfer: expect.stringMatching(/^grant_/) },
      },
      { action: 'key.create', target: made.id, after: { name: 'ci', group: 'default' } },
      {
        action: 'key.update',
        target: made.id,
        before: { limit: '5.000000000' },
        after: { limit: '7.500000000' },
      },
      {
        action: 'key.update',
        target: made.id,
        before: { status: 'active' },
        after: { status: 'disabled' },
      },
      {
        action: 'key.update',
        target: made.id,
        before: { status: 'disabled' },
        after: { status: 'active' },
      },
      {
        action: 'key.rotate',
        target: made.id,
        before: { last4: made.key.slice(-4), old_works_until: null },
        after: { last4: rotated.key.slice(-4), old_works_until: expect.stringMatching(/Z$/) },
      },
      { action: 'key.end_old_secret', target: made.id, after: undefined },
      {
        action: 'key.update',
        target: made.id,
        before: { limit: '7.500000000', daily_limit: null },
        after: { limit: null, daily_limit: '2.000000000' },
      },
      {
        action: 'key.delete',
        target: made.id,
        before: { name: 'ci', group: 'default' },
        after: undefined,
      },
    ].map((entry) => ({ actorKind: 'command', before: undefined, ...entry })),
  );
  for (const { key: secret } of [made, rotated])
    expect(JSON.stringify(entries)).not.toContain(secret);
});

test('a user whose name hides something is not made', async () => {
  for (const name of ['', ' ', 'a\nb', 'a\u202eb', 'a'.repeat(101)])
    await expect(
      user.createUserCommand({ data: temporaryFolder(), name, role: 'user' }, {}),
      name,
    ).rejects.toThrow('--name is one line');
});
