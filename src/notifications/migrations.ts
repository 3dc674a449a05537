import type { Migration } from '../storage/database.ts';

/** Times are milliseconds of the wall clock. */
export const notificationsMigrations: readonly Migration[] = [
  {
    id: '0034-notices',
    statements: [
      // The lease of the one process that looks and sends.
      'CREATE TABLE notice_turn (id BIGINT PRIMARY KEY, node TEXT NOT NULL, until BIGINT NOT NULL)',
      "INSERT INTO notice_turn (id, node, until) VALUES (1, '', 0)",
      // The present problems: since when, and when an alert was sent. A row goes when its problem
      // is over.
      'CREATE TABLE notice_matter (about TEXT PRIMARY KEY, since BIGINT NOT NULL, told_at BIGINT, well_at BIGINT)',
      // Messages to one address each. `content` is JSON.
      `CREATE TABLE notice (
        id TEXT PRIMARY KEY,
        way TEXT NOT NULL CHECK (way IN ('email', 'webhook')),
        target TEXT NOT NULL,
        content TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        attempts BIGINT NOT NULL DEFAULT 0,
        next_at BIGINT NOT NULL,
        state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sent', 'given_up')),
        why TEXT
      )`,
      "CREATE INDEX notice_open ON notice (next_at) WHERE state = 'open'",
      'CREATE INDEX notice_created ON notice (created_at)',
      'CREATE INDEX users_to_be_told ON users (id) WHERE low_balance IS NOT NULL',
    ],
  },
];
