/**
 * For the ledger's proof: what is credited has its transfer and what was transferred its order, and
 * a refund's end and its money's are one. Each must return no row (till.md §8).
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
