import { createHash } from 'node:crypto';
import { copyFile, rename } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { randomText } from '../src/base/random.ts';
import type { Database, Migration } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { open } from '../src/storage/open.ts';

/**
 * Migrations take longer than most tests: they run once for each list of them, and every database
 * of a test is a copy of what they left.
 */
const nameOf = (migrations: readonly Migration[]): string =>
  createHash('sha256').update(JSON.stringify(migrations)).digest('hex').slice(0, 16);

/** Makes the file `path`. Processes that make a template at the same time make the same one. */
export async function copySqlite(path: string, migrations: readonly Migration[]): Promise<void> {
  const template = join(inject('templates'), `${nameOf(migrations)}.db`);
  if (!existsSync(template)) {
    const own = join(inject('templates'), `${randomText(16)}.db`);
    const whole = `${own}.whole`;
    // One file without a log beside it.
    await migrated(`sqlite:${own}`, migrations, (database) =>
      database.query(`VACUUM INTO '${whole}'`),
    );
    await rename(whole, template);
  }
  await copyFile(template, path);
}

/** Makes the database `name` on the server. */
export async function copyPostgres(
  server: string,
  name: string,
  migrations: readonly Migration[],
): Promise<void> {
  const template = `${templatePrefix(inject('templates'))}${nameOf(migrations)}`;
  await onServer(server, async (client) => {
    if (!(await isThere(client, template))) {
      const own = `test_${randomText(16).toLowerCase()}`;
      await client.query(`CREATE DATABASE ${own}`);
      await migrated(databaseAt(server, own), migrations);
      await client.query('SELECT pg_advisory_lock(1)');
      await client.query(
        (await isThere(client, template))
          ? `DROP DATABASE ${own}`
          : `ALTER DATABASE ${own} RENAME TO ${template}`,
      );
      await client.query('SELECT pg_advisory_unlock(1)');
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
}

/** All templates of a run, whose folder names it. */
export async function dropTemplates(server: string, folder: string): Promise<void> {
  await onServer(server, async (client) => {
    const { rows } = await client.query<{ readonly name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [templatePrefix(folder)],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE ${name}`);
  });
}

export function databaseAt(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function onServer(
  url: string,
  act: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}

const templatePrefix = (folder: string): string =>
  `test_template_${basename(folder).split('-').at(-1)?.toLowerCase()}_`;

async function isThere(client: pg.Client, name: string): Promise<boolean> {
  return (await client.query('SELECT 1 FROM pg_database WHERE datname=$1', [name])).rows.length > 0;
}

async function migrated(
  url: string,
  migrations: readonly Migration[],
  then?: (database: Database) => Promise<unknown>,
): Promise<void> {
  const database = await open(url);
  await migrate(database, migrations);
  await then?.(database);
  await database.close();
}
