import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { nanoPerYuan } from '../../src/base/money.ts';
import { check } from '../../src/ledger/check.ts';
import { type Gateway, openGateway } from '../../src/main.ts';
import { newCustomer } from './customer.ts';
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
    media: join(folder, 'media'),
    publicUrl: undefined,
    configuration: await configurationFrom(configuration),
    host: '127.0.0.1',
    port: 0,
    sqliteThread: undefined,
    logLevel: 'silent',
    metricsToken: undefined,
  });
  const { database } = gateway;
  const userWith = async (amount: bigint): Promise<string> => (await newCustomer(database, amount)).key.secret;
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
