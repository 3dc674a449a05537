import { describe, expect, test } from 'vitest';
import keysEn from '../../web/words/en/keys.ts';
import en from '../../web/words/en/shared.ts';
import statementEn from '../../web/words/en/statement.ts';
import keysZh from '../../web/words/zh/keys.ts';
import zh from '../../web/words/zh/shared.ts';
import { relayTo } from '../relay.ts';
import {
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

const wordsOf = {
  en: { ...en, noKeys: keysEn.empty },
  zh: { ...zh, noKeys: keysZh.empty },
} as const;

describe.skipIf(noChromium)('a server that stops while the console is open', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, is said to be away, and its pages come by themselves when it is back',
    async (seen) => {
      const words = wordsOf[seen.language];
      const { nav } = words;
      const live = await sharedConsole();
      const relay = await relayTo(live.url);
      const { cookie } = await live.newUser({ yuan: 3n });
      const { page, go } = await openWindow(relay.url.replace(/\/$/, ''), cookie, seen);
      const look = async (name: string) => {
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `${name}-${nameOf(seen)}`);
      };
      const lost = page.getByText(words.live.unreachable);
      const updated = page.getByText(words.errors.newVersion);
      await go('/');
      relay.cut();
      await page.getByRole('link', { name: nav.keys, exact: true }).first().click();
      await lost.first().waitFor();
      await page.getByText(words.live.notOpened(nav.keys)).waitFor();
      await expect.poll(() => lost.innerText()).toMatch(new RegExp(words.live.before('..:..')));
      const marked = page.locator('nav a[aria-current="page"]');
      await expect.poll(() => marked.allInnerTexts()).toEqual([nav.overview]);
      await look('unreachable');
      await expect.poll(() => page.getByRole('main').innerText()).toContain('¥3.00');
      await page.waitForTimeout(3_000);
      expect([await lost.count(), await updated.count()]).toEqual([1, 0]);
      relay.mend();
      await page.getByRole('heading', { level: 1, name: nav.keys }).waitFor();
      await page.getByText(words.noKeys).first().waitFor();
      await lost.waitFor({ state: 'detached' });
    },
    60_000,
  );

  test('is asked at once when the user says so', async () => {
    const live = await sharedConsole();
    const relay = await relayTo(live.url);
    const { cookie } = await live.newUser({ yuan: 3n });
    const { page, go } = await openWindow(relay.url.replace(/\/$/, ''), cookie);
    await go('/');
    // With its clock stopped before the server is lost, the page makes no attempt by itself.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    relay.cut();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    const tryNow = page.getByRole('button', { name: en.live.tryNow });
    await tryNow.waitFor();
    relay.mend();
    await tryNow.click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await tryNow.waitFor({ state: 'detached' });
  }, 60_000);

  test('is noticed by a page whose script is there and whose data are not', async () => {
    const live = await sharedConsole();
    const relay = await relayTo(live.url);
    const { cookie } = await live.newUser({ yuan: 3n });
    const { page, go } = await openWindow(relay.url.replace(/\/$/, ''), cookie);
    const lost = page.getByText(en.live.unreachable);
    await go('/');
    await page.getByRole('link', { name: 'Statement' }).hover();
    await page.waitForTimeout(500);
    relay.cut();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('link', { name: 'Statement' }).click();
    await lost.first().waitFor();
    const dots = page.getByText(statementEn.balanceMarks);
    await page.getByText(en.chart.loading).waitFor();
    await expect.poll(() => dots.isVisible()).toBe(false);
    await picture(page, 'unreachable-data');
    relay.mend();
    await page.getByRole('heading', { level: 1, name: 'Statement' }).waitFor();
    await lost.first().waitFor({ state: 'detached' });
    await dots.waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  }, 60_000);
});
