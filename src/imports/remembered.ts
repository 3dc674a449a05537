import type { Migration, Script } from '../storage/database.ts';

export const importsMigrations: readonly Migration[] = [
  {
    id: '0032-imports',
    statements: [
      // What came from where: `origin` is the name under which an installation was imported,
      // `theirs` its own id, `ours` what it became. `was` tells whether it is still the same.
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

type Kind = 'user' | 'channel' | 'group' | 'model';

interface Remembered {
  readonly ours: string;
  readonly was: string;
}

/** What was imported under one name before, and what is now. */
export class Imported {
  readonly #origin: string;
  readonly #at: number;
  readonly #known: Map<string, Remembered>;

  constructor(origin: string, at: number, known: Map<string, Remembered>) {
    this.#origin = origin;
    this.#at = at;
    this.#known = known;
  }

  before(kind: Kind, theirs: string): Remembered | undefined {
    return this.#known.get(`${kind} ${theirs}`);
  }

  *remember(kind: Kind, theirs: string, ours: string, was: string): Script<void> {
    this.#known.set(`${kind} ${theirs}`, { ours, was });
    yield {
      sql: 'INSERT INTO imported (origin, kind, theirs, ours, was, at) VALUES ($1, $2, $3, $4, $5, $6)',
      params: [this.#origin, kind, theirs, ours, was, this.#at],
    };
  }
}

export function* importedBefore(origin: string, at: number): Script<Imported> {
  const rows = yield {
    sql: 'SELECT kind, theirs, ours, was FROM imported WHERE origin=$1',
    params: [origin],
  };
  const known = rows.map((row): [string, Remembered] => [
    `${String(row['kind'])} ${String(row['theirs'])}`,
    { ours: String(row['ours']), was: String(row['was']) },
  ]);
  return new Imported(origin, at, new Map(known));
}
