import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { openPage, startPaying, yuan } from '../../test/support/paying.ts';
import { migrations } from '../app/schema.ts';
import { migrate } from '../storage/migrate.ts';

const soon = { interval: 10 };
const home = '203.0.113.7';

const press = (url: string, action: string, fields: Readonly<Record<string, string>>) =>
  fetch(`${url}/wallets/${action}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });

forEachDatabase((name, _openFresh, fresh) => {
  test("WeChat Pay's address on a phone lasts five minutes; opening the payment again is another address of the same order", async () => {
    const paying = await startPaying(fresh);
    const { payments, account, sim } = paying;
    const order = await paying.order('wechat_pay', { method: 'mobile' });
    expect(await openPage(order.code ?? '', paying.url)).toContain('Pay ¥1.00');
    paying.later(301_000);
    expect(await openPage(order.code ?? '', paying.url)).toContain('支付请求已失效');
    const again = await payments.openPayment(order.id, account, '2001:db8::1');
    const url = again.kind === 'order' ? (again.url ?? '') : again.kind;
    expect(new URL(url).searchParams.get('redirect_url')).toBe(`${paying.url}/top-up/${order.id}`);
    expect(await openPage(url, paying.url)).toContain('Pay ¥1.00');
    expect([...sim.wallets.counter.trades.keys()]).toEqual([order.id]);
    expect(await paying.rows('SELECT id, subject FROM payment_order')).toEqual([
      { id: order.id, subject: 'Top-up' },
    ]);
    const back = `${paying.url}/top-up/${order.id}`;
    const quit = await press(sim.url, 'quit', { code: order.id, back });
    expect(quit.headers.get('location')).toBe(back);
    expect(await paying.found(order.id)).toMatchObject({ state: 'waiting', scanned: false });
    await press(sim.url, 'pay', { code: order.id, back });
    await expect.poll(() => paying.balance(), soon).toBe('1.00');
    expect(await payments.openPayment(order.id, account, home)).toMatchObject({
      order: { state: 'credited' },
      url: undefined,
    });
    await paying.expectBooks();
  });

  test("WeChat Pay's page opens for the merchant's own site, and not inside WeChat", async () => {
    const paying = await startPaying(fresh);
    const { code = '' } = await paying.order('wechat_pay', { method: 'mobile' });
    expect(await (await fetch(code)).text()).toContain('商家参数格式有误');
    expect(await openPage(code, 'https://elsewhere.example')).toContain('商家存在未配置的参数');
    const inside = { referer: `${paying.url}/`, 'user-agent': 'Mozilla/5.0 MicroMessenger/8.0' };
    expect(await (await fetch(code, { headers: inside })).text()).toContain('请在微信外打开订单');
  });

  test('an order of Alipay on a phone is unknown there until the payer acts; the page leads back paid and unpaid', async () => {
    const paying = await startPaying(fresh);
    const { sim, payments, account } = paying;
    const order = await paying.order('alipay', { method: 'mobile' });
    paying.later(5_000);
    await payments.look();
    expect(await paying.rows('SELECT state, scanned, faults FROM payment_order')).toEqual([
      { state: 'waiting', scanned: 0n, faults: 0n },
    ]);
    const opened = await payments.openPayment(order.id, account, home);
    const page = await openPage(opened.kind === 'order' ? (opened.url ?? '') : '', paying.url);
    const back = `${paying.url}/top-up/${order.id}`;
    expect(page).toContain(`value="${back}"><button id="quit">`);
    const paid = await press(sim.url, 'pay', { code: order.id });
    expect(paid.headers.get('location')).toMatch(
      new RegExp(`^${back}\\?.*method=alipay.trade.wap.pay.return.*sign=`),
    );
    await expect.poll(() => paying.balance(), soon).toBe('1.00');
    await paying.expectBooks();
  });

  test('a wallet that does not answer, or refuses to open an order again, ends none', async () => {
    const paying = await startPaying(fresh, { userQueryEveryMs: 0 });
    const { payments, account, sim } = paying;
    const order = await paying.order('wechat_pay', { method: 'mobile' });
    for (const kind of ['down', 'html', 'error', 'unsigned', 'lost'] as const) {
      sim.wallets.counter.trouble = { kind, call: 'h5' };
      expect(await payments.openPayment(order.id, account, home), kind).toEqual({
        kind: 'unavailable',
      });
    }
    sim.wallets.counter.trouble = undefined;
    const trade = sim.wallets.counter.byCode(order.id);
    const { requestText = '' } = trade ?? {};
    Object.assign(trade ?? {}, { requestText: 'of another order' });
    expect(await payments.openPayment(order.id, account, home)).toEqual({ kind: 'unavailable' });
    Object.assign(trade ?? {}, { requestText });
    expect(await payments.openPayment(order.id, account, home)).toMatchObject({
      order: { state: 'waiting' },
      url: expect.stringContaining('prepay_id='),
    });
    sim.wallets.counter.silent = true;
    sim.wallets.pay(order.id);
    expect(await payments.openPayment(order.id, account, home)).toMatchObject({
      order: { state: 'credited' },
      url: undefined,
    });
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test("an order whose making the wallet did not answer is opened later; after its time it is not, and a stranger's never", async () => {
    const paying = await startPaying(fresh);
    const { payments, account, sim } = paying;
    sim.wallets.counter.trouble = { kind: 'lost', call: 'h5' };
    await expect(paying.order('wechat_pay', { method: 'mobile' })).rejects.toThrow('unavailable');
    sim.wallets.counter.trouble = undefined;
    const [row] = await paying.rows('SELECT id FROM payment_order');
    const id = String(row?.['id']);
    const open = (who = account, ip = home) => payments.openPayment(id, who, ip);
    expect(await open()).toMatchObject({ url: expect.stringContaining('prepay_id=') });
    expect(await open('usr_other')).toEqual({ kind: 'no such order' });
    expect(await open(account, 'not an address')).toEqual({ kind: 'no payer' });
    paying.later(900_000);
    expect(await open()).toMatchObject({ order: { state: 'waiting' }, url: undefined });
    await payments.look();
    expect(await open()).toMatchObject({ order: { state: 'closed' }, url: undefined });
    expect(sim.wallets.counter.trades.size).toBe(1);
  });

  test('codes and pages of a desk are not opened on a phone; without an address of the payer nothing is', async () => {
    const paying = await startPaying(fresh);
    const { payments, account } = paying;
    const [scanned, page] = [
      await paying.order('wechat_pay'),
      await paying.order('alipay', { method: 'page' }),
    ];
    expect(await payments.openPayment(scanned.id, account, home)).toMatchObject({ url: undefined });
    expect(await payments.openPayment(page.id, account, home)).toMatchObject({ url: page.code });
    const order = { account, wallet: 'wechat_pay', method: 'mobile', subject: 'x' } as const;
    for (const payerIp of ['', '1.2.3', 'example.com', '2001:db8::7, 10.0.0.1'])
      expect(
        await payments.order({ ...order, amount: yuan(1n), idempotencyKey: 'key', payerIp }),
      ).toEqual({ kind: 'no payer' });
    expect(await paying.rows('SELECT id FROM payment_order')).toHaveLength(2);
  });

  test('orders and refunds from before keep how they are paid', async () => {
    const before = migrations.filter(({ id }) => id < '0046');
    const database = await (await fresh(before)).open();
    const columns = 'account, amount, idempotency_key, state, created_at';
    for (const method of ['qr', 'page'])
      await database.query(
        `INSERT INTO payment_order (id, ${columns}, wallet, method, expires_at, changed_at)
        VALUES ($1, 'usr_1', 1000000000, $1, 'waiting', 1, 'alipay', $2, 2, 1)`,
        [`ord_${method}`, method],
      );
    await database.query(
      `INSERT INTO payment_refund (id, order_id, ${columns}, reason, next_look_at)
      VALUES ('rfd_1', 'ord_qr', 'usr_1', 1000000000, 'k', 'held', 1, 'x', 1)`,
      [],
    );
    expect(await migrate(database, migrations)).toContain('0046-payments-mobile');
    expect(await database.query('SELECT id, method FROM payment_order ORDER BY id')).toEqual([
      { id: 'ord_page', method: 'page' },
      { id: 'ord_qr', method: 'qr' },
    ]);
    const update = (method: string) =>
      database.query("UPDATE payment_order SET method=$1 WHERE id='ord_qr'", [method]);
    await update('mobile');
    await expect(update('cash'), name).rejects.toThrow(/check/i);
    await expect(database.query("DELETE FROM payment_order WHERE id='ord_qr'", [])).rejects.toThrow(
      /foreign key/i,
    );
  });
});
