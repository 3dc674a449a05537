import { userNames } from '../accounts/user-page.ts';
import type { Order, OrderRefund } from '../payments/order.ts';
import { refundsOf } from '../payments/refunds.ts';
import type { Database } from '../storage/database.ts';
import type { OperatorOrder, OrderState, OrderView, RefundView } from './contract.ts';
import { instant, instantOrNull, yuan } from './written.ts';

/** Orders as their owners see them, in the order given. */
export async function orderViews(
  database: Database,
  orders: readonly Order[],
): Promise<readonly OrderView[]> {
  const refunds = await refundsOf(
    database,
    orders.flatMap(({ id, refunded, refunding, state }) =>
      state === 'credited' || refunded + refunding > 0n ? [id] : [],
    ),
  );
  return orders.map((order) => orderView(order, refunds));
}

/** The same as operators see them. */
export async function operatorOrders(
  database: Database,
  orders: readonly Order[],
): Promise<readonly OperatorOrder[]> {
  const views = await orderViews(database, orders);
  const names = await userNames(
    database,
    orders.map(({ account }) => account),
  );
  return views.map((view, index) => {
    const id = orders[index]?.account ?? '';
    return { ...view, user: { id, name: names.get(id) ?? id } };
  });
}

function orderView(order: Order, refunds: readonly OrderRefund[]): OrderView {
  const { id, amount, wallet, state, method, code, closedAt } = order;
  const open = state === 'waiting';
  return {
    id,
    amount: yuan(amount),
    wallet,
    state: stateOf(order),
    late: state === 'credited' && closedAt !== undefined,
    qr: open && method === 'qr' ? (code ?? null) : null,
    pay_url: open && method === 'page' ? (code ?? null) : null,
    expires_at: instant(order.expiresAt),
    created_at: instant(order.createdAt),
    credited_at: instantOrNull(order.creditedAt),
    wallet_no: order.number ?? null,
    transfer: order.transfer ?? null,
    refunded: yuan(order.refunded),
    refunds: refunds.filter(({ orderId }) => orderId === id).map(refundView),
  };
}

/** Not `expired` before the wallet has said that nobody paid. */
function stateOf({ state, scanned, closedAt, expiresAt }: Order): OrderState {
  if (state === 'waiting') return scanned ? 'scanned' : 'waiting';
  return state === 'closed' && closedAt !== undefined && closedAt >= expiresAt ? 'expired' : state;
}

export const refundView = ({ id, amount, state, reason, createdAt }: OrderRefund): RefundView => ({
  id,
  amount: yuan(amount),
  state,
  reason,
  at: instant(createdAt),
});
