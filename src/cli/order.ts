import type { Env } from '../base/env.ts';
import { formatYuan } from '../base/money.ts';
import { operatorOrders } from '../console/user/orders.ts';
import { instant, nanoOf, yuan } from '../console/format.ts';
import { listOrders, listUnmatched, type PaymentOrderState } from '../payments/orders.ts';
import type { WalletId } from '../payments/wallet.ts';
import { print, type SharedOptions, timeOption, toSecond } from './command-io.ts';
import { withDatabase } from './installation.ts';
import { table } from './terminal.ts';
import { filteredUser } from './user.ts';

interface OrderOptions extends SharedOptions {
  readonly user?: string;
  readonly state?: PaymentOrderState;
  readonly wallet?: WalletId;
  readonly since?: string;
  readonly limit: number;
}

/** Top-ups, the newest first. */
export async function listOrdersCommand(options: OrderOptions, env: Env): Promise<void> {
  const { user, state, wallet, since, limit } = options;
  const from = since === undefined ? undefined : timeOption('--since', since);
  await withDatabase(options, env, async (database) => {
    const account = await filteredUser(database, user);
    const found = await listOrders(database, { account, state, wallet, from, limit });
    const orders = await operatorOrders(database, found);
    const rows = orders.map((order) => [
      toSecond(order.created_at),
      order.id,
      order.user.name,
      order.wallet,
      order.state,
      formatYuan(nanoOf(order.amount)),
      order.wallet_no ?? '',
    ]);
    const heads = ['time', 'id', 'user', 'wallet', 'state', 'amount', 'number'];
    print(
      options,
      orders,
      orders.length === 0 ? ['there are no matching orders'] : table(heads, rows),
    );
  });
}

/** Payments that wallets report and that are credited to nobody, the newest first. */
export async function listUnmatchedCommand(
  options: Pick<OrderOptions, keyof SharedOptions | 'since' | 'limit'>,
  env: Env,
): Promise<void> {
  const { since, limit } = options;
  const from = since === undefined ? 0 : timeOption('--since', since);
  await withDatabase(options, env, async (database) => {
    const payments = await listUnmatched(database, from, limit);
    const items = payments.map(({ orderId, amount, at, ...rest }) => ({
      at: instant(at),
      ...rest,
      order: orderId,
      amount: yuan(amount),
    }));
    const rows = items.map(({ at, wallet, number, order, amount, currency, why }) => [
      toSecond(at),
      wallet,
      number,
      order,
      formatYuan(nanoOf(amount)),
      currency,
      why,
    ]);
    const heads = ['time', 'wallet', 'number', 'order', 'amount', 'currency', 'why'];
    print(options, items, items.length === 0 ? ['there are no such payments'] : table(heads, rows));
  });
}
