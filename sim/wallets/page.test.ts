import { expect, test } from 'vitest';
import { counterPage, payPage } from './page.ts';
import { Counter, type Trade } from './trade.ts';

const trade: Trade = {
  wallet: 'alipay',
  way: 'page',
  orderId: 'ord_1',
  fen: 100,
  subject: 'Top-up',
  notifyUrl: '',
  expiresAt: Number.MAX_SAFE_INTEGER,
  createdAt: 0,
  requestText: '',
  code: 'code',
  returnUrl: undefined,
  quitUrl: undefined,
  state: 'waiting',
  number: undefined,
  paidAt: undefined,
  refunds: [],
};

test('the pages of the simulated wallets are there in both languages', () => {
  const counter = new Counter();
  expect(counterPage(counter, 'zh').body).toContain('没有等待扫描的付款码');
  counter.trades.set(trade.orderId, trade);
  expect(counterPage(counter, 'zh').body).toMatch(/lang="zh".*支付宝.*扫码并付款/s);
  expect(counterPage(counter, 'en').body).toMatch(/lang="en".*Alipay.*Scan and pay/s);
  expect(counterPage(counter, 'en').body).not.toContain('Paid.');
  counter.trades.set(trade.orderId, { ...trade, state: 'paid' });
  expect(counterPage(counter, 'en').body).toMatch(/Paid\. Go back to the tab/);
  expect(counterPage(counter, 'zh').body).toMatch(/已支付。请回到充值所在的标签页/);
  expect(payPage('zh', trade).body).toMatch(/支付宝（模拟）.*支付 ¥1\.00/s);
  expect(payPage('en', { ...trade, state: 'paid' }).body).toMatch(/Alipay, simulated.*<p>paid/s);
});
