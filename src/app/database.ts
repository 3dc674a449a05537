import { ledgerProcedures } from '../ledger/procedures.ts';
import { releaseAllProcesses } from '../ledger/ledger.ts';
import type { Database } from '../storage/database.ts';
import { LedgerFolder } from '../storage/ledger-id.ts';
import { migrate } from '../storage/migrate.ts';
import { open } from '../storage/open.ts';
import { acquireServingLock, type ServingLock } from '../storage/serving-lock.ts';
import type { Log } from '../telemetry/log.ts';
import { migrations } from './schema.ts';

export interface DatabaseOptions {
  readonly databaseUrl: string;
  /**
   * The data folder, whose `ledger.id` names its database; undefined: the database is not checked.
   */
  readonly dataFolder?: string | undefined;
  /** Binds the data folder to this database, even if it belonged to another. */
  readonly acceptDatabase?: boolean | undefined;
  /**
   * The entry file of SQLite's thread; undefined keeps SQLite in this thread, as commands and tests
   * do.
   */
  readonly sqliteThread: URL | undefined;
  /** Set in a worker process, whose parent holds the database lock. */
  readonly workers?: { readonly alone: boolean } | undefined;
}

export const newerRelease =
  'the release before the one that wrote the schema can serve from it, an older one cannot: put the backup back, or start the newer release';

export interface OpenDatabase {
  readonly database: Database;
  readonly sole: ServingLock | undefined;
  readonly alone: boolean;
}

/** Opens and migrates the database, and makes sure that no other server uses it. */
export async function openDatabase(options: DatabaseOptions, log: Log): Promise<OpenDatabase> {
  const { databaseUrl, dataFolder, acceptDatabase = false, sqliteThread, workers } = options;
  const folder =
    dataFolder === undefined ? undefined : await LedgerFolder.open(dataFolder, acceptDatabase);
  folder?.requireFile(databaseUrl);
  // Taken before anything is read or migrated: another server may use the file.
  const sole = workers === undefined ? acquireServingLock(databaseUrl) : undefined;
  const database = await open(databaseUrl, {
    procedures: ledgerProcedures,
    // The file may go between the check and the opening.
    mayCreate: folder?.mayCreate ?? true,
    ...(sqliteThread && { thread: { entry: sqliteThread } }),
  });
  await undoOnFailure(folder?.requireSame(database), async () => {
    await database.close();
    sole?.release();
  });
  await migrate(database, migrations, {
    gaveWay: (error, pauseMs) =>
      log.error('the database is busy: the migration is tried again', error, { pauseMs }),
    onNewer: (migrations) =>
      log.error('the schema is of a newer release', newerRelease, { migrations }),
  });
  await folder?.keep(database);
  const alone = workers === undefined ? sole !== undefined : workers.alone;
  // Alone on a SQLite file: everything that a crashed server held is freed before the first
  // request.
  if (alone) await releaseAllProcesses(database);
  return { database, sole, alone };
}

/** Closes what is already open when the last step fails. */
export async function undoOnFailure<T>(
  begun: Promise<T> | undefined,
  undo: () => Promise<void>,
): Promise<T | undefined> {
  try {
    return await begun;
  } catch (error) {
    await undo();
    throw error;
  }
}
