import type { Migration, Transaction } from '../storage/database.ts';

export const importsMigrations: readonly Migration[] = [
  {
    id: '0032-imports',
    statements: [
      // The imported entries: `origin` is the name under which an installation was imported,
      // `theirs` the entry's id there, `ours` its id here. `was` is a value of the entry at its
      // import: a user's name, for instance, which a later import compares.
      `CREATE TABLE imported (
        origin TEXT NOT NULL,
        kind TEXT NOT NULL,
        theirs TEXT NOT NULL,
        ours TEXT NOT NULL,
        was TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (origin, kind, theirs)
      )`,
    ],
  },
];

/** `unsold`: a model that an imported channel has there, and that had no price here. */
type Kind = 'user' | 'channel' | 'group' | 'model' | 'unsold';

interface ImportRecord {
  readonly ours: string;
  readonly was: string;
}

/** The entries imported under one name, earlier and now. */
export class EarlierImports {
  readonly #origin: string;
  readonly #at: number;
  readonly #known: Map<string, ImportRecord>;

  constructor(origin: string, at: number, known: Map<string, ImportRecord>) {
    this.#origin = origin;
    this.#at = at;
    this.#known = known;
  }

  before(kind: Kind, theirs: string): ImportRecord | undefined {
    return this.#known.get(`${kind} ${theirs}`);
  }

  *forget(kind: Kind, theirs: string): Transaction<void> {
    this.#known.delete(`${kind} ${theirs}`);
    yield {
      sql: 'DELETE FROM imported WHERE origin=$1 AND kind=$2 AND theirs=$3',
      params: [this.#origin, kind, theirs],
    };
  }

  *remember(kind: Kind, theirs: string, ours: string, was: string): Transaction<void> {
    this.#known.set(`${kind} ${theirs}`, { ours, was });
    yield {
      sql: 'INSERT INTO imported (origin, kind, theirs, ours, was, at) VALUES ($1, $2, $3, $4, $5, $6)',
      params: [this.#origin, kind, theirs, ours, was, this.#at],
    };
  }
}

/** Whether an import under any name brought this entry. */
export function* anyImportBrought(kind: Kind, ours: string): Transaction<boolean> {
  const sql = 'SELECT 1 FROM imported WHERE kind=$1 AND ours=$2 LIMIT 1';
  return (yield { sql, params: [kind, ours] }).length > 0;
}

export function* earlierImports(origin: string, at: number): Transaction<EarlierImports> {
  const rows = yield {
    sql: 'SELECT kind, theirs, ours, was FROM imported WHERE origin=$1',
    params: [origin],
  };
  const known = rows.map((row): [string, ImportRecord] => [
    `${String(row['kind'])} ${String(row['theirs'])}`,
    { ours: String(row['ours']), was: String(row['was']) },
  ]);
  return new EarlierImports(origin, at, new Map(known));
}
