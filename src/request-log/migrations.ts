import type { Migration } from '../storage/database.ts';

/**
 * The id begins with the time of the request, so that its order is the order of time. Each filter
 * of the operators' page has its index: rows are few and written in batches.
 */
export const requestLogMigrations: readonly Migration[] = [
  {
    id: '0044-request-log',
    statements: [
      `CREATE TABLE request_log (
        id TEXT PRIMARY KEY,
        at BIGINT NOT NULL,
        account TEXT NOT NULL,
        key_id TEXT NOT NULL,
        endpoint TEXT,
        model TEXT,
        channel TEXT,
        status BIGINT NOT NULL,
        outcome TEXT NOT NULL,
        param TEXT,
        duration_ms BIGINT NOT NULL,
        attempts TEXT NOT NULL
      )`,
      ...['account', 'key_id', 'model', 'channel', 'status', 'outcome'].map(
        (column) => `CREATE INDEX request_log_by_${column} ON request_log (${column}, id)`,
      ),
    ],
  },
  {
    // The status of requests that got no answer: most rows with a status of 200 were answered after
    // a retry, and would all be read to find the few that failed. PostgreSQL knows of an expression
    // how often each value occurs, and so when the index is worth it.
    id: '0055-request-log-failed',
    statements: [
      // In the words of `failedStatus`.
      `CREATE INDEX request_log_by_failed_status ON request_log
        ((CASE WHEN outcome IN ('ok', 'length', 'ok, not kept', 'length, not kept') THEN NULL ELSE status END), id)`,
    ],
  },
  {
    // The time from which an account that had too many rows has all of them again: the log says how
    // far back it reaches.
    id: '0056-request-log-cut',
    statements: [
      'CREATE TABLE request_log_cut (account TEXT PRIMARY KEY, complete_from BIGINT NOT NULL)',
    ],
  },
  {
    // A model's page counts its failures by hour: the index has all that they need.
    id: '0058-request-log-failures',
    statements: [
      'CREATE INDEX request_log_failures ON request_log (model, id, at) WHERE status >= 500',
    ],
  },
];
