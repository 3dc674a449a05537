import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { noChromium, openWindow, picture, settled, withChromium } from './chromium.ts';
import { startLiveConsole } from './gateway.ts';

withChromium();

/** What the reader of each language reads on the way. */
const said = {
  en: {
    signIn: /Continue with GitHub/,
    authorize: /^Authorize/,
    scan: 'Scan and pay',
    paid: 'paid',
    topUpStep: /Top up/,
    overview: 'Overview',
    topUp: 'Top up',
    keys: 'Keys',
    statement: 'Statement',
    amount: 'Amount',
    received: '¥1.00 received. Balance ¥1.00.',
    name: 'Name',
    copyNow: 'Copy your key now',
    copy: 'Copy key',
    done: 'Done',
    show: /Show the charges of/,
    showLines: /Show the lines of/,
    verify: 'Verify with the ledger',
    proven: '2 lines, all match.',
    addsUp: 'Adds up exactly',
  },
  zh: {
    signIn: /使用 GitHub 登录/,
    authorize: /^授权/,
    scan: '扫码并付款',
    paid: '已支付',
    topUpStep: /充值/,
    overview: '概览',
    topUp: '充值',
    keys: '密钥',
    statement: '账单',
    amount: '充值金额',
    received: '已到账 ¥1.00，余额 ¥1.00。',
    name: '名称',
    copyNow: '请立即复制密钥内容',
    copy: '复制密钥内容',
    done: '完成',
    show: /查看 .* 的扣费/,
    showLines: /查看 .* 的计算过程/,
    verify: '与账本核对',
    proven: '2 行，逐行一致。',
    addsUp: '合计一致',
  },
} as const;

/** Tab by tab until the focus is on what the reader looks for; no more than the page has. */
async function tabTo(page: Page, name: string | RegExp, role?: 'radio' | 'textbox'): Promise<void> {
  const wanted =
    typeof name === 'string' ? new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`) : name;
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    const focused: { readonly text: string; readonly type: string } = await page.evaluate(
      `(() => { const at = document.activeElement; const label = at.labels?.[0]?.innerText; return { text: (at.getAttribute('aria-label') ?? at.dataset?.tip ?? label ?? at.innerText ?? '').trim(), type: at.type ?? '' } })()`,
    );
    if (
      wanted.test(focused.text) &&
      (role === undefined || focused.type === (role === 'radio' ? 'radio' : 'text'))
    )
      return;
  }
  throw new Error(`no way to ${String(name)} by Tab`);
}

describe.skipIf(noChromium).each(['zh', 'en'] as const)(
  'from nothing to the first charge, by keyboard alone, %s',
  (language) => {
    test('signs in, tops up one yuan, makes a key, calls a model, finds the charge in the statement', async () => {
      const words = said[language];
      const live = await startLiveConsole();
      const { page, context } = await openWindow(live.url, undefined, { language });

      // A stranger is led to the sign-in page, and GitHub's own asks whether he agrees.
      await page.goto(live.url);
      await page
        .getByRole('link', { name: words.signIn })
        .or(page.getByRole('button', { name: words.signIn }))
        .waitFor();
      await tabTo(page, words.signIn);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/github/login/oauth/authorize**');
      await tabTo(page, words.authorize);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: words.overview }).waitFor();
      await settled(page);
      await picture(page, `main-path-1-start-${language}`);

      // One yuan, by the code that a telephone scans.
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByRole('heading', { level: 1, name: words.topUp }).waitFor();
      await tabTo(page, words.amount);
      await page.keyboard.press('Control+a');
      await page.keyboard.type('1。00');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/top-up/ord_*');
      await page.getByRole('img', { name: /1\.00/ }).waitFor();
      await picture(page, `main-path-2-code-${language}`);
      const telephone = await context.newPage();
      await telephone.goto(`${live.simulator.url}/wallets`);
      await tabTo(telephone, words.scan);
      await telephone.keyboard.press('Enter');
      await telephone.getByText(words.paid, { exact: true }).waitFor();
      await telephone.close();
      await page.getByText(words.received).first().waitFor();
      await picture(page, `main-path-3-paid-${language}`);

      // A key, shown once.
      await page.keyboard.press('g');
      await page.keyboard.press('k');
      await page.getByRole('heading', { level: 1, name: words.keys }).waitFor();
      await page.keyboard.press('c');
      await page.getByLabel(words.name).waitFor();
      await page.keyboard.type('first');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: words.copyNow }).waitFor();
      await tabTo(page, words.copy);
      await page.keyboard.press('Enter');
      const key: string = await page.evaluate('navigator.clipboard.readText()');
      await expect.poll(() => page.getByRole('checkbox').isChecked()).toBe(false);
      await tabTo(page, words.done);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      // The call itself: address and key, as any client has them.
      const answer = await fetch(`${live.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'deepseek-chat',
          messages: [{ role: 'user', content: 'Hello!' }],
        }),
      });
      expect(answer.status).toBe(200);
      const { usage } = (await answer.json()) as {
        usage: { prompt_tokens: number; completion_tokens: number };
      };

      // The statement: opened until it is arithmetic, and proved.
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await page.getByRole('heading', { level: 1, name: words.statement }).waitFor();
      await page.getByRole('button', { name: words.show }).waitFor();
      await tabTo(page, words.show);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: words.showLines }).waitFor();
      await tabTo(page, words.showLines);
      await page.keyboard.press('Enter');
      const lines = page.getByRole('main');
      // Two yuan and three yuan per million tokens: 2,000 and 3,000 nano-yuan each.
      const nano = usage.prompt_tokens * 2000 + usage.completion_tokens * 3000;
      const charged = (nano / 1e9).toFixed(9);
      await lines.getByText(`¥${charged}`).first().waitFor();
      await expect.poll(() => lines.innerText()).toContain(`−¥${charged}`);
      await expect.poll(() => lines.innerText()).toContain(`¥${((1e9 - nano) / 1e9).toFixed(9)}`);
      await expect.poll(() => lines.innerText()).toContain(words.addsUp);
      await page.keyboard.press('Shift+Tab');
      await page.getByRole('button', { name: words.verify }).press('Enter');
      await page.getByText(words.proven).waitFor();
      await picture(page, `main-path-4-statement-${language}`, { whole: true });
    }, 150_000);
  },
);
