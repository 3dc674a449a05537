import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server for the whole run; undefined when none is to be had. */
    readonly postgresUrl: string | undefined;
  }
}

/** One server for all test files; each test makes its own database in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  if (!('missing' in postgres)) {
    project.provide('postgresUrl', postgres.url);
    return () => postgres.stop();
  }
  const how = 'set DATABASE_URL, or install PostgreSQL (Debian: apt-get install postgresql)';
  if (process.env['CI'] === 'true') throw new Error(`no PostgreSQL for the tests (${postgres.missing}): ${how}`);
  project.provide('postgresUrl', undefined);
  return async () => {
    process.stdout.write(`\nSkipped: everything on PostgreSQL, because there is none (${postgres.missing}). To run it, ${how}.\n`);
  };
}
