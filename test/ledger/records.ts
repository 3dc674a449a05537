import type { RecordTable } from '../../src/ledger/contract.ts';
import { ledgerMigrations } from '../../src/ledger/migrations.ts';
import type { Migration } from '../../src/storage/database.ts';

/** A usage table with the columns that the ledger's own check reads, and one more. */
export const records: RecordTable = {
  table: 'usage',
  columns: [
    { name: 'key_id', type: 'text' },
    { name: 'reserved_at', type: 'bigint' },
    { name: 'note', type: 'text' },
    { name: 'excess', type: 'bigint' },
  ],
};

export const migrations: readonly Migration[] = [
  ...ledgerMigrations,
  {
    id: '0004-usage',
    statements: [
      `CREATE TABLE usage (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        cost BIGINT NOT NULL CHECK (cost >= 0),
        shortfall BIGINT NOT NULL CHECK (shortfall >= 0 AND shortfall <= cost),
        key_id TEXT NOT NULL,
        reserved_at BIGINT NOT NULL,
        note TEXT,
        excess BIGINT
      )`,
    ],
  },
];
