import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { newBrowser, startConsole } from '../../../test/support/console.ts';
import { openPage, startPaying, yuan } from '../../../test/support/paying.ts';
import { configurationFrom } from '../../../test/support/running.ts';
import { systemClock } from '../../base/clock.ts';
import { buildSnapshot } from '../../catalog/build-snapshot.ts';
import { loadCatalog, recordConfiguration } from '../../catalog/catalog-store.ts';
import { serves } from '../../app/gateway.ts';
import { walletIds } from '../../payments/wallet.ts';
import type { Migration } from '../../storage/database.ts';
import { openSealer } from '../../storage/seal.ts';
import type { FreshDatabase } from '../../../test/databases.ts';
import { Cursors } from '../cursor.ts';
import { paymentAttention } from '../../app/console.ts';
import { listUnmatched, recordPayment } from '../../payments/orders.ts';
import { searchRoutes } from './search.ts';
import { operatorOrderRoutes } from '../operator/orders.ts';
import { changedOrders, orderRoutes } from './orders.ts';

async function start(fresh: (migrations: readonly Migration[]) => Promise<FreshDatabase>) {
  const paying = await startPaying(fresh);
  const { database, payments, clock } = paying;
  const sealer = openSealer(Buffer.alloc(32, 7));
  await recordConfiguration(database, await configurationFrom(''), sealer, systemClock);
  const snapshot = buildSnapshot(await loadCatalog(database, sealer), serves);
  const rooms = {
    database,
    clock,
    payments,
    catalog: () => snapshot,
    cursors: new Cursors(sealer.key('cursors')),
  };
  const url = await startConsole(
    database,
    [...orderRoutes(rooms), ...operatorOrderRoutes(rooms), ...searchRoutes(rooms)],
    { clock },
  );
  const user = await newBrowser(url, database, 'user');
  const post = (path: string, body: object, key = 'form-000001', browser = user) =>
    browser.ask(path, { method: 'POST', body, headers: { 'idempotency-key': key } });
  return { ...paying, url, home: paying.url, user, post };
}

forEachDatabase((_name, _openFresh, fresh) => {
  test('one yuan: ordered, scanned, paid, and the answer carries the balance', async () => {
    const { user, post, sim, clock, database } = await start(fresh);
    const made = await post('orders', { amount: '1.00', wallet: 'wechat_pay' });
    expect(made).toMatchObject({
      status: 201,
      json: { order: { amount: '1.000000000', state: 'waiting', pay_url: null, refunds: [] } },
    });
    const { id, qr } = made.json.order;
    sim.wallets.counter.silent = true;
    sim.wallets.pay(qr);
    const checked = await post(`orders/${id}/check`, {});
    expect(checked.json).toMatchObject({
      order: { state: 'credited', late: false, qr: null, wallet_no: expect.any(String) },
      balance: { available: '1.000000000' },
    });
    expect((await user.ask('orders')).json).toMatchObject({
      items: [{ id, state: 'credited' }],
      next: null,
    });
    const [told] = await changedOrders(
      database,
      String((await database.query('SELECT account FROM payment_order'))[0]?.['account']),
      0,
    );
    expect(told).toMatchObject({ order: { id }, changedAt: expect.any(Number) });
    expect(told?.changedAt).toBeLessThanOrEqual(clock.now());
  });

  test('the wallet says what the money is for in the language of the console', async () => {
    const { user, sim } = await start(fresh);
    const subjectFor = async (key: string, headers: Readonly<Record<string, string>>) => {
      const made = await user.ask('orders', {
        method: 'POST',
        body: { amount: '1.00', wallet: 'alipay' },
        headers: { 'idempotency-key': key, ...headers },
      });
      return sim.wallets.counter.trades.get(made.json.order.id)?.subject;
    };
    expect(await subjectFor('form-000001', {})).toBe('Balance top-up');
    expect(await subjectFor('form-000002', { 'accept-language': 'zh-CN,zh;q=0.9' })).toBe(
      '余额充值',
    );
  });

  test('what cannot be ordered is said by its field', async () => {
    const { post } = await start(fresh);
    const fields = async (body: object, key?: string) =>
      (await post('orders', body, key)).json.error.fields;
    expect(await fields({ amount: '0.99', wallet: 'alipay' })).toEqual({ amount: 'below_minimum' });
    expect(await fields({ amount: '50000.01', wallet: 'alipay' })).toEqual({
      amount: 'above_maximum',
    });
    expect(await fields({ amount: '1.001', wallet: 'alipay' })).toEqual({ amount: 'not_payable' });
    expect(await fields({ amount: 'one', wallet: 'alipay' })).toEqual({ amount: 'not_an_amount' });
    expect(await fields({ amount: '1.00', wallet: 'cash' })).toEqual({ wallet: 'unknown' });
    expect(await fields({ amount: '1.00', wallet: 'wechat_pay', page: 'web' })).toEqual({
      page: 'not_offered',
    });
    expect(await fields({ amount: '1.00', wallet: 'alipay', page: 'app' })).toEqual({
      page: 'unknown',
    });
    expect(
      (await post('orders', { amount: '1.00', wallet: 'alipay' }, 'short')).json.error.code,
    ).toBe('idempotency_key_missing');
  });

  test.each(walletIds)(
    "%s on a phone: each press opens the same order anew, at its owner's wish, ten times a minute",
    async (wallet) => {
      const { url, home, database, user, post, sim } = await start(fresh);
      const made = await post('orders', { amount: '1.00', wallet, page: 'mobile' });
      expect(made).toMatchObject({
        status: 201,
        json: { order: { page: 'mobile', state: 'waiting', qr: null, pay_url: null } },
      });
      const { id } = made.json.order;
      const pay = (browser = user) => post(`orders/${id}/pay`, {}, 'form-000002', browser);
      const stranger = await newBrowser(url, database, 'user');
      expect((await pay(stranger)).status).toBe(404);
      expect((await post('orders/ord_of_nobody/pay', {})).status).toBe(404);
      const opened = await pay();
      expect(opened.json).toMatchObject({
        order: { id, state: 'waiting' },
        balance: { available: '0.000000000' },
      });
      const page = String(opened.json.pay_url);
      expect(await openPage(page, home)).toContain('Pay ¥1.00');
      sim.wallets.counter.trouble = { kind: 'down', call: 'h5' };
      expect((await pay()).json).toMatchObject(
        wallet === 'wechat_pay'
          ? { error: { code: 'unavailable' } }
          : { pay_url: expect.any(String) },
      );
      sim.wallets.counter.trouble = undefined;
      expect(await database.query('SELECT id FROM payment_order')).toEqual([{ id }]);
      sim.wallets.pay(id);
      await expect
        .poll(async () => (await pay()).json, { interval: 100 })
        .toMatchObject({ order: { state: 'credited' }, pay_url: null });
      const statuses = [];
      for (let press = 0; press < 10; press++) statuses.push((await pay()).status);
      expect(statuses.at(-1)).toBe(429);
    },
  );

  test("an order is found by its number and its wallet's: by its owner and by operators", async () => {
    const { url, database, user, post, sim } = await start(fresh);
    const { id, qr } = (await post('orders', { amount: '1.00', wallet: 'wechat_pay' })).json.order;
    const { number = '' } = sim.wallets.pay(qr);
    const [stranger, operator] = [
      await newBrowser(url, database, 'user'),
      await newBrowser(url, database, 'operator'),
    ];
    const find = async (q: string, browser = user) => (await browser.ask(`find?q=${q}`)).json.items;
    await expect
      .poll(() => find(number))
      .toMatchObject([{ kind: 'order', id, path: `/top-up/${id}` }]);
    expect(await find(id)).toMatchObject([{ path: `/top-up/${id}` }]);
    expect(await find(id, stranger)).toEqual([]);
    expect(await find(number, operator)).toMatchObject([
      { id, path: `/operator/orders?order=${id}` },
    ]);
  });

  test("orders are their owner's, and the operator's who pays back with a reason", async () => {
    const { url, database, user, post, sim, later, expectBooks } = await start(fresh);
    const { id, qr } = (await post('orders', { amount: '5.00', wallet: 'alipay' })).json.order;
    const stranger = await newBrowser(url, database, 'user');
    expect((await stranger.ask(`orders/${id}`)).status).toBe(404);
    expect((await post(`orders/${id}/close`, {}, 'form-000002', stranger)).status).toBe(404);
    expect((await user.ask('operator/orders')).status).toBe(403);
    const operator = await newBrowser(url, database, 'operator');
    const refund = (amount: string, key: string) =>
      post(`operator/orders/${id}/refund`, { amount, reason: 'too much' }, key, operator);
    expect((await refund('1.00', 'refund-0001')).json.error.code).toBe('not_credited');
    sim.wallets.counter.silent = true;
    sim.wallets.pay(qr);
    later(3_000);
    expect(
      (await post(`operator/orders/${id}/query`, {}, 'x-000001', operator)).json,
    ).toMatchObject({
      id,
      state: 'credited',
      user: { name: expect.any(String) },
    });
    expect((await refund('6.00', 'refund-0002')).json.error.fields).toEqual({
      amount: 'above_unrefunded',
    });
    expect((await refund('2.00', 'refund-0003')).json).toMatchObject({
      order: { refunded: '2.000000000', refunds: [{ state: 'refunded', reason: 'too much' }] },
      refund: { amount: '2.000000000', state: 'refunded' },
    });
    expect(
      await database.query("SELECT target, reason FROM audit WHERE action='order.refund'"),
    ).toEqual([{ target: id, reason: 'too much' }]);
    const listed = await operator.ask(`operator/orders?wallet=alipay&state=credited&q=${id}`);
    expect(listed.json.items).toMatchObject([{ id }]);
    const sums = (query: string) => operator.ask(`operator/order-totals?${query}`);
    expect((await sums('')).json).toMatchObject({
      orders: 1,
      credited: { orders: 1, amount: '5.000000000' },
      refunded: '2.000000000',
      kept: '3.000000000',
    });
    expect((await sums('wallet=wechat_pay')).json).toMatchObject({
      orders: 0,
      credited: { orders: 0, amount: '0.000000000' },
      kept: '0.000000000',
    });
    for (const query of ['limit=5', 'after=x']) expect((await sums(query)).status).toBe(400);
    expect((await user.ask('operator/order-totals')).status).toBe(403);
    expect(
      (await operator.ask('operator/reconciliation?date=2026-01-01&wallet=alipay')).json,
    ).toMatchObject({
      run_at: null,
      sums: { length: 4 },
    });
    await expectBooks();
  });

  test('operators are told of each payment that fits no order, with its currency and the reason', async () => {
    const { database, clock } = await start(fresh);
    const report = (index: number, currency = 'CNY') =>
      database.transact(() =>
        recordPayment(
          'wechat_pay',
          {
            orderId: `ord_gone_${index}`,
            number: `420${index}`,
            amount: yuan(100n),
            currency,
            paidAt: clock.now(),
          },
          clock.now() + index,
        ),
      );
    for (let index = 0; index < 6; index++) await report(index);
    await report(6, 'HKD');
    const told = await paymentAttention(database, clock.now());
    expect(told).toHaveLength(6);
    expect(told).toMatchObject({
      0: {
        code: 'unmatched_payment',
        values: { number: '4206', amount: '100.000000000', currency: 'HKD', why: 'no such order' },
        path: '/operator/orders?q=ord_gone_6',
      },
      1: { values: { number: '4205', currency: 'CNY' } },
      5: { code: 'unmatched_payments', values: { count: '2' } },
    });
    expect(await listUnmatched(database, 0, 50)).toHaveLength(7);
  });

  test('why a refund waits at its wallet is told to operators alone', async () => {
    const { url, database, user, post, sim, later } = await start(fresh);
    const { id, qr } = (await post('orders', { amount: '5.00', wallet: 'wechat_pay' })).json.order;
    const { counter } = sim.wallets;
    counter.silent = true;
    sim.wallets.pay(qr);
    later(3_000);
    await post(`orders/${id}/check`, {}, 'check-0001');
    counter.refunding = 'abnormal';
    const operator = await newBrowser(url, database, 'operator');
    const body = { amount: '2.00', reason: 'twice' };
    await post(`operator/orders/${id}/refund`, body, 'refund-0001', operator);
    expect((await operator.ask(`operator/orders/${id}`)).json).toMatchObject({
      trouble: null,
      refunds: [{ state: 'asked', trouble: expect.stringContaining('merchant pages') }],
    });
    const [refund] = (await user.ask(`orders/${id}`)).json.refunds;
    expect(refund).not.toHaveProperty('trouble');
    later(3_601_000);
    expect(await paymentAttention(database, systemClock.now() + 3_700_000)).toMatchObject([
      {
        code: 'refund_not_ended',
        values: { wallet: 'wechat_pay', amount: '2.000000000' },
        path: `/operator/orders?order=${id}`,
      },
    ]);
  });
});
