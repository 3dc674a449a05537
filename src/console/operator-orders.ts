import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import type { Order, OrderState } from '../payments/order.ts';
import { findOrder } from '../payments/orders.ts';
import type { Difference, Report, Sum } from '../payments/reconcile.ts';
import { findReconciled, type Reconciled } from '../payments/reconciliations.ts';
import type { RefundAnswered } from '../payments/payments.ts';
import { type WalletId, walletIds } from '../payments/wallet.ts';
import type { OperatorOrder, Reconciliation, RefundAnswer } from './contract.ts';
import { idempotencyKeyIn } from './headers.ts';
import { day, moment, money, pageLimit } from './input.ts';
import { operatorOrders, refundView } from './order-view.ts';
import { type OrderRooms, ordersPage } from './orders.ts';
import { byOperator } from './operator-writes.ts';
import { fail, type ProblemCode, type ProblemDetails } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from './written.ts';

const wallet = z.enum(walletIds, 'unknown');
const filtered = z.object({
  state: z.enum(['waiting', 'closed', 'failed', 'credited'], 'unknown').optional(),
  wallet: wallet.optional(),
  user: z.string().optional(),
  q: z.string().max(64).optional(),
  from: moment.optional(),
  to: moment.optional(),
  limit: pageLimit,
  after: z.string().optional(),
});
const refunded = z.strictObject({
  amount: money,
  reason: z.string().trim().min(1, 'empty').max(200, 'too_long'),
});
const reconciled = z.object({ date: day, wallet });

/**
 * Orders of everybody, refunds, and the wallets' bills. There is no "mark as paid": money enters by
 * a wallet's own word alone.
 */
export function operatorOrderRows(rooms: OrderRooms): readonly ConsoleRow[] {
  const { database, payments } = rooms;
  const role = 'operator';
  return [
    row({
      method: 'GET',
      path: 'operator/orders',
      role,
      input: filtered,
      handle: (visit) => list(rooms, visit),
    }),
    row({
      method: 'GET',
      path: 'operator/orders/:id',
      role,
      handle: async ({ params }) => one(rooms, await findOrder(database, params['id'] ?? '')),
    }),
    row({
      method: 'POST',
      path: 'operator/orders/:id/query',
      role,
      handle: async ({ params }) => one(rooms, await payments.check(params['id'] ?? '')),
    }),
    row({
      method: 'POST',
      path: 'operator/orders/:id/close',
      role,
      handle: (visit) => close(rooms, visit),
    }),
    row({
      method: 'POST',
      path: 'operator/orders/:id/refund',
      role,
      input: refunded,
      handle: (visit) => refund(rooms, visit),
    }),
    row({
      method: 'GET',
      path: 'operator/reconciliation',
      role,
      input: reconciled,
      handle: async ({ input }) =>
        reconciliation(
          input.wallet,
          input.date,
          await findReconciled(database, input.wallet, input.date),
        ),
    }),
    row({
      method: 'POST',
      path: 'operator/reconciliation/run',
      role,
      input: reconciled,
      perMinute: 20,
      handle: (visit) => run(rooms, visit),
    }),
  ];
}

function list(rooms: OrderRooms, { input, at }: ConsoleVisit<z.output<typeof filtered>>) {
  const { limit, after, from, to, user, q, ...more } = input;
  // A range that begins so long before now means the same list a moment later.
  const of = ['operator orders', more, user, q, from?.(0), to?.(0)];
  const filter = { ...more, account: user, search: q, from: from?.(at), to: to?.(at) };
  return ordersPage(rooms, of, filter, { limit, after }, at, (orders) =>
    operatorOrders(rooms.database, orders),
  );
}

const one = async ({ database }: OrderRooms, order: Order | undefined): Promise<OperatorOrder> =>
  (await operatorOrders(database, order === undefined ? [] : [order]))[0] ?? fail('not_found');

async function close(rooms: OrderRooms, visit: ConsoleVisit): Promise<OperatorOrder> {
  const { params, at } = visit;
  const before = (await findOrder(rooms.database, params['id'] ?? '')) ?? fail('not_found');
  const after = await rooms.payments.closeOrder(before.id);
  const facts = (state: OrderState | undefined) => ({
    before: { state: before.state },
    after: { state },
  });
  const act = {
    ...byOperator(visit),
    action: 'order.close',
    target: before.id,
    account: before.account,
    ...facts(after?.state),
  };
  await rooms.database.transact(() => writeAudit(at, act));
  return one(rooms, after);
}

const refusals: Readonly<
  Record<Exclude<RefundAnswered['kind'], 'new' | 'known'>, readonly [ProblemCode, ProblemDetails]>
> = {
  'no such order': ['not_found', {}],
  'no such wallet': ['conflict', { message: 'This wallet is not configured any more.' }],
  'wrong amount': ['invalid', { fields: { amount: 'not_payable' } }],
  'key reused': ['conflict', { message: 'This idempotency-key made another refund.' }],
  'not credited': ['conflict', { message: 'Only what was credited can be paid back.' }],
  'too much': ['invalid', { fields: { amount: 'above_unrefunded' } }],
  'not enough': ['insufficient', { message: 'The user has not so much that is free.' }],
};

async function refund(
  { database, payments }: OrderRooms,
  visit: ConsoleVisit<z.output<typeof refunded>>,
): Promise<RefundAnswer> {
  const { params, input, headers, at, reply } = visit;
  const act = { ...byOperator(visit), action: 'order.refund', reason: input.reason };
  const begun = await payments.refund({
    orderId: params['id'] ?? '',
    amount: input.amount,
    reason: input.reason,
    idempotencyKey: idempotencyKeyIn(headers),
    beside: ({ id, account }, refundId) =>
      writeAudit(at, {
        ...act,
        target: id,
        account,
        after: { refund: refundId, amount: yuan(input.amount) },
      }),
  });
  if (begun.kind !== 'new' && begun.kind !== 'known') return fail(...refusals[begun.kind]);
  const [order] = await operatorOrders(database, [
    (await findOrder(database, begun.refund.orderId)) ?? fail('not_found'),
  ]);
  reply.status(201);
  return { order: order ?? fail('not_found'), refund: refundView(begun.refund) };
}

async function run(
  { payments }: OrderRooms,
  { input }: ConsoleVisit<z.output<typeof reconciled>>,
): Promise<Reconciliation> {
  const ran = await payments.reconcile(input.wallet, input.date);
  if (ran.kind === 'done') return reconciliation(input.wallet, input.date, ran.reconciled);
  if (ran.kind === 'no such wallet') fail('invalid', { fields: { wallet: 'not_offered' } });
  if (ran.kind === 'no such day') fail('invalid', { fields: { date: 'not_over' } });
  if (ran.kind === 'not yet')
    fail('conflict', { message: 'The wallet has not made this bill yet.' });
  return fail('unavailable', {
    message: `The bill cannot be had: ${ran.why}`,
    retryAfterMs: 10_000,
  });
}

const empty: Sum = { count: 0, wallet: 0n, ours: 0n };
const nothing: Report = {
  billLines: 0,
  ourLines: 0,
  sums: {
    matched: empty,
    paid_not_credited: empty,
    credited_not_in_bill: empty,
    amount_differs: empty,
  },
  differences: [],
};
const kinds: readonly ('matched' | Difference)[] = [
  'matched',
  'paid_not_credited',
  'credited_not_in_bill',
  'amount_differs',
];

function reconciliation(
  wallet: WalletId,
  date: string,
  done: Reconciled | undefined,
): Reconciliation {
  const { billLines, ourLines, sums, differences } = done?.report ?? nothing;
  return {
    day: date,
    wallet,
    run_at: instantOrNull(done?.runAt),
    bill_lines: billLines,
    our_lines: ourLines,
    sums: kinds.map((what) => {
      const sum = sums[what];
      return {
        what,
        count: sum.count,
        wallet: yuan(sum.wallet),
        ours: yuan(sum.ours),
        difference: yuan(sum.wallet - sum.ours),
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
