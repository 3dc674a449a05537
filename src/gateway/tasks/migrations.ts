import type { Migration } from '../../storage/database.ts';

/** Times are milliseconds of the wall clock. */
export const tasksMigrations: readonly Migration[] = [
  {
    id: '0011-tasks',
    statements: [
      // `next_poll_at` is a lease as well: a process that claims a task moves it beyond the end of
      // the coming work and increments `claims`, so that a late process cannot write.
      `CREATE TABLE task (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        key_id TEXT NOT NULL,
        limits TEXT NOT NULL,
        capability TEXT NOT NULL,
        model TEXT NOT NULL,
        group_name TEXT NOT NULL,
        channel TEXT NOT NULL,
        upstream_model TEXT NOT NULL,
        upstream_id TEXT,
        idempotency_key TEXT,
        state TEXT NOT NULL CHECK (state IN ('new', 'queued', 'running', 'completed', 'failed')),
        percent BIGINT NOT NULL DEFAULT 0 CHECK (percent BETWEEN 0 AND 100),
        seconds BIGINT NOT NULL,
        size TEXT,
        variants TEXT NOT NULL,
        bill TEXT NOT NULL,
        cost BIGINT NOT NULL CHECK (cost >= 0),
        error_code TEXT,
        error TEXT,
        file TEXT,
        created_at BIGINT NOT NULL,
        ended_at BIGINT,
        next_poll_at BIGINT NOT NULL,
        claims BIGINT NOT NULL DEFAULT 0,
        faults BIGINT NOT NULL DEFAULT 0,
        CHECK ((ended_at IS NOT NULL) = (state IN ('completed', 'failed'))),
        CHECK (state NOT IN ('queued', 'running', 'completed') OR upstream_id IS NOT NULL),
        CHECK ((file IS NOT NULL) = (state = 'completed'))
      )`,
      'CREATE INDEX task_due ON task (channel, next_poll_at) WHERE ended_at IS NULL',
      'CREATE INDEX task_account ON task (account, created_at, id)',
      'CREATE INDEX task_created ON task (created_at)',
      'CREATE INDEX task_idempotency ON task (account, idempotency_key) WHERE idempotency_key IS NOT NULL',
      // The base URL and the key that tasks were submitted with, even after the catalog has
      // forgotten them. `id`: the channel's name and revision. The secret is sealed.
      'CREATE TABLE task_channel (id TEXT PRIMARY KEY, name TEXT NOT NULL, vendor TEXT NOT NULL, base_url TEXT, secret TEXT)',
      // Frequently updated rows leave room in their page.
      { sqlite: '', postgres: 'ALTER TABLE task SET (fillfactor = 50)' },
    ],
  },
];

/**
 * Proofs for the ledger: a task and its money end together, and no money waits for a task that does
 * not exist (payments prove the holds of refunds). Each query must return no row.
 */
export const taskProof: Readonly<Record<string, string>> = {
  tasks: `SELECT t.id, t.state, h.state AS hold FROM task t LEFT JOIN hold h ON h.id=t.id
    WHERE h.id IS NULL OR h.account<>t.account OR (t.ended_at IS NULL)<>(h.state='open') OR (t.state='completed')<>(h.state='posted')`,
  'task holds': `SELECT h.id, h.account, h.amount FROM hold h JOIN account a ON a.id=h.account
    LEFT JOIN task t ON t.ended_at IS NULL
      AND t.id=CASE WHEN a.kind='limit' THEN substr(h.id, 1, length(h.id)-length(a.id)-1) ELSE h.id END
    WHERE h.state='open' AND t.id IS NULL AND substr(h.id, 1, 4)<>'rfd_'`,
};
