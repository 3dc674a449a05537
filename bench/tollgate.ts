import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../src/storage/open.ts';
import { body, type Contender } from './contender.ts';
import { freePort, run, start } from './process.ts';
import type { Vendors } from './vendor.ts';

const entry = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url));

export interface Books {
  readonly records: number;
  readonly charges: number;
}

export interface Tollgate extends Contender {
  readonly folder: string;
  readonly user: string;
  readonly base: string;
  /** Usage records and charges, counted in the database. */
  readonly books: () => Promise<Books>;
  /** A command of the operator's interface, answered as JSON. */
  command(...args: string[]): unknown;
}

/** The gateway with everything on: SQLite, key, limits, reserve, settle, usage record. Makes its user and key before the first measurement. */
export async function tollgate(folder: string, vendors: Vendors): Promise<Tollgate> {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const config = join(folder, 'tollgate.yaml');
  writeFileSync(config, configuration(vendors));
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const serve = async () =>
    start('measured', process.execPath, [entry, 'serve', '--config', config, '--port', String(port), '--data', data]);
  const command = (...args: string[]): unknown =>
    JSON.parse(run(process.execPath, [entry, ...args, '--json'], { TOLLGATE_DATA: data, TOLLGATE_CONFIG: config }));
  const first = await serve();
  try {
    await ready(`${base}/readyz`, first.tail);
    const user = textOf(command('user', 'create', '--name', 'bench'), 'id');
    command('user', 'credit', '--user', user, '--amount', '100000.00', '--reason', 'bench');
    const key = textOf(command('key', 'create', '--user', user, '--group', 'default'), 'key');
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    return {
      name: 'Tollgate',
      version: '',
      folder: data,
      user,
      base,
      command,
      books: () => booksIn(data),
      target: (kind) =>
        kind in vendors.base ? { url: `${base}/v1/chat/completions`, headers, body: body(kind, kind !== 'whole') } : undefined,
      start: serve,
    };
  } finally {
    await first.stop();
  }
}

async function booksIn(data: string): Promise<Books> {
  const database = await open(`sqlite:${join(data, 'tollgate.db')}`);
  try {
    const [row] = await database.query(
      "SELECT (SELECT COUNT(*) FROM usage) AS records, (SELECT COUNT(*) FROM transfer WHERE credit = 'revenue') AS charges",
    );
    return { records: Number(row?.['records']), charges: Number(row?.['charges']) };
  } finally {
    await database.close();
  }
}

function textOf(answer: unknown, member: string): string {
  const value = typeof answer === 'object' && answer !== null ? Reflect.get(answer, member) : undefined;
  if (typeof value !== 'string') throw new Error(`no ${member} in ${JSON.stringify(answer)}`);
  return value;
}

export async function ready(url: string, tail: () => string): Promise<void> {
  let last = '';
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await fetch(url).catch((error: unknown) => String(error));
    last = typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`;
    if (typeof answer !== 'string' && answer.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} is not ready (${last}): ${tail()}`);
}

function configuration(vendors: Vendors): string {
  const kinds = Object.entries(vendors.base);
  const price = '{ input: 2, cached_input: 0.2, output: 3 }';
  return `groups:
  - { name: default, price_multiplier: 1.0, limits: { rpm: 100000000, tpm: 100000000000, concurrency: 100000 } }
models:
${kinds.map(([kind]) => `  - { id: ${kind}, owned_by: bench, kind: chat, context: 128000, max_output: 8192, price: ${price} }`).join('\n')}
channels:
${kinds.map(([kind, vendor]) => `  - { name: ${kind}, vendor: openai, base_url: "${vendor}", api_key: bench, groups: [default], models: [{ id: ${kind}, upstream: instant }] }`).join('\n')}
`;
}
