import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  type WalkLook,
  withChromium,
} from './chromium.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

const kinds = {
  en: {
    index: '',
    guide: 'guides/quick-start.html',
    tables: 'reference/errors.html',
    commands: 'reference/cli.html',
    figures: 'benchmarks/',
    decision: 'decisions/0002-dependencies.html',
  },
  zh: {
    index: 'zh/',
    guide: 'zh/guides/quick-start.html',
    tables: 'zh/guides/operate.html',
    clients: 'zh/guides/clients.html',
  },
};

async function openSite(look: WalkLook) {
  const { url } = await sharedConsole();
  const window = await openWindow(url, undefined, look);
  await window.page.emulateMedia({ colorScheme: look.theme });
  return {
    ...window,
    open: async (path: string) => {
      await window.go(`/docs/guide/${path}`);
      // VitePress names it once its script runs.
      await window.page
        .locator('.VPSwitchAppearance:not([title=""])')
        .first()
        .waitFor({ state: 'attached' });
    },
  };
}

const widthOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().width`);

/** Types into the search of the site; the first of what it finds is opened. */
async function search(page: Page, name: string, words: string): Promise<void> {
  await page.getByRole('button', { name }).first().click();
  await page.getByRole('searchbox').fill(words);
  await page.getByRole('option').first().waitFor();
}

// `openWindow` fails a test whose page asks another host, breaks the policy or throws.
describe.skipIf(noChromium)('the site of the documents in Chromium', { timeout: 120_000 }, () => {
  test.each(looksAt())('is accessible at $width, $theme, in $language', async (look) => {
    const { page, open } = await openSite(look);
    for (const [kind, path] of Object.entries(kinds[look.language])) {
      await open(path);
      await expect
        .poll(() => page.locator('html.dark').count())
        .toBe(look.theme === 'dark' ? 1 : 0);
      // VitePress has 688, in which the samples of the guides are cut.
      if (look.width === 1440 && kind === 'guide')
        expect(await widthOf(page, '.content-container')).toBeGreaterThan(750);
      await picture(page, `site-${kind}-${nameOf(look)}`);
      await expectAccessible(page, `${path} at ${nameOf(look)}`);
    }
  });

  test('its Chinese pages have no English label, and each language leads to the console', async () => {
    const labels = `[...document.querySelectorAll('[aria-label], .visually-hidden, button[title]')]
      .map((each) => each.getAttribute('aria-label') ?? each.getAttribute('title') ?? each.innerText)`;
    for (const width of [390, 1440]) {
      const { page, open } = await openSite({ width, theme: 'light', language: 'zh' });
      await open(kinds.zh.guide);
      const named: readonly string[] = await page.evaluate(labels);
      expect(named).toContain('跳到正文');
      expect(named.filter((text) => text !== '' && !/\p{Script=Han}/u.test(text))).toEqual([]);
    }
    for (const [path, navigation, name] of [
      ['', 'Main Navigation', 'Console'],
      ['zh/', '主导航', '控制台'],
    ] as const) {
      const { page, open } = await openSite({ width: 1440, theme: 'light', language: 'en' });
      await open(path);
      await page.getByRole('navigation', { name: navigation }).getByRole('link', { name }).click();
      await page.waitForURL(({ pathname }) => !pathname.startsWith('/docs/'));
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
  });

  test.each([
    ['en', '', 'Search', 'reconciliation', /reconcil/i],
    ['zh', 'zh/', '搜索', '对账', /对账/],
  ] as const)('is searched in %s, by keyboard', async (language, path, button, words, found) => {
    const { page, open } = await openSite({ width: 1440, theme: 'light', language });
    await open(path);
    await search(page, button, words);
    await expectAccessible(page, `the search in ${language}`);
    await picture(page, `site-search-${language}`);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\.html/);
    await page.getByRole('main').getByText(found).first().waitFor();
  });
});
