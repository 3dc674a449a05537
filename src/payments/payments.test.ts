import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { startPaying, ways, yuan } from '../../test/support/paying.ts';
import { insertOrder, ordersSince, recordPayment } from './orders.ts';

const soon = { interval: 10 };

const codes: Readonly<Record<string, RegExp>> = {
  'wechat_pay qr': /^weixin:\/\/wxpay\/bizpayurl\?pr=/,
  'wechat_pay mobile':
    /^http:.*\/checkmweb\?prepay_id=wx\w+&package=\d+&redirect_url=http%3A%2F%2F/,
  'alipay qr': /^https:\/\/qr\.alipay\.com\/bax/,
  'alipay page': /gateway\.do\?.*method=alipay\.trade\.page\.pay&/,
  'alipay mobile': /gateway\.do\?.*method=alipay\.trade\.wap\.pay&/,
};

forEachDatabase((_name, _openFresh, fresh) => {
  test.each(ways)(
    "%s by %s: what is paid is credited by its notification, once, with the wallet's number",
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const order = await paying.order(wallet, { method });
      expect(order).toMatchObject({ state: 'waiting', amount: yuan(1n), account: paying.account });
      expect(order.code).toMatch(codes[`${wallet} ${method}`] ?? 'no such way');
      const { number } = paying.sim.wallets.pay(order.id);
      await expect.poll(async () => paying.balance(), soon).toBe('1.00');
      const credited = await paying.found(order.id);
      expect(credited).toMatchObject({
        state: 'credited',
        number,
        transfer: `${wallet}:${number}`,
        closedAt: undefined,
      });
      await expect
        .poll(
          () => paying.sim.wallets.notifications.map(({ answer, status }) => ({ answer, status })),
          soon,
        )
        .toEqual([
          wallet === 'wechat_pay'
            ? { answer: '', status: 204 }
            : { answer: 'success', status: 200 },
        ]);
      await paying.expectBooks();
    },
  );

  test('amounts have whole fen, from one yuan up', async () => {
    const { payments, account } = await startPaying(fresh);
    const order = (amount: bigint, key: string) =>
      payments.order({
        account,
        wallet: 'alipay',
        method: 'qr',
        amount,
        idempotencyKey: key,
        subject: 'x',
      });
    for (const amount of [
      0n,
      -yuan(1n),
      999_999_999n,
      990_000_000n,
      yuan(1n) + 1n,
      1_005_000_000n,
      yuan(50_001n),
    ])
      expect(await order(amount, `k${amount}`), String(amount)).toEqual({ kind: 'wrong amount' });
    for (const amount of [yuan(1n), 1_010_000_000n, yuan(50_000n)])
      expect(await order(amount, `k${amount}`)).toMatchObject({ kind: 'order', order: { amount } });
  });

  test('one idempotency key makes one order, also for two tabs at once; another amount under it is refused', async () => {
    const paying = await startPaying(fresh);
    const order = (amount: bigint, idempotencyKey = 'the-one-key') =>
      paying.payments.order({
        account: paying.account,
        wallet: 'wechat_pay',
        method: 'qr',
        amount,
        idempotencyKey,
        subject: 'x',
      });
    const made = await Promise.all([order(yuan(2n)), order(yuan(2n)), order(yuan(2n))]);
    const ids = new Set(made.map((one) => ('order' in one ? one.order.id : one.kind)));
    expect(ids.size).toBe(1);
    expect(await order(yuan(3n))).toEqual({ kind: 'key reused' });
    expect(paying.sim.wallets.counter.trades.size).toBe(1);
  });

  test('an account has so many orders waiting at most', async () => {
    const paying = await startPaying(fresh, { waitingMax: 2 });
    await paying.order('alipay');
    await paying.order('alipay');
    await expect(paying.order('alipay')).rejects.toThrow('too many');
  });

  test('orders of a wallet that is configured no more expire, can be cancelled, and leave room for others', async () => {
    const paying = await startPaying(fresh, { waitingMax: 2, userQueryEveryMs: 0 });
    const [paid, open] = [await paying.paidOrder('alipay'), await paying.order('alipay')];
    const other = await paying.node(['wechat_pay']);
    expect(await other.payments.check(open.id)).toMatchObject({ state: 'waiting' });
    expect(await other.payments.closeOrder(open.id)).toMatchObject({ state: 'closed' });
    paying.later(900_000);
    const order = (idempotencyKey: string) =>
      other.payments.order({
        account: paying.account,
        wallet: 'wechat_pay',
        method: 'qr',
        amount: yuan(1n),
        idempotencyKey,
        subject: 'x',
      });
    expect(await order('key-1')).toMatchObject({ kind: 'order' });
    expect(await order('key-2')).toMatchObject({ kind: 'order' });
    await other.payments.start();
    expect(await paying.rows(`SELECT state FROM payment_order WHERE id='${paid.id}'`)).toEqual([
      { state: 'closed' },
    ]);
    // The wallet is configured again.
    await paying.payments.look();
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test('of what nobody paid so many orders are remembered; what was paid is for ever', async () => {
    const paying = await startPaying(fresh, { unpaidKept: 1 });
    const paid = await paying.paidOrder('alipay');
    await paying.found(paid.id);
    const [first, second, third] = [
      await paying.order('alipay'),
      await paying.order('alipay'),
      await paying.order('alipay'),
    ];
    for (const { id } of [first, second, third]) await paying.payments.closeOrder(id);
    const ids = async () =>
      (await paying.rows('SELECT id FROM payment_order ORDER BY id')).map(({ id }) => id);
    const queried = await paying.order('alipay');
    expect(await ids()).toEqual([paid, first, second, third, queried].map(({ id }) => id));
    // A day later the collector no longer queries them.
    paying.later(2 * 86_400_000);
    await paying.payments.look();
    const last = await paying.order('alipay');
    const remembered = await ids();
    expect(remembered).toContain(paid.id);
    expect(remembered).toContain(last.id);
    expect(remembered).toHaveLength(3);
    await paying.expectBooks();
  });

  test('an order may be made at the moment at which an old one, about to be forgotten, is paid', async () => {
    const paying = await startPaying(fresh, { unpaidKept: 0 });
    const { database, account } = paying;
    const made = (id: string) =>
      database.transact(() =>
        insertOrder(
          {
            id,
            account,
            wallet: 'alipay',
            method: 'qr',
            amount: yuan(1n),
            idempotencyKey: id,
            subject: 'x',
            createdAt: 1,
            expiresAt: 2,
            nextLookAt: 3,
          },
          { waitingMax: 20, unpaidKept: 0 },
          database,
        ),
      );
    const closed = () =>
      database.query(
        "UPDATE payment_order SET state='closed', closed_at=5, next_look_at=NULL WHERE state='waiting'",
      );
    for (let count = 0; count < 20; count++) {
      await made(`ord_a${count}`);
      await closed();
      const payment = {
        orderId: `ord_a${count}`,
        number: `${count}`,
        amount: yuan(1n),
        currency: 'CNY',
        paidAt: 1,
      };
      await Promise.all([
        database.transact(() => recordPayment('alipay', payment, 9)),
        made(`ord_b${count}`),
      ]);
      await closed();
    }
    await paying.expectBooks();
  });

  test('after the clock was put back, a user still gets an order asked for', async () => {
    const paying = await startPaying(fresh);
    const order = await paying.paidOrder('alipay');
    await paying.database.query('UPDATE payment_order SET asked_at=$1', [
      paying.clock.now() + 3_600_000,
    ]);
    expect(await paying.payments.check(order.id)).toMatchObject({ state: 'credited' });
  });

  test('two orders of two tabs can both be paid; the same code cannot be paid twice', async () => {
    const paying = await startPaying(fresh);
    const [one, two] = [
      await paying.order('wechat_pay'),
      await paying.order('wechat_pay', { yuan: 5n }),
    ];
    paying.sim.wallets.pay(one.code ?? '');
    paying.sim.wallets.pay(two.code ?? '');
    expect(() => paying.sim.wallets.pay(one.code ?? '')).toThrow('paid already');
    await expect.poll(() => paying.balance(), soon).toBe('6.00');
    await paying.expectBooks();
  });

  test.each(ways)(
    '%s by %s: a payment that no notification told of is found by asking',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      paying.sim.wallets.counter.silent = true;
      const order = await paying.order(wallet, { method });
      paying.sim.wallets.pay(order.id);
      await paying.payments.look();
      expect(await paying.balance()).toBe('0.00');
      paying.later(5_000);
      await paying.payments.look();
      expect(await paying.balance()).toBe('1.00');
      await paying.expectBooks();
    },
  );

  test.each(ways)(
    '%s by %s: a status request credits the payment, and queries the wallet at most every two seconds',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      paying.sim.wallets.counter.silent = true;
      const order = await paying.order(wallet, { method });
      expect(await paying.payments.check(order.id, paying.account)).toMatchObject({
        state: 'waiting',
      });
      paying.sim.wallets.pay(order.id);
      expect(await paying.payments.check(order.id, paying.account)).toMatchObject({
        state: 'waiting',
      });
      paying.later(2_000);
      expect(await paying.payments.check(order.id, 'usr_other')).toBeUndefined();
      expect(await paying.payments.check(order.id, paying.account)).toMatchObject({
        state: 'credited',
      });
      await paying.expectBooks();
    },
  );

  test('that a code was scanned is seen where the wallet tells', async () => {
    const paying = await startPaying(fresh);
    const orders = [await paying.order('wechat_pay'), await paying.order('alipay')];
    for (const { code } of orders) paying.sim.wallets.scan(code ?? '');
    paying.later(5_000);
    await paying.payments.look();
    for (const { id } of orders)
      expect(await paying.found(id)).toMatchObject({ state: 'waiting', scanned: true });
  });

  test.each(ways)(
    '%s by %s: an order that nobody paid is closed after its time, at the wallet, too',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const order = await paying.order(wallet, { method });
      paying.sim.wallets.scan(order.id);
      paying.later(900_000);
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({ state: 'closed' });
      expect(() => paying.sim.wallets.pay(order.id)).toThrow('closed');
      expect(await paying.balance()).toBe('0.00');
    },
  );

  test.each(ways)(
    '%s by %s: a payment that is found when an order is about to be closed is credited instead',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      paying.sim.wallets.counter.silent = true;
      const order = await paying.order(wallet, { method });
      paying.sim.wallets.pay(order.id);
      expect(await paying.payments.closeOrder(order.id, paying.account)).toMatchObject({
        state: 'credited',
        closedAt: undefined,
      });
      await paying.expectBooks();
    },
  );

  test.each(ways)(
    '%s by %s: a payment that arrives after its order was closed is credited, by notification or by asking',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const [notified, last] = [
        await paying.order(wallet, { method }),
        await paying.order(wallet, { method }),
      ];
      for (const { id } of [notified, last])
        expect(await paying.payments.closeOrder(id)).toMatchObject({ state: 'closed' });
      paying.sim.wallets.pay(notified.id, true);
      await expect.poll(() => paying.balance(), soon).toBe('1.00');
      paying.sim.wallets.counter.silent = true;
      paying.sim.wallets.pay(last.id, true);
      paying.later(3_600_000);
      await paying.payments.look();
      expect(await paying.found(last.id)).toMatchObject({
        state: 'credited',
        closedAt: expect.any(Number),
      });
      expect(await paying.balance()).toBe('2.00');
      await paying.expectBooks();
    },
  );

  test("Alipay's own page: its address is signed, and what is paid there is credited", async () => {
    const paying = await startPaying(fresh);
    const order = await paying.order('alipay', { method: 'page' });
    const page = await fetch(order.code ?? '');
    expect(await page.text()).toContain('Pay ¥1.00');
    const paid = await fetch(`${paying.sim.url}/wallets/pay`, {
      method: 'POST',
      body: new URLSearchParams({ code: order.id }),
      redirect: 'manual',
    });
    expect(paid.headers.get('location')).toMatch(new RegExp(`/top-up/${order.id}\\?.*sign=`));
    await expect.poll(() => paying.balance(), soon).toBe('1.00');
    const forged = (order.code ?? '').replace(
      /total_amount%22%3A%221\.00/,
      'total_amount%22%3A%220.01',
    );
    expect(await (await fetch(forged)).text()).toContain('isv.invalid-signature');
  });

  test('only the owner learns of a change', async () => {
    const paying = await startPaying(fresh);
    const order = await paying.order('alipay');
    const since = (account = paying.account) =>
      ordersSince(paying.database, account, order.createdAt + 1, 10);
    await expect
      .poll(() => ordersSince(paying.database, paying.account, order.createdAt, 10), soon)
      .toMatchObject([{ id: order.id, state: 'waiting' }]);
    paying.later(1_000);
    paying.sim.wallets.pay(order.code ?? '');
    await expect.poll(() => since(), soon).toMatchObject([{ id: order.id, state: 'credited' }]);
    expect(await since('usr_other')).toEqual([]);
  });
});
