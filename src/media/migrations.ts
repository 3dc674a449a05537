import type { Migration } from '../storage/database.ts';

/**
 * Times are milliseconds of the wall clock. A row is there before its file is; until `stored` is 1,
 * `expires_at` is when it is given up.
 */
export const mediaMigrations: readonly Migration[] = [
  {
    id: '0010-media',
    statements: [
      `CREATE TABLE file (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        type TEXT NOT NULL,
        bytes BIGINT NOT NULL CHECK (bytes >= 0),
        stored BIGINT NOT NULL CHECK (stored IN (0, 1)),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      'CREATE INDEX file_expires ON file (expires_at)',
      // What each account has, so that nobody has to count; always the sum of its rows above.
      `CREATE TABLE file_account (
        account TEXT PRIMARY KEY,
        files BIGINT NOT NULL CHECK (files >= 0),
        bytes BIGINT NOT NULL CHECK (bytes >= 0)
      )`,
    ],
  },
];
