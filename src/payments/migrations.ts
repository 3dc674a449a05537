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
  {
    id: '0046-payments-mobile',
    statements: [
      // A new column, because SQLite changes no CHECK.
      `ALTER TABLE payment_order ADD COLUMN way TEXT NOT NULL DEFAULT 'qr' CHECK (way IN ('qr', 'page', 'mobile'))`,
      'UPDATE payment_order SET way=method',
      'ALTER TABLE payment_order DROP COLUMN method',
      'ALTER TABLE payment_order RENAME COLUMN way TO method',
      "ALTER TABLE payment_order ADD COLUMN subject TEXT NOT NULL DEFAULT 'Balance top-up'",
    ],
  },
];

/**
 * For the ledger's proof: each credited order has its transfer, each top-up transfer its order, and
 * each refund's end agrees with its money's. Each query must return no row.
 */
export const paymentProof: Readonly<Record<string, string>> = {
  orders: `SELECT o.id, o.state, o.amount, t.amount AS transferred FROM payment_order o LEFT JOIN transfer t ON t.id=o.transfer
    WHERE o.state='credited' AND (t.id IS NULL OR t.code<>'topup' OR t.ref<>o.id OR t.credit<>o.account OR t.debit<>'wallet:' || o.wallet
      OR t.amount<>o.amount OR t.id<>o.wallet || ':' || o.number)`,
  'top-ups': `SELECT t.id, t.ref, t.amount FROM transfer t LEFT JOIN payment_order o ON o.id=t.ref AND o.transfer=t.id
    WHERE t.code='topup' AND o.id IS NULL`,
  'order refunds': `SELECT o.id, o.refunding, o.refunded, r.asked, r.paid FROM payment_order o
    LEFT JOIN (SELECT order_id, SUM(CASE WHEN ended_at IS NULL THEN amount ELSE 0 END) AS asked,
      SUM(CASE WHEN state='refunded' THEN amount ELSE 0 END) AS paid FROM payment_refund GROUP BY order_id) r ON r.order_id=o.id
    WHERE o.refunding<>COALESCE(r.asked, 0) OR o.refunded<>COALESCE(r.paid, 0)`,
  'refund holds': `SELECT r.id, r.state, r.amount, h.state AS hold, h.amount AS held FROM payment_refund r LEFT JOIN hold h ON h.id=r.id
    WHERE h.id IS NULL OR h.account<>r.account OR h.amount<>r.amount
      OR h.state<>CASE r.state WHEN 'refunded' THEN 'posted' WHEN 'failed' THEN 'voided' ELSE 'open' END`,
  payouts: `SELECT t.id, t.ref, t.amount FROM transfer t LEFT JOIN payment_refund r ON r.id=t.id AND r.state='refunded' AND r.order_id=t.ref
    WHERE t.code='payout' AND r.id IS NULL`,
  'payout holds': `SELECT h.id, h.account, h.amount FROM hold h LEFT JOIN payment_refund r ON r.id=h.id
    WHERE h.state='open' AND substr(h.id, 1, 4)='rfd_' AND r.id IS NULL`,
};
