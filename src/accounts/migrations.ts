import type { Migration } from '../storage/database.ts';

export const accountsMigrations: readonly Migration[] = [
  {
    id: '0003-accounts',
    statements: [
      `CREATE TABLE users (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('user', 'operator')),
        frozen BIGINT NOT NULL DEFAULT 0 CHECK (frozen IN (0, 1)),
        created_at BIGINT NOT NULL
      )`,
      // `version` is the version of the topic 'keys' at the row's last change; 0 as long as it has not changed since it was made.
      `CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (id),
        name TEXT NOT NULL,
        group_name TEXT NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        prefix TEXT NOT NULL,
        last4 TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'deleted')),
        spend_limit BIGINT CHECK (spend_limit >= 0),
        expires_at BIGINT,
        created_at BIGINT NOT NULL,
        last_used_at BIGINT,
        version BIGINT NOT NULL DEFAULT 0
      )`,
      'CREATE INDEX api_keys_of_user ON api_keys (user_id, id)',
      'CREATE INDEX api_keys_changed ON api_keys (version)',
    ],
  },
  {
    id: '0009-accounts-periods',
    statements: [
      'ALTER TABLE api_keys ADD COLUMN daily_limit BIGINT CHECK (daily_limit >= 0)',
      'ALTER TABLE api_keys ADD COLUMN monthly_limit BIGINT CHECK (monthly_limit >= 0)',
    ],
  },
];
