import { open } from '../../src/storage/open.ts';
import type { SqlValue } from '../../src/storage/database.ts';

/**
 * A new-api or one-api database with its public schema (QuantumNous/new-api
 * model/{user,token,channel,option,redemption}.go and songquanpeng/one-api
 * model/{user,token,channel}.go, 2026-11): the columns with entered data, and a few that the
 * importer does not read.
 */
const schema: Readonly<Record<string, string>> = {
  users: `id INTEGER PRIMARY KEY, username TEXT UNIQUE, password TEXT NOT NULL, display_name TEXT, role INTEGER DEFAULT 1, status INTEGER DEFAULT 1, email TEXT,
    github_id TEXT, wechat_id TEXT, access_token CHAR(32), quota INTEGER DEFAULT 0, used_quota INTEGER DEFAULT 0, request_count INTEGER DEFAULT 0, "group" VARCHAR(64) DEFAULT 'default'`,
  tokens: `id INTEGER PRIMARY KEY, user_id INTEGER, "key" VARCHAR(128) UNIQUE, status INTEGER DEFAULT 1, name TEXT, created_time BIGINT, accessed_time BIGINT,
    expired_time BIGINT DEFAULT -1, remain_quota INTEGER DEFAULT 0, unlimited_quota BOOLEAN, used_quota INTEGER DEFAULT 0`,
  channels: `id INTEGER PRIMARY KEY, type INTEGER DEFAULT 0, "key" TEXT NOT NULL, status INTEGER DEFAULT 1, name TEXT, weight INTEGER DEFAULT 0, created_time BIGINT,
    base_url TEXT DEFAULT '', other TEXT, balance REAL, models TEXT, "group" VARCHAR(64) DEFAULT 'default', used_quota BIGINT DEFAULT 0, model_mapping TEXT, priority BIGINT DEFAULT 0`,
  options: 'key TEXT PRIMARY KEY, value TEXT',
  redemptions:
    'id INTEGER PRIMARY KEY, user_id INTEGER, "key" CHAR(32), status INTEGER DEFAULT 1, name TEXT, quota INTEGER DEFAULT 100',
};

/** Columns that new-api added to one-api's tables. */
const added: Readonly<Record<string, string>> = {
  users: ', aff_quota INTEGER DEFAULT 0, deleted_at TIMESTAMP, setting TEXT, created_at BIGINT',
  tokens:
    ", model_limits_enabled BOOLEAN, model_limits TEXT, allow_ips TEXT DEFAULT '', \"group\" TEXT DEFAULT '', deleted_at TIMESTAMP",
  channels: ', setting TEXT, param_override TEXT, channel_info JSON',
  redemptions: ', deleted_at TIMESTAMP',
};

type Rows = Readonly<Record<string, readonly Readonly<Record<string, SqlValue>>[]>>;

export async function makeNewApiDatabase(
  url: string,
  rows: Rows,
  kind: 'new-api' | 'one-api' = 'new-api',
): Promise<void> {
  const database = await open(url);
  try {
    for (const [table, columns] of Object.entries(schema))
      await database.query(
        `CREATE TABLE ${table} (${columns}${kind === 'new-api' ? (added[table] ?? '') : ''})`,
      );
    for (const [table, list] of Object.entries(rows)) {
      for (const row of list) {
        const names = Object.keys(row).map((name) => `"${name}"`);
        const places = names.map((_, index) => `$${index + 1}`);
        await database.query(
          `INSERT INTO ${table} (${names.join()}) VALUES (${places.join()})`,
          Object.values(row),
        );
      }
    }
  } finally {
    await database.close();
  }
}
