import { describe, expect, test } from 'vitest';
import { simGithubApp } from '../../sim/signin/apps.ts';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { credit } from '../../src/ledger/ledger.ts';
import type { GatewayOptions } from '../../src/app/gateway.ts';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { startLiveConsole } from './gateway.ts';

withChromium();

const withGithub = (simulatorUrl: string): Partial<GatewayOptions> => ({
  signin: {
    signUp: true,
    github: {
      clientId: simGithubApp.clientId,
      clientSecret: simGithubApp.clientSecret,
      baseUrl: `${simulatorUrl}/github`,
      apiUrl: `${simulatorUrl}/github/api`,
    },
  },
});

const words = {
  en: {
    github: 'Continue with GitHub',
    steps: 'Get started in four steps',
    key: 'Create a key',
    waiting: 'Waiting for your first request',
    failed: 'One request arrived and failed: 404',
    failedToo: '2 requests arrived, and all of them failed.',
    list: 'Failed requests',
    works: 'It works.',
  },
  zh: {
    github: '使用 GitHub 登录',
    steps: '四步开始使用',
    key: '创建密钥',
    waiting: '正在等待第一个请求',
    failed: '收到 1 个请求，但失败了：404',
    failedToo: '收到 2 个请求，全部失败。',
    list: '失败的请求',
    works: '成功了。',
  },
} as const;

describe.skipIf(noChromium)('from the sign-in page to the first charge, in Chromium', () => {
  test.each(['zh', 'en'] as const)(
    'in %s: steps tick off by what happened, without a reload',
    async (language) => {
      const live = await startLiveConsole(withGithub);
      const { database } = live.gateway;
      const said = words[language];
      const { page, go } = await openWindow(live.url, undefined, { language });
      await go('/settings');
      await expectAccessible(page, 'sign-in');
      await page.getByRole('link', { name: said.github }).click();
      await page.locator('button[value="approve"]').click();
      // Back where he wanted to go.
      await page.waitForURL('**/settings');

      await go('/');
      await page.getByRole('heading', { name: said.steps }).waitFor();
      const [user] = await database.query('SELECT id FROM users');
      const account = String(user?.['id']);
      const at = systemClock.now();
      await credit(database, {
        id: 'grant_1',
        account,
        from: 'grants',
        amount: nanoPerYuan,
        code: 'grant',
        ref: 'test',
        at,
      });
      await page.getByRole('main').getByRole('link', { name: said.key }).waitFor();
      await picture(page, `start-1440-light-${language}`);
      await page.getByRole('main').getByRole('link', { name: said.key }).click();
      await page.locator('input[name="name"]').fill('first');
      await page.keyboard.press('Enter');
      const secret = await page.locator('[data-secret]').innerText();
      await page.getByRole('checkbox').check();
      await page.getByRole('dialog').getByRole('button').last().click();
      let counts = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/requests?limit=50')) counts++;
      });
      await go('/');
      await page.getByText(said.waiting).waitFor();
      await expectAccessible(page, 'waiting for the first request');
      // What the page shows is what works; its key is a variable's name.
      await expect.poll(() => page.locator('pre').innerText()).toContain('$TOLLGATE_API_KEY');

      const call = async (model: string) => {
        const { status } = await fetch(`${live.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
        });
        return status;
      };
      for (const told of [said.failed, said.failedToo]) {
        expect(await call('no-such-model')).toBe(404);
        await page.getByText(told).waitFor();
      }
      // The page looks every few seconds, and counts once for each failed request.
      expect(counts).toBe(2);
      await expectAccessible(page, 'the first requests failed');
      await picture(page, `start-failed-1440-light-${language}`);
      await page.getByRole('main').getByRole('link', { name: said.list }).click();
      await page.getByRole('cell', { name: 'model_not_found' }).first().waitFor();
      await go('/');

      expect(await call('deepseek-chat')).toBe(200);
      await page.getByText(said.works).waitFor();
      await expect
        .poll(() => page.getByText(said.works).innerText())
        .toMatch(/deepseek-chat.*¥0\.\d{6}/);
      await page.locator('canvas').waitFor();
      await expectAccessible(page, 'overview with a charge');
      await picture(page, `first-charge-1440-light-${language}`);
    },
    90_000,
  );

  test('who cancels there is told so here', async () => {
    const live = await startLiveConsole(withGithub);
    const { page, go } = await openWindow(live.url, undefined);
    await go('/');
    await page.getByRole('link', { name: words.en.github }).click();
    await page.locator('button[value="deny"]').click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('You cancelled');
  });
});
