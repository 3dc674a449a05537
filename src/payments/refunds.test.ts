import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { startPaying, ways, yuan } from '../../test/support/paying.ts';
import { listStuckRefunds } from './refunds.ts';
import { walletIds } from './wallet.ts';

const soon = { interval: 20 };

forEachDatabase((_name, _openFresh, fresh) => {
  test.each(ways)(
    '%s by %s: a refund sets the money aside, and it is gone when the wallet says so; never more than was paid or is there',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paying.paidOrder(wallet, { yuan: 10n, method });
      await paying.payments.check(order.id);
      const refund = (amount: bigint, idempotencyKey: string) =>
        paying.payments.refund({ orderId: order.id, amount, reason: '不需要了', idempotencyKey });
      counter.refunding = 'processing';
      const [one, same] = await Promise.all([
        refund(yuan(4n), 'first-refund'),
        refund(yuan(4n), 'first-refund'),
      ]);
      expect('refund' in one && 'refund' in same && one.refund.id === same.refund.id).toBe(true);
      expect(await paying.rows('SELECT held, debits FROM account WHERE held>0')).toEqual([
        { held: yuan(4n), debits: 0n },
      ]);
      expect(await refund(yuan(7n), 'too-much-1')).toEqual({ kind: 'too much' });
      expect(await refund(yuan(5n), 'first-refund')).toEqual({ kind: 'key reused' });
      await paying.expectBooks();
      counter.refunding = 'success';
      paying.later(60_000);
      await paying.payments.look();
      expect(await paying.found(order.id)).toMatchObject({
        refunding: 0n,
        refunded: yuan(4n),
        state: 'credited',
      });
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
    const order = await paying.paidOrder('alipay', { yuan: 10n });
    await paying.payments.check(order.id);
    await paying.database.query('UPDATE account SET held=$2 WHERE id=$1', [
      paying.account,
      yuan(8n),
    ]);
    const request = { orderId: order.id, reason: 'x' };
    expect(
      await paying.payments.refund({ ...request, amount: yuan(3n), idempotencyKey: 'three-yuan' }),
    ).toEqual({ kind: 'not enough' });
    expect(
      await paying.payments.refund({ ...request, amount: yuan(2n), idempotencyKey: 'two-yuan-1' }),
    ).toMatchObject({ kind: 'new' });
    expect(await paying.rows('SELECT debits, held FROM account WHERE credits>0')).toEqual([
      { debits: yuan(2n), held: yuan(8n) },
    ]);
  });

  test.each(walletIds)(
    '%s: a refund that the wallet refuses gives the money back; one whose outcome nobody knows waits for the truth',
    async (wallet) => {
      const paying = await startPaying(fresh);
      const { counter } = paying.sim.wallets;
      const order = await paying.paidOrder(wallet, { yuan: 10n });
      await paying.payments.check(order.id);
      const refund = (idempotencyKey: string) =>
        paying.payments.refund({
          orderId: order.id,
          amount: yuan(4n),
          reason: 'x',
          idempotencyKey,
        });
      counter.refunding = 'not enough';
      expect(await refund('refused-one')).toMatchObject({
        refund: { state: 'failed', trouble: expect.stringMatching(/NOT_ENOUGH/) },
      });
      expect(await paying.balance()).toBe('10.00');
      await paying.expectBooks();
      counter.refunding = 'success';
      for (const kind of ['lost', 'down', 'html', 'error', 'unsigned'] as const) {
        counter.trouble = { kind };
        const begun = kind === 'lost' ? await refund('unknown-one') : undefined;
        if (begun !== undefined)
          expect(begun).toMatchObject({ refund: { state: 'asked', endedAt: undefined } });
        await paying.payments.look();
        expect(await paying.rows("SELECT state FROM hold WHERE state='open'"), kind).toHaveLength(
          1,
        );
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
    const order = await paying.paidOrder('wechat_pay', { yuan: 2n });
    await paying.payments.check(order.id);
    counter.trouble = { kind: 'down' };
    await paying.payments.refund({
      orderId: order.id,
      amount: yuan(1n),
      reason: 'x',
      idempotencyKey: 'never-arrived',
    });
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
    const order = await paying.paidOrder('wechat_pay', { yuan: 2n });
    await paying.payments.check(order.id);
    const refund = () =>
      paying.payments.refund({
        orderId: order.id,
        amount: yuan(1n),
        reason: 'x',
        idempotencyKey: 'pressed-twice',
      });
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
    const order = await paying.paidOrder('wechat_pay', { yuan: 2n });
    await paying.payments.check(order.id);
    counter.trouble = { kind: 'hang', call: 'refund' };
    const died = paying.payments.refund({
      orderId: order.id,
      amount: yuan(1n),
      reason: 'x',
      idempotencyKey: 'asker-died',
    });
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

  test('refunds that a wallet processes for days are asked for less and less, and leave room for payments', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    counter.refunding = 'processing';
    for (let count = 0; count < 20; count++) {
      const { id } = await paying.paidOrder('wechat_pay');
      await paying.payments.check(id);
      await paying.payments.refund({
        orderId: id,
        amount: yuan(1n),
        reason: 'x',
        idempotencyKey: `refund-${count}`,
      });
    }
    const order = await paying.paidOrder('wechat_pay');
    const state = async () =>
      (await paying.rows(`SELECT state FROM payment_order WHERE id='${order.id}'`))[0]?.['state'];
    paying.later(5_000);
    await paying.payments.look();
    expect(await state()).toBe('credited');
    paying.later(3_600_000);
    for (let looks = 0; looks < 5; looks++) await paying.payments.look();
    const [next] = await paying.rows('SELECT MIN(next_look_at) AS at FROM payment_refund');
    expect(Number(next?.['at']) - paying.clock.now()).toBeGreaterThan(300_000);
    expect(await paying.rows('SELECT id FROM payment_refund WHERE ended_at IS NULL')).toHaveLength(
      20,
    );
    await paying.expectBooks();
  });

  test('a refund that its wallet cannot finish waits for the operator', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const order = await paying.paidOrder('wechat_pay', { yuan: 2n });
    await paying.payments.check(order.id);
    counter.refunding = 'abnormal';
    await paying.payments.refund({
      orderId: order.id,
      amount: yuan(1n),
      reason: 'x',
      idempotencyKey: 'abnormal-one',
    });
    expect(await paying.rows('SELECT state, trouble FROM payment_refund')).toMatchObject([
      { state: 'asked', trouble: expect.stringContaining('merchant pages') },
    ]);
    const stuck = () => listStuckRefunds(paying.database, paying.clock.now() - 3_600_000, 5);
    expect(await stuck()).toEqual([]);
    paying.later(3_601_000);
    expect(await stuck()).toMatchObject([{ orderId: order.id, wallet: 'wechat_pay' }]);
    const refund = counter.byCode(order.id)?.refunds[0];
    if (refund !== undefined) refund.state = 'closed';
    paying.later(600_000);
    await paying.payments.look();
    expect(await paying.rows('SELECT state FROM payment_refund')).toEqual([{ state: 'failed' }]);
    expect(await paying.balance()).toBe('2.00');
    await paying.expectBooks();
  });
});
