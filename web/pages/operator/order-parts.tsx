import type { ReactNode } from 'react';
import type { OrderView } from '../../../src/console/contract.ts';
import { refresh } from '../../api/data.ts';
import { useNow } from '../../browser/now.ts';
import { StatusBadge } from '../../components/status-badge.tsx';
import { parseYuan } from '../../format/money.ts';
import { peopleWords } from '../../words/families.ts';
import { useWords } from '../../words/family.ts';
import { countdownText } from '../order-countdown.ts';
import { isOpen, orderStatuses } from '../order-parts.tsx';

export const orderAddress = (id: string): string => `operator/orders/${encodeURIComponent(id)}`;

/** Fetches orders again, with what changes with them: owners' balances, the reconciliation. */
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

export function OrderBadge({
  order: { state, late },
}: {
  readonly order: Pick<OrderView, 'state' | 'late'>;
}): ReactNode {
  const { orders: words } = useWords(peopleWords);
  return (
    <StatusBadge status={orderStatuses[state]}>
      {late ? words.creditedLate : words.states[state]}
    </StatusBadge>
  );
}

/** The time for which the order's code can still be paid. */
export function TimeLeft({
  order,
}: {
  readonly order: Pick<OrderView, 'state' | 'expires_at'>;
}): ReactNode {
  const { orders: words } = useWords(peopleWords);
  const left = Date.parse(order.expires_at) - useNow();
  if (!isOpen(order) || left <= 0) return null;
  return (
    <span className="text-caption text-muted">
      {words.left(countdownText(Math.ceil(left / 1000)))}
    </span>
  );
}
