import type { Migration } from '../storage/database.ts';

export const usageMigrations: readonly Migration[] = [
  {
    id: '0004-usage',
    statements: [
      // `id` is the id of the request and of the transfer. record.ts describes the columns.
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
      // Serves one key's records too: a key belongs to one account. Every further index costs each
      // request a tenth of its charge.
      'CREATE INDEX usage_of_account ON usage (account, reserved_at, id)',
    ],
  },
  {
    // By month on PostgreSQL (partitions.ts). The primary key of a partitioned table includes the
    // month: only the transfer ensures that a request is charged once.
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
  {
    // The console reads in the order of charges: an account's days are split by the time of the
    // charge, as in the ledger.
    id: '0014-usage-hours',
    statements: [
      'DROP INDEX usage_of_account',
      'CREATE INDEX usage_of_account ON usage (account, finished_at, id)',
      // One row for each hour (UTC) of charges of one kind, made from the records before
      // `usage_rolled.until` (rollup.ts). `cost` is the amount paid.
      `CREATE TABLE usage_hour (
        account TEXT NOT NULL,
        hour BIGINT NOT NULL,
        key_id TEXT NOT NULL,
        model TEXT NOT NULL,
        capability TEXT NOT NULL,
        status TEXT NOT NULL,
        estimated BIGINT NOT NULL,
        requests BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        dearest BIGINT NOT NULL,
        PRIMARY KEY (account, hour, key_id, model, capability, status, estimated)
      )`,
      // The same by measure. `quantity` is in millionths of its unit; `cost` as priced.
      `CREATE TABLE usage_hour_line (
        account TEXT NOT NULL,
        hour BIGINT NOT NULL,
        key_id TEXT NOT NULL,
        model TEXT NOT NULL,
        capability TEXT NOT NULL,
        status TEXT NOT NULL,
        estimated BIGINT NOT NULL,
        measure TEXT NOT NULL,
        quantity BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (account, hour, key_id, model, capability, status, estimated, measure)
      )`,
      // The same for a whole account: statements cover long periods.
      `CREATE TABLE spend_hour (
        account TEXT NOT NULL,
        hour BIGINT NOT NULL,
        requests BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (account, hour)
      )`,
      // The same for a key since it was made.
      `CREATE TABLE spend_key (
        account TEXT NOT NULL,
        key_id TEXT NOT NULL,
        requests BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (account, key_id)
      )`,
      // Of all accounts: the speed of channels. `first_byte` is the upper end of its class
      // (histogram.ts).
      `CREATE TABLE speed_hour (
        model TEXT NOT NULL,
        hour BIGINT NOT NULL,
        channel TEXT NOT NULL,
        first_byte BIGINT NOT NULL,
        requests BIGINT NOT NULL,
        cut BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        duration BIGINT NOT NULL,
        PRIMARY KEY (model, hour, channel, first_byte)
      )`,
      'CREATE INDEX speed_of_hour ON speed_hour (hour)',
      'CREATE TABLE usage_rolled (one BIGINT PRIMARY KEY CHECK (one = 1), until BIGINT NOT NULL)',
      'INSERT INTO usage_rolled (one, until) VALUES (1, 0)',
    ],
  },
  {
    // A month has many hours where models and keys are many: a query that is not by hour reads
    // whole days of UTC. Days are the sums of their hours, as far as those are complete.
    id: '0029-usage-days',
    statements: [
      `CREATE TABLE usage_day (
        account TEXT NOT NULL,
        day BIGINT NOT NULL,
        key_id TEXT NOT NULL,
        model TEXT NOT NULL,
        capability TEXT NOT NULL,
        status TEXT NOT NULL,
        estimated BIGINT NOT NULL,
        requests BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (account, day, key_id, model, capability, status, estimated)
      )`,
      `CREATE TABLE usage_day_line (
        account TEXT NOT NULL,
        day BIGINT NOT NULL,
        key_id TEXT NOT NULL,
        model TEXT NOT NULL,
        capability TEXT NOT NULL,
        status TEXT NOT NULL,
        estimated BIGINT NOT NULL,
        measure TEXT NOT NULL,
        quantity BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (account, day, key_id, model, capability, status, estimated, measure)
      )`,
      // All figures are computed again, days included.
      'UPDATE usage_rolled SET until=0',
      ...['usage_hour', 'usage_hour_line', 'spend_hour', 'spend_key', 'speed_hour'].map(
        (table) => `DELETE FROM ${table}`,
      ),
    ],
  },
  {
    // Null where the charge covers everything that the vendor reported.
    id: '0041-usage-reported',
    statements: [
      'ALTER TABLE usage ADD COLUMN excess BIGINT CHECK (excess > 0)',
      'ALTER TABLE usage ADD COLUMN reported TEXT',
      'CREATE INDEX usage_excess ON usage (finished_at) WHERE excess IS NOT NULL',
    ],
  },
  {
    // Sums over all accounts, by which the operator's overview answers about months: by model, of
    // complete hours before `totals_until` and their complete days (all-accounts.ts). Databases
    // that are older get them in the background.
    id: '0049-usage-totals',
    statements: [
      'ALTER TABLE usage_rolled ADD COLUMN totals_until BIGINT NOT NULL DEFAULT 0',
      ...['hour', 'day'].flatMap((unit) => [
        `CREATE TABLE model_${unit} (
          ${unit} BIGINT NOT NULL,
          model TEXT NOT NULL,
          requests BIGINT NOT NULL,
          cost BIGINT NOT NULL,
          PRIMARY KEY (${unit}, model)
        )`,
        // `quantity` is in millionths of its unit.
        `CREATE TABLE model_${unit}_line (
          ${unit} BIGINT NOT NULL,
          model TEXT NOT NULL,
          measure TEXT NOT NULL,
          quantity BIGINT NOT NULL,
          PRIMARY KEY (${unit}, model, measure)
        )`,
      ]),
      `CREATE TABLE spend_day (
        day BIGINT NOT NULL,
        account TEXT NOT NULL,
        requests BIGINT NOT NULL,
        cost BIGINT NOT NULL,
        PRIMARY KEY (day, account)
      )`,
      `CREATE TABLE channel_day (
        day BIGINT NOT NULL,
        model TEXT NOT NULL,
        channel TEXT NOT NULL,
        requests BIGINT NOT NULL,
        PRIMARY KEY (day, model, channel)
      )`,
    ],
  },
  {
    // Output tokens. Null for hours that were rolled up before there was this column.
    id: '0051-speed-output',
    statements: ['ALTER TABLE speed_hour ADD COLUMN output BIGINT'],
  },
  {
    // A chart adds up an account's hours, the preview of a group's multiplier the days of its keys.
    // With the sums in the index, PostgreSQL reads neither the rows, which lie apart, nor the whole
    // table; it has to have vacuumed them for that, and by default waits for a fifth of the table.
    // Charges and reads go on while the indexes are made. SQLite's rows lie in the order of the key.
    id: '0057-usage-sums',
    statements: [
      'CREATE UNIQUE INDEX usage_hour_sums ON usage_hour (account, hour, key_id, model, capability, status, estimated) INCLUDE (requests, cost)',
      'CREATE UNIQUE INDEX usage_day_line_sums ON usage_day_line (account, day, key_id, model, capability, status, estimated, measure) INCLUDE (quantity)',
      ...['usage_hour', 'usage_day_line'].flatMap((table) => [
        `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey,
          ADD CONSTRAINT ${table}_pkey PRIMARY KEY USING INDEX ${table}_sums`,
        `ALTER TABLE ${table} SET (autovacuum_vacuum_insert_scale_factor = 0.02)`,
      ]),
    ].map((postgres) => ({ sqlite: '', postgres })),
  },
];
