import * as z from 'zod';
import { userNames } from '../../accounts/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import {
  type Order,
  findOrder,
  listOrders,
  type OrderFilter,
  ordersSince,
} from '../../payments/orders.ts';
import type { Payments } from '../../payments/payments.ts';
import { type OrderRefund, refundsOf } from '../../payments/refunds.ts';
import { type PayMethod, walletIds } from '../../payments/wallet.ts';
import type { Database } from '../../storage/database.ts';
import type {
  OrderAnswer,
  OrderPayAnswer,
  OrderView,
  Page,
  OperatorOrder,
  PayPage,
  OrderStateName,
  RefundView,
  SessionView,
} from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { instant, instantOrNull, yuan } from '../format.ts';
import { languageOf } from '../language.ts';
import { idempotencyKeyIn, moneyInput, pageInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { balanceView } from './balance.ts';

const pageOf = { qr: 'qr', page: 'web', mobile: 'mobile' } as const;
const methodOf = { qr: 'qr', web: 'page', mobile: 'mobile' } as const;

/** How each configured wallet can be paid, by the names of the console. */
export const walletPages = ({ offers }: Pick<Payments, 'offers'>): SessionView['wallet_pages'] =>
  Object.fromEntries(offers.map(({ wallet, methods }) => [wallet, methods.map(pageNameOf)]));

const pageNameOf = (method: PayMethod): PayPage => pageOf[method];

/** Orders as their owners see them, in the order given. */
export async function orderViews(
  database: Database,
  orders: readonly Order[],
): Promise<readonly OrderView[]> {
  const refunds = await refundsOfOrders(database, orders);
  return orders.map((order) => orderView(order, refunds));
}

const refundsOfOrders = (
  database: Database,
  orders: readonly Order[],
): Promise<readonly OrderRefund[]> =>
  refundsOf(
    database,
    orders.flatMap(({ id, state }) => (state === 'credited' ? [id] : [])),
  );

/** The same as operators see them. */
export async function operatorOrders(
  database: Database,
  orders: readonly Order[],
): Promise<readonly OperatorOrder[]> {
  const refunds = await refundsOfOrders(database, orders);
  const troubles = new Map(refunds.map(({ id, trouble }) => [id, trouble]));
  const names = await userNames(
    database,
    orders.map(({ account }) => account),
  );
  return orders.map((order) => {
    const view = orderView(order, refunds);
    return {
      ...view,
      user: { id: order.account, name: names.get(order.account) ?? order.account },
      trouble: order.trouble ?? null,
      refunds: view.refunds.map((one) => ({ ...one, trouble: troubles.get(one.id) ?? null })),
    };
  });
}

function orderView(order: Order, refunds: readonly OrderRefund[]): OrderView {
  const { id, amount, wallet, state, method, code, closedAt } = order;
  const open = state === 'waiting';
  return {
    id,
    amount: yuan(amount),
    wallet,
    page: pageNameOf(method),
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

/** Not `expired` before the wallet has confirmed that nobody paid. */
function stateOf({ state, scanned, closedAt, expiresAt }: Order): OrderStateName {
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

export interface OrdersContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly cursors: Cursors;
  readonly payments: Payments;
}

const listInput = z.object(pageInput);
const newOrderInput = z.strictObject({
  amount: moneyInput,
  wallet: z.enum(walletIds, 'unknown'),
  page: z.enum(['qr', 'web', 'mobile'], 'unknown').optional(),
});

/** The user's top-ups: order, pay, see the payment arrive. */
export function orderRoutes(context: OrdersContext): readonly ConsoleRoute[] {
  const { database, payments } = context;
  const role = 'user';
  return [
    defineRoute({
      method: 'GET',
      path: 'orders',
      role,
      input: listInput,
      handle: ({ owner, input, at }) =>
        ordersPage(context, ['orders', owner.id], { account: owner.id }, input, at, (some) =>
          orderViews(database, some),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: 'orders',
      role,
      input: newOrderInput,
      perMinute: 20,
      handle: (request) => create(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'orders/:id',
      role,
      handle: async ({ owner, params }): Promise<OrderView> =>
        viewOf(context, await findOrder(database, params['id'] ?? '', owner.id)),
    }),
    defineRoute({
      method: 'POST',
      path: 'orders/:id/pay',
      role,
      perMinute: 10,
      handle: (request) => openPayment(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'orders/:id/check',
      role,
      perMinute: 60,
      handle: async (request) =>
        answer(
          context,
          request,
          await payments.check(request.params['id'] ?? '', request.owner.id),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: 'orders/:id/close',
      role,
      perMinute: 60,
      handle: async (request) =>
        answer(
          context,
          request,
          await payments.closeOrder(request.params['id'] ?? '', request.owner.id),
        ),
    }),
  ];
}

const changesMax = 100;

/**
 * For the event stream: the user's orders that changed at `since` (wall clock, ms) or later, with
 * the time of the change.
 */
export async function changedOrders(database: Database, account: string, since: number) {
  const orders = await ordersSince(database, account, since, changesMax);
  const views = await orderViews(database, orders);
  return views.map((order, index) => ({ changedAt: orders[index]?.changedAt ?? since, order }));
}

/** What the user's wallet says that the money is for. */
const subjects = { zh: '余额充值', en: 'Balance top-up' } as const;

async function create(
  context: OrdersContext,
  request: SignedInRequest<z.output<typeof newOrderInput>>,
): Promise<OrderAnswer> {
  const { user, owner, input, headers, ip, reply } = request;
  const { amount, wallet, page = 'qr' } = input;
  const made = await context.payments.order({
    account: owner.id,
    wallet,
    method: methodOf[page],
    amount,
    idempotencyKey: idempotencyKeyIn(headers),
    subject: subjects[user.language ?? languageOf(headers)],
    payerIp: ip,
  });
  if (made.kind === 'no such wallet')
    throwProblem('invalid', { fields: { [page === 'qr' ? 'wallet' : 'page']: 'not_offered' } });
  if (made.kind === 'no payer') throwProblem('invalid', noPayer);
  if (made.kind === 'wrong amount')
    throwProblem('invalid', { fields: { amount: wrongOf(amount, context.payments.amounts) } });
  if (made.kind === 'key reused')
    throwProblem('conflict', { message: 'This idempotency-key was used for another order.' });
  if (made.kind === 'too many')
    throwProblem('conflict', {
      message: 'Too many unpaid orders. Pay or cancel one of them first.',
    });
  if (made.kind === 'unavailable' && made.order.state === 'waiting')
    throwProblem('unavailable', walletAway);
  reply.status(201);
  return answer(context, request, made.order);
}

const walletAway = {
  message: 'The wallet does not respond. Please retry; nothing was paid.',
  retryAfterMs: 2_000,
};
/** The wallet opens on the phone of one address alone, and the request came from none. */
const noPayer = { fields: { page: 'not_offered' } };

async function openPayment(
  context: OrdersContext,
  request: SignedInRequest,
): Promise<OrderPayAnswer> {
  const { owner, params, ip } = request;
  const opened = await context.payments.openPayment(params['id'] ?? '', owner.id, ip);
  if (opened.kind === 'no such order') throwProblem('not_found');
  if (opened.kind === 'no payer') throwProblem('invalid', noPayer);
  if (opened.kind === 'unavailable') throwProblem('unavailable', walletAway);
  return { ...(await answer(context, request, opened.order)), pay_url: opened.url ?? null };
}

function wrongOf(amount: bigint, { least, most }: Payments['amounts']): string {
  if (amount < least) return 'below_minimum';
  return amount > most ? 'above_maximum' : 'not_payable';
}

const viewOf = async ({ database }: OrdersContext, order: Order | undefined): Promise<OrderView> =>
  (await orderViews(database, order === undefined ? [] : [order]))[0] ?? throwProblem('not_found');

async function answer(
  context: OrdersContext,
  { owner }: Pick<SignedInRequest, 'owner'>,
  order: Order | undefined,
): Promise<OrderAnswer> {
  const { database, catalog, clock } = context;
  const view = await viewOf(context, order);
  return {
    order: view,
    balance: await database.snapshot(() => balanceView(owner, catalog(), clock.now())),
  };
}

/** A page of orders, newest first; `of` names the list for its cursors. */
export async function ordersPage<View extends OrderView>(
  { database, cursors }: Pick<OrdersContext, 'database' | 'cursors'>,
  of: readonly unknown[],
  filter: Omit<OrderFilter, 'limit' | 'beyond' | 'newer'>,
  { limit, after }: z.output<typeof listInput>,
  at: number,
  views: (orders: readonly Order[]) => Promise<readonly View[]>,
): Promise<Page<View>> {
  const place = cursors.read(of, after);
  const newer = place?.towards === 'prev';
  const found = await listOrders(database, {
    ...filter,
    beyond: place?.id,
    newer,
    limit: limit + 1,
  });
  const more = found.length > limit;
  const items = await views(newer ? found.slice(-limit) : found.slice(0, limit));
  return {
    items,
    ...cursors.around(of, place, { items, more }, ({ id }) => ({ at: 0, id })),
    as_of: instant(at),
  };
}
