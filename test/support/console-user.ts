import type { Clock } from '../../src/base/clock.ts';
import { buildSnapshot } from '../../src/catalog/build-snapshot.ts';
import { loadCatalog, recordConfiguration } from '../../src/catalog/catalog-store.ts';
import type { Snapshot } from '../../src/catalog/snapshot.ts';
import { Cursors } from '../../src/console/cursor.ts';
import { type UserContext, userRoutes } from '../../src/console/user/routes.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { insertOf } from '../../src/ledger/transactions/batch.ts';
import { listFees, serves } from '../../src/app/gateway.ts';
import { vendors } from '../../src/providers/index.ts';
import { openSite } from '../../src/signin/site.ts';
import type { Database, SqlValue } from '../../src/storage/database.ts';
import { openSealer } from '../../src/storage/seal.ts';
import { recordColumns } from '../../src/usage/record.ts';
import { type Browser, newBrowser, startConsole } from './console.ts';
import { configurationFrom } from './running.ts';

export const sold = `
groups:
  - { name: default, price_multiplier: 1.0 }
  - { name: economy, price_multiplier: 0.85 }
models:
  - { id: glm, owned_by: zhipu, kind: chat, context: 128000, max_output: 1000, price: { input: 2.5, cached_input: 0.25, output: 10 } }
  - { id: vendor/painter, owned_by: openai, kind: image, price: { image: 0.42 } }
  - { id: alone, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
channels:
  - { name: a, vendor: openai, base_url: "http://127.0.0.1:9/v1", api_key: up-key, groups: [default, economy], models: [glm, vendor/painter] }
  - { name: b, vendor: openai, base_url: "http://127.0.0.1:9/v1", api_key: up-key, groups: [default], models: [alone] }
`;

/** The user routes on a database, without a gateway; `charge` writes the charges. */
export interface UserConsole {
  readonly url: string;
  readonly database: Database;
  readonly snapshot: Snapshot;
  newUser(): Promise<Browser>;
}

/** 2026-11-21 14:05 in Shanghai. */
export const noon = Date.UTC(2026, 10, 21, 6, 5);

export async function startUserConsole(
  database: Database,
  clock: Clock,
  more: Partial<UserContext> = {},
): Promise<UserConsole> {
  const sealer = openSealer(Buffer.alloc(32, 7));
  await recordConfiguration(database, await configurationFrom(sold), sealer, {
    now: () => Date.UTC(2026, 10, 1),
    monotonicMs: () => 0,
  });
  const snapshot = buildSnapshot(await loadCatalog(database, sealer), serves, listFees());
  const rooms: UserContext = {
    database,
    clock,
    vendors,
    catalog: () => snapshot,
    site: openSite(undefined),
    shell: {
      name: 'Tollgate',
      methods: ['github'],
      wallets: ['alipay'],
      walletPages: { alipay: ['qr', 'web', 'mobile'] },
      amounts: { least: 1_000_000_000n, most: 50_000_000_000_000n },
      email: true,
      publicGroup: undefined,
      configurationFile: '/etc/tollgate.yaml',
      demo: undefined,
    },
    utcOffsetMinutes: 480,
    cursors: new Cursors(sealer.key('cursors of the console')),
    announced: async () => [],
    released: async () => [],
    files: { find: async () => undefined, urlOf: ({ id }) => `http://files.test/${id}` },
    ordersSince: async () => [],
    play: async () => undefined,
    playBytesMax: 1_000_000,
    ...more,
  };
  const url = await startConsole(database, userRoutes(rooms), { clock });
  return { url, database, snapshot, newUser: () => newBrowser(url, database) };
}

export interface TestCharge {
  readonly id: string;
  readonly account: string;
  readonly keyId: string;
  readonly at: number;
  readonly lines: readonly (readonly [
    measure: string,
    quantity: number,
    rate: bigint,
    cost: bigint,
  ])[];
  readonly model?: string;
  readonly group?: string;
  readonly capability?: string;
  readonly status?: string;
  readonly shortfall?: bigint;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** 412 unless given; null: nothing was streamed. */
  readonly firstByteMs?: number | null;
  readonly totalMs?: number;
}

/**
 * A charge as the ledger would have committed it: transfer, counters and record in one transaction.
 */
export const charge = (database: Database, made: TestCharge): Promise<void> =>
  charges(database, [made]);

const rowsMax = 100;

/** Many charges in one transaction, which takes a fraction of their time one by one. */
export async function charges(database: Database, all: readonly TestCharge[]): Promise<void> {
  await database.transact(function* () {
    for (let from = 0; from < all.length; from += rowsMax) {
      const rows = all.slice(from, from + rowsMax).map(rowsOf);
      yield {
        sql: insertOf('INSERT INTO transfer (id, debit, amount, code, at, credit)', rows.length, 6),
        params: rows.flatMap(({ transfer }) => transfer),
      };
      for (const [account, debits] of debitsOf(rows))
        yield {
          sql: 'UPDATE account SET debits=debits+$2 WHERE id=$1',
          params: [account, debits],
        };
      yield {
        sql: insertOf(`INSERT INTO usage (${columns.join()})`, rows.length, columns.length),
        params: rows.flatMap(({ record }) => record),
      };
    }
  });
}

const columns = ['id', 'account', 'cost', 'shortfall', ...recordColumns.map(({ name }) => name)];

interface ChargeRows {
  readonly account: string;
  readonly paid: bigint;
  readonly transfer: readonly SqlValue[];
  readonly record: readonly SqlValue[];
}

/** What each account paid in these charges. */
function debitsOf(rows: readonly ChargeRows[]): ReadonlyMap<string, bigint> {
  const debits = new Map<string, bigint>();
  for (const { account, paid } of rows) debits.set(account, (debits.get(account) ?? 0n) + paid);
  return debits;
}

function rowsOf(made: TestCharge): ChargeRows {
  const cost = made.lines.reduce((sum, [, , , amount]) => sum + amount, 0n);
  const paid = cost - (made.shortfall ?? 0n);
  const values: Readonly<Record<string, string | number | null>> = {
    key_id: made.keyId,
    reserved_at: made.at - 6_900,
    finished_at: made.at,
    capability: made.capability ?? 'chat',
    model: made.model ?? 'glm',
    group_name: made.group ?? 'default',
    channel: 'a',
    upstream_id: 'up_1',
    status: made.status ?? 'ok',
    stream: 1,
    estimated: 0,
    first_byte_ms: made.firstByteMs === undefined ? 412 : made.firstByteMs,
    duration_ms: made.totalMs ?? 6_900,
    attempts: 1,
    input_tokens: made.inputTokens ?? 0,
    output_tokens: made.outputTokens ?? 0,
    lines: `[${made.lines.map(([measure, quantity, rate, amount]) => `["${measure}",${quantity},"${rate}","${amount}"]`).join()}]`,
  };
  return {
    account: made.account,
    paid,
    transfer: [made.id, made.account, paid, values['capability'] ?? null, made.at, 'revenue'],
    record: [
      made.id,
      made.account,
      cost,
      made.shortfall ?? 0n,
      ...recordColumns.map(({ name }) => values[name] ?? null),
    ],
  };
}

export async function topUp(
  database: Database,
  account: string,
  amount: bigint,
  at: number,
  id = `pay_${at}`,
): Promise<void> {
  const done = await credit(database, {
    id,
    account,
    amount,
    from: 'wallet:alipay',
    code: 'topup',
    ref: `ord_${id}`,
    at,
  });
  if (done !== 'created') throw new Error(done);
}
