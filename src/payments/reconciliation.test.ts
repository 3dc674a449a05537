import { expect, onTestFinished, test } from 'vitest';
import { dayMs } from '../base/calendar.ts';
import { gbk } from '../../sim/wallets/gbk.ts';
import { forEachDatabase } from '../../test/databases.ts';
import { type Paying, startPaying, ways, yuan } from '../../test/support/paying.ts';
import { dayBefore, dayBounds } from './wallet-formats.ts';
import { reconcile, findReconciliation } from './reconciliation.ts';
import { type PayMethod, type WalletId, walletIds } from './wallet.ts';
import { readAlipayBill } from './wallets/alipay.ts';
import { readWechatBill } from './wallets/wechat-pay.ts';

/** Noon of a day in China, with the whole day left for its bill. */
function atNoon(paying: Paying): string {
  const tomorrow = dayBounds(dayBefore(paying.clock.now() + 2 * dayMs));
  paying.later((tomorrow?.from ?? 0) + dayMs / 2 - paying.clock.now());
  return dayBefore(paying.clock.now() + dayMs);
}

async function paid(
  paying: Paying,
  wallet: WalletId,
  amount: bigint,
  { known = true, method = 'qr' }: { readonly known?: boolean; readonly method?: PayMethod } = {},
): Promise<string> {
  const order = await paying.order(wallet, { yuan: amount, method });
  paying.sim.wallets.counter.silent = true;
  paying.sim.wallets.pay(order.id);
  if (known) await paying.payments.check(order.id);
  return order.id;
}

forEachDatabase((_name, _openFresh, fresh) => {
  test.each(ways)(
    '%s by %s: a day whose bill agrees, with a refund in it',
    async (wallet, method) => {
      const paying = await startPaying(fresh);
      const day = atNoon(paying);
      const order = await paid(paying, wallet, 10n, { method });
      await paid(paying, wallet, 2n);
      await paying.payments.refund({
        orderId: order,
        amount: yuan(3n),
        reason: 'paid twice, wants it back, now',
        idempotencyKey: 'a-refund-1',
      });
      paying.later(60_000);
      await paying.payments.look();
      expect(await paying.payments.reconcile(wallet, day)).toEqual({ kind: 'no such day' });
      paying.later(dayMs);
      const ran = await paying.payments.reconcile(wallet, day);
      expect(ran).toMatchObject({
        kind: 'done',
        reconciled: {
          report: {
            billLines: 3,
            ourLines: 3,
            differences: [],
            sums: { matched: { count: 3, wallet: yuan(9n), ours: yuan(9n) } },
          },
        },
      });
      expect(await findReconciliation(paying.database, wallet, day)).toEqual(
        'reconciled' in ran ? ran.reconciled : undefined,
      );
    },
  );

  test.each(walletIds)(
    "%s: what was paid and not credited is found by the bill, asked for, and credited; the next day's run is for nobody else",
    async (wallet) => {
      const paying = await startPaying(fresh);
      const other = await paying.node();
      const day = atNoon(paying);
      const lost = await paid(paying, wallet, 20n, { known: false });
      await paid(paying, wallet, 1n);
      await paying.database.query('UPDATE payment_order SET next_look_at=NULL');
      paying.later(dayMs);
      await Promise.all([paying.payments.look(), other.payments.look()]);
      const reconciled = await findReconciliation(paying.database, wallet, day);
      expect(reconciled?.report.sums).toMatchObject({
        matched: { count: 1 },
        paid_not_credited: { count: 1, wallet: yuan(20n), ours: 0n },
      });
      expect(reconciled?.report.differences).toMatchObject([
        { what: 'paid_not_credited', order: lost, wallet: yuan(20n) },
      ]);
      await paying.payments.look();
      expect(await paying.balance()).toBe('21.00');
      const runs = [...paying.lines, ...other.lines].filter(
        ({ event, id }) => event === 'reconciled' && id === day,
      );
      expect(runs).toHaveLength(1);
      await paying.expectBooks();
    },
  );

  test('a bill that does not come keeps nobody from his money', async () => {
    const paying = await startPaying(fresh);
    atNoon(paying);
    await paid(paying, 'wechat_pay', 1n);
    paying.later(dayMs);
    const lost = await paid(paying, 'wechat_pay', 2n, { known: false });
    paying.later(5_000);
    paying.sim.wallets.counter.trouble = { kind: 'hang', call: 'bill' };
    void paying.payments.look();
    const state = async () =>
      (await paying.rows(`SELECT state FROM payment_order WHERE id='${lost}'`))[0];
    await expect.poll(state, { interval: 20 }).toEqual({ state: 'credited' });
  });

  test.each(walletIds)(
    '%s: a bill that cannot be had is asked for again; a day without trade has none',
    async (wallet) => {
      const paying = await startPaying(fresh);
      const day = atNoon(paying);
      await paid(paying, wallet, 1n);
      paying.later(dayMs);
      for (const kind of ['html', 'down', 'unsigned'] as const) {
        paying.sim.wallets.counter.trouble = { kind };
        expect(await paying.payments.reconcile(wallet, day), kind).toMatchObject({ kind: 'fault' });
      }
      paying.sim.wallets.counter.trouble = undefined;
      const before = dayBefore(dayBounds(day)?.from ?? 0);
      expect(await paying.payments.reconcile(wallet, before)).toMatchObject({
        reconciled: { report: { billLines: 0, ourLines: 0 } },
      });
      expect(await paying.payments.reconcile(wallet, '2026-02-30')).toEqual({
        kind: 'no such day',
      });
    },
  );

  test('a refund that WeChat Pay ends on another day is in the bill of the day on which it was made', async () => {
    const paying = await startPaying(fresh);
    const { counter } = paying.sim.wallets;
    const day = atNoon(paying);
    const order = await paid(paying, 'wechat_pay', 10n);
    counter.refunding = 'processing';
    const refund = (idempotencyKey: string) =>
      paying.payments.refund({ orderId: order, amount: yuan(3n), reason: 'x', idempotencyKey });
    await refund('at-noon-01');
    const { to } = dayBounds(day) ?? { to: 0 };
    paying.later(to - 2_000 - paying.clock.now());
    await refund('at-night-1');
    paying.later(dayMs / 2);
    const report = async (of: string) => {
      const ran = await paying.payments.reconcile('wechat_pay', of);
      return 'reconciled' in ran ? ran.reconciled.report : ran;
    };
    const whole = { billLines: 3, ourLines: 3, differences: [] };
    expect(await report(day)).toMatchObject(whole);
    counter.refunding = 'success';
    await paying.payments.look();
    expect(await paying.found(order)).toMatchObject({ refunded: yuan(6n) });
    paying.later(dayMs);
    expect(await report(dayBefore(to + dayMs))).toMatchObject({ ourLines: 0, differences: [] });
    expect(await report(day)).toMatchObject(whole);
  });

  test('a bill that Alipay does not have is late on a day with payments, and after two days there is none', async () => {
    const paying = await startPaying(fresh);
    const day = atNoon(paying);
    await paid(paying, 'alipay', 1n);
    paying.sim.wallets.counter.trades.clear();
    paying.later(dayMs);
    expect(await paying.payments.reconcile('alipay', day)).toEqual({ kind: 'not yet' });
    paying.later(2 * dayMs);
    await paying.payments.look();
    expect((await findReconciliation(paying.database, 'alipay', day))?.report).toMatchObject({
      billLines: 0,
      differences: [{ what: 'credited_not_in_bill', ours: yuan(1n) }],
    });
    const trouble = paying.lines.filter(({ event }) => event === 'trouble');
    expect(trouble).toEqual([]);
  });
});

test('what differs is told by its kind, and what stands near midnight may belong to the next day', () => {
  const { to } = dayBounds('2026-11-20') ?? { to: 0 };
  const line = (number: string, amount: bigint) =>
    ({
      kind: 'payment',
      number,
      orderId: `ord_${number}`,
      refundId: undefined,
      amount: yuan(amount),
      at: to - dayMs / 2,
    }) as const;
  const order = (number: string, amount: bigint, paidAt: number) => ({
    ...base,
    id: `ord_${number}`,
    number,
    amount: yuan(amount),
    paidAt,
  });
  const { sums, differences } = reconcile(
    '2026-11-20',
    [line('1', 5n), line('2', 20n), line('3', 7n)],
    {
      orders: [
        order('1', 5n, to - dayMs / 2),
        order('3', 8n, to - 1_000),
        order('4', 60n, to - 1_000),
        order('5', 9n, to + 1),
        order('6', 1n, to - dayMs / 2),
      ],
      refunds: [],
    },
  );
  expect(sums).toEqual({
    matched: { count: 1, wallet: yuan(5n), ours: yuan(5n) },
    paid_not_credited: { count: 1, wallet: yuan(20n), ours: 0n },
    credited_not_in_bill: { count: 2, wallet: 0n, ours: yuan(61n) },
    amount_differs: { count: 1, wallet: yuan(7n), ours: yuan(8n) },
  });
  expect(differences.map(({ what, number, nextDay }) => [what, number, nextDay])).toEqual([
    ['paid_not_credited', '2', false],
    ['amount_differs', '3', false],
    ['credited_not_in_bill', '4', true],
    ['credited_not_in_bill', '6', false],
  ]);
});

const base = {
  account: 'usr_1',
  wallet: 'alipay',
  method: 'qr',
  state: 'credited',
  scanned: false,
  subject: 'Top-up',
  code: undefined,
  transfer: 'alipay:1',
  refunding: 0n,
  refunded: 0n,
  createdAt: 0,
  expiresAt: 0,
  closedAt: undefined,
  creditedAt: 0,
  changedAt: 0,
  claims: 0n,
  faults: 0,
  trouble: undefined,
} as const;

test("Alipay's bill: texts with commas leave times, amounts and numbers where they stand", async () => {
  const head =
    '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注';
  const bill = (line: string) =>
    readAlipayBill(gbk(['#支付宝业务明细查询', head, line, '#---', ''].join('\r\n')));
  const amounts = '-3.00,-3.00,0.00,0.00,0.00,0.00,0.00';
  const line = ([subject, shop, coupon, remark]: readonly [string, string, string, string]) =>
    `2026\t,ord_1\t,退款\t,${subject},2026-11-20 09:00:00,2026-11-20 10:00:00,\t,${shop}\t,,\t,张*(abc)\t,${amounts},${coupon},0.00\t,0.00,rfd_1\t,0.00,0.00,${remark}`;
  const read = {
    kind: 'refund',
    number: '2026',
    orderId: 'ord_1',
    refundId: 'rfd_1',
    amount: yuan(3n),
    at: Date.parse('2026-11-20T10:00:00+08:00'),
  };
  for (const texts of [
    ['余额充值', '', '', ''],
    ['apples, pears, 3.00', '', '', 'paid twice, wants it back'],
    ['余额充值', 'Shop, Beijing, 1,2', 'one, two', '1.00,2.00,, 3'],
    ['a,'.repeat(100), '', '', ',,,'],
  ] as const)
    expect(await bill(line(texts)), texts.join(' | ')).toEqual([read]);
  expect(await bill(line(['a', '', '', '']).replaceAll('-3.00', 'three'))).toBeUndefined();
  expect(await bill(line(['a, b', '', '', '']).replaceAll('-3.00', 'three'))).toBeUndefined();
});

test('a long bill leaves room for requests while it is read', async () => {
  const head = '交易时间,微信订单号,商户订单号,交易状态,订单金额,商户退款单号,申请退款金额';
  const row = '`2026-11-20 10:00:00,`4200,`ord_1,`SUCCESS,`1.00,`,`0.00';
  const bill = [head, ...Array.from({ length: 5_000 }, () => row), '总交易单数', '`1'].join('\n');
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  onTestFinished(() => clearInterval(timer));
  expect(await readWechatBill(bill)).toHaveLength(5_000);
  expect(turns).toBeGreaterThan(0);
});

test('bills: what cannot be read is not half read', async () => {
  const head =
    '交易时间,微信订单号,商户订单号,交易状态,订单金额,商户退款单号,申请退款金额,商品名称';
  const row = '`2026-11-20 10:00:00,`4200,`ord_1,`SUCCESS,`1.00,`,`0.00,`a, b';
  const sums = '总交易单数,订单总金额\n`1,`1.00';
  expect(await readWechatBill(`\uFEFF${head}\r\n${row}\r\n${sums}`)).toEqual([
    {
      kind: 'payment',
      number: '4200',
      orderId: 'ord_1',
      refundId: undefined,
      amount: yuan(1n),
      at: Date.parse('2026-11-20T10:00:00+08:00'),
    },
  ]);
  expect(await readWechatBill(`${head}\n${row.replace('1.00', 'one')}\n${sums}`)).toBeUndefined();
  expect(await readWechatBill(`${head}\n${row}`)).toBeUndefined();
  expect(await readWechatBill('<html>')).toBeUndefined();
  expect(await readAlipayBill(Buffer.from('<html>'))).toBeUndefined();
});
