import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { simConfig } from '../../sim/catalog.ts';
import { startSim } from '../../sim/index.ts';
import { setUserRole } from '../../src/accounts/users.ts';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../src/main.ts';
import { enrol } from '../../src/signin/enrol.ts';
import { type Browser, signedInAs } from '../support/console.ts';
import { quietOptions } from '../support/running.ts';
import { builtConsole } from './chromium.ts';

export interface LiveConsole {
  readonly url: string;
  readonly gateway: Gateway;
  /** The simulator: vendors, wallets and sign-ins. */
  readonly simulatorUrl: string;
  /** Another session of a user. */
  signIn(userId: string): Promise<Browser>;
  /** A new user with so many yuan, signed in; `cookie` goes into `openWindow`. */
  newUser(options?: { readonly yuan?: bigint; readonly role?: 'user' | 'operator'; readonly name?: string }): Promise<Browser>;
}

/** The real gateway with the built console, on a database of its own, with the simulator behind it. All of it ends with the test. */
export async function startLiveConsole(more: (simulatorUrl: string) => Partial<GatewayOptions> = () => ({})): Promise<LiveConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-browser-'));
  const simulator = await startSim({ host: '127.0.0.1', port: 0 });
  const options = await quietOptions({
    databaseUrl: `sqlite:${join(folder, 'tollgate.db')}`,
    configuration: simConfig(simulator.url),
    media: join(folder, 'media'),
  });
  const gateway = await openGateway({ ...options, consoleFolder: builtConsole(), ...more(simulator.url) });
  onTestFinished(async () => {
    await gateway.close();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url: gateway.url,
    gateway,
    simulatorUrl: simulator.url,
    signIn: (userId) => signedInAs(gateway.url, gateway.database, userId),
    async newUser({ yuan = 0n, role = 'user', name = '林小满' } = {}) {
      const { database } = gateway;
      const at = systemClock.now();
      const { id } = await database.transact(() => enrol(name, 'user', at));
      if (role !== 'user') await database.transact(() => setUserRole(id, role));
      const amount = yuan * nanoPerYuan;
      if (yuan > 0n) await credit(database, { id: `grant_${id}`, account: id, from: 'grants', amount, code: 'grant', ref: 'test', at });
      return signedInAs(gateway.url, database, id);
    },
  };
}
