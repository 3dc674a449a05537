import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../src/storage/open.ts';
import { body, type Contender } from './contender.ts';
import { freePort } from '../test/support/free-port.ts';
import { run, type Started, start } from './process.ts';
import { isStream, kindsOf, type Vendors } from './vendor.ts';

export const metricsToken = 'bench';
/** As the image and the systemd unit set it (decision 0028). */
export const deployedEnv = { MALLOC_TRIM_THRESHOLD_: '131072' };
const entry = fileURLToPath(new URL('../bin/tollgate.js', import.meta.url));

export interface Books {
  readonly records: number;
  readonly charges: number;
}

export interface Tollgate extends Contender {
  readonly folder: string;
  readonly user: string;
  readonly base: string;
  start(env?: NodeJS.ProcessEnv): Promise<Started>;
  /** The numbers of usage records and charges in the database. */
  readonly books: () => Promise<Books>;
  /** Runs a command of the CLI with JSON output. */
  command(...args: string[]): unknown;
}

/** A gateway with a user, who has money, and a key. */
export interface Installed {
  readonly folder: string;
  readonly user: string;
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  command(...args: string[]): unknown;
  /** Starts one more of its processes, at this port and on any core. */
  another(port: number, ...args: readonly string[]): Started;
  readonly books: () => Promise<Books>;
  /** `flags`: Node's. */
  serve(flags?: readonly string[], env?: NodeJS.ProcessEnv): Promise<Started>;
}

/** The built gateway in `folder`, on SQLite unless `env` says otherwise. */
export async function install(
  folder: string,
  configuration: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Installed> {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const config = join(folder, 'tollgate.yaml');
  writeFileSync(config, configuration);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const argsAt = (at: number): string[] => [
    entry,
    'serve',
    '--config',
    config,
    '--port',
    String(at),
    '--data',
    data,
  ];
  const another = (at: number, ...more: readonly string[]): Started =>
    start('any', process.execPath, [...argsAt(at), ...more], {
      ...process.env,
      ...deployedEnv,
      ...env,
    });
  const serve = async (flags: readonly string[] = [], more: NodeJS.ProcessEnv = {}) =>
    start('measured', process.execPath, [...flags, ...argsAt(port)], {
      ...process.env,
      ...deployedEnv,
      ...env,
      ...more,
    });
  const command = (...words: string[]): unknown =>
    JSON.parse(
      run(process.execPath, [entry, ...words, '--json'], {
        ...env,
        TOLLGATE_DATA: data,
        TOLLGATE_CONFIG: config,
      }),
    );
  const first = await serve();
  try {
    await ready(`${base}/readyz`, first.tail);
    const user = textOf(command('user', 'create', '--name', 'bench'), 'id');
    command('user', 'credit', '--user', user, '--amount', '100000.00', '--reason', 'bench');
    const key = textOf(command('key', 'create', '--user', user, '--group', 'default'), 'key');
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const books = () => booksIn(env['DATABASE_URL'] ?? `sqlite:${join(data, 'tollgate.db')}`);
    return { folder: data, user, base, headers, books, command, serve, another };
  } finally {
    await first.stop();
  }
}

/** A process has kept its compiled code by then (bin/tollgate.js), and every later start has it. */
const codeKeptMs = 6_000;

/**
 * The gateway with everything on: SQLite, key, limits, reserve, settle, usage record. Makes its
 * user and key before the first measurement.
 */
export async function tollgate(folder: string, vendors: Vendors): Promise<Tollgate> {
  const {
    folder: data,
    user,
    base,
    headers,
    books,
    command,
    serve,
  } = await install(folder, configuration(vendors));
  const earlier = await serve();
  await new Promise((resolve) => setTimeout(resolve, codeKeptMs));
  await earlier.stop();
  return {
    name: 'Tollgate',
    version: '',
    folder: data,
    user,
    base,
    command,
    books,
    target: (kind, request) =>
      kind in vendors.base
        ? { url: `${base}/v1/chat/completions`, headers, body: body(kind, isStream(kind), request) }
        : undefined,
    start: (more = {}) => serve([], { TOLLGATE_METRICS_TOKEN: metricsToken, ...more }),
  };
}

async function booksIn(url: string): Promise<Books> {
  const database = await open(url);
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
  const value =
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, member) : undefined;
  if (typeof value !== 'string') throw new Error(`no ${member} in ${JSON.stringify(answer)}`);
  return value;
}

/** Values of a gateway's metrics. */
export interface Told {
  /** The event loop's delay since the last query, in ms: p99; its timer is set for 10 ms. */
  readonly eventLoopMs: number;
  readonly charges: number;
  /** Transactions that made the charges durable. */
  readonly commits: number;
}

export async function told(base: string): Promise<Told> {
  const answer = await fetch(`${base}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  const text = await answer.text();
  const of = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'm').exec(text)?.[1]);
  return {
    eventLoopMs: Math.max(0, of('nodejs_eventloop_lag_p99_seconds') * 1000 - 10),
    charges: of('tollgate_till_settled_total'),
    commits: of('tollgate_till_batches_total'),
  };
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

export function configuration(vendors: Vendors): string {
  return channels(
    kindsOf(vendors).map(([model, baseUrl]) => ({
      model,
      vendor: model === 'messages' ? 'anthropic' : 'openai',
      baseUrl,
    })),
  );
}

/** A configuration without limits: each model with one channel to its vendor. */
export function channels(
  all: readonly { readonly model: string; readonly vendor: string; readonly baseUrl: string }[],
): string {
  const price = '{ input: 2, cached_input: 0.2, output: 3 }';
  return `groups:
  - { name: default, price_multiplier: 1.0, limits: { rpm: 100000000, tpm: 100000000000, concurrency: 100000 } }
models:
${all.map(({ model }) => `  - { id: ${model}, owned_by: bench, kind: chat, context: 128000, max_output: 8192, price: ${price} }`).join('\n')}
channels:
${all.map(({ model, vendor, baseUrl }) => `  - { name: ${model}, vendor: ${vendor}, base_url: "${baseUrl}", api_key: bench, groups: [default], models: [{ id: ${model}, upstream: instant }] }`).join('\n')}
`;
}
