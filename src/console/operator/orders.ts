import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { type Order, orderTotals, findOrder } from '../../payments/orders.ts';
import {
  type Difference,
  type WalletSum,
  findReconciliation,
  type RecordedReconciliation,
} from '../../payments/reconciliation.ts';
import type { NewRefundResult } from '../../payments/payments.ts';
import { type WalletId, walletIds } from '../../payments/wallet.ts';
import type {
  OperatorOrder,
  OperatorOrderTotals,
  Reconciliation,
  RefundAnswer,
} from '../contract.ts';
import {
  idempotencyKeyIn,
  dayInput,
  relativeTimeInput,
  moneyInput,
  pageInput,
  textInput,
} from '../input.ts';
import { operatorOrders, refundView, type OrdersContext, ordersPage } from '../user/orders.ts';
import { byOperator, onlyOperator } from './context.ts';
import { throwProblem, type ProblemCode, type ProblemDetails } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from '../format.ts';

const wallet = z.enum(walletIds, 'unknown');
const filter = {
  state: z.enum(['waiting', 'closed', 'failed', 'credited'], 'unknown').optional(),
  wallet: wallet.optional(),
  user: z.string().optional(),
  q: z.string().max(64).optional(),
  from: relativeTimeInput.optional(),
  to: relativeTimeInput.optional(),
};
const filterInput = z.strictObject(filter);
const listInput = z.object({ ...filter, ...pageInput });
const refundInput = z.strictObject({
  amount: moneyInput,
  reason: textInput(200),
});
const reconciliationInput = z.object({ date: dayInput, wallet });

/**
 * All users' orders, refunds, and the wallets' bills. There is no "mark as paid": money enters only
 * when a wallet confirms it.
 */
export function operatorOrderRoutes(context: OrdersContext): readonly ConsoleRoute[] {
  const { database, payments } = context;
  const role = 'operator';
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/orders',
      role,
      input: listInput,
      handle: (request) => list(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/order-totals',
      role,
      input: filterInput,
      handle: (request) => totals(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/orders/:id',
      role,
      handle: async ({ params }) => one(context, await findOrder(database, params['id'] ?? '')),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/orders/:id/query',
      role,
      handle: async ({ params }) => one(context, await payments.check(params['id'] ?? '')),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/orders/:id/close',
      role,
      handle: (request) => close(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/orders/:id/refund',
      role,
      input: refundInput,
      handle: (request) => refund(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'operator/reconciliation',
      role,
      input: reconciliationInput,
      handle: async ({ input }) =>
        reconciliation(
          input.wallet,
          input.date,
          await findReconciliation(database, input.wallet, input.date),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/reconciliation/run',
      role,
      input: reconciliationInput,
      perMinute: 20,
      handle: (request) => run(context, request),
    }),
  ];
}

type Filtered = z.output<typeof filterInput>;
type Listed = z.output<typeof listInput>;

const filterOf = ({ state, wallet: by, user, q, from, to }: Filtered, at: number) => ({
  state,
  wallet: by,
  account: user,
  search: q,
  from: from?.(at),
  to: to?.(at),
});

async function totals(
  { database }: OrdersContext,
  { input, at }: SignedInRequest<Filtered>,
): Promise<OperatorOrderTotals> {
  const { orders, credited, refunded: back } = await orderTotals(database, filterOf(input, at));
  return {
    orders,
    credited: { orders: credited.orders, amount: yuan(credited.amount) },
    refunded: yuan(back),
    kept: yuan(credited.amount - back),
    as_of: instant(at),
  };
}

function list(context: OrdersContext, { input, at }: SignedInRequest<Listed>) {
  const { limit, after, from, to, user, q, ...more } = input;
  // A relative range (`-7d`) means the same list a moment later.
  const of = ['operator orders', more, user, q, from?.(0), to?.(0)];
  const filter = filterOf(input, at);
  return ordersPage(context, of, filter, { limit, after }, at, (orders) =>
    operatorOrders(context.database, orders),
  );
}

const one = async ({ database }: OrdersContext, order: Order | undefined): Promise<OperatorOrder> =>
  (await operatorOrders(database, order === undefined ? [] : [order]))[0] ??
  throwProblem('not_found');

async function close(context: OrdersContext, request: SignedInRequest): Promise<OperatorOrder> {
  const { params, at } = request;
  const before =
    (await findOrder(context.database, params['id'] ?? '')) ?? throwProblem('not_found');
  const after = await context.payments.closeOrder(before.id);
  const act = {
    ...byOperator(request),
    action: 'order.close',
    target: before.id,
    account: before.account,
    before: { state: before.state },
    after: { state: after?.state },
  };
  await context.database.transact(() => writeAudit(at, act));
  return one(context, after);
}

const refusals: Readonly<
  Record<Exclude<NewRefundResult['kind'], 'new' | 'known'>, readonly [ProblemCode, ProblemDetails]>
> = {
  'no such order': ['not_found', {}],
  'no such wallet': ['wallet_gone', {}],
  'wrong amount': ['invalid', { fields: { amount: 'not_payable' } }],
  'key reused': ['conflict', { message: 'This idempotency-key was used for another refund.' }],
  'not credited': ['not_credited', {}],
  'too much': ['invalid', { fields: { amount: 'above_unrefunded' } }],
  'not enough': ['insufficient', { message: 'The user’s available balance is too low.' }],
};

async function refund(
  { database, payments }: OrdersContext,
  request: SignedInRequest<z.output<typeof refundInput>>,
): Promise<RefundAnswer> {
  const { params, input, headers, at, reply } = request;
  const act = { ...byOperator(request), action: 'order.refund', reason: input.reason };
  const begun = await payments.refund({
    orderId: params['id'] ?? '',
    amount: input.amount,
    reason: input.reason,
    idempotencyKey: idempotencyKeyIn(headers),
    *beside({ id, account }, refundId) {
      yield* onlyOperator(request);
      const after = { refund: refundId, amount: yuan(input.amount) };
      yield* writeAudit(at, { ...act, target: id, account, after });
    },
  });
  if (begun.kind !== 'new' && begun.kind !== 'known') return throwProblem(...refusals[begun.kind]);
  const [order] = await operatorOrders(database, [
    (await findOrder(database, begun.refund.orderId)) ?? throwProblem('not_found'),
  ]);
  reply.status(201);
  return { order: order ?? throwProblem('not_found'), refund: refundView(begun.refund) };
}

async function run(
  { payments }: OrdersContext,
  { input }: SignedInRequest<z.output<typeof reconciliationInput>>,
): Promise<Reconciliation> {
  const ran = await payments.reconcile(input.wallet, input.date);
  if (ran.kind === 'done') return reconciliation(input.wallet, input.date, ran.reconciled);
  if (ran.kind === 'no such wallet') throwProblem('invalid', { fields: { wallet: 'not_offered' } });
  if (ran.kind === 'no such day') throwProblem('invalid', { fields: { date: 'not_over' } });
  if (ran.kind === 'not yet') throwProblem('bill_not_published');
  return throwProblem('bill_unavailable', {
    message: `The bill cannot be had: ${ran.why}`,
    retryAfterMs: 10_000,
  });
}

const empty: WalletSum = { count: 0, wallet: 0n, ours: 0n };
const kinds: readonly ('matched' | Difference)[] = [
  'matched',
  'paid_not_credited',
  'credited_not_in_bill',
  'amount_differs',
];

function reconciliation(
  wallet: WalletId,
  date: string,
  done: RecordedReconciliation | undefined,
): Reconciliation {
  const { billLines = 0, ourLines = 0, sums, differences = [] } = done?.report ?? {};
  return {
    day: date,
    wallet,
    run_at: instantOrNull(done?.runAt),
    bill_lines: billLines,
    our_lines: ourLines,
    sums: kinds.map((what) => {
      const { count, wallet: theirs, ours } = sums?.[what] ?? empty;
      return {
        what,
        count,
        wallet: yuan(theirs),
        ours: yuan(ours),
        difference: yuan(theirs - ours),
      };
    }),
    differences: differences.map((one) => ({
      what: one.what,
      order: one.order ?? null,
      wallet_no: one.number ?? null,
      wallet: yuanOrNull(one.wallet),
      ours: yuanOrNull(one.ours),
      at: instant(one.at),
      next_day: one.nextDay,
    })),
  };
}
