import type { ReactNode } from 'react';
import type { OrderStateName, OrderView } from '../../src/console/contract.ts';
import { type Status, StatusBadge } from '../components/status-badge.tsx';
import { topUpWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

export const orderStatuses: Readonly<Record<OrderStateName, Status>> = {
  waiting: 'pending',
  scanned: 'running',
  credited: 'ok',
  expired: 'expired',
  closed: 'notCharged',
  failed: 'failed',
};

export function OrderStatus({ order }: { readonly order: OrderView }): ReactNode {
  const { states } = useWords(topUpWords);
  const { state, late, page } = order;
  const name = state === 'scanned' && page !== 'qr' ? 'begun' : late ? 'late' : state;
  return <StatusBadge status={orderStatuses[state]}>{states[name]}</StatusBadge>;
}

/** Whether the order can still be paid, as far as is known. */
export function isOpen({ state }: Pick<OrderView, 'state'>): boolean {
  return state === 'waiting' || state === 'scanned';
}
