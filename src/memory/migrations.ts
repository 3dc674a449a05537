import type { Migration } from '../storage/database.ts';

/**
 * Tables of data kept for a while. `input` and `body` are JSON text; times are milliseconds of the
 * wall clock.
 */
export const memoryMigrations: readonly Migration[] = [
  {
    id: '0006-recall',
    statements: [
      `CREATE TABLE response (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled')),
        previous TEXT,
        input TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        lease_until BIGINT
      )`,
      'CREATE INDEX response_expires ON response (expires_at)',
      // Clients refer to an item by its id alone.
      `CREATE TABLE response_item (
        account TEXT NOT NULL,
        id TEXT NOT NULL,
        response TEXT NOT NULL REFERENCES response ON DELETE CASCADE,
        PRIMARY KEY (account, id)
      )`,
      'CREATE INDEX response_item_response ON response_item (response)',
    ],
  },
  {
    id: '0007-recall-answers',
    statements: [
      // `lease_until` is NULL once there is an answer; until then `holder` is the request that
      // works on it.
      `CREATE TABLE answer (
        account TEXT NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        holder TEXT NOT NULL,
        lease_until BIGINT,
        content_type TEXT,
        body TEXT,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (account, key),
        CHECK ((lease_until IS NULL) = (body IS NOT NULL))
      )`,
      'CREATE INDEX answer_expires ON answer (expires_at)',
    ],
  },
  {
    id: '0009-recall-signatures',
    statements: [
      // `call` is a hash of the tool call, `sealed` the signature that came with it.
      `CREATE TABLE signature (
        account TEXT NOT NULL,
        signer TEXT NOT NULL,
        call TEXT NOT NULL,
        sealed TEXT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (account, signer, call)
      )`,
      'CREATE INDEX signature_expires ON signature (expires_at)',
    ],
  },
  {
    // Finds the background responses whose runners are gone among all that are stored.
    id: '0059-response-leases',
    statements: [
      'CREATE INDEX response_lease ON response (lease_until) WHERE lease_until IS NOT NULL',
    ],
  },
  {
    // The events of background responses that were created as streams, in parts. Part 0 has none: it
    // tells such a response from others.
    id: '0061-response-events',
    statements: [
      `CREATE TABLE response_events (
        response TEXT NOT NULL REFERENCES response ON DELETE CASCADE,
        part BIGINT NOT NULL,
        events TEXT NOT NULL,
        PRIMARY KEY (response, part)
      )`,
    ],
  },
];
