import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import { migrations } from '../../src/app/schema.ts';
import type { Database, Row, Statement } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { open } from '../../src/storage/open.ts';

/** What no history may do, and what has to be done between two. */
const forbids = 'transfer_never_deleted';

/**
 * One migrated database in memory for many histories, since migrating takes longer than living
 * through one. Each finds it as if nobody had been there: the rows that migrations leave, and no
 * others.
 */
export class Stage {
  readonly database: Database;
  readonly #clear: readonly Statement[];

  private constructor(database: Database, clear: readonly Statement[]) {
    this.database = database;
    this.#clear = clear;
  }

  static async open(): Promise<Stage> {
    const real = await open('sqlite::memory:', { procedures: ledgerProcedures });
    await migrate(real, migrations);
    const database: Database = {
      dialect: real.dialect,
      query: (sql, params) => real.query(sql, params),
      call: (procedure, input) => real.call(procedure, input),
      transact: (script) => real.transact(script),
      // Nobody else writes here, and where writing is forbidden and allowed again all statements
      // are prepared anew.
      snapshot: (script) => real.transact(script),
      close: () => real.close(),
    };
    await database.query(`DROP TRIGGER ${forbids}`);
    const tables = await database.query(
      "SELECT name FROM sqlite_master WHERE type='table' AND name<>'migration' ORDER BY rowid DESC",
    );
    const clear: Statement[] = [];
    for (const { name } of tables) {
      const rows = await database.query(`SELECT * FROM ${String(name)}`);
      clear.push(
        { sql: `DELETE FROM ${String(name)}`, params: [] },
        ...rows.map((row) => inserting(String(name), row)),
      );
    }
    return new Stage(database, clear);
  }

  /** Call it when the last run has ended and none of its work is under way. */
  async clear(): Promise<void> {
    const statements = this.#clear;
    await this.database.transact(function* () {
      for (const statement of statements) yield statement;
    });
  }
}

function inserting(table: string, row: Row): Statement {
  const values = Object.keys(row).map((_, i) => `$${i + 1}`);
  return {
    sql: `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${values.join()})`,
    params: Object.values(row),
  };
}
