import type { Migration } from '../storage/database.ts';

export const catalogMigrations: readonly Migration[] = [
  {
    id: '0005-catalog',
    statements: [
      // The version of the catalogue: who changes it holds this row, so that two never do at once.
      "INSERT INTO change (topic, version) VALUES ('catalog', 0)",
      `CREATE TABLE model_groups (
        name TEXT PRIMARY KEY,
        multiplier_ppm BIGINT NOT NULL CHECK (multiplier_ppm >= 0),
        rpm BIGINT CHECK (rpm > 0),
        tpm BIGINT CHECK (tpm > 0),
        concurrency BIGINT CHECK (concurrency > 0)
      )`,
      // A model that is sold no more keeps its row, and so its date of birth. `configured_price` is what the configuration said last, `price` what is charged.
      `CREATE TABLE models (
        id TEXT PRIMARY KEY,
        facts TEXT NOT NULL,
        configured_price TEXT NOT NULL,
        price TEXT NOT NULL,
        created BIGINT NOT NULL,
        active BIGINT NOT NULL CHECK (active IN (0, 1))
      )`,
      // `revision` is the catalogue's version in which vendor, address or secret last changed. The secret is sealed.
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
];
