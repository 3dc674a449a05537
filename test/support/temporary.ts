import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { simConfig } from '../../sim/catalog.ts';
import { type Sim, startSim } from '../../sim/index.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { check } from '../../src/ledger/check.ts';
import { type Gateway, openGateway } from '../../src/app/gateway.ts';
import { newCustomer } from './customer.ts';
import { quietOptions } from './running.ts';

/** A gateway for a whole file of tests, with one user with money. */
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
  const databaseUrl = `sqlite:${join(folder, 'tollgate.db')}`;
  const gateway = await openGateway(
    await quietOptions({ databaseUrl, configuration, media: join(folder, 'media') }),
  );
  const { database } = gateway;
  const userWith = async (amount: bigint): Promise<string> =>
    (await newCustomer(database, amount)).key.secret;
  return {
    gateway,
    key: await userWith(yuan * nanoPerYuan),
    poorKey: () => userWith(0n),
    async expectBooks() {
      // The gateway settles requests of clients that left a moment later.
      await expect.poll(() => check(database)).toMatchObject({ ok: true, problems: [] });
    },
    async close() {
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same with every vendor simulated; the simulator stops with it. */
export async function openSimulatedGateway(): Promise<Temporary & { readonly sim: Sim }> {
  const sim = await startSim();
  const temporary = await openTemporaryGateway(simConfig(sim.url));
  return {
    ...temporary,
    sim,
    async close() {
      await temporary.close();
      await sim.close();
    },
  };
}
