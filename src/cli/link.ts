import type { Env } from '../base/env.ts';
import { systemClock } from '../base/clock.ts';
import { issueLink, linkAddress } from '../signin/enrol.ts';
import { defaultPort, publicUrl } from './gateway-options.ts';
import { withDatabase } from './installation.ts';
import { Failure, print, type SharedOptions } from './command-io.ts';
import { linkSpan } from './serve-lines.ts';
import { noUser, userNamed } from './user.ts';

interface Options extends SharedOptions {
  readonly user: string;
  readonly host: string;
  readonly port?: number;
}

/** Addresses to listen on that no browser can open, with this machine's own. */
const everyAddress: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Prints a link that signs a user in once, at the console of the local gateway. */
export async function link(options: Options, env: Env): Promise<void> {
  const named = everyAddress.get(options.host) ?? options.host;
  const host = named.includes(':') ? `[${named}]` : named;
  const baseUrl = publicUrl(env) ?? `http://${host}:${options.port ?? defaultPort}`;
  if (!URL.canParse(baseUrl))
    throw new Failure(`--host is a name or an address, not '${options.host}'`);
  await withDatabase(options, env, async (database) => {
    const { id: user } = await userNamed(database, options.user);
    const made = await database.transact(() => issueLink(user, systemClock.now()));
    if (made === undefined) throw noUser(user);
    const url = linkAddress(baseUrl, made.secret);
    const until = new Date(made.expiresAt).toISOString();
    print(options, { url, user, expires_at: until }, [
      url,
      `(it works once, within ${linkSpan}: until ${until})`,
      ...(publicUrl(env) === undefined && options.port === undefined
        ? [`(a gateway that listens at another port than ${defaultPort}: name it with --port)`]
        : []),
    ]);
  });
}
