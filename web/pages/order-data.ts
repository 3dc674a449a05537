import type { OrderAnswer, OrderView } from '../../src/console/contract.ts';
import { data, queryClient, showBalance } from '../api/data.ts';

export const orderData = (id: string) => data<OrderView>(`orders/${id}`);

/** Keeps an order that the server has just sent. */
export function keepOrder(order: OrderView): void {
  queryClient.setQueryData(orderData(order.id).queryKey, order);
}

/** Shows what a change of an order answers: the order, the balance, and the list with both. */
export function showOrder({ order, balance }: OrderAnswer): void {
  keepOrder(order);
  showBalance(balance);
  void queryClient.invalidateQueries({ queryKey: ['orders'] });
}
