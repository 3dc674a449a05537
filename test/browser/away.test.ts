import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { dayMs, hourMs } from '../../src/base/calendar.ts';
import { check } from '../../src/ledger/check.ts';
import { proofs } from '../../src/app/schema.ts';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { type LiveConsole, startLiveConsole } from './gateway.ts';

withChromium();

/** Moves the wall clock of the gateway, which runs in this process, and of the simulator. */
function wallClock(): { readonly forward: (ms: number) => void } {
  const real = Date.now;
  let offset = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => real() + offset);
  onTestFinished(() => void vi.restoreAllMocks());
  return {
    forward(ms) {
      offset += ms;
    },
  };
}

/**
 * A stream of events whose connection died with the sleep: it is neither closed nor does it bring
 * anything, so that the page itself has to notice.
 */
const deadStream = `
globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 1;
  close() {}
};`;

/** What stands below a label of a key figure. */
const figure = (page: Page, label: string) =>
  page.getByText(label, { exact: true }).locator('xpath=following-sibling::p[1]').innerText();

const words = {
  en: { today: 'Today', gone: 'Your sign-in has ended' },
  zh: { today: '今天', gone: '登录已失效' },
} as const;

describe.skipIf(noChromium).each(['en', 'zh'] as const)('a console left alone, %s', (language) => {
  const said = words[language];

  async function spent(live: LiveConsole) {
    const user = await live.newUser({ yuan: 20n });
    const { json: made } = await user.ask('keys', {
      method: 'POST',
      headers: { 'idempotency-key': 'a-form-for-a-key' },
      body: { name: 'ci', group: 'default' },
    });
    const { status } = await fetch(`${live.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'deepseek-chat',
        messages: [{ role: 'user', content: 'Hello! '.repeat(50) }],
      }),
    });
    expect(status).toBe(200);
    return user;
  }

  test('a browser that slept for a day shows the new day at once', async () => {
    const clock = wallClock();
    const live = await startLiveConsole();
    const user = await spent(live);
    const { page, go } = await openWindow(live.url, user.cookie, { language });
    await page.addInitScript(deadStream);
    await page.clock.install({ time: Date.now() });
    await go('/');
    const paid = await figure(page, said.today);
    expect(paid).toMatch(/¥0\.0*[1-9]/);
    clock.forward(dayMs);
    await page.clock.fastForward(dayMs);
    await expect.poll(() => figure(page, said.today), { timeout: 10_000 }).not.toBe(paid);
    expect(await figure(page, said.today)).toMatch(/^¥0(\.0+)?$/);
    await picture(page, `slept-a-day-${language}`);
  }, 60_000);

  test('a page that stays open through midnight shows the new day', async () => {
    const clock = wallClock();
    const [hours = 0, minutes = 0] = new Date(Date.now() + 8 * hourMs)
      .toISOString()
      .slice(11, 16)
      .split(':')
      .map(Number);
    // A minute or two before midnight in Shanghai, which is the zone of new users.
    clock.forward(((23 - hours) * 60 + 58 - minutes) * 60_000);
    const live = await startLiveConsole();
    const user = await spent(live);
    expect((await user.ask('session')).json.me.settings.zone).toBe('Asia/Shanghai');
    const { page, go } = await openWindow(live.url, user.cookie, { language });
    await page.addInitScript(deadStream);
    await page.clock.install({ time: Date.now() });
    await go('/');
    const paid = await figure(page, said.today);
    expect(paid).toMatch(/¥0\.0*[1-9]/);
    clock.forward(150_000);
    // Awake all the time: its timers run.
    await page.clock.runFor(150_000);
    await expect.poll(() => figure(page, said.today), { timeout: 10_000 }).not.toBe(paid);
  }, 120_000);

  test('a session that ended while the browser slept is said to have ended', async () => {
    const clock = wallClock();
    const live = await startLiveConsole();
    const user = await live.newUser({ yuan: 20n });
    const { page, go } = await openWindow(live.url, user.cookie, { language });
    await page.addInitScript(deadStream);
    await page.clock.install({ time: Date.now() });
    await go('/');
    clock.forward(20 * dayMs);
    await page.clock.fastForward(20 * dayMs);
    await page.getByRole('dialog', { name: said.gone }).waitFor();
    await expectAccessible(page, 'a session that has ended');
    await picture(page, `session-ended-${language}`);
  }, 60_000);
});

describe.skipIf(noChromium)('the live request log', () => {
  test('pauses in a hidden tab, and goes on when it is shown', async () => {
    const live = await startLiveConsole();
    const operator = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, operator.cookie);
    await page.clock.install({ time: Date.now() });
    await go('/operator/requests');
    await page.getByRole('switch', { name: 'Live' }).click();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/console/api/operator/requests')) asked += 1;
    });
    const turns = async () => {
      const before = asked;
      await page.clock.runFor(2_500);
      return asked - before;
    };
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
      );
    await expect.poll(turns, { timeout: 10_000 }).toBeGreaterThan(0);
    await show('hidden');
    await page.clock.runFor(10_000);
    asked = 0;
    await page.clock.runFor(600_000);
    expect(asked).toBe(0);
    await show('visible');
    await expect.poll(turns, { timeout: 10_000 }).toBeGreaterThan(0);
  }, 60_000);
});

const topUp = {
  en: { amount: 'Amount', wallet: 'Alipay', pay: 'Pay · ¥1.00', open: 'Open Alipay to pay' },
  zh: { amount: '充值金额', wallet: '支付宝', pay: '去付款 · ¥1.00', open: '打开支付宝付款' },
} as const;
const ended = {
  en: { over: 'The time to pay is over. No payment has arrived.', received: /¥1\.00 received/ },
  zh: { over: '付款时间已过，尚未收到付款。', received: /已到账 ¥1\.00/ },
} as const;

describe.skipIf(noChromium).each(['en', 'zh'] as const)(
  'a payment left half-way on a phone, %s',
  (language) => {
    const said = { ...topUp[language], ...ended[language] };

    /** Leads to the wallet's page, where the payer closes the browser. */
    async function leave(live: LiveConsole) {
      const user = await live.newUser();
      const { page, context, go } = await openWindow(live.url, user.cookie, {
        ...{ width: 390, language },
      });
      await go('/top-up');
      await page.getByLabel(said.amount, { exact: true }).fill('1.00');
      await page.getByRole('radio', { name: said.wallet }).check();
      await page.getByRole('button', { name: said.pay }).click();
      await page.getByRole('button', { name: said.open }).click();
      await page.waitForURL('**/gateway.do?**');
      const [order] = (await user.ask('orders')).json.items;
      await page.close();
      return { user, order, context };
    }
    const stateOf = async (live: LiveConsole) => {
      const [row] = await live.gateway.database.query('SELECT state FROM payment_order');
      return row?.['state'];
    };
    const balanceOf = async (user: Awaited<ReturnType<LiveConsole['newUser']>>) =>
      (await user.ask('session')).json.balance.total;

    test('nobody pays: the order expires, and its page says that no payment has arrived', async () => {
      const clock = wallClock();
      const live = await startLiveConsole();
      const { user, order, context } = await leave(live);
      clock.forward(16 * 60_000);
      await expect.poll(() => stateOf(live), { timeout: 30_000 }).toBe('closed');
      const page = await context.newPage();
      await page.goto(`${live.url}/top-up/${order.id}`);
      await page.getByText(said.over).waitFor();
      await expectAccessible(page, 'an order that expired on a phone');
      await picture(page, `phone-expired-390-${language}`);
      expect(await balanceOf(user)).toBe('0.000000000');
    }, 90_000);

    test('the app is paid later and no notice comes: the payment is found, once', async () => {
      const clock = wallClock();
      const live = await startLiveConsole();
      const { user, order, context } = await leave(live);
      const { wallets } = live.simulator;
      wallets.counter.silent = true;
      wallets.pay(order.id);
      clock.forward(60_000);
      await expect.poll(() => stateOf(live), { timeout: 30_000 }).toBe('credited');
      const page = await context.newPage();
      await page.goto(`${live.url}/top-up/${order.id}`);
      await page.getByText(said.received).first().waitFor();
      expect(await balanceOf(user)).toBe('1.000000000');
      expect(await check(live.gateway.database, proofs)).toMatchObject({ ok: true });
    }, 90_000);

    test('the app is paid after the order expired: the money is credited all the same', async () => {
      const clock = wallClock();
      const live = await startLiveConsole();
      const { user, order, context } = await leave(live);
      clock.forward(16 * 60_000);
      await expect.poll(() => stateOf(live), { timeout: 30_000 }).toBe('closed');
      live.simulator.wallets.pay(order.id, true);
      await expect.poll(() => stateOf(live), { timeout: 30_000 }).toBe('credited');
      const page = await context.newPage();
      await page.goto(`${live.url}/top-up/${order.id}`);
      await page.getByText(said.received).first().waitFor();
      expect(await balanceOf(user)).toBe('1.000000000');
      expect(await check(live.gateway.database, proofs)).toMatchObject({ ok: true });
    }, 90_000);
  },
);
