import type { Migration } from '../storage/database.ts';

export const usageMigrations: readonly Migration[] = [
  {
    id: '0004-usage',
    statements: [
      // `id` is the request's, and the transfer's. What each column holds: record.ts.
      `CREATE TABLE usage (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        cost BIGINT NOT NULL CHECK (cost >= 0),
        shortfall BIGINT NOT NULL CHECK (shortfall >= 0 AND shortfall <= cost),
        key_id TEXT NOT NULL,
        reserved_at BIGINT NOT NULL,
        finished_at BIGINT NOT NULL,
        capability TEXT NOT NULL,
        model TEXT NOT NULL,
        group_name TEXT NOT NULL,
        channel TEXT,
        upstream_id TEXT,
        status TEXT NOT NULL CHECK (status IN ('ok', 'cut', 'left', 'length', 'error')),
        stream BIGINT NOT NULL CHECK (stream IN (0, 1)),
        estimated BIGINT NOT NULL CHECK (estimated IN (0, 1)),
        first_byte_ms BIGINT,
        duration_ms BIGINT NOT NULL,
        attempts BIGINT NOT NULL,
        input_tokens BIGINT NOT NULL,
        output_tokens BIGINT NOT NULL,
        lines TEXT NOT NULL
      )`,
      // Also for one key's records: a key belongs to one account. Every further index costs each request a tenth of its charge.
      'CREATE INDEX usage_of_account ON usage (account, reserved_at, id)',
    ],
  },
  {
    // By month on PostgreSQL (months.ts). A key of a partitioned table has the month in it: that a request is charged once is the transfer's to say.
    id: '0008-usage-months',
    statements: [
      'ALTER TABLE usage RENAME TO usage_before',
      'ALTER INDEX usage_pkey RENAME TO usage_before_pkey',
      'ALTER INDEX usage_of_account RENAME TO usage_before_of_account',
      'CREATE TABLE usage (LIKE usage_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (reserved_at)',
      'ALTER TABLE usage ADD PRIMARY KEY (id, reserved_at)',
      'CREATE INDEX usage_of_account ON usage (account, reserved_at, id)',
      'CREATE TABLE usage_default PARTITION OF usage DEFAULT',
      'INSERT INTO usage SELECT * FROM usage_before',
      'DROP TABLE usage_before',
    ].map((postgres) => ({ sqlite: '', postgres })),
  },
];
