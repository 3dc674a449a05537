import { Cursors } from './console/cursor.ts';
import { operatorOrderRows } from './console/operator-orders.ts';
import { changedOrders, orderRows } from './console/orders.ts';
import type { PageRows } from './open-console.ts';
import { type OperatorPages, operatorRowsOn } from './open-operator-rows.ts';
import { type UserPages, userRowsOn } from './open-user-rows.ts';
import type { Payments } from './payments/payments.ts';

const siteName = 'Tollgate';

type Pages = UserPages & OperatorPages & { readonly payments: Payments; readonly email: boolean };

/** What users and operators see and do, on one gateway. */
export const pageRowsOn =
  (pages: Pages): PageRows =>
  ({ site, methods }) => {
    const { database, sealer, parts, payments, email } = pages;
    const orders = {
      ...parts,
      database,
      payments,
      cursors: new Cursors(sealer.key('cursors of the console')),
    };
    const shell = {
      name: siteName,
      methods,
      wallets: payments.offers.map(({ wallet }) => wallet),
      amounts: payments.amounts,
      email,
    };
    const ordersSince = (userId: string, since: number) => changedOrders(database, userId, since);
    const users = [...userRowsOn(pages, { site, shell, ordersSince }), ...orderRows(orders)];
    return [...users, ...operatorRowsOn(pages, users), ...operatorOrderRows(orders)];
  };
