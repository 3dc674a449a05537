import { type IncomingHttpHeaders, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { startSession } from '../../src/accounts/sessions.ts';
import { type Role, setUserRole } from '../../src/accounts/users.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { openAuth } from '../../src/console/auth-pages.ts';
import { type ConsoleContext, openConsole } from '../../src/console/server.ts';
import type { ConsoleRoute } from '../../src/console/route.ts';
import { openFramework } from '../../src/http/framework.ts';
import { serverLimits } from '../../src/http/server.ts';
import { MemoryLimiter } from '../../src/limits/limiter.ts';
import { enrol } from '../../src/signin/enrol.ts';
import { csrfOf } from '../../src/signin/session-cookie.ts';
import type { Signin } from '../../src/signin/signin.ts';
import { openSite } from '../../src/signin/site.ts';
import type { Database } from '../../src/storage/database.ts';

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed JSON; undefined when the response is none. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface ConsoleAsk {
  readonly method?: string;
  /** Sent as JSON, text as it is. */
  readonly body?: unknown;
  /** Besides those of the console's own pages; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** A browser with the cookie of one session, which sends requests like a page of the console. */
export interface Browser {
  readonly userId: string;
  readonly sessionId: string;
  readonly cookie: string;
  readonly csrf: string;
  /** `path` is below `/console/api`, without `/` in front; or whole, with one. */
  ask(path: string, asked?: ConsoleAsk): Promise<ConsoleAnswer>;
}

/** One request without a browser's behaviour: the test handles cookies, origin and redirects. */
export async function askPlain(
  url: string,
  { method = 'GET', body, headers = {} }: ConsoleAsk = {},
): Promise<ConsoleAnswer> {
  const sent = Object.fromEntries(
    Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== null),
  );
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers: sent, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const whole = Buffer.concat(parts).toString('utf8');
        const isJson =
          response.headers['content-type']?.startsWith('application/json') === true && whole !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: whole,
          json: isJson ? JSON.parse(whole) : undefined,
        });
      });
      response.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(text);
  });
}

/** A browser in which this user is signed in, at the console of `url`. */
export async function signedInAs(
  url: string,
  database: Database,
  userId: string,
): Promise<Browser> {
  const at = systemClock.now();
  const { session, secret } = await database.transact(() =>
    startSession({ userId, way: 'link', browser: 'a test', ip: '127.0.0.1', at }),
  );
  const cookie = `tollgate=${secret}`;
  const csrf = csrfOf(secret);
  return {
    userId,
    sessionId: session.id,
    cookie,
    csrf,
    ask(path, { method = 'GET', body, headers } = {}) {
      const ours =
        method === 'GET'
          ? { cookie }
          : {
              cookie,
              origin: url,
              'x-csrf-token': csrf,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            };
      return askPlain(path.startsWith('/') ? url + path : `${url}/console/api/${path}`, {
        method,
        body,
        headers: { ...ours, ...headers },
      });
    },
  };
}

/** A browser that keeps cookies and does not follow redirects: that is up to the test. */
export class Wanderer {
  readonly #cookies = new Map<string, string>();

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  plant(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  async get(url: string, headers: ConsoleAsk['headers'] = {}): Promise<ConsoleAnswer> {
    return this.#go(url, { headers });
  }

  /** Posts a form, as a page of the same site does. */
  async post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: ConsoleAsk['headers'] = {},
  ): Promise<ConsoleAnswer> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(fields).toString();
    return this.#go(url, {
      method: 'POST',
      body,
      headers: { origin: new URL(url).origin, ...type, ...headers },
    });
  }

  async #go(url: string, asked: ConsoleAsk): Promise<ConsoleAnswer> {
    const answer = await askPlain(url, {
      ...asked,
      headers: { ...(this.cookie && { cookie: this.cookie }), ...asked.headers },
    });
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = cookie.split('; ');
      const [name = '', value = ''] = pair.split('=');
      if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}

/** A new user of that role, signed in. */
export async function newBrowser(
  url: string,
  database: Database,
  role: Role = 'user',
): Promise<Browser> {
  const user = await database.transact(() => enrol('test', 'user', systemClock.now()));
  if (role !== 'user') await database.transact(() => setUserRole(user.id, role));
  return signedInAs(url, database, user.id);
}

export interface ConsoleOptions {
  readonly clock?: Clock;
  readonly publicUrl?: string;
  readonly log?: ConsoleContext['log'];
  /** The sign-in routes are open as well. */
  readonly signin?: Signin;
}

const silent: ConsoleContext['log'] = {
  refused: () => {},
  bug(_, error) {
    throw error;
  },
};

/** A console with only these routes, on a migrated database. Returns its address. */
export async function startConsole(
  database: Database,
  rows: readonly ConsoleRoute[],
  { clock = systemClock, publicUrl, log = silent, signin }: ConsoleOptions = {},
): Promise<string> {
  const server = openFramework(serverLimits, () => ({ status: 400, body: '{}', id: 'req_1' }));
  const rooms = {
    database,
    clock,
    limiter: new MemoryLimiter(clock),
    site: openSite(publicUrl),
    log,
  };
  if (signin !== undefined) await openAuth(server, { ...rooms, signin });
  const door = await openConsole(server, rooms, rows);
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await door.drain(1_000);
    server.server.closeAllConnections();
    await server.close();
  });
  return url;
}
