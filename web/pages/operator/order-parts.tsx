import type { ReactNode } from 'react';
import type { OrderStateName, OrderView } from '../../../src/console/contract.ts';
import { refresh } from '../../api/data.ts';
import { useNow } from '../../browser/now.ts';
import { type Status, StatusBadge } from '../../components/status-badge.tsx';
import { parseYuan } from '../../format/money.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { clockOf } from '../order-countdown.ts';

export const orderAddress = (id: string): string => `operator/orders/${encodeURIComponent(id)}`;

/** Fetches orders again, with the owner's balance and the audit trail, which change with them. */
export const refreshOrders = (): Promise<void> =>
  refresh('operator/orders', 'operator/users', 'operator/reconciliation');

/** The rest that can still be refunded, in nano-yuan; running refunds are already taken off. */
export function leftOf({ amount, refunded, refunds }: OrderView): bigint {
  const underWay = refunds.filter(({ state }) => state === 'held' || state === 'asked');
  return underWay.reduce(
    (left, refund) => left - parseYuan(refund.amount),
    parseYuan(amount) - parseYuan(refunded),
  );
}

const statuses: Readonly<Record<OrderStateName, Status>> = {
  waiting: 'pending',
  scanned: 'running',
  credited: 'ok',
  expired: 'expired',
  closed: 'notCharged',
  failed: 'failed',
};

export function OrderBadge({
  order: { state, late },
}: {
  readonly order: Pick<OrderView, 'state' | 'late'>;
}): ReactNode {
  const { orders: words } = useWords(peopleWords);
  return (
    <StatusBadge status={statuses[state]}>
      {late ? words.creditedLate : words.states[state]}
    </StatusBadge>
  );
}

/** The time for which the order's code can still be paid. */
export function TimeLeft({
  order: { state, expires_at: at },
}: {
  readonly order: Pick<OrderView, 'state' | 'expires_at'>;
}): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const left = Date.parse(at) - useNow();
  if ((state !== 'waiting' && state !== 'scanned') || left <= 0) return null;
  return (
    <span className="text-caption text-muted">{words.left(clockOf(Math.ceil(left / 1000)))}</span>
  );
}
