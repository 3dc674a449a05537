import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, inject, onTestFinished } from 'vitest';
import { randomText } from '../src/base/random.ts';
import type { Database, Migration } from '../src/storage/database.ts';
import { type OpenOptions, open } from '../src/storage/open.ts';
import { copyPostgres, copySqlite, databaseAt, onServer } from './templates.ts';

export interface FreshOptions extends OpenOptions {
  readonly migrations?: readonly Migration[];
}

/**
 * A database of the test's own. `open` may be called several times, as several processes would, and
 * with another way to the same database. All is closed and dropped when the test ends.
 */
export interface FreshDatabase {
  readonly url: string;
  open(options?: OpenOptions, through?: string): Promise<Database>;
}

/** A database as its migrations leave it, not open yet. */
export type Fresh = (migrations?: readonly Migration[]) => Promise<FreshDatabase>;

type Name = 'sqlite' | 'postgres';
type Suite = (
  name: Name,
  openFresh: (options?: FreshOptions) => Promise<Database>,
  fresh: Fresh,
) => void;

/**
 * Runs a suite on SQLite (a file) and on PostgreSQL. `openFresh` gives a new database as its
 * migrations leave it; `fresh` one that is not open yet.
 */
export function forEachDatabase(suite: Suite): void {
  onSqlite(suite);
  onPostgres(suite);
}

/** The same for what concerns SQLite alone. */
export function onSqlite(suite: Suite): void {
  run('sqlite', suite, sqliteUrl);
}

/** The same for what only PostgreSQL has. */
export function onPostgres(suite: Suite): void {
  run('postgres', suite, postgresUrl, inject('postgresUrl') === undefined);
}

function run(
  name: Name,
  suite: Suite,
  url: (migrations: readonly Migration[]) => Promise<string>,
  missing = false,
): void {
  const fresh = async (migrations: readonly Migration[] = []): Promise<FreshDatabase> =>
    freshAt(await url(migrations));
  const openFresh = async ({ migrations, ...options }: FreshOptions = {}): Promise<Database> =>
    (await fresh(migrations)).open(options);
  describe.skipIf(missing)(`on ${name}`, () => {
    suite(name, openFresh, fresh);
  });
}

function freshAt(url: string): FreshDatabase {
  return {
    url,
    async open(options, through = url) {
      const database = await open(through, options);
      // Callbacks run last first: every handle is closed before its database is dropped.
      onTestFinished(() => database.close().catch(() => undefined));
      return database;
    },
  };
}

/** A file of the test's own, removed when it ends. */
export async function sqliteUrl(migrations: readonly Migration[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sqlite-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'tollgate.db');
  if (migrations.length > 0) await copySqlite(path, migrations);
  return `sqlite:${path}`;
}

async function postgresUrl(migrations: readonly Migration[]): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('there is no PostgreSQL');
  const name = `test_${randomText(16).toLowerCase()}`;
  if (migrations.length > 0) await copyPostgres(server, name, migrations);
  else await onServer(server, (client) => client.query(`CREATE DATABASE ${name}`));
  onTestFinished(() =>
    onServer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  );
  return databaseAt(server, name);
}
