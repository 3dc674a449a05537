import { systemClock } from '../base/clock.ts';
import { issueLink, linkAddress } from '../signin/enrol.ts';
import { defaultPort, publicUrl } from './gateway-options.ts';
import { type Env, withDatabase } from './installation.ts';
import { Failure, print, type SharedOptions } from './command-io.ts';

interface Options extends SharedOptions {
  readonly user: string;
  readonly host: string;
  readonly port?: number;
}

/** Prints a link that signs a user in once, at the console of the local gateway. */
export async function link(options: Options, env: Env): Promise<void> {
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const baseUrl = publicUrl(env) ?? `http://${host}:${options.port ?? defaultPort}`;
  if (!URL.canParse(baseUrl))
    throw new Failure(`--host is a name or an address, not '${options.host}'`);
  await withDatabase(options, env, async (database) => {
    const made = await database.transact(() => issueLink(options.user, systemClock.now()));
    if (made === undefined)
      throw new Failure(`there is no user ${options.user}; 'user list' shows all`);
    const url = linkAddress(baseUrl, made.secret);
    const until = new Date(made.expiresAt).toISOString();
    print(options, { url, user: options.user, expires_at: until }, [
      url,
      `(it works once, until ${until})`,
    ]);
  });
}
