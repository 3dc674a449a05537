import { existsSync } from 'node:fs';
import { listUsers } from '../accounts/users.ts';
import { transfersOf } from '../ledger/transfers.ts';
import { thisCommand } from './command-word.ts';
import { demoRef } from './demo-ref.ts';
import type { ServeOptions } from './gateway-options.ts';
import { type Env, fileOf, findInstallation, withDatabase } from './installation.ts';
import { unreadFileLines } from './serve-lines.ts';
import { configurationOf, serve } from './serve.ts';

/**
 * `start`: serves what is configured, or what the data folder holds, or the demo when there is
 * neither.
 */
export async function startCommand(options: ServeOptions, env: Env): Promise<void> {
  for (const line of unreadFileLines(options, env)) console.error(line);
  const found =
    options.config === undefined &&
    (await configurationOf(undefined, env, options.port)).channels.length > 0;
  if (found)
    console.error(
      `A vendor's key is in the environment, so this is not the demo. For the demo: ${thisCommand()} demo`,
    );
  if (options.config !== undefined || found || (await holdsUsers(options, env)))
    await serve(options, env);
  else await (await import('./demo.ts')).demo(options, env);
}

/** Whether the data folder has users; those of a demo that was kept do not count. */
async function holdsUsers(options: ServeOptions, env: Env): Promise<boolean> {
  const file = fileOf(findInstallation(options.data, env).databaseUrl);
  if (file === undefined || !existsSync(file)) return false;
  return withDatabase(options, env, async (database) => {
    const [first] = await listUsers(database, { limit: 1 });
    if (first === undefined) return false;
    const { id, createdAt } = first;
    // A demo gives its user money in the moment in which it makes the user.
    const begun = { from: createdAt, to: createdAt + 1 };
    const transfers = await database.transact(() => transfersOf(id, begun));
    return !transfers.some(({ code, ref }) => code === 'grant' && ref === demoRef);
  });
}
