import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nanoPerYuan } from '../../src/base/money.ts';
import type { Database } from '../../src/storage/database.ts';
import { open } from '../../src/storage/open.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { startProcess } from '../../test/support/process.ts';
import type { Payer } from './cost.ts';
import { startPrompter } from './vendor.ts';

/** A payer in a process of its own. */
export interface Hired {
  readonly payer: Payer;
  stop(): Promise<void>;
}

export interface Wish {
  /** The database; else a new one of SQLite. */
  readonly databaseUrl?: string;
  /** Another vendor with the chat format. */
  readonly vendor?: string;
  /** Channels that sell the one model. */
  readonly channels?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Makes keys, and any other rows. */
  readonly keys?: (database: Database) => Promise<readonly string[]>;
  /**
   * `bin/tollgate.js` of another build. It makes its key with its own commands, since its schema
   * may differ.
   */
  readonly entry?: string;
}

const folderOfFiles = fileURLToPath(new URL('.', import.meta.url));
/** Makes a process slower by the share in MORE_WORK. */
export const slower = join(folderOfFiles, 'slower.mjs');

const configuration = (port: number, channels: number, vendor: string): string => `
groups:
  - { name: default, price_multiplier: 1.0, limits: { rpm: 100000000, tpm: 100000000000, concurrency: 100000 } }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 4096, price: { input: 2, cached_input: 0.2, output: 8 } }
channels:
${Array.from({ length: channels }, (_, n) => `  - { name: a${n}, vendor: ${vendor}, base_url: "http://127.0.0.1:${port}/v1", api_key: k${n}, groups: [default], models: [{ id: m1, upstream: instant }] }`).join('\n')}
`;

const oneKey = async (database: Database): Promise<readonly string[]> => [
  (await newCustomer(database, 1_000_000n * nanoPerYuan)).key.secret,
];

/** The built gateway with everything on. */
export async function hireGateway({
  databaseUrl,
  vendor: name = 'openai',
  channels = 1,
  env = {},
  keys = oneKey,
  entry,
}: Wish = {}): Promise<Hired> {
  const vendor = await startPrompter();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cost-'));
  const place = databaseUrl ?? `sqlite:${join(folder, 'tollgate.db')}`;
  const started = await startProcess({
    folder,
    configuration: configuration(vendor.port, channels, name),
    env: { DATABASE_URL: place, ...env },
    ...(entry === undefined ? {} : { entry }),
  });
  const payer = {
    pid: started.child.pid ?? 0,
    port: Number(new URL(started.url).port),
    keys: entry === undefined ? await keysIn(place, keys) : [keyByCommand(entry, folder, place)],
    vendor,
  };
  return {
    payer,
    async stop() {
      await started.stop();
      vendor.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function keysIn(place: string, keys: NonNullable<Wish['keys']>): Promise<readonly string[]> {
  const database = await open(place);
  try {
    return await keys(database);
  } finally {
    await database.close();
  }
}

/** A user with money and a key, made by the commands of the build itself. */
function keyByCommand(entry: string, folder: string, place: string): string {
  const command = (...words: string[]): unknown =>
    JSON.parse(
      execFileSync(process.execPath, [entry, ...words, '--json'], {
        env: {
          ...process.env,
          DATABASE_URL: place,
          TOLLGATE_DATA: folder,
          TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
        },
        encoding: 'utf8',
      }),
    );
  const user = memberOf(command('user', 'create', '--name', 'bench'), 'id');
  command('user', 'credit', '--user', user, '--amount', '1000000.00', '--reason', 'bench');
  return memberOf(command('key', 'create', '--user', user, '--group', 'default'), 'key');
}

function memberOf(answer: unknown, name: string): string {
  const value: unknown =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined;
  if (typeof value !== 'string') throw new Error(`no ${name} in ${JSON.stringify(answer)}`);
  return value;
}
