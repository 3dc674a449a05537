import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { credit } from '../../src/ledger/ledger.ts';
import signInEn from '../../web/words/en/sign-in.ts';
import signInZh from '../../web/words/zh/sign-in.ts';
import {
  expectAccessible,
  looksIn,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
} from './chromium.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

/** A tip that is to come has come by then. */
const tipDelayMs = 400;

const pages = ['/', '/keys', '/keys/new', '/settings', '/nothing/here'] as const;

describe.skipIf(noChromium)('the console in Chromium', () => {
  test.each(['zh', 'en'] as const)(
    'is readable by everybody, in %s',
    async (language) => {
      const live = await sharedConsole();
      const { cookie } = await live.newUser({ role: 'operator', yuan: 20n });
      for (const { theme, width } of looksIn(language)) {
        const { page, go } = await openWindow(live.url, cookie, { width, theme, language });
        for (const path of pages) {
          await go(path);
          await expectAccessible(page, `${path} ${theme} ${width}`);
          await picture(
            page,
            `${path.slice(1).replaceAll('/', '-') || 'overview'}-${width}-${theme}-${language}`,
          );
        }
        await page.close();
      }
      const stranger = await openWindow(live.url, undefined, { width: 360, language });
      await stranger.go('/sign-in');
      await expectAccessible(stranger.page, 'sign-in');
      const { scan, scanHere } = language === 'zh' ? signInZh : signInEn;
      await stranger.page.getByText(scanHere, { exact: true }).waitFor();
      await expect.poll(() => stranger.page.getByText(scan, { exact: true }).count()).toBe(0);
      await picture(stranger.page, `sign-in-360-light-${language}`);
    },
    240_000,
  );
});

describe.skipIf(noChromium)('the way in, in Chromium', () => {
  test('a stranger is led to the sign-in page and back to where he wanted to go', async () => {
    const live = await sharedConsole();
    const { page, go } = await openWindow(live.url, undefined);
    await go('/usage?model=glm-4.6');
    const next = new URL(page.url());
    expect([next.pathname, next.searchParams.get('next')]).toEqual([
      '/sign-in',
      '/usage?model=glm-4.6',
    ]);
    await go('/sign-in?error=denied&next=//evil.example');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('You cancelled');
    await expect.poll(() => page.locator('a[href*="evil"]').count()).toBe(0);
  });

  test('pages of operators are refused to users, in the frame', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    await go('/operator/users');
    await expect.poll(() => page.getByRole('main').innerText()).toContain('Operators only.');
    expect(await page.getByRole('navigation', { name: 'Main' }).innerText()).not.toContain(
      'Operator',
    );
  });
});

describe.skipIf(noChromium)('live updates, in Chromium', () => {
  test('that they are paused is said after ten seconds, however often they are tried for; they come back by themselves', async () => {
    const live = await sharedConsole();
    const { cookie, userId } = await live.newUser({ yuan: 5n });
    const { page, go } = await openWindow(live.url, cookie);
    await page.clock.install();
    await page.route('**/console/api/events', (route) => route.fulfill({ status: 503, body: '' }));
    await go('/keys');
    const paused = page.getByText('Live updates paused');
    const isSaid = async () => {
      await page.clock.runFor(1_000);
      return paused.isVisible();
    };
    await expect.poll(isSaid, { timeout: 10_000 }).toBe(true);
    await page.unroute('**/console/api/events');
    await expect.poll(isSaid, { timeout: 10_000 }).toBe(false);
    const grant = {
      id: 'grant_live',
      account: userId,
      from: 'grants',
      amount: nanoPerYuan,
      code: 'grant',
      ref: 'test',
      at: systemClock.now(),
    };
    await credit(live.gateway.database, grant);
    await page.getByRole('link', { name: 'Available ¥6.00' }).waitFor();
  });
});

describe.skipIf(noChromium)('keys by keyboard alone, in Chromium', () => {
  test('a key is created, shown once, used, stopped and started again', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ yuan: 10n });
    const { page, go } = await openWindow(live.url, cookie);
    await go('/');
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.keyboard.press('c');
    await page.getByLabel('Name').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.type('ci-key');
    await page.keyboard.press('Enter');

    const dialog = page.getByRole('dialog', { name: 'Copy your key now' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    const secret = await page.locator('[data-secret]').innerText();
    expect(secret).toMatch(/^sk-/);
    await dialog.getByRole('button', { name: 'Copy key' }).press('Enter');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await dialog.getByRole('button', { name: 'Done' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);

    const answer = await fetch(`${live.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'deepseek-chat',
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    });
    expect(answer.status).toBe(200);

    await page.getByRole('link', { name: 'ci-key' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'ci-key' }).waitFor();
    await page.getByRole('button', { name: 'Disable' }).press('Enter');
    // It was at work a moment ago: what stopping it breaks is said first, and Cancel has the focus.
    const asked = page.getByRole('alertdialog', { name: 'Disable ci-key?' });
    await asked.waitFor();
    await expect.poll(() => asked.innerText()).toContain('1 request');
    await asked.getByRole('button', { name: 'Disable' }).press('Enter');
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByRole('button', { name: 'Disable' }).waitFor();
  }, 60_000);
});

describe.skipIf(noChromium)('the frame in Chromium', () => {
  test('the palette finds pages, menus open without a breach of the policy, language and theme stay', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie);
    await go('/');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('audit');
    await page.getByRole('option', { name: 'Audit' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/operator/audit');
    await go('/');
    await page.getByRole('button', { name: 'Announcements' }).hover();
    await page.locator('#tip:popover-open').waitFor();
    await page.getByRole('button', { name: 'Announcements' }).click();
    await page.getByRole('dialog', { name: 'Announcements' }).waitFor();
    await page.waitForTimeout(tipDelayMs);
    await expect.poll(() => page.locator('#tip:popover-open').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitemradio', { name: '中文' }).click();
    await page.getByRole('heading', { level: 1, name: '概览' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: '概览' }).waitFor();
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await settled(page);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: '键盘快捷键' }).waitFor();
  }, 60_000);

  test('an operator’s links scroll above the foot of the sidebar, which nothing is drawn below', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie, { width: 1280, height: 720 });
    await go('/operator');
    const sidebar = page.getByRole('navigation', { name: 'Main' });
    const lastLink = sidebar.getByRole('link', { name: 'Announcements' });
    const links = lastLink.locator('xpath=..');
    const foot = sidebar.getByRole('button', { name: /sidebar/ }).locator('xpath=..');
    const [list, help] = [await links.boundingBox(), await foot.boundingBox()];
    if (list === null || help === null) throw new Error('the sidebar is not drawn');
    expect(list.y + list.height).toBeLessThanOrEqual(help.y);
    expect(help.y + help.height).toBeLessThanOrEqual(720);
    await foot.getByRole('link', { name: 'Help' }).waitFor();
    await lastLink.scrollIntoViewIfNeeded();
    const last = await lastLink.boundingBox();
    expect(last === null ? 720 : last.y + last.height).toBeLessThanOrEqual(help.y);
    await picture(page, 'sidebar-720');
  }, 60_000);

  test('a session that is gone is renewed over the page, and what was asked for happens', async () => {
    const live = await sharedConsole();
    const user = await live.newUser({ yuan: 1n });
    const { page, context, go } = await openWindow(live.url, user.cookie);
    await go('/keys/new');
    await page.getByLabel('Name').fill('typed before');
    await user.ask(`sessions/${user.sessionId}`, { method: 'DELETE' });
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Your sign-in has ended' }).waitFor();
    const again = await live.signIn(user.userId);
    const [name = '', value = ''] = again.cookie.split('=', 2);
    await context.addCookies([{ name, value, url: live.url, httpOnly: true }]);
    const window = await context.newPage();
    await window.goto(`${live.url}/sign-in/done`);
    await page.getByRole('dialog', { name: 'Copy your key now' }).waitFor();
  }, 60_000);
});

describe.skipIf(noChromium)('somebody whose session has ended, in Chromium', () => {
  test('is told by a page that only looks, and finds what was typed; somebody else begins anew', async () => {
    const live = await sharedConsole();
    const [user, other] = [await live.newUser(), await live.newUser()];
    const { page, context, go } = await openWindow(live.url, user.cookie);
    await page.clock.install();
    await go('/keys/new');
    await page.getByLabel('Name').fill('typed before');
    const gone = page.getByRole('dialog', { name: 'Your sign-in has ended' });
    const signIn = async (cookie: string) => {
      const [name = '', value = ''] = cookie.split('=', 2);
      await context.addCookies([{ name, value, url: live.url, httpOnly: true }]);
      const window = await context.newPage();
      await window.goto(`${live.url}/sign-in/done`);
    };
    const looksAgain = async () => {
      await page.clock.runFor(61_000);
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      await gone.waitFor();
    };
    await user.ask(`sessions/${user.sessionId}`, { method: 'DELETE' });
    await looksAgain();
    const again = await live.signIn(user.userId);
    await signIn(again.cookie);
    await gone.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('typed before');
    await again.ask(`sessions/${again.sessionId}`, { method: 'DELETE' });
    await looksAgain();
    await signIn(other.cookie);
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('');
  }, 60_000);
});

describe.skipIf(noChromium)('two users of one browser, in Chromium', () => {
  test('a page of one begins anew once the other has signed in, and sends nothing for the other', async () => {
    const live = await sharedConsole();
    const [user, other] = [await live.newUser(), await live.newUser()];
    const { page, context, go } = await openWindow(live.url, user.cookie);
    await page.clock.install();
    await go('/keys/new');
    await page.getByLabel('Name').fill('typed before');
    const [name = '', value = ''] = other.cookie.split('=', 2);
    await context.addCookies([{ name, value, url: live.url, httpOnly: true }]);
    // The page looks at its session again, as it does after an event of the other user's.
    await page.clock.runFor(61_000);
    const begun = page.waitForEvent('load');
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await begun;
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('');
    expect((await other.ask('keys')).json.items).toEqual([]);
  }, 60_000);
});

describe.skipIf(noChromium)('what goes wrong, in Chromium', () => {
  test('a part that cannot be loaded says so in its place, with its request id, and can be asked for again', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    const error = {
      message: '',
      type: 'server_error',
      param: null,
      code: 'unavailable',
      request_id: 'req_of_the_test',
    };
    await page.route('**/console/api/keys', (route) =>
      route.fulfill({ status: 503, json: { error } }),
    );
    await go('/keys');
    const panel = page.getByRole('alert');
    await panel.waitFor();
    await expect.poll(() => panel.innerText()).toContain('The database does not respond.');
    await panel.getByRole('button', { name: /Request ID req_of_the_test/ }).waitFor();
    await expectAccessible(page, 'an error in its panel');
    await page.unroute('**/console/api/keys');
    await panel.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Create a key to make your first call.').waitFor();
  }, 60_000);

  test('an address that asks for nothing that can be is said to be wrong, and left by a link', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    for (const path of ['/usage?min_cost=abc', '/statement?from=2020-01-01&to=2026-11-28']) {
      await go(path);
      const wrong = page.getByRole('alert').first();
      await wrong.getByText('The address of this page has a part that is not valid.').waitFor();
      await wrong.getByRole('link', { name: 'Clear filter' }).click();
      await page.getByRole('alert').first().waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('');
    }
    await go('/models?group=gone');
    await page.getByRole('link', { name: 'deepseek-chat' }).first().waitFor();
    expect(new URL(page.url()).search).toBe('');
  }, 60_000);

  test('a page whose script is gone asks for a reload, since the console was updated', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    await go('/');
    await page.route('**/assets/statement-*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByText('The console was updated. Reload to continue.').waitFor();
    await page.unroute('**/assets/statement-*.js');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'Statement' }).waitFor();
  }, 60_000);

  test('without a network what is there stays, and a bar says that it may be old', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ yuan: 3n });
    const { page, context, go } = await openWindow(live.url, cookie);
    await go('/');
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await expect.poll(() => page.getByRole('main').innerText()).toContain('¥3.00');
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
  }, 60_000);
});
