import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ledgerProcedures } from '../ledger/procedures.ts';
import { migrations } from '../app/schema.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { open } from '../storage/open.ts';
import { Failure } from './command-io.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where an installation keeps what it knows. The same for every command, so that they work beside a
 * running gateway.
 */
export interface Installation {
  readonly dataFolder: string;
  readonly databaseUrl: string;
  readonly env: Env;
}

/**
 * From `--data`, TOLLGATE_DATA and DATABASE_URL; the folder `data` and SQLite in it by default.
 * Nothing is made.
 */
export function findInstallation(data: string | undefined, env: Env): Installation {
  if (data === '') throw new Failure('--data names a folder; it is empty');
  // An empty variable is an absent one: compose files cannot leave one out.
  const dataFolder = resolve(data ?? (env['TOLLGATE_DATA'] || 'data'));
  const databaseUrl = env['DATABASE_URL'] || `sqlite:${join(dataFolder, 'tollgate.db')}`;
  if (!/^(?:sqlite:|postgres(?:ql)?:\/\/)/.test(databaseUrl))
    throw new Failure(
      'DATABASE_URL is the address of a PostgreSQL database such as postgres://user:password@host/name',
    );
  return { dataFolder, databaseUrl, env };
}

/** The same for commands that may begin an installation: its folder is there. */
export function makeInstallation(data: string | undefined, env: Env): Installation {
  const found = findInstallation(data, env);
  // Names of users, their usage and stored answers are nobody else's on this machine.
  mkdirSync(found.dataFolder, { recursive: true, mode: 0o700 });
  return found;
}

const fileOf = (databaseUrl: string): string | undefined =>
  databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : undefined;

/** A mistyped folder is told: no empty database is made there, and praised. */
function requireIt({ dataFolder, databaseUrl }: Installation, mayBegin: boolean): void {
  const file = fileOf(databaseUrl);
  if (file === undefined || existsSync(file)) return;
  if (!mayBegin || !existsSync(dirname(file)))
    throw new Failure(
      `there is no database ${file}; name its folder with --data, or begin one in ${dataFolder} with serve or migrate`,
    );
}

/**
 * Runs `body` on the installation's database, or on an empty one in memory where there is none:
 * nothing is made.
 */
export function withDatabaseIfAny<T>(
  options: { readonly data?: string },
  env: Env,
  body: (database: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl } = findInstallation(options.data, env);
  const file = fileOf(databaseUrl);
  if (file === undefined || existsSync(file)) return withDatabase(options, env, body);
  return opened('sqlite::memory:', body);
}

/**
 * Runs `body` on the installation's database, its schema up to date, and closes it. `mayBegin`: a
 * folder without a database gets one.
 */
export async function withDatabase<T>(
  options: { readonly data?: string },
  env: Env,
  body: (database: Database, found: Installation) => Promise<T>,
  mayBegin = false,
): Promise<T> {
  const found = findInstallation(options.data, env);
  requireIt(found, mayBegin);
  return opened(found.databaseUrl, (database) => body(database, found));
}

async function opened<T>(url: string, body: (database: Database) => Promise<T>): Promise<T> {
  const database = await open(url, { procedures: ledgerProcedures });
  try {
    await migrate(database, migrations);
    return await body(database);
  } finally {
    await database.close();
  }
}
