import { formatYuan } from '../base/money.ts';
import { systemClock } from '../base/clock.ts';
import { nanoOf } from '../console/format.ts';
import { operatorOrders } from '../console/user/orders.ts';
import { listOrders, type PaymentOrderState } from '../payments/orders.ts';
import type { WalletId } from '../payments/wallet.ts';
import { print, type SharedOptions, timeOption } from './command-io.ts';
import { type Env, withDatabase } from './installation.ts';
import { table } from './terminal.ts';
import { userNamed } from './user.ts';

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
  const from = since === undefined ? undefined : timeOption('--since', since, systemClock.now());
  await withDatabase(options, env, async (database) => {
    const account = user === undefined ? undefined : (await userNamed(database, user)).id;
    const found = await listOrders(database, { account, state, wallet, from, limit });
    const orders = await operatorOrders(database, found);
    const rows = orders.map((order) => [
      order.created_at.replace(/\.\d+Z$/, 'Z'),
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
