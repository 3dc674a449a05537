import type { Migration } from '../storage/database.ts';

/** Amounts are nano-yuan in whole fen, times are milliseconds of the wall clock. */
export const paymentsMigrations: readonly Migration[] = [
  {
    id: '0025-payments',
    statements: [
      // `next_look_at` is a lease as well: a process that claims an order moves it beyond the end
      // of its query.
      `CREATE TABLE payment_order (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        wallet TEXT NOT NULL,
        method TEXT NOT NULL CHECK (method IN ('qr', 'page')),
        amount BIGINT NOT NULL CHECK (amount >= 1000000000 AND amount % 10000000 = 0),
        idempotency_key TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'closed', 'failed', 'credited')),
        scanned INTEGER NOT NULL DEFAULT 0,
        code TEXT,
        number TEXT,
        transfer TEXT,
        refunding BIGINT NOT NULL DEFAULT 0 CHECK (refunding >= 0),
        refunded BIGINT NOT NULL DEFAULT 0 CHECK (refunded >= 0),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        closed_at BIGINT,
        paid_at BIGINT,
        credited_at BIGINT,
        changed_at BIGINT NOT NULL,
        next_look_at BIGINT,
        asked_at BIGINT,
        claims BIGINT NOT NULL DEFAULT 0,
        faults BIGINT NOT NULL DEFAULT 0,
        trouble TEXT,
        CHECK ((state = 'credited') = (transfer IS NOT NULL)),
        CHECK ((transfer IS NULL) = (number IS NULL) AND (number IS NULL) = (paid_at IS NULL) AND (paid_at IS NULL) = (credited_at IS NULL)),
        CHECK (refunding + refunded <= amount AND (state = 'credited' OR refunding + refunded = 0))
      )`,
      'CREATE UNIQUE INDEX payment_order_once ON payment_order (account, idempotency_key)',
      'CREATE INDEX payment_order_account ON payment_order (account, id)',
      'CREATE INDEX payment_order_due ON payment_order (next_look_at) WHERE next_look_at IS NOT NULL',
      'CREATE INDEX payment_order_changed ON payment_order (account, changed_at)',
      'CREATE INDEX payment_order_paid ON payment_order (wallet, paid_at) WHERE paid_at IS NOT NULL',
      'CREATE UNIQUE INDEX payment_order_number ON payment_order (wallet, number) WHERE number IS NOT NULL',
      `CREATE TABLE payment_refund (
        id TEXT PRIMARY KEY,
        order_id TEXT NOT NULL REFERENCES payment_order,
        account TEXT NOT NULL,
        amount BIGINT NOT NULL CHECK (amount > 0 AND amount % 10000000 = 0),
        reason TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('held', 'asked', 'refunded', 'failed')),
        number TEXT,
        created_at BIGINT NOT NULL,
        ended_at BIGINT,
        next_look_at BIGINT,
        claims BIGINT NOT NULL DEFAULT 0,
        faults BIGINT NOT NULL DEFAULT 0,
        unknown_at BIGINT,
        trouble TEXT,
        CHECK ((ended_at IS NOT NULL) = (state IN ('refunded', 'failed'))),
        CHECK ((next_look_at IS NULL) = (ended_at IS NOT NULL))
      )`,
      'CREATE UNIQUE INDEX payment_refund_once ON payment_refund (order_id, idempotency_key)',
      'CREATE INDEX payment_refund_due ON payment_refund (next_look_at) WHERE next_look_at IS NOT NULL',
      'CREATE INDEX payment_refund_ended ON payment_refund (ended_at) WHERE ended_at IS NOT NULL',
      // Money that a wallet reports and that fits no order: never credited automatically, never
      // deleted.
      `CREATE TABLE payment_unmatched (
        wallet TEXT NOT NULL,
        number TEXT NOT NULL,
        order_id TEXT NOT NULL,
        amount BIGINT NOT NULL,
        currency TEXT NOT NULL,
        why TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (wallet, number)
      )`,
      // `lease_until`: a process that has not written its report by then counts as dead.
      `CREATE TABLE payment_reconciliation (
        wallet TEXT NOT NULL,
        day TEXT NOT NULL,
        lease_until BIGINT NOT NULL,
        run_at BIGINT,
        report TEXT,
        PRIMARY KEY (wallet, day)
      )`,
    ],
  },
];
