import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { simConfig } from '../../sim/catalog.ts';
import { type Sim, startSim } from '../../sim/index.ts';
import { signinVariables } from '../../sim/signin/apps.ts';
import { setUserRole } from '../../src/accounts/users.ts';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../src/app/gateway.ts';
import { migrations } from '../../src/app/schema.ts';
import { enrol } from '../../src/signin/enrol.ts';
import { signinSettings } from '../../src/signin/settings.ts';
import { type Browser, signedInAs } from '../support/console.ts';
import { quietOptions } from '../support/running.ts';
import { copySqlite } from '../templates.ts';
import { builtConsole, builtDocs } from './chromium.ts';

export interface LiveConsole {
  readonly url: string;
  readonly gateway: Gateway;
  /** Vendors, wallets and sign-ins; its `wallets` are the telephone that pays. */
  readonly simulator: Sim;
  /** Another session of a user. */
  signIn(userId: string): Promise<Browser>;
  /** A new user with so many yuan, signed in; `cookie` goes into `openWindow`. */
  newUser(options?: {
    readonly yuan?: bigint;
    readonly role?: 'user' | 'operator';
    readonly name?: string;
  }): Promise<Browser>;
}

/** Takes what ends something that was started. */
export type AtEnd = (end: () => Promise<void>) => void;

/**
 * What `start` starts, once for all tests of a file: with the first that asks, until the last has
 * ended. Its tests only look at it, or do what they do to users and keys of their own.
 */
export function onePerFile<T>(start: (atEnd: AtEnd) => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  const ends: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return () =>
    (started ??= start((end) => ends.push(end)).catch((error: unknown) => {
      started = undefined; // The next test tries again.
      throw error;
    }));
}

/**
 * The real gateway with the built console, on a database of its own, with all of the simulator
 * behind it. All of it ends with the test, unless `atEnd` says otherwise.
 */
export async function startLiveConsole(
  more: (
    simulatorUrl: string,
  ) => Partial<GatewayOptions> | Promise<Partial<GatewayOptions>> = () => ({}),
  atEnd: AtEnd = onTestFinished,
): Promise<LiveConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-browser-'));
  const database = join(folder, 'tollgate.db');
  await copySqlite(database, migrations);
  const simulator = await startSim({ host: '127.0.0.1', port: 0 });
  const options = await quietOptions({
    databaseUrl: `sqlite:${database}`,
    configuration: simConfig(simulator.url),
    media: join(folder, 'media'),
  });
  const signin = signinSettings(undefined, signinVariables(simulator.url));
  if (typeof signin === 'string') throw new Error(signin);
  const payments = simulator.wallets.settings;
  const gateway = await openGateway({
    ...options,
    configurationFile: '/etc/tollgate.yaml',
    signin,
    payments,
    consoleFolder: builtConsole(),
    docsFolder: builtDocs,
    ...(await more(simulator.url)),
  });
  atEnd(async () => {
    await gateway.close();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url: gateway.url,
    gateway,
    simulator,
    signIn: (userId) => signedInAs(gateway.url, gateway.database, userId),
    async newUser({ yuan = 0n, role = 'user', name = '林小满' } = {}) {
      const { database } = gateway;
      const at = systemClock.now();
      const { id } = await database.transact(() => enrol(name, 'user', at));
      if (role !== 'user') await database.transact(() => setUserRole(id, role));
      const amount = yuan * nanoPerYuan;
      if (yuan > 0n)
        await credit(database, {
          id: `grant_${id}`,
          account: id,
          from: 'grants',
          amount,
          code: 'grant',
          ref: 'test',
          at,
        });
      return signedInAs(gateway.url, database, id);
    },
  };
}

/** A live console with the simulator's catalog for all tests of a file. */
export const oneConsolePerFile = (): (() => Promise<LiveConsole>) =>
  onePerFile((atEnd) => startLiveConsole(undefined, atEnd));
