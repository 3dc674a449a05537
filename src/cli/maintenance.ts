import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Env } from '../base/env.ts';
import { formatYuan } from '../base/money.ts';
import { check as checkLedger, operatorLosses, type RuleProgress } from '../ledger/check.ts';
import { newerRelease } from '../app/database.ts';
import { migrations, proofs } from '../app/schema.ts';
import { partOf } from '../storage/folder-blobs.ts';
import { backup } from '../storage/backup.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { open, sqlitePath } from '../storage/open.ts';
import { doneOf, withProgress } from './progress.ts';
import { type Installation, longWork, makeInstallation, withDatabase } from './installation.ts';
import { paint } from './terminal.ts';
import { countPhrase, Failure, grouped, print, type SharedOptions } from './command-io.ts';

export async function checkCommand(options: SharedOptions, env: Env): Promise<void> {
  await withDatabase(options, env, (database) => proveLedger(database, options), { long: true });
}

async function proveLedger(database: Database, options: SharedOptions): Promise<void> {
  const report = await withProgress('checking the ledger', (tell) =>
    checkLedger(database, proofs, (rules) => tell(ruleOf(rules))),
  );
  const losses = await operatorLosses(database);
  const { accounts, transfers, holds } = report;
  const summary = [
    countPhrase(accounts, 'account'),
    countPhrase(transfers, 'transfer'),
    countPhrase(holds, 'open hold'),
  ].join(', ');
  const problems = report.problems.map((problem) => JSON.stringify(problem));
  const borne =
    losses === 0n
      ? []
      : [
          `${formatYuan(losses)} yuan were reported by vendors beyond the charges; no user paid for them`,
        ];
  print(options, { ...report, losses: formatYuan(losses) }, [
    `${report.ok ? paint('green', 'ok') : paint('red', 'NOT OK')}: ${summary}`,
    ...borne,
    ...problems,
  ]);
  if (!report.ok) process.exitCode = 1;
}

function ruleOf(rules: Parameters<RuleProgress>[0]): string {
  const now = rules.findIndex(({ state }) => state === 'running');
  return now < 0 ? '' : `${doneOf(now, rules.length, 'rules')}, now ${rules[now]?.rule}`;
}

export async function migrateSchema(options: SharedOptions, env: Env): Promise<void> {
  const database = await open(makeInstallation(options.data, env).databaseUrl, longWork());
  try {
    const applied = await withProgress('migrating', (tell) =>
      migrate(database, migrations, {
        gaveWay: ({ message }) => console.error(`the database is busy (${message}), trying again`),
        onStep: (done, total) => tell(doneOf(done, total, 'steps')),
        onNewer: (ids) =>
          console.error(`the schema is of a newer release (${ids.join(', ')}): ${newerRelease}`),
      }),
    );
    print(
      options,
      { applied },
      applied.length === 0 ? ['the schema is up to date'] : applied.map((id) => `applied ${id}`),
    );
  } finally {
    await database.close();
  }
}

export async function backupTo(file: string, options: SharedOptions, env: Env): Promise<void> {
  const path = resolve(file);
  if (existsSync(path)) throw new Failure(`${path} exists; name a file that does not`);
  const part = partOf(path);
  if (existsSync(part))
    throw new Failure(
      `${part} exists: another backup writes it, or one was broken off; then remove it`,
    );
  if (!existsSync(dirname(path))) throw new Failure(`there is no folder ${dirname(path)}`);
  const copy = async (database: Database, { dataFolder, databaseUrl }: Installation) => {
    const size = () => `${megabytes(part)} of ${megabytes(sqlitePath(databaseUrl) ?? '')} MB`;
    await withProgress('copying', () => backup(database, path), size);
    const { without, lines } = beside(dataFolder, env);
    print(options, { file: path, without }, [`wrote ${path}`, ...lines]);
  };
  await withDatabase(options, env, copy, { long: true });
}

const megabytes = (file: string): string =>
  existsSync(file) ? grouped(Math.round(statSync(file).size / 1e6)) : '0';

/**
 * Names what a backup of the database lacks, so that nobody finds out at the restore. `MEDIA_URL`
 * may contain a bucket's keys, so only the variable's name appears.
 */
function beside(
  dataFolder: string,
  env: Env,
): { readonly without: readonly string[]; readonly lines: readonly string[] } {
  const key = env['TOLLGATE_MASTER_KEY'] ? 'TOLLGATE_MASTER_KEY' : join(dataFolder, 'master.key');
  const files = env['MEDIA_URL'] ? 'MEDIA_URL' : join(dataFolder, 'media');
  return {
    without: [key, files],
    lines: [
      `not in it: the master key (${key}), which is needed to read the vendors' keys in it; keep it elsewhere`,
      `not in it: generated pictures and videos (${files}), which expire after a day`,
    ],
  };
}
