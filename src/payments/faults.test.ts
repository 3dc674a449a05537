import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type Paying, type PayingNode, startPaying, yuan } from '../../test/support/paying.ts';
import { formOf } from '../../sim/wallets/index.ts';
import { walletIds } from './wallet.ts';

const soon = { timeout: 5_000, interval: 20 };

/** What a notification of a payment says, changed and signed by the wallet all the same, or with its signature broken. */
function told(
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
  if (trade.code.startsWith('weixin:')) {
    const { headers, body } = wallets.wechat.notice('TRANSACTION.SUCCESS', 'transaction', {
      ...wallets.wechat.transaction(trade),
      ...changed,
    });
    const other = forged
      ? { 'wechatpay-signature': wallets.wechat.notice('x', 'transaction', {}).headers['wechatpay-signature'] ?? '' }
      : {};
    return { url: url('wechat_pay'), headers: { ...headers, ...other }, body };
  }
  const texts = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, String(value)]));
  const notice = wallets.alipay.notice(trade, texts);
  return formOf(url('alipay'), forged ? { ...notice, total_amount: '2.00' } : notice);
}

/** Paid, and nobody has told us yet. */
async function paidOrder(paying: Paying, wallet: (typeof walletIds)[number], amount = 1n) {
  const order = await paying.order(wallet, { yuan: amount });
  const { counter } = paying.sim.wallets;
  counter.silent = true;
  const { number = '' } = paying.sim.wallets.pay(order.code ?? '');
  counter.silent = false;
  return { ...order, number };
}

const isTaken = ({ status, answer }: { status: number; answer: string }): boolean =>
  status === 204 || (status === 200 && answer === 'success');

forEachDatabase((name, _openFresh, fresh) => {
  test.each(walletIds)('%s: a forged notification changes nothing and is not taken', async (wallet) => {
    const paying = await startPaying(fresh);
    const order = await paidOrder(paying, wallet);
    expect(isTaken(await paying.sim.wallets.tell(told(paying, order.id, { forged: true }), 9))).toBe(false);
    expect(await paying.balance()).toBe('0.00');
    expect(paying.lines).toMatchObject([{ event: 'refused', wallet }]);
  });

  test('WeChat Pay: signatures of its probes, old ones, and what another key sealed are refused', async () => {
    const paying = await startPaying(fresh);
    const order = await paidOrder(paying, 'wechat_pay');
    const { wallets } = paying.sim;
    const good = told(paying, order.id);
    const probe = {
      ...good,
      headers: { ...good.headers, 'wechatpay-signature': `WECHATPAY/SIGNTEST/${good.headers['wechatpay-signature']}` },
    };
    const stranger = { ...good, headers: { ...good.headers, 'wechatpay-serial': 'PUB_KEY_ID_01190000' } };
    for (const wrong of [probe, stranger, { ...good, body: '{}' }]) expect((await wallets.tell(wrong, 9)).status).toBe(400);
    paying.later(301_000);
    expect((await wallets.tell(good, 9)).status).toBe(400);
    expect(await paying.balance()).toBe('0.00');
  });

  test.each([
    ['wechat_pay', { amount: { total: 99, currency: 'CNY' } }],
    ['wechat_pay', { amount: { total: 200, currency: 'CNY' } }],
    ['wechat_pay', { amount: { total: 100, currency: 'HKD' } }],
    ['wechat_pay', { appid: 'wx0000000000000002' }],
    ['wechat_pay', { mchid: '1900000002' }],
    ['wechat_pay', { out_trade_no: 'ord_somebody_elses' }],
    ['alipay', { total_amount: '0.01' }],
    ['alipay', { total_amount: '2.00' }],
    ['alipay', { trans_currency: 'USD' }],
    ['alipay', { app_id: '2021000000000002' }],
    ['alipay', { seller_id: '2088000000000002' }],
    ['alipay', { out_trade_no: 'ord_somebody_elses' }],
  ] as const)('%s: a signed notification with %j is credited to nobody', async (wallet, changed) => {
    const paying = await startPaying(fresh);
    const order = await paidOrder(paying, wallet);
    expect(isTaken(await paying.sim.wallets.tell(told(paying, order.id, { changed }), 9))).toBe(false);
    expect(await paying.balance()).toBe('0.00');
    expect((await paying.payments.check(order.id))?.state).toBe('credited');
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test.each(walletIds)('%s: a notification that comes twenty times, at once and to two processes, credits once', async (wallet) => {
    const paying = await startPaying(fresh);
    const other = await paying.node();
    const order = await paidOrder(paying, wallet);
    const notices = Array.from({ length: 20 }, (_, i) => told(paying, order.id, { node: i % 2 === 0 ? paying : other }));
    const answers = await Promise.all(notices.map((notice) => paying.sim.wallets.tell(notice, 9)));
    expect(answers.every(isTaken)).toBe(true);
    expect(isTaken(await paying.sim.wallets.tell(notices[0] ?? told(paying, order.id), 9))).toBe(true);
    expect(await paying.balance()).toBe('1.00');
    expect(await paying.rows("SELECT id FROM transfer WHERE code='topup'")).toEqual([{ id: `${wallet}:${order.number}` }]);
    await paying.expectBooks();
  });

  test('two processes that ask and close at the same time credit once', async () => {
    const paying = await startPaying(fresh, { wishEveryMs: 0 });
    const other = await paying.node();
    const order = await paidOrder(paying, 'alipay');
    const acts = [paying.payments, other.payments].flatMap((one) => [one.check(order.id), one.closeOrder(order.id), one.look()]);
    await Promise.all([...acts, paying.sim.wallets.tell(told(paying, order.id), 9)]);
    expect(await paying.found(order.id)).toMatchObject({ state: 'credited', number: order.number });
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test.each(walletIds)('%s: a second payment of one order is kept for the operator and credited to nobody', async (wallet) => {
    const paying = await startPaying(fresh);
    const order = await paidOrder(paying, wallet);
    await paying.sim.wallets.tell(told(paying, order.id), 9);
    const second = told(paying, order.id, {
      changed: wallet === 'alipay' ? { trade_no: '2026112100000000000000009999' } : { transaction_id: '420099' },
    });
    expect(isTaken(await paying.sim.wallets.tell(second, 9))).toBe(false);
    expect(await paying.balance()).toBe('1.00');
    expect(await paying.rows('SELECT order_id, why FROM payment_unmatched')).toEqual([
      { order_id: order.id, why: 'a second payment of one order' },
    ]);
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
    expect(await paying.rows('SELECT order_id, why FROM payment_unmatched')).toEqual([{ order_id: order.id, why: 'another amount' }]);
    expect(await paying.balance()).toBe('0.00');
    await paying.expectBooks();
  });

  test.each(walletIds)('%s: a notification that is faster than the answer to our own order is credited', async (wallet) => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    counter.trouble = { kind: 'late', ms: 400 };
    const ordering = paying.order(wallet);
    await expect.poll(() => counter.trades.size, soon).toBe(1);
    counter.trouble = undefined;
    paying.sim.wallets.pay([...counter.trades.keys()][0] ?? '');
    expect(await ordering).toMatchObject({ state: 'credited' });
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test.each(walletIds)('%s: an order that the wallet does not answer is the same order when it is asked for again', async (wallet) => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    for (const kind of ['down', 'html', 'error', 'unsigned', 'lost'] as const) {
      counter.trouble = { kind };
      await expect(paying.order(wallet, { key: 'same-key-1' }), kind).rejects.toThrow('unavailable');
    }
    counter.trouble = undefined;
    const order = await paying.order(wallet, { key: 'same-key-1' });
    expect(order.code).toBeDefined();
    expect(await paying.rows('SELECT id FROM payment_order')).toEqual([{ id: order.id }]);
    expect([...counter.trades.keys()]).toEqual([order.id]);
  });

  test.each(walletIds)('%s: while it cannot be asked, an order is neither closed nor lost, whatever it answers', async (wallet) => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paidOrder(paying, wallet);
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
    expect(await paying.found(order.id)).toMatchObject({ state: 'credited', closedAt: undefined, faults: 0 });
    await paying.expectBooks();
  });

  test.each(walletIds)('%s: an order whose closing is not answered is closed when it is', async (wallet) => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paying.order(wallet);
    paying.sim.wallets.scan(order.code ?? '');
    paying.later(900_000);
    counter.trades.forEach((trade) => Object.assign(trade, { expiresAt: trade.expiresAt + 3_600_000 }));
    for (const kind of ['error', 'down'] as const) {
      counter.trouble = { kind, call: 'close' };
      await paying.payments.look();
      expect((await paying.rows('SELECT state FROM payment_order'))[0], kind).toEqual({ state: 'waiting' });
      paying.later(60_000);
    }
    counter.trouble = { kind: 'lost', call: 'close' };
    await paying.payments.look();
    paying.later(60_000);
    counter.trouble = undefined;
    await paying.payments.look();
    expect(await paying.found(order.id)).toMatchObject({ state: 'closed' });
  });

  test('a wallet that hangs holds no place that the other needs', async () => {
    const paying = await startPaying(fresh, { atOnceMax: 1 });
    const { counter } = paying.sim.wallets;
    await paying.order('wechat_pay');
    const order = await paidOrder(paying, 'alipay');
    paying.later(5_000);
    counter.trouble = { kind: 'hang', call: 'query' };
    // Alipay's questions have the same name: only WeChat Pay's hangs.
    paying.sim.wallets.alipay.name = () => 'other';
    void paying.payments.look();
    await expect
      .poll(async () => (await paying.rows(`SELECT state FROM payment_order WHERE id='${order.id}'`))[0]?.['state'], soon)
      .toBe('credited');
  });

  test.each(walletIds)(
    '%s: a refund sets the money aside, and it is gone when the wallet says so; never more than was paid or is there',
    async (wallet) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paidOrder(paying, wallet, 10n);
      await paying.payments.check(order.id);
      const refund = (amount: bigint, idempotencyKey: string) =>
        paying.payments.refund({ orderId: order.id, amount, reason: '不需要了', idempotencyKey });
      counter.refunding = 'processing';
      const [one, same] = await Promise.all([refund(yuan(4n), 'first-refund'), refund(yuan(4n), 'first-refund')]);
      expect('refund' in one && 'refund' in same && one.refund.id === same.refund.id).toBe(true);
      expect(await paying.rows('SELECT held, debits FROM account WHERE held>0')).toEqual([{ held: yuan(4n), debits: 0n }]);
      expect(await refund(yuan(7n), 'too-much-1')).toEqual({ kind: 'too much' });
      expect(await refund(yuan(5n), 'first-refund')).toEqual({ kind: 'key reused' });
      await paying.expectBooks();
      counter.refunding = 'success';
      paying.later(60_000);
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({ refunding: 0n, refunded: yuan(4n), state: 'credited' });
      expect(await paying.balance()).toBe('6.00');
      const rest = await refund(yuan(6n), 'rest-refund');
      expect(rest).toMatchObject({ kind: 'new' });
      paying.later(60_000);
      await paying.payments.look();
      expect(await paying.balance()).toBe('0.00');
      expect(await refund(yuan(1n), 'after-all-1')).toEqual({ kind: 'too much' });
      await paying.expectBooks();
    },
  );

  test('what the user has spent is not refunded', async () => {
    const paying = await startPaying(fresh);
    const order = await paidOrder(paying, 'alipay', 10n);
    await paying.payments.check(order.id);
    await paying.database.query('UPDATE account SET held=$2 WHERE id=$1', [paying.account, yuan(8n)]);
    const ask = { orderId: order.id, reason: 'x' };
    expect(await paying.payments.refund({ ...ask, amount: yuan(3n), idempotencyKey: 'three-yuan' })).toEqual({ kind: 'not enough' });
    expect(await paying.payments.refund({ ...ask, amount: yuan(2n), idempotencyKey: 'two-yuan-1' })).toMatchObject({ kind: 'new' });
    expect(await paying.rows('SELECT debits, held FROM account WHERE credits>0')).toEqual([{ debits: yuan(2n), held: yuan(8n) }]);
  });

  test.each(walletIds)(
    '%s: a refund that the wallet refuses gives the money back; one whose outcome nobody knows waits for the truth',
    async (wallet) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paidOrder(paying, wallet, 10n);
      await paying.payments.check(order.id);
      const refund = (idempotencyKey: string) =>
        paying.payments.refund({ orderId: order.id, amount: yuan(4n), reason: 'x', idempotencyKey });
      counter.refunding = 'not enough';
      expect(await refund('refused-one')).toMatchObject({ refund: { state: 'failed', trouble: expect.stringMatching(/NOT_ENOUGH/) } });
      expect(await paying.balance()).toBe('10.00');
      await paying.expectBooks();
      counter.refunding = 'success';
      for (const kind of ['lost', 'down', 'html', 'error', 'unsigned'] as const) {
        counter.trouble = { kind };
        const asked = kind === 'lost' ? await refund('unknown-one') : undefined;
        if (asked !== undefined) expect(asked).toMatchObject({ refund: { state: 'asked', endedAt: undefined } });
        await paying.payments.look();
        expect(await paying.rows("SELECT state FROM hold WHERE state='open'"), kind).toHaveLength(1);
        await paying.expectBooks();
        paying.later(600_000);
      }
      counter.trouble = undefined;
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({ refunding: 0n, refunded: yuan(4n) });
      expect(counter.byCode(order.id)?.refunds).toHaveLength(1);
      expect(await paying.balance()).toBe('6.00');
      await paying.expectBooks();
    },
  );

  test('a refund that never reached the wallet, and is then refused, is given up only when nothing can be on its way', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paidOrder(paying, 'wechat_pay', 2n);
    await paying.payments.check(order.id);
    counter.trouble = { kind: 'down' };
    await paying.payments.refund({ orderId: order.id, amount: yuan(1n), reason: 'x', idempotencyKey: 'never-arrived' });
    counter.trouble = undefined;
    counter.refunding = 'not enough';
    paying.later(60_000);
    await paying.payments.look();
    expect(await paying.found(order.id)).toMatchObject({ refunding: yuan(1n) });
    paying.later(600_000);
    await paying.payments.look();
    expect(await paying.found(order.id)).toMatchObject({ refunding: 0n, refunded: 0n });
    expect(await paying.balance()).toBe('2.00');
    await paying.expectBooks();
  });

  test('two who ask for one refund at once: the no of one does not end what the other has got', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paidOrder(paying, 'wechat_pay', 2n);
    await paying.payments.check(order.id);
    const refund = () => paying.payments.refund({ orderId: order.id, amount: yuan(1n), reason: 'x', idempotencyKey: 'pressed-twice' });
    counter.refunding = 'not enough';
    counter.trouble = { kind: 'late', call: 'refund-query', ms: 500 };
    const refused = refund();
    await expect.poll(() => counter.called, soon).toBe('refund-query');
    Object.assign(counter, { trouble: undefined, refunding: 'success' });
    await refund();
    await refused;
    paying.later(60_000);
    await paying.payments.look();
    expect(counter.byCode(order.id)?.refunds).toHaveLength(1);
    expect(await paying.found(order.id)).toMatchObject({ refunding: 0n, refunded: yuan(1n) });
    expect(await paying.balance()).toBe('1.00');
    await paying.expectBooks();
  });

  test('a refund whose asker has died is not given up at the first no: its question may still be on its way', async () => {
    const paying = await startPaying(fresh);
    const other = await paying.node();
    const { counter } = paying.sim.wallets;
    const order = await paidOrder(paying, 'wechat_pay', 2n);
    await paying.payments.check(order.id);
    counter.trouble = { kind: 'hang', call: 'refund' };
    const died = paying.payments.refund({ orderId: order.id, amount: yuan(1n), reason: 'x', idempotencyKey: 'asker-died' });
    died.catch(() => undefined);
    await expect.poll(() => counter.called, soon).toBe('refund');
    Object.assign(counter, { trouble: undefined, refunding: 'not enough' });
    paying.later(61_000);
    await other.payments.look();
    expect(await paying.found(order.id)).toMatchObject({ refunding: yuan(1n) });
    paying.later(600_000);
    await other.payments.look();
    expect(await paying.found(order.id)).toMatchObject({ refunding: 0n, refunded: 0n });
    expect(await paying.balance()).toBe('2.00');
    await paying.expectBooks();
  });

  test(`a refund that its wallet cannot finish waits for the operator (${name})`, async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paidOrder(paying, 'wechat_pay', 2n);
    await paying.payments.check(order.id);
    counter.refunding = 'abnormal';
    await paying.payments.refund({ orderId: order.id, amount: yuan(1n), reason: 'x', idempotencyKey: 'abnormal-one' });
    expect(await paying.rows('SELECT state, trouble FROM payment_refund')).toMatchObject([
      { state: 'asked', trouble: expect.stringContaining('merchant pages') },
    ]);
    const refund = counter.byCode(order.id)?.refunds[0];
    if (refund !== undefined) refund.state = 'closed';
    paying.later(600_000);
    await paying.payments.look();
    expect(await paying.rows('SELECT state FROM payment_refund')).toEqual([{ state: 'failed' }]);
    expect(await paying.balance()).toBe('2.00');
    await paying.expectBooks();
  });
});
