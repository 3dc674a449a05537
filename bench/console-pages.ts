import { request } from 'node:http';
import { startSession } from '../src/accounts/sessions.ts';
import { setUserRole } from '../src/accounts/users.ts';
import { systemClock } from '../src/base/clock.ts';
import { defaultUsdRatePpm, loadBundled } from '../src/catalog/bundled.ts';
import { utcDate } from '../src/catalog/configuration.ts';
import { Cursors } from '../src/console/cursor.ts';
import { openConsole } from '../src/console/server.ts';
import { operatorRoutes, userTabRoutes } from '../src/console/operator/routes.ts';
import { userRoutes } from '../src/console/user/routes.ts';
import { openFramework } from '../src/http/framework.ts';
import { serverLimits } from '../src/http/server.ts';
import { MemoryLimiter } from '../src/limits/limiter.ts';
import { vendors } from '../src/providers/index.ts';
import { csrfOf } from '../src/signin/session-cookie.ts';
import { openSite } from '../src/signin/site.ts';
import { openSealer } from '../src/storage/seal.ts';
import type { Database } from '../src/storage/database.ts';
import { makeCatalog } from './console-catalogue.ts';
import type { History } from './history.ts';

export interface PageTime {
  readonly page: string;
  /** `heavy` has three of ten records, `usual` one of three hundred. */
  readonly user: 'heavy' | 'usual' | 'operator';
  readonly medianMs: number;
  readonly p95Ms: number;
  /** The processor's time of this process for one response, in which SQLite has its share. */
  readonly cpuMs: number;
}

/** `RUNS` in the environment: fewer where the machine has other work. */
const runs = Number(process.env['RUNS'] ?? 20);

/**
 * The requests of users' console pages over real HTTP, as of the end of the history. The first
 * response of each is not counted.
 */
export async function measurePages(
  database: Database,
  history: History,
  onPage: (time: PageTime) => void = () => undefined,
): Promise<readonly PageTime[]> {
  const { url, close } = await consoleOn(database, history);
  const times: PageTime[] = [];
  await database.transact(() => setUserRole(history.users[1] ?? '', 'operator'));
  for (const [user, id] of [
    ['heavy', history.users[0]],
    ['usual', history.users[7]],
    ['operator', history.users[1]],
  ] as const) {
    const signedIn = {
      userId: id ?? '',
      way: 'link',
      browser: 'bench',
      ip: '127.0.0.1',
      at: history.to,
    };
    const { secret } = await database.transact(() => startSession(signedIn));
    const pages =
      user === 'operator'
        ? await operatorPages(database, history)
        : await pagesOf(database, id ?? '', history);
    for (const page of pages) {
      const time = { page, user, ...(await timed(url, page, secret)) };
      times.push(time);
      onPage(time);
    }
  }
  await close();
  return times;
}

/** The console's API, with the clock at the end of the history. */
async function consoleOn(database: Database, { to }: History) {
  const clock = {
    ...systemClock,
    now: () => to,
    monotonicMs: () => systemClock.monotonicMs(),
  };
  const sealer = openSealer(Buffer.alloc(32, 1));
  const bundled = await loadBundled({ usdRatePpm: defaultUsdRatePpm, today: utcDate(to) });
  const snapshot = await makeCatalog(database, sealer, clock, bundled);
  const site = openSite(undefined);
  const server = openFramework(serverLimits, () => ({ status: 400, body: '{}', id: '' }));
  const cursors = new Cursors(Buffer.alloc(32, 1));
  const users = userRoutes({
    database,
    clock,
    site,
    catalog: () => snapshot,
    cursors,
    vendors,
    utcOffsetMinutes: 480,
    shell: {
      name: 'bench',
      methods: [],
      wallets: [],
      walletPages: {},
      amounts: { least: 0n, most: 0n },
      email: false,
      publicGroup: undefined,
      demo: undefined,
    },
    announced: async () => [],
    released: async () => [],
    files: { find: async () => undefined, urlOf: () => '' },
    ordersSince: async () => [],
    play: async () => undefined,
    playBytesMax: 1_000,
  });
  const operators = operatorRoutes({
    database,
    clock,
    cursors,
    vendors,
    catalog: () => snapshot,
    sealer,
    bundled: async () => bundled,
    listFees: () => ({}),
    proofs: {},
    attention: [],
    onError(_, error) {
      throw error;
    },
  });
  const rows = [...users, ...operators, ...userTabRoutes(database, users)];
  // Its minutes pass at once: a person does not ask as often as this measurement.
  const limiter = new MemoryLimiter({
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() * 1_000,
  });
  const quiet = { refused: () => {}, bug: (_: string, error: unknown) => console.error(error) };
  const door = await openConsole(server, { database, clock, limiter, site, log: quiet }, rows);
  const close = async () => {
    await door.drain(1_000);
    server.server.closeAllConnections();
    await server.close();
  };
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), close };
}

async function pagesOf(
  database: Database,
  user: string,
  { from, to }: History,
): Promise<readonly string[]> {
  const [key] = await database.query(
    'SELECT id FROM api_keys WHERE user_id=$1 ORDER BY id LIMIT 1',
    [user],
  );
  const [record] = await database.query(
    'SELECT id FROM usage WHERE account=$1 ORDER BY finished_at DESC LIMIT 1',
    [user],
  );
  const [logged] = await database.query(
    'SELECT id FROM request_log WHERE account=$1 ORDER BY id LIMIT 1',
    [user],
  );
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return [
    'session',
    'overview',
    'overview?by=key',
    'overview?period=today',
    'overview?period=90d',
    'keys',
    `keys/${String(key?.['id'])}`,
    'usage',
    `usage?from=${new Date(from).toISOString()}&to=${new Date(from + 40 * 86_400_000).toISOString()}`,
    'usage?model=glm&status=cut',
    'usage?status=estimated',
    'usage?min_cost=0.013',
    'usage?min_cost=5',
    'usage?sort=-cost',
    'usage?sort=total&model=glm',
    'usage/course',
    'usage/course?from=-24h',
    'usage/course?model=glm',
    'usage/summary',
    'usage/summary?model=glm',
    'usage/summary?min_cost=0.013',
    'usage/summary?min_cost=0.001',
    'usage/series?by=model',
    `usage/${String(record?.['id'])}`,
    'statement',
    `statement?from=${day(from)}&to=${day(to)}`,
    `statement/${day(to - 86_400_000)}`,
    'tasks',
    'models',
    'models/glm',
    'find?q=key',
    'requests',
    'requests?model=glm&status=499',
    'requests?status=5xx',
    ...(logged === undefined ? [] : [`requests/${String(logged['id'])}`]),
  ];
}

async function operatorPages(
  database: Database,
  { users: [heavy = '', usual = ''], from, to }: History,
): Promise<readonly string[]> {
  const [logged] = await database.query(
    'SELECT id FROM request_log ORDER BY id LIMIT 1 OFFSET 1000',
  );
  const id = logged?.['id'];
  // Where a page in the middle of the list begins.
  const middle = new Date((from + to) / 2).toISOString();
  const pages = [
    'overview',
    ...['today', '7d', '30d', '90d', 'month'].map((period) => `trend?period=${period}`),
    'requests',
    'requests?all=1',
    'requests?all=1&model=glm&status=200',
    'requests?all=1&model=no-such-model',
    `requests?all=1&user=${usual}`,
    `requests?all=1&user=${heavy}`,
    `requests?all=1&user=${heavy}&to=${middle}`,
    `requests?all=1&user=${usual}&model=no-such-model`,
    ...(id === undefined ? [] : [`requests?all=1&user=${heavy}&id=${id}`]),
    'requests?from=-24h',
    `requests?user=${heavy}`,
    'requests?status=5xx',
    'requests?status=2xx',
    'requests?status=404',
    'requests?model=glm&channel=one',
    'requests?model=glm&status=499',
    'requests?model=no-such-model',
    ...(id === undefined ? [] : [`requests?id=${id}`, `requests/${id}`]),
    'channels',
    'channels/one',
    'models',
    'models/glm',
    'models/glm/prices',
    'prices/preview',
    'groups',
    'groups/default',
    'groups/default/preview',
    'users',
    'users?q=user',
    'users?sort=balance',
    'users?sort=spent',
    'users?sort=seen',
    'users?sort=name',
    `users/${heavy}`,
    `users/${heavy}/usage`,
    `users/${heavy}/statement`,
    `users/${heavy}/keys`,
    `users/${heavy}/requests`,
    'ledger/checks',
    'audit',
  ];
  return pages.map((page) => `operator/${page}`);
}

/** What previews are asked with; other pages are read. */
const bodies: Readonly<Record<string, object>> = {
  'operator/prices/preview': { model: 'glm', price: { input: 3, cached_input: 0.3, output: 4 } },
  'operator/groups/default/preview': { multiplier: '1.2' },
};

async function timed(
  url: string,
  page: string,
  secret: string,
): Promise<Pick<PageTime, 'medianMs' | 'p95Ms' | 'cpuMs'>> {
  const taken: number[] = [];
  const used: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const started = systemClock.monotonicMs();
    const before = process.cpuUsage();
    const status = await answered(url, page, secret);
    if (status !== 200) throw new Error(`${page} answers ${status}`);
    if (run === 0) continue;
    taken.push(systemClock.monotonicMs() - started);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1_000);
  }
  const at = (values: readonly number[], share: number): number =>
    values.toSorted((a, b) => a - b)[Math.ceil(runs * share) - 1] ?? 0;
  return { medianMs: at(taken, 0.5), p95Ms: at(taken, 0.95), cpuMs: at(used, 0.5) };
}

function answered(url: string, page: string, secret: string): Promise<number> {
  const body = bodies[page];
  const headers = {
    cookie: `tollgate=${secret}`,
    ...(body !== undefined && {
      origin: url,
      'content-type': 'application/json',
      'x-csrf-token': csrfOf(secret),
    }),
  };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const asking = request(`${url}/console/api/${page}`, { method, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(body && JSON.stringify(body));
  });
}
