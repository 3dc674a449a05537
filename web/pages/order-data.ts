import type { OrderView } from '../../src/console/contract.ts';
import { data, queryClient } from '../api/data.ts';

export const orderData = (id: string) => data<OrderView>(`orders/${id}`);

/** Keeps an order that the server has just sent. */
export function keepOrder(order: OrderView): void {
  queryClient.setQueryData(orderData(order.id).queryKey, order);
}
