import type { FastifyInstance } from 'fastify';
import { systemClock } from './base/clock.ts';
import { openAuth } from './console/auth-pages.ts';
import { type ConsoleRooms, type OpenConsole, openConsole } from './console/door.ts';
import type { SignInMethod } from './console/contract.ts';
import { consoleRows } from './console/routes.ts';
import type { ConsoleRow } from './console/row.ts';
import { MemoryLimiter } from './limits/limiter.ts';
import type { SigninSettings } from './signin/settings.ts';
import { Signin } from './signin/signin.ts';
import { openSite, type Site } from './signin/site.ts';
import type { Database } from './storage/database.ts';
import type { Log } from './telemetry/log.ts';

export interface ConsoleOptions {
  /** How clients reach the gateway, without `/` at its end; undefined: as each of them does. */
  readonly publicUrl: string | undefined;
  /** Ways to sign in; absent: the one-time link alone. */
  readonly signin?: SigninSettings;
  /** Addresses and networks whose word about who asks is believed. */
  readonly trustedProxies?: readonly string[];
}

/** Rows of the pages, once it is known how the installation is reached and how one signs in. */
export type PageRows = (beside: {
  readonly site: Site;
  readonly methods: readonly SignInMethod[];
}) => readonly ConsoleRow[];

/** Puts the console and its ways in on the server. */
export async function consoleOn(
  server: FastifyInstance,
  {
    database,
    log,
    pages,
  }: { readonly database: Database; readonly log: Log; readonly pages: PageRows },
  { publicUrl, signin: settings = { signUp: true }, trustedProxies }: ConsoleOptions,
): Promise<OpenConsole & { readonly signInMethods: readonly string[] }> {
  const site = openSite(publicUrl, trustedProxies);
  const signin = new Signin({
    database,
    settings,
    trouble: (provider, why) => log.line('sign-in', { provider, why }),
  });
  const rooms: ConsoleRooms = {
    database,
    clock: systemClock,
    limiter: new MemoryLimiter(systemClock),
    site,
    log: {
      refused: (id, status, refusal, method, path) =>
        log.line('refused', { id, status, refusal, method, path }),
      bug: (id, error) => log.error('bug', error, { id }),
    },
  };
  await openAuth(server, { ...rooms, signin });
  const rows = [...consoleRows({ ...rooms, signin }), ...pages({ site, methods: signin.methods })];
  const door = await openConsole(server, rooms, rows);
  return { rows: door.rows, drain: (waitMs) => door.drain(waitMs), signInMethods: signin.methods };
}
