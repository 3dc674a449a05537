import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, inject, onTestFinished } from 'vitest';
import { randomText } from '../src/base/id.ts';
import type { Database, Migration } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { type OpenOptions, open } from '../src/storage/open.ts';

export interface FreshOptions extends OpenOptions {
  readonly migrations?: readonly Migration[];
}

/**
 * A database of the test's own. `open` may be called several times, as several processes would, and with another way to the same database.
 * All is closed and dropped when the test ends.
 */
export interface FreshDatabase {
  readonly url: string;
  open(options?: OpenOptions, through?: string): Promise<Database>;
}

type Name = 'sqlite' | 'postgres';
type Suite = (name: Name, openFresh: (options?: FreshOptions) => Promise<Database>, fresh: () => Promise<FreshDatabase>) => void;

/** Runs a suite on SQLite (a file) and on PostgreSQL. `openFresh` gives a new, empty, migrated database; `fresh` one that is not open yet. */
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

function run(name: Name, suite: Suite, url: () => Promise<string>, missing = false): void {
  const fresh = async (): Promise<FreshDatabase> => freshAt(await url());
  const openFresh = async ({ migrations = [], ...options }: FreshOptions = {}): Promise<Database> => {
    const database = await (await fresh()).open(options);
    await migrate(database, migrations);
    return database;
  };
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
export async function sqliteUrl(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sqlite-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, 'tollgate.db')}`;
}

async function postgresUrl(): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('there is no PostgreSQL');
  const name = `test_${randomText(16).toLowerCase()}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  onTestFinished(() => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
