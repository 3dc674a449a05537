import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '../base/env.ts';
import { parseUtcOffset } from '../base/calendar.ts';
import { ledgerProcedures } from '../ledger/procedures.ts';
import { migrations } from '../app/schema.ts';
import { errorCodeOf } from '../base/thrown.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { open, type OpenOptions, sqlitePath } from '../storage/open.ts';
import { Failure } from './command-io.ts';

/**
 * Where an installation keeps its data. The same for every command, so that they work beside a
 * running gateway.
 */
export interface Installation {
  readonly dataFolder: string;
  readonly databaseUrl: string;
  readonly env: Env;
}

/**
 * From `--data`, TOLLGATE_DATA and DATABASE_URL; by default the folder `data` with SQLite in it.
 * Makes nothing.
 */
export function findInstallation(data: string | undefined, env: Env): Installation {
  if (data === '') throw new Failure('--data names a folder; it is empty');
  // An empty variable is an absent one: compose files cannot leave one out.
  const dataFolder = resolve(data ?? (env['TOLLGATE_DATA'] || 'data'));
  const databaseUrl = env['DATABASE_URL'] || `sqlite:${join(dataFolder, 'tollgate.db')}`;
  if (!/^(?:sqlite:|postgres(?:ql)?:\/\/)/.test(databaseUrl))
    throw new Failure(
      'DATABASE_URL is the URL of a PostgreSQL database such as postgres://user:password@host/name',
    );
  return { dataFolder, databaseUrl, env };
}

/** The same for commands that may begin an installation: makes its folder. */
export function makeInstallation(data: string | undefined, env: Env): Installation {
  const found = findInstallation(data, env);
  // Users' names, their usage and stored answers must not be readable by others on this machine.
  try {
    mkdirSync(found.dataFolder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    throw new Failure(
      `${found.dataFolder} is no folder; name one for the data with --data or TOLLGATE_DATA`,
    );
  }
  return found;
}

/** A database's address as it may be shown. */
export function withoutPassword(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl) || databaseUrl.startsWith('sqlite:')) return databaseUrl;
  const url = new URL(databaseUrl);
  return `${url.protocol}//${url.username === '' ? '' : `${url.username}@`}${url.host}${url.pathname}`;
}

/** Fails for a mistyped folder, instead of making an empty database there. */
function requireIt({ dataFolder, databaseUrl }: Installation, mayBegin: boolean): void {
  const file = sqlitePath(databaseUrl);
  if (file === undefined || existsSync(file)) return;
  if (!mayBegin || !existsSync(dirname(file)))
    throw new Failure(
      `there is no database ${file}; name its folder with --data (the demo prints its own), or create one in ${dataFolder} with serve or migrate`,
    );
}

/**
 * Runs `body` on the installation's database, or on an empty one in memory when there is none:
 * nothing is made.
 */
export function withDatabaseIfAny<T>(
  options: { readonly data?: string },
  env: Env,
  body: (database: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl } = findInstallation(options.data, env);
  const file = sqlitePath(databaseUrl);
  if (file === undefined || existsSync(file)) return withDatabase(options, env, body);
  return opened('sqlite::memory:', body);
}

/**
 * Runs `body` on the installation's database with its schema up to date, and closes it. `mayBegin`:
 * makes the database of a folder that has none. `long`: some statement takes long.
 */
export async function withDatabase<T>(
  options: { readonly data?: string },
  env: Env,
  body: (database: Database, found: Installation) => Promise<T>,
  { mayBegin = false, long = false }: { readonly mayBegin?: boolean; readonly long?: boolean } = {},
): Promise<T> {
  const found = findInstallation(options.data, env);
  requireIt(found, mayBegin);
  return opened(found.databaseUrl, (database) => body(database, found), long);
}

/** SQLite's thread, beside this file in dist/; undefined when the sources run. */
export function sqliteThread(): URL | undefined {
  const entry = new URL('./sqlite-thread.cjs', import.meta.url);
  return existsSync(fileURLToPath(entry)) ? entry : undefined;
}

/** Options of a database whose statements take long: a thread lets progress be shown meanwhile. */
export function longWork(): OpenOptions {
  const entry = sqliteThread();
  return entry === undefined ? {} : { thread: { entry } };
}

async function opened<T>(
  url: string,
  body: (database: Database) => Promise<T>,
  long = false,
): Promise<T> {
  const database = await open(url, { procedures: ledgerProcedures, ...(long && longWork()) });
  try {
    await migrate(database, migrations);
    return await body(database);
  } finally {
    await database.close();
  }
}

/** Where the days and months of key limits begin: minutes east of Greenwich. */
export function utcOffset(env: Env): number {
  const text = env['TOLLGATE_UTC_OFFSET'] || '+08:00';
  const minutes = parseUtcOffset(text);
  if (minutes === undefined)
    throw new Failure(`TOLLGATE_UTC_OFFSET is where days begin, such as +08:00, not '${text}'`);
  return minutes;
}
