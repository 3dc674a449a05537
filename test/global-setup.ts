import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';
import { findNginx } from './support/nginx.ts';
import { findRedis } from './support/redis-server.ts';
import { dropTemplates } from './templates.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server for the whole run; undefined when none is to be had. */
    readonly postgresUrl: string | undefined;
    /** The program of a Valkey or Redis server, which tests start as they need it. */
    readonly redis: string | undefined;
    readonly nginx: string | undefined;
    /** The folder of migrated databases that tests copy. */
    readonly templates: string;
  }
}

/** One server for all test files; each test makes its own database in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = findRedis();
  project.provide('redis', redis);
  if (redis === undefined)
    missing(
      'Valkey',
      'put valkey-server or redis-server on the path (Debian: apt-get install redis-server)',
    );
  const nginx = findNginx();
  project.provide('nginx', nginx);
  if (nginx === undefined) missing('nginx', 'install it (Debian: apt-get install nginx-light)');
  const templates = await mkdtemp(join(tmpdir(), 'tollgate-templates-'));
  project.provide('templates', templates);
  const removed = () => rm(templates, { recursive: true, force: true });
  const postgres = await startPostgres();
  if (!('missing' in postgres)) {
    project.provide('postgresUrl', postgres.url);
    return async () => {
      await dropTemplates(postgres.url, templates);
      await postgres.stop();
      await removed();
    };
  }
  const how = 'set DATABASE_URL, or install PostgreSQL (Debian: apt-get install postgresql)';
  if (process.env['CI'] === 'true')
    throw new Error(`no PostgreSQL for the tests (${postgres.missing}): ${how}`);
  project.provide('postgresUrl', undefined);
  return async () => {
    await removed();
    process.stdout.write(
      `\nSkipped: everything on PostgreSQL, because there is none (${postgres.missing}). To run it, ${how}.\n`,
    );
  };
}

function missing(what: string, how: string): void {
  if (process.env['CI'] === 'true') throw new Error(`no ${what} for the tests: ${how}`);
  process.stdout.write(
    `\nSkipped: everything on ${what}, because there is none. To run it, ${how}.\n`,
  );
}
