import type { Migration } from '../../storage/database.ts';

/** Times are milliseconds of the wall clock. */
export const reportsMigrations: readonly Migration[] = [
  {
    id: '0022-reports',
    statements: [
      // The current state of one process and its channels, rewritten every few seconds (report.ts).
      'CREATE TABLE node_report (node TEXT PRIMARY KEY, at BIGINT NOT NULL, report TEXT NOT NULL)',
      // Counts of all processes together: successful attempts, faults by kind, first bytes by class
      // (counts.ts).
      `CREATE TABLE channel_count (
        slot BIGINT NOT NULL,
        channel TEXT NOT NULL,
        kind TEXT NOT NULL,
        count BIGINT NOT NULL,
        PRIMARY KEY (slot, channel, kind)
      )`,
      // When a process began to see a channel in another state, and why.
      `CREATE TABLE channel_turn (
        channel TEXT NOT NULL,
        at BIGINT NOT NULL,
        node TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('healthy', 'degraded', 'cooling', 'parked')),
        why TEXT,
        until BIGINT,
        PRIMARY KEY (channel, at, node)
      )`,
    ],
  },
];
