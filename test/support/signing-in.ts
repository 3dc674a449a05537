import { onTestFinished } from 'vitest';
import { startSim } from '../../sim/index.ts';
import { signinVariables } from '../../sim/signin/apps.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { identityRoutes, sessionRoutes } from '../../src/console/user/sign-in.ts';
import { defineRoute } from '../../src/console/route.ts';
import { signinSettings } from '../../src/signin/settings.ts';
import { Signin } from '../../src/signin/signin.ts';
import { openSite } from '../../src/signin/site.ts';
import type { Database } from '../../src/storage/database.ts';
import { type ConsoleAnswer, startConsole, Wanderer } from './console.ts';

export interface SigningIn {
  /** Of the console. */
  readonly url: string;
  readonly troubles: readonly string[];
  /**
   * Goes from the console to the provider and decides on its page; returns the address to which the
   * provider redirects.
   */
  leave(browser: Wanderer, provider: 'github' | 'wechat', wish?: Wish): Promise<string>;
  /** The whole sign-in: the response of the callback. */
  signIn(browser: Wanderer, provider: 'github' | 'wechat', wish?: Wish): Promise<ConsoleAnswer>;
  /** The user of `GET me`, or the code of its refusal. */
  who(browser: Wanderer): Promise<string>;
}

export interface Wish {
  readonly person?: string;
  readonly deny?: boolean;
  readonly next?: string;
}

export interface SigningInOptions {
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly publicUrl?: string;
}

/** A console with simulated providers of sign-ins. */
export async function startSigningIn(
  database: Database,
  { clock = systemClock, env = {}, publicUrl }: SigningInOptions = {},
): Promise<SigningIn> {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const settings = signinSettings(undefined, { ...signinVariables(sim.url), ...env });
  if (typeof settings === 'string') throw new Error(settings);
  const troubles: string[] = [];
  const signin = new Signin({ database, settings, trouble: (_, why) => troubles.push(why) });
  const rooms = { database, site: openSite(publicUrl), signin };
  const me = defineRoute({
    method: 'GET',
    path: 'me',
    role: 'user',
    handle: ({ user }) => ({ id: user.id }),
  });
  const rows = [...sessionRoutes(rooms), ...identityRoutes(rooms), me];
  const url = await startConsole(database, rows, {
    clock,
    signin,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
  const leave: SigningIn['leave'] = async (
    browser,
    provider,
    { person = '', deny = false, next } = {},
  ) => {
    const query = next === undefined ? '' : `?${new URLSearchParams({ next }).toString()}`;
    return decide(
      (await browser.get(`${url}/auth/${provider}/start${query}`)).headers.location ?? '',
      person,
      deny,
    );
  };
  return {
    url,
    troubles,
    leave,
    signIn: async (browser, provider, wish) => browser.get(await leave(browser, provider, wish)),
    async who(browser) {
      const { json } = await browser.get(`${url}/console/api/me`);
      return json.id ?? json.error.code;
    },
  };
}

/** Decides as this person on the provider's page; returns the address of the redirect. */
export async function decide(address: string, person: string, deny = false): Promise<string> {
  const page = new URL(address);
  const fields = {
    ...Object.fromEntries(page.searchParams),
    person,
    decision: deny ? 'deny' : 'approve',
  };
  return (await new Wanderer().post(page.origin + page.pathname, fields)).headers.location ?? '';
}
