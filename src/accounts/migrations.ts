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
      // `version` is the version of the topic 'keys' at the row's last change; 0 as long as it has
      // not changed since it was made.
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
  {
    id: '0012-accounts-sign-in',
    statements: [
      "ALTER TABLE users ADD COLUMN zone TEXT NOT NULL DEFAULT 'Asia/Shanghai'",
      "ALTER TABLE users ADD COLUMN language TEXT CHECK (language IN ('zh', 'en'))",
      'ALTER TABLE users ADD COLUMN low_balance BIGINT CHECK (low_balance >= 0)',
      'ALTER TABLE users ADD COLUMN shortcuts BIGINT NOT NULL DEFAULT 1 CHECK (shortcuts IN (0, 1))',
      'ALTER TABLE users ADD COLUMN version BIGINT NOT NULL DEFAULT 1',
      // `subject` is the provider's own number for a person, never a name that can be given to
      // another.
      `CREATE TABLE identities (
        provider TEXT NOT NULL,
        subject TEXT NOT NULL,
        user_id TEXT NOT NULL REFERENCES users (id),
        name TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (provider, subject)
      )`,
      'CREATE UNIQUE INDEX identities_of_user ON identities (user_id, provider)',
      // A reader of this table cannot sign in: only the browser has the secret whose hash this is.
      `CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL REFERENCES users (id),
        way TEXT NOT NULL,
        browser TEXT NOT NULL,
        ip TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        seen_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      'CREATE INDEX sessions_of_user ON sessions (user_id, id)',
      'CREATE INDEX sessions_expiring ON sessions (expires_at)',
      // A link that signs in once.
      `CREATE TABLE sign_in_links (
        hash TEXT PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (id),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        used_at BIGINT
      )`,
      'CREATE INDEX sign_in_links_expiring ON sign_in_links (expires_at)',
      // A sign-in that has left for its provider and has not come back. `browser` is the hash of
      // that browser's own secret.
      `CREATE TABLE sign_in_attempts (
        state TEXT PRIMARY KEY,
        browser TEXT NOT NULL,
        provider TEXT NOT NULL,
        next TEXT NOT NULL,
        user_id TEXT REFERENCES users (id),
        expires_at BIGINT NOT NULL
      )`,
      'CREATE INDEX sign_in_attempts_expiring ON sign_in_attempts (expires_at)',
    ],
  },
  {
    id: '0031-accounts-email',
    // The address for the notifications that a user chose. It is no way to sign in, and two users
    // may share one.
    statements: ['ALTER TABLE users ADD COLUMN email TEXT'],
  },
  {
    id: '0036-key-terms',
    statements: [
      // Lists as JSON.
      'ALTER TABLE api_keys ADD COLUMN models TEXT',
      'ALTER TABLE api_keys ADD COLUMN addresses TEXT',
      'ALTER TABLE api_keys ADD COLUMN rpm BIGINT CHECK (rpm > 0)',
      'ALTER TABLE api_keys ADD COLUMN tpm BIGINT CHECK (tpm > 0)',
      'ALTER TABLE api_keys ADD COLUMN concurrency BIGINT CHECK (concurrency > 0)',
    ],
  },
  {
    // Secrets that a key had before. Rows stay when they no longer work: no import brings one back.
    id: '0045-old-secrets',
    statements: [
      `CREATE TABLE old_secrets (
        hash TEXT PRIMARY KEY,
        key_id TEXT NOT NULL REFERENCES api_keys (id),
        last4 TEXT NOT NULL,
        works_until BIGINT NOT NULL
      )`,
      'CREATE INDEX old_secrets_of_key ON old_secrets (key_id)',
    ],
  },
  {
    // The idempotency key of the last rotation: its repetition replaces a secret that was lost.
    id: '0050-key-rotated-with',
    statements: ['ALTER TABLE api_keys ADD COLUMN rotated_with TEXT'],
  },
  {
    // The operator and the idempotency key of the form that made a user: sent again, it makes none.
    id: '0052-users-made-with',
    statements: [
      'ALTER TABLE users ADD COLUMN made_with TEXT',
      'CREATE UNIQUE INDEX users_made_with ON users (made_with)',
    ],
  },
  {
    // The latest sign-in, which stays when its session is over. Users from before have what is left
    // of theirs: sessions, used links, linked sign-ins.
    id: '0054-users-signed-in',
    statements: [
      'ALTER TABLE users ADD COLUMN signed_in_at BIGINT',
      ...[
        'SELECT MAX(s.created_at) FROM sessions s WHERE s.user_id=users.id',
        'SELECT MAX(l.used_at) FROM sign_in_links l WHERE l.user_id=users.id',
        'SELECT MAX(i.created_at) FROM identities i WHERE i.user_id=users.id',
      ].map((found) => `UPDATE users SET signed_in_at=(${found}) WHERE signed_in_at IS NULL`),
    ],
  },
];
