import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { taskProof } from '../gateway/tasks/proof.ts';
import { check as checkLedger } from '../ledger/check.ts';
import { migrations } from '../migrations.ts';
import { backup } from '../storage/backup.ts';
import { migrate } from '../storage/migrate.ts';
import { open } from '../storage/open.ts';
import { type Env, makeInstallation, withDatabase } from './installation.ts';
import { Failure, print, several } from './output.ts';

interface Options {
  readonly data?: string;
  readonly json?: true;
}

export async function check(options: Options, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const report = await checkLedger(database, taskProof);
    const { accounts, transfers, holds } = report;
    const summary = [several(accounts, 'account'), several(transfers, 'transfer'), several(holds, 'open hold')].join(', ');
    const problems = report.problems.map((problem) => JSON.stringify(problem));
    print(options.json === true, report, [report.ok ? `ok: ${summary}` : `NOT OK: ${summary}`, ...problems]);
    if (!report.ok) process.exitCode = 1;
  });
}

export async function migrateSchema(options: Options, env: Env): Promise<void> {
  const database = await open(makeInstallation(options.data, env).databaseUrl);
  try {
    const applied = await migrate(database, migrations);
    print(options.json === true, { applied }, applied.length === 0 ? ['the schema was up to date'] : applied.map((id) => `applied ${id}`));
  } finally {
    await database.close();
  }
}

export async function backupTo(file: string, options: Options, env: Env): Promise<void> {
  const path = resolve(file);
  if (existsSync(path)) throw new Failure(`${path} exists; name a file that does not`);
  if (!existsSync(dirname(path))) throw new Failure(`there is no folder ${dirname(path)}`);
  await withDatabase(options, env, async (database) => {
    await backup(database, path);
    print(options.json === true, { file: path }, [`wrote ${path}`]);
  });
}
