import { setMaxListeners } from 'node:events';
import { nanoPerYuan } from '../../src/base/money.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type {
  Charge,
  Reservation,
  ReserveRequest,
  ReserveRefusal,
  TillEvent,
} from '../../src/ledger/contract.ts';
import { createAccount, credit } from '../../src/ledger/ledger.ts';
import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import type { TillSettings } from '../../src/ledger/settings.ts';
import type { LiveTill } from '../../src/ledger/till.ts';
import type { Database, Row } from '../../src/storage/database.ts';
import type { FreshOptions } from '../databases.ts';
import { migrations } from './records.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { VirtualTime } from './virtual-time.ts';

export const never = new AbortController().signal;
setMaxListeners(0, never);

/** Exact to a millionth. */
export function yuan(amount: number): bigint {
  return BigInt(Math.round(amount * 1_000_000)) * (nanoPerYuan / 1_000_000n);
}

export function askFor(
  account: string,
  want: number,
  minimum: number = want / 10,
  more: Partial<ReserveRequest> = {},
): ReserveRequest {
  return {
    account,
    limits: [],
    want: yuan(want),
    minimum: yuan(minimum),
    shape: 'stream',
    ...more,
  };
}

export function chargeOf(id: string, cost: number, more: Partial<Charge> = {}): Charge {
  return { id, cost: yuan(cost), code: 'chat', at: 1, record: ['none', 1, null, null], ...more };
}

export function granted(result: Reservation | ReserveRefusal | undefined): Reservation {
  if (result === undefined || typeof result === 'string')
    throw new Error(`nothing was reserved: ${result}`);
  return result;
}

/**
 * Several real tills on one real database, in virtual time and with a network that does what the
 * test says.
 */
export class CounterHall {
  readonly time = new VirtualTime();
  readonly network: SimulatedNetwork;
  readonly database: Database;
  readonly events: TillEvent[] = [];
  readonly processes: SimulatedProcess[] = [];
  readonly #random: Random;

  constructor(database: Database, seed: number) {
    this.#random = seededRandom(seed);
    this.database = database;
    this.network = new SimulatedNetwork(database, this.time, this.#random);
  }

  static async open(
    openFresh: (options: FreshOptions) => Promise<Database>,
    seed = 1,
  ): Promise<CounterHall> {
    return new CounterHall(await openFresh({ migrations, procedures: ledgerProcedures }), seed);
  }

  async account(id: string, amount: number): Promise<void> {
    await createAccount(this.database, id);
    if (amount > 0) await this.credit(id, amount);
  }

  async credit(account: string, amount: number): Promise<void> {
    await credit(this.database, {
      id: `top-up ${this.time.now} ${account}`,
      account,
      amount: yuan(amount),
      from: 'wallet:test',
      code: 'topup',
      at: 1,
    });
  }

  process(settings: Partial<TillSettings> = {}): SimulatedProcess {
    const process = new SimulatedProcess({
      time: this.time,
      network: this.network,
      random: this.#random,
      newId: () => `P${this.processes.length}-${Math.floor(this.#random() * 1e9)}`,
      settings,
      log: (event) => this.events.push(event),
    });
    this.processes.push(process);
    return process;
  }

  async till(settings?: Partial<TillSettings>): Promise<LiveTill> {
    const { till } = this.process(settings);
    await this.until(till.open());
    return till;
  }

  async tills(count: number, settings?: Partial<TillSettings>): Promise<readonly LiveTill[]> {
    const tills: LiveTill[] = [];
    for (let i = 0; i < count; i++) tills.push(await this.till(settings));
    return tills;
  }

  /** Lets time pass until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => undefined);
    await new Promise(setImmediate);
    if (!settled) await this.time.run(() => settled);
    return done;
  }

  async pass(ms: number): Promise<void> {
    await this.until(this.time.wait(ms));
  }

  /** All tills leave. */
  async close(): Promise<void> {
    await this.until(
      Promise.all(this.processes.filter(({ isAlive }) => isAlive).map(({ till }) => till.close())),
    );
  }

  async number(sql: string, ...params: readonly string[]): Promise<bigint> {
    const [row] = await this.database.query(sql, params);
    return BigInt(Object.values(row ?? {})[0] ?? 0);
  }

  /** A replica that hears nothing more. The function that is returned makes it the database. */
  async lag(): Promise<() => Promise<void>> {
    const tables = ['process', 'account', 'till_float', 'transfer', 'usage'];
    const known = new Map<string, readonly Row[]>();
    for (const table of tables)
      known.set(table, await this.database.query(`SELECT * FROM ${table}`));
    return () =>
      this.database.transact(function* () {
        for (const table of tables.toReversed()) yield { sql: `DELETE FROM ${table}`, params: [] };
        for (const [table, rows] of known)
          for (const row of rows) {
            const columns = Object.keys(row);
            const places = columns.map((_, i) => `$${i + 1}`).join(', ');
            yield {
              sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`,
              params: Object.values(row),
            };
          }
      });
  }

  held(account: string): Promise<bigint> {
    return this.number('SELECT held FROM account WHERE id=$1', account);
  }
}
