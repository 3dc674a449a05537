import { appendOnly } from '../storage/sql.ts';
import type { Migration } from '../storage/database.ts';

/**
 * `version` counts the row's changes. Rows that the configuration names belong to it, and the
 * console does not change them.
 */
const managed = (table: string): readonly string[] => [
  `ALTER TABLE ${table} ADD COLUMN origin TEXT NOT NULL DEFAULT 'configuration' CHECK (origin IN ('configuration', 'console'))`,
  `ALTER TABLE ${table} ADD COLUMN version BIGINT NOT NULL DEFAULT 1`,
  `ALTER TABLE ${table} ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0`,
];

export const catalogMigrations: readonly Migration[] = [
  {
    id: '0005-catalog',
    statements: [
      // The version of the catalog: every change locks this row, so that two never run at once.
      "INSERT INTO change (topic, version) VALUES ('catalog', 0)",
      `CREATE TABLE model_groups (
        name TEXT PRIMARY KEY,
        multiplier_ppm BIGINT NOT NULL CHECK (multiplier_ppm >= 0),
        rpm BIGINT CHECK (rpm > 0),
        tpm BIGINT CHECK (tpm > 0),
        concurrency BIGINT CHECK (concurrency > 0)
      )`,
      // A model that is no longer sold keeps its row, and so its `created`. `configured_price` is
      // the price that the configuration named last, `price` the price that is charged.
      `CREATE TABLE models (
        id TEXT PRIMARY KEY,
        facts TEXT NOT NULL,
        configured_price TEXT NOT NULL,
        price TEXT NOT NULL,
        created BIGINT NOT NULL,
        active BIGINT NOT NULL CHECK (active IN (0, 1))
      )`,
      // `revision` is the catalog's version in which vendor, address or secret last changed. The
      // secret is sealed.
      `CREATE TABLE channels (
        name TEXT PRIMARY KEY,
        vendor TEXT NOT NULL,
        base_url TEXT,
        secret TEXT,
        group_names TEXT NOT NULL,
        models TEXT NOT NULL,
        priority BIGINT NOT NULL CHECK (priority >= 0),
        weight BIGINT NOT NULL CHECK (weight >= 0),
        revision BIGINT NOT NULL
      )`,
    ],
  },
  {
    id: '0020-catalog-managed',
    statements: [
      ...['model_groups', 'models', 'channels'].flatMap(managed),
      // `costs` are the vendor's prices by model, JSON. The last four characters of a secret are
      // shown, and the time since when it is in use.
      "ALTER TABLE channels ADD COLUMN state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'draining', 'disabled'))",
      "ALTER TABLE channels ADD COLUMN costs TEXT NOT NULL DEFAULT '{}'",
      'ALTER TABLE channels ADD COLUMN secret_last4 TEXT',
      'ALTER TABLE channels ADD COLUMN secret_at BIGINT',
      // `price` is the price in force, `price_version` its version, `next_price_at` the first
      // moment at which another price begins.
      'ALTER TABLE models ADD COLUMN price_version BIGINT NOT NULL DEFAULT 1',
      'ALTER TABLE models ADD COLUMN next_price_at BIGINT',
      // The latest version that has begun is in force. A version that begins now replaces the
      // earlier versions that still wait for their time.
      `CREATE TABLE price_versions (
        model TEXT NOT NULL,
        version BIGINT NOT NULL,
        price TEXT NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('configuration', 'import', 'console')),
        actor TEXT,
        reason TEXT,
        published_at BIGINT NOT NULL,
        effective_at BIGINT NOT NULL,
        PRIMARY KEY (model, version)
      )`,
      `INSERT INTO price_versions (model, version, price, source, published_at, effective_at)
        SELECT id, 1, price, 'configuration', created * 1000, created * 1000 FROM models`,
      ...appendOnly('price_versions'),
    ],
  },
  {
    id: '0035-routing-policies',
    statements: [
      "ALTER TABLE model_groups ADD COLUMN policy TEXT NOT NULL DEFAULT 'weighted'",
      // A sealed JSON list of the keys beside `secret`.
      'ALTER TABLE channels ADD COLUMN more_secrets TEXT',
    ],
  },
  {
    id: '0042-cancelled-input',
    statements: [
      'ALTER TABLE channels ADD COLUMN bills_cancelled_input BIGINT NOT NULL DEFAULT 0 CHECK (bills_cancelled_input IN (0, 1))',
    ],
  },
  {
    id: '0048-fallback-models',
    statements: [
      // A JSON list of models.
      'ALTER TABLE model_groups ADD COLUMN fallback_models TEXT',
    ],
  },
];
