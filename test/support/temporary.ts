import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { newUser } from '../../src/cli/user.ts';
import { check } from '../../src/ledger/check.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { type Gateway, openGateway } from '../../src/main.ts';
import { configurationFrom } from './running.ts';

/** A gateway for a whole file of tests, with one rich user. */
export interface Temporary {
  readonly gateway: Gateway;
  readonly key: string;
  /** A key of a user without money. */
  poorKey(): Promise<string>;
  expectBooks(): Promise<void>;
  close(): Promise<void>;
}

const yuan = 1_000n;

export async function openTemporaryGateway(configuration: string): Promise<Temporary> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
  const gateway = await openGateway({
    databaseUrl: `sqlite:${join(folder, 'tollgate.db')}`,
    masterKey: Buffer.alloc(32, 1),
    configuration: await configurationFrom(configuration),
    host: '127.0.0.1',
    port: 0,
    sqliteThread: undefined,
    logLevel: 'silent',
    metricsToken: undefined,
  });
  const { database } = gateway;
  const userWith = async (amount: bigint): Promise<string> => {
    const at = systemClock.now();
    const user = await database.transact(() => newUser('test', 'user'));
    if (amount > 0n)
      await credit(database, { id: `grant_${user.id}`, account: user.id, from: 'grants', amount, code: 'grant', ref: 'test', at });
    const made = await database.transact(() =>
      createKey({ userId: user.id, name: '', group: 'default', limit: undefined, expiresAt: undefined, at }),
    );
    if (made === undefined) throw new Error('no such user');
    return made.secret;
  };
  return {
    gateway,
    key: await userWith(yuan * nanoPerYuan),
    poorKey: () => userWith(0n),
    async expectBooks() {
      // What is being settled for clients that left is soon there.
      await expect.poll(() => check(database)).toMatchObject({ ok: true, problems: [] });
    },
    async close() {
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
