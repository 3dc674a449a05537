import { existsSync, statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../base/random.ts';
import { type Database, DatabaseError, type Migration } from './database.ts';
import { sqlitePath } from './open.ts';

/** The id of this ledger: made once, with the schema, and the same in every copy and backup. */
export const ledgerIdMigrations: readonly Migration[] = [
  {
    id: '0037-ledger-id',
    statements: [
      'CREATE TABLE ledger_id (id TEXT PRIMARY KEY)',
      {
        sqlite: 'INSERT INTO ledger_id (id) VALUES (lower(hex(randomblob(16))))',
        postgres:
          "INSERT INTO ledger_id (id) VALUES (replace(CAST(gen_random_uuid() AS TEXT), '-', ''))",
      },
    ],
  },
];

const fileName = 'ledger.id';

/**
 * A data folder belongs to one ledger, which the file `ledger.id` in it names. An empty or a wrong
 * database is found before the gateway serves from it: it has no balances, or those of other users.
 */
export class LedgerFolder {
  readonly #folder: string;
  readonly #accepts: boolean;
  readonly #id: string | undefined;

  private constructor(folder: string, accepts: boolean, id: string | undefined) {
    this.#folder = folder;
    this.#accepts = accepts;
    this.#id = id;
  }

  /**
   * `accepts`: the folder belongs to the database that is opened, even if `ledger.id` names
   * another.
   */
  static async open(folder: string, accepts: boolean): Promise<LedgerFolder> {
    const file = join(folder, fileName);
    // Without the file, the folder is new or of a version without ids: it takes the id of its
    // database.
    return new LedgerFolder(
      folder,
      accepts,
      existsSync(file) ? (await readFile(file, 'utf8')).trim() : undefined,
    );
  }

  /** Whether its database may be a new one: the folder belongs to none yet, or accepts another. */
  get mayCreate(): boolean {
    return this.#id === undefined || this.#accepts;
  }

  /**
   * Checks a SQLite file before it is opened, to say what to do about a missing one. Throws a
   * `DatabaseError`.
   */
  requireFile(url: string): void {
    const path = sqlitePath(url);
    if (this.mayCreate || path === undefined || path === ':memory:') return;
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) throw this.#mismatch(`there is no database ${path}`);
    if (bytes === 0) throw this.#mismatch(`the database ${path} is empty`);
  }

  /**
   * Checks the id before the database is migrated, so that nothing is written into a wrong one.
   * Throws a `DatabaseError`.
   */
  async requireSame(database: Database): Promise<void> {
    if (this.mayCreate) return;
    const id = await ledgerIdOf(database);
    if (id === undefined)
      throw this.#mismatch(
        'the database has no ledger id: it is empty, not ours, or a backup of an older version',
      );
    if (id !== this.#id) throw this.#mismatch(`the database is another ledger, ${id}`);
  }

  /**
   * Writes the ledger's id into the folder, once the schema is up to date: from now on the folder
   * belongs to this ledger.
   */
  async keep(database: Database): Promise<void> {
    const id = await ledgerIdOf(database);
    if (id === undefined)
      throw new DatabaseError('other', 'the table ledger_id is empty: every ledger has an id');
    if (id === this.#id) return;
    const file = join(this.#folder, fileName);
    const draft = `${file}.${randomText(12)}`;
    try {
      await writeFile(draft, `${id}\n`, { mode: 0o600, flag: 'wx', flush: true });
      await rename(draft, file);
    } finally {
      await rm(draft, { force: true });
    }
  }

  #mismatch(what: string): DatabaseError {
    const belongs = `and ${join(this.#folder, fileName)} says that this data folder belongs to ledger ${this.#id}`;
    const todo =
      'Put that database or a backup of it back, or start once with serve --accept-database to go on with this one';
    return new DatabaseError('other', `${what}, ${belongs}. ${todo}`);
  }
}

/** Undefined: the table or its row is missing. */
async function ledgerIdOf(database: Database): Promise<string | undefined> {
  const table =
    database.dialect === 'sqlite'
      ? "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ledger_id'"
      : "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'ledger_id'";
  if ((await database.query(table)).length === 0) return undefined;
  const [row] = await database.query('SELECT id FROM ledger_id');
  return row && String(row['id']);
}
