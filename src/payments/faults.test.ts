import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type Paying, type PayingNode, startPaying, ways } from '../../test/support/paying.ts';
import { formOf } from '../../sim/wallets/index.ts';
import { type WalletId, walletIds } from './wallet.ts';

const soon = { interval: 20 };

/**
 * A notification of a payment with changed content but the wallet's signature, or with a broken
 * signature.
 */
function notificationOf(
  paying: Paying,
  orderId: string,
  {
    changed = {},
    forged = false,
    node = paying,
  }: { changed?: Readonly<Record<string, unknown>>; forged?: boolean; node?: PayingNode } = {},
) {
  const { wallets } = paying.sim;
  const trade = wallets.counter.byCode(orderId);
  if (trade === undefined) throw new Error('no such trade');
  const url = (wallet: string): string => `${node.url}/pay/${wallet}/notify`;
  if (trade.wallet === 'wechat_pay') {
    const { headers, body } = wallets.wechat.notification('TRANSACTION.SUCCESS', 'transaction', {
      ...wallets.wechat.transaction(trade),
      ...changed,
    });
    const other = forged
      ? {
          'wechatpay-signature':
            wallets.wechat.notification('x', 'transaction', {}).headers['wechatpay-signature'] ??
            '',
        }
      : {};
    return { url: url('wechat_pay'), headers: { ...headers, ...other }, body };
  }
  const texts = Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [name, String(value)]),
  );
  const notification = wallets.alipay.notification(trade, texts);
  return formOf(url('alipay'), forged ? { ...notification, total_amount: '2.00' } : notification);
}

/** A refund on the wallet's own pages. */
function giveBack({ sim, clock }: Paying, orderId: string, fen: number): void {
  const trade = sim.wallets.counter.byCode(orderId);
  trade?.refunds.push({
    id: 'made-at-the-wallet',
    number: trade.number ?? '',
    fen,
    reason: '',
    notifyUrl: undefined,
    at: clock.now(),
    state: 'success',
    endedAt: clock.now(),
  });
}

/** The notification of the payment, as the wallet repeats it after a refund, too. */
function firstNotificationOf(paying: Paying, orderId: string) {
  const refunds = paying.sim.wallets.counter.byCode(orderId)?.refunds;
  const since = refunds?.splice(0) ?? [];
  const notification = notificationOf(paying, orderId);
  refunds?.push(...since);
  return notification;
}

const isTaken = ({ status, answer }: { status: number; answer: string }): boolean =>
  status === 204 || (status === 200 && answer === 'success');

const ofAnother: Readonly<Record<WalletId, readonly Readonly<Record<string, unknown>>[]>> = {
  wechat_pay: [
    { amount: { total: 99, currency: 'CNY' } },
    { amount: { total: 200, currency: 'CNY' } },
    { amount: { total: 100, currency: 'HKD' } },
    { appid: 'wx0000000000000002' },
    { mchid: '1900000002' },
    { out_trade_no: 'ord_somebody_elses' },
  ],
  alipay: [
    { total_amount: '0.01' },
    { total_amount: '2.00' },
    { trans_currency: 'USD' },
    { app_id: '2021000000000002' },
    { seller_id: '2088000000000002' },
    { out_trade_no: 'ord_somebody_elses' },
  ],
};

/** The ways whose order the wallet itself answers: pages of Alipay are signed here. */
const answered = ways.filter(([wallet, method]) => wallet === 'wechat_pay' || method === 'qr');

forEachDatabase((_name, _openFresh, fresh) => {
  test.each(ways)(
    '%s by %s: a forged notification changes nothing and is not taken',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const order = await paying.paidOrder(wallet, { method });
      expect(
        isTaken(
          await paying.sim.wallets.notify(notificationOf(paying, order.id, { forged: true }), 9),
        ),
      ).toBe(false);
      expect(await paying.balance()).toBe('0.00');
      expect(paying.lines).toMatchObject([{ event: 'refused', wallet }]);
    },
  );

  test('WeChat Pay: signatures of its probes, old ones, and what another key sealed are refused', async () => {
    const paying = await startPaying(fresh);
    const order = await paying.paidOrder('wechat_pay');
    const { wallets } = paying.sim;
    const good = notificationOf(paying, order.id);
    const probe = {
      ...good,
      headers: {
        ...good.headers,
        'wechatpay-signature': `WECHATPAY/SIGNTEST/${good.headers['wechatpay-signature']}`,
      },
    };
    const stranger = {
      ...good,
      headers: { ...good.headers, 'wechatpay-serial': 'PUB_KEY_ID_01190000' },
    };
    for (const wrong of [probe, stranger, { ...good, body: '{}' }])
      expect((await wallets.notify(wrong, 9)).status).toBe(400);
    paying.later(301_000);
    expect((await wallets.notify(good, 9)).status).toBe(400);
    expect(await paying.balance()).toBe('0.00');
  });

  test.each(ways)(
    '%s by %s: what a signed notification has of another order is credited to nobody',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const order = await paying.paidOrder(wallet, { method });
      for (const changed of ofAnother[wallet]) {
        const what = JSON.stringify(changed);
        expect(
          isTaken(
            await paying.sim.wallets.notify(notificationOf(paying, order.id, { changed }), 9),
          ),
          what,
        ).toBe(false);
        expect(await paying.balance(), what).toBe('0.00');
      }
      expect((await paying.payments.check(order.id))?.state).toBe('credited');
      expect(await paying.balance()).toBe('1.00');
      await paying.expectBooks();
    },
  );

  test.each(ways)(
    '%s by %s: a notification that comes twenty times, at once and to two processes, credits once',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const other = await paying.node();
      const order = await paying.paidOrder(wallet, { method });
      const notifications = Array.from({ length: 20 }, (_, i) =>
        notificationOf(paying, order.id, { node: i % 2 === 0 ? paying : other }),
      );
      const answers = await Promise.all(
        notifications.map((notification) => paying.sim.wallets.notify(notification, 9)),
      );
      expect(answers.every(isTaken)).toBe(true);
      expect(
        isTaken(
          await paying.sim.wallets.notify(notifications[0] ?? notificationOf(paying, order.id), 9),
        ),
      ).toBe(true);
      expect(await paying.balance()).toBe('1.00');
      expect(await paying.rows("SELECT id FROM transfer WHERE code='topup'")).toEqual([
        { id: `${wallet}:${order.number}` },
      ]);
      await paying.expectBooks();
    },
  );

  test('two processes that ask and close at the same time credit once', async () => {
    const paying = await startPaying(fresh, { userQueryEveryMs: 0 });
    const other = await paying.node();
    const order = await paying.paidOrder('alipay');
    const acts = [paying.payments, other.payments].flatMap((one) => [
      one.check(order.id),
      one.closeOrder(order.id),
      one.look(),
    ]);
    await Promise.all([...acts, paying.sim.wallets.notify(notificationOf(paying, order.id), 9)]);
    expect(await paying.found(order.id)).toMatchObject({ state: 'credited', number: order.number });
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test.each(ways)(
    '%s by %s: a second payment of one order is kept for the operator and credited to nobody',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const order = await paying.paidOrder(wallet, { method });
      await paying.sim.wallets.notify(notificationOf(paying, order.id), 9);
      const second = notificationOf(paying, order.id, {
        changed:
          wallet === 'alipay'
            ? { trade_no: '2026112100000000000000009999' }
            : { transaction_id: '420099' },
      });
      expect(isTaken(await paying.sim.wallets.notify(second, 9))).toBe(false);
      expect(await paying.balance()).toBe('1.00');
      expect(await paying.rows('SELECT order_id, why FROM payment_unmatched')).toEqual([
        { order_id: order.id, why: 'a second payment of one order' },
      ]);
      await paying.expectBooks();
    },
  );

  test.each(ways)(
    '%s by %s: a late notification of a payment that the wallet has given back credits nothing',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { wallets } = paying.sim;
      const orders = [
        await paying.paidOrder(wallet, { method }),
        await paying.paidOrder(wallet, { method }),
      ];
      for (const { id } of orders) giveBack(paying, id, 100);
      paying.later(3_600_000);
      // The collector has asked for one of them; the other is known by its notification alone.
      expect(await paying.payments.check(orders[0]?.id ?? '')).toMatchObject({ state: 'closed' });
      for (const { id } of orders)
        expect(isTaken(await wallets.notify(firstNotificationOf(paying, id), 9)), id).toBe(true);
      expect(await paying.balance()).toBe('0.00');
      expect(await paying.rows('SELECT state FROM payment_order')).toEqual([
        { state: 'closed' },
        { state: 'closed' },
      ]);
      expect(
        await paying.rows('SELECT order_id, why FROM payment_unmatched ORDER BY order_id'),
      ).toEqual(orders.map(({ id }) => ({ order_id: id, why: 'given back at the wallet' })));
      await paying.expectBooks();
    },
  );

  test.each(walletIds)(
    '%s: an old payment is credited by its notification when the wallet still has it, and not before it says so',
    async (wallet) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paying.paidOrder(wallet);
      paying.later(3_600_000);
      counter.trouble = { kind: 'down' };
      const notify = () => paying.sim.wallets.notify(notificationOf(paying, order.id), 9);
      expect(isTaken(await notify())).toBe(false);
      expect(await paying.balance()).toBe('0.00');
      counter.trouble = undefined;
      expect(isTaken(await notify())).toBe(true);
      expect(await paying.balance()).toBe('1.00');
      await paying.expectBooks();
    },
  );

  test('what is left of a payment that was given back in part at WeChat Pay waits for the operator', async () => {
    const paying = await startPaying(fresh);
    const order = await paying.paidOrder('wechat_pay', { yuan: 10n });
    giveBack(paying, order.id, 100);
    paying.later(5_000);
    await paying.payments.look();
    expect(await paying.rows('SELECT state FROM payment_order')).toEqual([{ state: 'closed' }]);
    expect(await paying.rows('SELECT order_id, number, why FROM payment_unmatched')).toEqual([
      { order_id: order.id, number: order.number, why: 'given back at the wallet' },
    ]);
    // From half past ten in Beijing on, bills of earlier days are compared, too.
    const told = paying.lines.filter(({ event }) => event !== 'reconciled');
    expect(told).toMatchObject([{ event: 'unmatched', id: order.id }]);
    await paying.expectBooks();
  });

  test('an order for which its wallet has another amount is over, and the money waits for the operator', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paying.order('wechat_pay');
    Object.assign(counter.byCode(order.id) ?? {}, { fen: 99 });
    counter.silent = true;
    paying.sim.wallets.pay(order.id);
    paying.later(5_000);
    await paying.payments.look();
    expect(await paying.rows('SELECT state FROM payment_order')).toEqual([{ state: 'closed' }]);
    expect(await paying.rows('SELECT order_id, why FROM payment_unmatched')).toEqual([
      { order_id: order.id, why: 'another amount' },
    ]);
    expect(await paying.balance()).toBe('0.00');
    await paying.expectBooks();
  });

  test.each(answered)(
    '%s by %s: a notification that is faster than the answer to our own order is credited',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      counter.trouble = { kind: 'late', ms: 400 };
      const ordering = paying.order(wallet, { method });
      await expect.poll(() => counter.trades.size, soon).toBe(1);
      counter.trouble = undefined;
      paying.sim.wallets.pay([...counter.trades.keys()][0] ?? '');
      expect(await ordering).toMatchObject({ state: 'credited' });
      expect(await paying.balance()).toBe('1.00');
      await paying.expectBooks();
    },
  );

  test.each(answered)(
    '%s by %s: an order that the wallet does not answer is the same order when it is asked for again',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      for (const kind of ['down', 'html', 'error', 'unsigned', 'lost'] as const) {
        counter.trouble = { kind };
        await expect(paying.order(wallet, { method, key: 'same-key-1' }), kind).rejects.toThrow(
          'unavailable',
        );
      }
      counter.trouble = undefined;
      const order = await paying.order(wallet, { method, key: 'same-key-1' });
      expect(order.code).toBeDefined();
      expect(await paying.rows('SELECT id FROM payment_order')).toEqual([{ id: order.id }]);
      expect([...counter.trades.keys()]).toEqual([order.id]);
    },
  );

  test.each(ways)(
    '%s by %s: while it cannot be asked, an order is neither closed nor lost, whatever it answers',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paying.paidOrder(wallet, { method });
      paying.later(900_000);
      for (const kind of ['down', 'html', 'error', 'unsigned', 'lost'] as const) {
        counter.trouble = { kind };
        await paying.payments.look();
        const [row] = await paying.rows('SELECT state, faults, trouble FROM payment_order');
        expect(row, kind).toMatchObject({ state: 'waiting', trouble: expect.any(String) });
        paying.later(600_000);
      }
      counter.trouble = undefined;
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({
        state: 'credited',
        closedAt: undefined,
        faults: 0,
      });
      await paying.expectBooks();
    },
  );

  test.each(ways)(
    '%s by %s: an order whose closing is not answered is closed when it is',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paying.order(wallet, { method });
      paying.sim.wallets.scan(order.id);
      paying.later(900_000);
      counter.trades.forEach((trade) =>
        Object.assign(trade, { expiresAt: trade.expiresAt + 3_600_000 }),
      );
      for (const kind of ['error', 'down'] as const) {
        counter.trouble = { kind, call: 'close' };
        await paying.payments.look();
        expect((await paying.rows('SELECT state FROM payment_order'))[0], kind).toEqual({
          state: 'waiting',
        });
        paying.later(60_000);
      }
      counter.trouble = { kind: 'lost', call: 'close' };
      await paying.payments.look();
      paying.later(60_000);
      counter.trouble = undefined;
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({ state: 'closed' });
    },
  );

  test('a wallet that hangs holds no place that the other needs', async () => {
    const paying = await startPaying(fresh, { atOnceMax: 1 });
    const { counter } = paying.sim.wallets;
    await paying.order('wechat_pay');
    const order = await paying.paidOrder('alipay');
    paying.later(5_000);
    counter.trouble = { kind: 'hang', call: 'query' };
    // Alipay's calls have the same name: only WeChat Pay's hang.
    paying.sim.wallets.alipay.name = () => 'other';
    void paying.payments.look();
    await expect
      .poll(
        async () =>
          (await paying.rows(`SELECT state FROM payment_order WHERE id='${order.id}'`))[0]?.[
            'state'
          ],
        soon,
      )
      .toBe('credited');
  });
});
