import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { check } from '../../src/ledger/check.ts';
import { proofs } from '../../src/app/schema.ts';
import {
  everyLook,
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
  type WalkLook,
} from './chromium.ts';
import { type LiveConsole, startLiveConsole } from './gateway.ts';

withChromium();

const said = {
  en: {
    amount: 'Amount',
    wallets: { wechat_pay: 'WeChat Pay', alipay: 'Alipay' },
    pay: 'Pay · ¥1.00',
    open: { wechat_pay: 'Open WeChat to pay', alipay: 'Open Alipay to pay' },
    otherPhone: 'Pay with another phone: show a QR code',
    onPhone: 'Pay on this phone instead: open WeChat',
    code: 'QR code for WeChat Pay, ¥1.00',
    expired: 'The code has expired. No payment has arrived.',
    payHere: 'New order: pay with Alipay on this phone',
    newCode: 'New order',
    check: 'Check now',
    failed: 'The payment service did not accept the order; nothing was paid.',
    received: /¥1\.00 received\./,
    inside: /This page is open inside WeChat, and no wallet opens from here/,
    browser: /“Open in browser”, and sign in there/,
    otherCode: 'Show a QR code for another phone · ¥1.00',
    linkTo: { form: /it opens this page/, order: /it opens this order, which waits/ },
    copyLink: 'Copy the link',
    doubt: /If you did pay, check now/,
    quitWallet: 'Quit',
    payInWallet: 'Pay ¥1.00',
  },
  zh: {
    amount: '充值金额',
    wallets: { wechat_pay: '微信支付', alipay: '支付宝' },
    pay: '去付款 · ¥1.00',
    open: { wechat_pay: '打开微信付款', alipay: '打开支付宝付款' },
    otherPhone: '用另一部手机付款：显示付款二维码',
    onPhone: '改在这部手机上付款：打开微信',
    code: '微信支付付款二维码，¥1.00',
    expired: '付款二维码已过期，尚未收到付款。',
    payHere: '重新下单：在这部手机上用支付宝付款',
    newCode: '重新下单',
    check: '立即查询',
    failed: '支付服务没有接受这笔订单，没有扣款。',
    received: /已到账 ¥1\.00/,
    inside: /此页在微信内打开，这里无法打开付款应用/,
    browser: /选择“在浏览器打开”，并在那里登录/,
    otherCode: '显示付款二维码，用另一部手机扫 · ¥1.00',
    linkTo: { form: /它打开此页/, order: /它打开这笔订单，在付款时间结束之前/ },
    copyLink: '复制链接',
    doubt: /如果你已付款，请立即查询/,
    quitWallet: '退出',
    payInWallet: '支付 ¥1.00',
  },
} as const;

type Words = (typeof said)['en' | 'zh'];

/** Those of a walk in this language, or one where a walk of few looks has none in it. */
function looksIn(
  language: 'en' | 'zh',
  widths: readonly [number, ...number[]],
  theme: 'light' | 'dark',
): readonly WalkLook[] {
  const own = looksAt(widths).filter((each) => each.language === language);
  return own.length > 0 ? own : [{ width: widths[0], theme, language }];
}

const pages = { wechat_pay: '**/checkmweb?**', alipay: '**/gateway.do?**' } as const;
const wechatBrowser =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.54(0x18003622) NetType/WIFI Language/zh_CN';

async function fill(page: Page, words: Words, wallet: keyof typeof pages): Promise<void> {
  await page.getByLabel(words.amount, { exact: true }).fill('1.00');
  await page.getByRole('radio', { name: words.wallets[wallet] }).check();
}

const ordersOf = async ({ gateway }: LiveConsole) =>
  gateway.database.query('SELECT method, state, wallet FROM payment_order ORDER BY id', []);

describe.skipIf(noChromium).each(['en', 'zh'] as const)('a phone pays, %s', (language) => {
  const words = said[language];

  const phones = looksIn(language, [390], 'dark');
  const wallets = ['wechat_pay', 'alipay'] as const;

  test.each(phones.flatMap((seen) => wallets.map((wallet) => ({ ...seen, wallet }))))(
    'by the app of $wallet, $theme: leaves half-way, finds the order open, pays it, and sees the receipt',
    async ({ wallet, ...seen }) => {
      const live = await startLiveConsole();
      const user = await live.newUser();
      const { page, go } = await openWindow(live.url, user.cookie, seen);
      const look = `${wallet}-${nameOf(seen)}`;
      await go('/top-up');
      await fill(page, words, wallet);
      await expectAccessible(page, 'the form on a phone');
      await picture(page, `phone-form-${look}`, { whole: true });
      await page.getByRole('button', { name: words.pay }).click();
      const open = page.getByRole('button', { name: words.open[wallet] });
      await open.waitFor();
      await expectAccessible(page, 'the order on a phone');
      await picture(page, `phone-order-${look}`, { whole: true });
      const order = page.url();

      for (const step of [words.quitWallet, words.payInWallet]) {
        await open.click();
        await page.waitForURL(pages[wallet]);
        await picture(page, `phone-wallet-${look}`);
        await page.getByRole('button', { name: step }).click();
        await page.waitForURL(`${order}**`);
        if (step === words.quitWallet) {
          await open.waitFor();
          expect(await ordersOf(live)).toEqual([{ method: 'mobile', state: 'waiting', wallet }]);
        }
      }
      await page.getByText(words.received).first().waitFor();
      await settled(page);
      await expectAccessible(page, 'the receipt on a phone');
      await picture(page, `phone-receipt-${look}`, { whole: true });
      expect(await ordersOf(live)).toEqual([{ method: 'mobile', state: 'credited', wallet }]);
      expect((await user.ask('session')).json.balance.total).toBe('1.000000000');
      expect(await check(live.gateway.database, proofs)).toMatchObject({ ok: true });
    },
    150_000,
  );

  test('by a code for another phone, and by its app again: only the last order can be paid', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const { page, go } = await openWindow(live.url, user.cookie, { width: 390, language });
    await go('/top-up');
    await fill(page, words, 'wechat_pay');
    await page.getByRole('button', { name: words.pay }).click();
    await page.getByRole('button', { name: words.otherPhone }).click();
    await page.getByRole('img', { name: words.code }).waitFor();
    await expectAccessible(page, 'a code on a phone');
    await picture(page, `phone-code-390-light-${language}`, { whole: true });
    await page.getByRole('button', { name: words.onPhone }).click();
    await page.getByRole('button', { name: words.open.wechat_pay }).click();
    await page.waitForURL(pages.wechat_pay);
    await page.getByRole('button', { name: words.payInWallet }).click();
    await page.getByText('¥1.00').first().waitFor();
    const wallet = 'wechat_pay';
    await expect
      .poll(() => ordersOf(live))
      .toEqual([
        { method: 'mobile', state: 'closed', wallet },
        { method: 'qr', state: 'closed', wallet },
        { method: 'mobile', state: 'credited', wallet },
      ]);
  }, 150_000);

  test('after a code has expired: its own wallet first, and a new code at a desk', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const made = await user.ask('orders', {
      method: 'POST',
      body: { amount: '1.00', wallet: 'alipay' },
      headers: { 'idempotency-key': 'made-at-a-desk' },
    });
    await live.gateway.database.query(
      "UPDATE payment_order SET state='closed', closed_at=expires_at, next_look_at=NULL",
      [],
    );
    const path = `/top-up/${made.json.order.id}`;
    const desk = await openWindow(live.url, user.cookie, { width: 1440, language });
    await desk.go(path);
    await desk.page.getByText(words.expired).waitFor();
    await desk.page.getByRole('button', { name: words.newCode, exact: true }).waitFor();
    await expect.poll(() => desk.page.getByRole('button', { name: words.payHere }).count()).toBe(0);
    await desk.page.getByText(words.doubt).waitFor();
    await desk.page.getByRole('button', { name: words.check }).waitFor();
    await picture(desk.page, `desk-expired-${language}`);

    const { page, go } = await openWindow(live.url, user.cookie, { width: 390, language });
    await go(path);
    await page.getByText(words.expired).waitFor();
    await page.getByRole('button', { name: words.otherPhone }).waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: words.newCode, exact: true }).count())
      .toBe(0);
    await expectAccessible(page, 'an expired code on a phone');
    await picture(page, `phone-expired-${language}`, { whole: true });
    await page.getByRole('button', { name: words.payHere }).click();
    await page.getByRole('button', { name: words.open.alipay }).click();
    await page.waitForURL(pages.alipay);
    await page.getByRole('button', { name: words.payInWallet }).click();
    await page.getByText(words.received).first().waitFor();
    const wallet = 'alipay';
    expect(await ordersOf(live)).toEqual([
      { method: 'qr', state: 'closed', wallet },
      { method: 'mobile', state: 'credited', wallet },
    ]);
  }, 150_000);

  test('an order that its wallet refused was not paid: there is nothing to check', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const made = await user.ask('orders', {
      method: 'POST',
      body: { amount: '1.00', wallet: 'alipay' },
      headers: { 'idempotency-key': 'refused-by-its-wallet' },
    });
    await live.gateway.database.query(
      "UPDATE payment_order SET state='failed', closed_at=created_at, next_look_at=NULL",
      [],
    );
    const { page, go } = await openWindow(live.url, user.cookie, { width: 390, language });
    await go(`/top-up/${made.json.order.id}`);
    await page.getByText(words.failed).waitFor();
    await expect.poll(() => page.getByRole('button', { name: words.check }).count()).toBe(0);
  }, 60_000);

  const inWechat = looksIn(language, [390], 'light').flatMap((seen) =>
    everyLook ? [seen, { ...seen, width: 360 }] : [seen],
  );

  test.each(inWechat)(
    'inside WeChat no wallet is offered: the page leads to the browser and to another phone, $width $theme',
    async (seen) => {
      const live = await startLiveConsole();
      const user = await live.newUser();
      const { page, go } = await openWindow(live.url, user.cookie, {
        ...{ ...seen, userAgent: wechatBrowser },
      });
      for (const wallet of wallets) {
        await go('/top-up');
        await fill(page, words, wallet);
        await page.getByText(words.inside).waitFor();
        await page.getByText(words.browser).waitFor();
        await expect
          .poll(() => page.getByRole('button', { name: words.pay, exact: true }).count())
          .toBe(0);
        await expectAccessible(page, `the form inside WeChat, ${wallet}`);
        await picture(page, `phone-inside-${wallet}-${nameOf(seen)}`, { whole: true });
        const made = await user.ask('orders', {
          method: 'POST',
          body: { amount: '1.00', wallet, page: 'mobile' },
          headers: { 'idempotency-key': `made-in-the-browser-${wallet}` },
        });
        await go(`/top-up/${made.json.order.id}`);
        await page.getByText(words.inside).waitFor();
        await expect
          .poll(() => page.getByRole('button', { name: words.open[wallet] }).count())
          .toBe(0);
        await go('/top-up');
        await fill(page, words, wallet);
        await page.getByRole('button', { name: words.otherCode }).click();
        await page.getByRole('img', { name: /¥1\.00/ }).waitFor();
        await page.getByText(words.inside).waitFor();
        await expect
          .poll(() => page.locator('a[href*="alipay"], a[href^="weixin"]').count())
          .toBe(0);
        await expectAccessible(page, `the code inside WeChat, ${wallet}`);
        await picture(page, `phone-inside-code-${wallet}-${nameOf(seen)}`, { whole: true });
      }
    },
    150_000,
  );

  test('the link that is copied inside WeChat opens the order in the browser, where it waits for its user', async () => {
    const live = await startLiveConsole();
    const signIn = async (page: Page) => {
      await page.getByRole('link', { name: /GitHub/ }).click();
      await page.waitForURL('**/github/login/oauth/authorize**');
      await page.getByRole('button').first().click();
    };
    const phone = { width: 390, language } as const;
    const wechat = await openWindow(live.url, undefined, { ...phone, userAgent: wechatBrowser });
    await wechat.page.goto(`${live.url}/top-up`);
    await signIn(wechat.page);
    await fill(wechat.page, words, 'wechat_pay');
    await wechat.page.getByText(words.linkTo.form).waitFor();
    await wechat.page.getByRole('button', { name: words.otherCode }).click();
    await wechat.page.getByText(words.linkTo.order).waitFor();
    await wechat.page.getByRole('button', { name: words.copyLink }).click();
    await expectAccessible(wechat.page, 'an order inside WeChat');
    const link: string = await wechat.page.evaluate('navigator.clipboard.readText()');

    const { page } = await openWindow(live.url, undefined, phone);
    await page.goto(link);
    await signIn(page);
    await page.waitForURL(link);
    await page.getByRole('img', { name: words.code }).waitFor();
    await page.getByRole('button', { name: words.onPhone }).click();
    await page.getByRole('button', { name: words.open.wechat_pay }).waitFor();
    const wallet = 'wechat_pay';
    expect(await ordersOf(live)).toEqual([
      { method: 'qr', state: 'closed', wallet },
      { method: 'mobile', state: 'waiting', wallet },
    ]);
  }, 150_000);

  const desks = looksIn(language, [1440, 1024], 'light');

  test.each(desks)(
    'a desk is offered the code, $width $theme',
    async (seen) => {
      const live = await startLiveConsole();
      const user = await live.newUser();
      const { page, go } = await openWindow(live.url, user.cookie, seen);
      for (const wallet of wallets) {
        await go('/top-up');
        await fill(page, words, wallet);
        await expectAccessible(page, `the form on a desk, ${wallet}`);
        await picture(page, `desk-form-${wallet}-${nameOf(seen)}`);
      }
    },
    150_000,
  );
});

test.skipIf(noChromium)('a wallet without its app shows a phone the code', async () => {
  const live = await startLiveConsole();
  const user = await live.newUser();
  const { page, go } = await openWindow(live.url, user.cookie, { width: 390 });
  await page.route('**/console/api/session', async (route) => {
    const answer = await route.fetch();
    const json = await answer.json();
    await route.fulfill({
      json: { ...json, wallet_pages: { wechat_pay: ['qr'], alipay: ['qr'] } },
    });
  });
  await go('/top-up');
  await fill(page, said.en, 'wechat_pay');
  await page.getByRole('button', { name: 'Show QR code · ¥1.00' }).click();
  await page.getByText(/not from a screenshot: scan it with another phone/).waitFor();
  await expect.poll(() => page.getByRole('button', { name: said.en.onPhone }).count()).toBe(0);
});

test.skipIf(noChromium)(
  'in a demo a phone has one button to pay: its wallet, or the code',
  async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const { page, go } = await openWindow(live.url, user.cookie, { width: 390 });
    await page.route('**/console/api/session', async (route) => {
      const json = await (await route.fetch()).json();
      const features = { ...json.features, demo_wallets: `${live.url}/wallets` };
      await route.fulfill({ json: { ...json, features } });
    });
    await go('/top-up');
    await fill(page, said.en, 'wechat_pay');
    await page.getByRole('button', { name: said.en.pay }).click();
    await page.getByRole('button', { name: said.en.open.wechat_pay }).waitFor();
    await page.getByText('This is a demo').waitFor();
    const simulated = page.getByRole('link', { name: 'Pay in the simulated wallet' });
    await expect.poll(() => simulated.count()).toBe(0);
    await picture(page, 'phone-demo-390-light-en', { whole: true });
    await page.getByRole('button', { name: said.en.otherPhone }).click();
    await simulated.waitFor();
  },
);
