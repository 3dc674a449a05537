import { existsSync } from 'node:fs';
import type { Env } from '../base/env.ts';
import { listUsers } from '../accounts/users.ts';
import { transfersOf } from '../ledger/transfers.ts';
import { sqlitePath } from '../storage/open.ts';
import { thisCommand } from './command-word.ts';
import { demoRef } from './demo-ref.ts';
import type { ServeOptions } from './gateway-options.ts';
import { findInstallation, withDatabase } from './installation.ts';
import { unreadFileLines } from './serve-lines.ts';
import { configurationOf, serve } from './serve.ts';
import { clusterWorker } from './workers/worker.ts';

/**
 * `start`: serves what is configured, or what the data folder holds, or the demo when there is
 * neither. It says why it serves, or what the demo leaves aside.
 */
export async function startCommand(options: ServeOptions, env: Env): Promise<void> {
  const reason = await reasonToServe(options, env);
  if (clusterWorker(env) === undefined)
    for (const line of [...unreadFileLines(options, env), ...choiceLines(options, env, reason)])
      console.error(line);
  if (reason !== undefined) await serve(options, env);
  else await (await import('./demo.ts')).demo(options, env);
}

type Reason = 'file' | 'key' | 'users';

async function reasonToServe(options: ServeOptions, env: Env): Promise<Reason | undefined> {
  if (options.config !== undefined) return 'file';
  const { channels } = await configurationOf(undefined, env, options.port);
  if (channels.length > 0) return 'key';
  return (await holdsUsers(options, env)) ? 'users' : undefined;
}

function choiceLines(
  { data }: ServeOptions,
  env: Env,
  reason: Reason | undefined,
): readonly string[] {
  const demo = `so this is not the demo. For the demo: ${thisCommand()} demo`;
  if (reason === 'key') return [`A vendor's key is in the environment, ${demo}`];
  if (reason === 'users') return [`The data folder has users, ${demo}`];
  if (reason === 'file' || sqlitePath(findInstallation(data, env).databaseUrl) !== undefined)
    return [];
  return [
    `This is the demo, which does not use DATABASE_URL. To serve that database: ${thisCommand()} serve`,
  ];
}

/**
 * Whether the data folder has users; those of a demo that was kept do not count. Another database
 * may belong to another program: it is not opened to look.
 */
async function holdsUsers(options: ServeOptions, env: Env): Promise<boolean> {
  const file = sqlitePath(findInstallation(options.data, env).databaseUrl);
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
