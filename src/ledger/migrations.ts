import type { Migration } from '../storage/database.ts';

/**
 * Leaves room beside rows that are updated all the time, so that PostgreSQL needs no new index
 * entries (HOT). SQLite has no such option.
 */
const roomy = (table: string) => ({
  sqlite: '',
  postgres: `ALTER TABLE ${table} SET (fillfactor = 50)`,
});

const sqliteForbids = (verb: string) =>
  `CREATE TRIGGER transfer_never_${verb}d BEFORE ${verb} ON transfer BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END`;

/**
 * The tables of the ledger; the `usage` table has its own migrations. Amounts are nano-yuan, times
 * are milliseconds of the wall clock.
 */
export const ledgerMigrations: readonly Migration[] = [
  {
    id: '0002-ledger',
    statements: [
      `CREATE TABLE process (
        id TEXT PRIMARY KEY,
        seq BIGINT NOT NULL,
        fenced INTEGER NOT NULL DEFAULT 0,
        started_at BIGINT NOT NULL
      )`,
      `CREATE TABLE account (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('user', 'limit', 'operator')),
        credits BIGINT NOT NULL DEFAULT 0 CHECK (credits >= 0),
        debits BIGINT NOT NULL DEFAULT 0 CHECK (debits >= 0),
        held BIGINT NOT NULL DEFAULT 0 CHECK (held >= 0),
        call_in BIGINT NOT NULL DEFAULT 0,
        frozen INTEGER NOT NULL DEFAULT 0,
        CHECK (kind <> 'user' OR debits + held <= credits)
      )`,
      `CREATE TABLE till_float (
        process TEXT NOT NULL REFERENCES process,
        account TEXT NOT NULL REFERENCES account,
        granted BIGINT NOT NULL,
        spent BIGINT NOT NULL,
        PRIMARY KEY (process, account),
        CHECK (spent >= 0 AND spent <= granted)
      )`,
      'CREATE INDEX till_float_account ON till_float (account)',
      `CREATE TABLE hold (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL REFERENCES account,
        amount BIGINT NOT NULL CHECK (amount > 0),
        state TEXT NOT NULL CHECK (state IN ('open', 'posted', 'voided')),
        posted BIGINT CHECK (posted >= 0),
        made_at BIGINT NOT NULL
      )`,
      "CREATE INDEX hold_open ON hold (account) WHERE state = 'open'",
      `CREATE TABLE transfer (
        id TEXT PRIMARY KEY,
        debit TEXT NOT NULL,
        credit TEXT NOT NULL,
        amount BIGINT NOT NULL CHECK (amount >= 0),
        code TEXT NOT NULL,
        ref TEXT,
        at BIGINT NOT NULL,
        CHECK (debit <> credit)
      )`,
      // The usage record leads to a charge; only other transfers are looked up by account and time.
      "CREATE INDEX transfer_debit ON transfer (debit, at) WHERE credit <> 'revenue'",
      "CREATE INDEX transfer_credit ON transfer (credit, at) WHERE credit <> 'revenue'",
      'CREATE INDEX transfer_ref ON transfer (ref) WHERE ref IS NOT NULL',
      {
        sqlite: sqliteForbids('update'),
        postgres: `CREATE FUNCTION transfer_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'transfers are append-only' USING ERRCODE = 'integrity_constraint_violation'; END $$`,
      },
      {
        sqlite: sqliteForbids('delete'),
        postgres: `CREATE TRIGGER transfer_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
          FOR EACH STATEMENT EXECUTE FUNCTION transfer_is_append_only()`,
      },
      // Charges that the database refused to settle: one bug must not hang every answer, and the
      // operator sees what it cost.
      `CREATE TABLE settle_failed (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        cost BIGINT NOT NULL,
        code TEXT NOT NULL,
        at BIGINT NOT NULL,
        why TEXT NOT NULL
      )`,
      "INSERT INTO account (id, kind) VALUES ('revenue', 'operator'), ('grants', 'operator')",
      roomy('process'),
      roomy('account'),
      roomy('till_float'),
    ],
  },
  {
    // Limits that a key was not made with, or that it lost again: since when each kind of its
    // windows counts its charges, and since when no more.
    id: '0045-limit-gaps',
    statements: [
      `CREATE TABLE limit_gap (
        key_id TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('total', 'day', 'month')),
        opened_at BIGINT,
        closed_at BIGINT,
        PRIMARY KEY (key_id, kind)
      )`,
    ],
  },
  {
    // Both databases look for an account's holds when the account is deleted, as windows of limits
    // are: without this index in all holds, for each window.
    id: '0060-hold-account',
    statements: ['CREATE INDEX hold_account ON hold (account)'],
  },
];
