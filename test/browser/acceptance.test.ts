import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  everyLook,
  expectAccessible,
  type Look,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { onePerFile } from './gateway.ts';
import { type LivedIn, longKey, startLivedIn } from './lived-in.ts';

withChromium();

const livedIn = onePerFile(startLivedIn);

const pagesOf = ({ paths, user }: LivedIn): Readonly<Record<string, string>> => ({
  overview: '/',
  keys: '/keys',
  key: paths.key,
  usage: '/usage',
  'usage-models': '/usage?tab=model',
  charge: `/usage/req_${user.userId.slice(-6)}arithmetic`,
  statement: '/statement?from=-7d',
  'top-up': '/top-up',
  order: paths.order,
  models: '/models',
  settings: '/settings',
});

const operatorPagesOf = ({ paths }: LivedIn): Readonly<Record<string, string>> => ({
  operator: '/operator',
  'operator-channels': '/operator/channels',
  'operator-channel': '/operator/channels/ds-main',
  'operator-models': '/operator/models',
  'operator-model': '/operator/models/deepseek-chat',
  'operator-groups': '/operator/groups',
  'operator-users': '/operator/users',
  'operator-user': paths.user,
  'operator-orders': '/operator/orders',
  'operator-reconciliation': '/operator/reconciliation',
  'operator-ledger': '/operator/ledger',
  'operator-audit': '/operator/audit',
  'operator-announcements': '/operator/announcements',
});

const languages = ['zh', 'en'] as const;
const themes = ['light', 'dark'] as const;
/**
 * Each width, theme and language once; all of them together where pictures are kept and in the long
 * run.
 */
const looks: readonly Required<Omit<Look, 'height' | 'userAgent' | 'scale'>>[] = everyLook
  ? [360, 768, 1440, 3840].flatMap((width) =>
      languages.flatMap((language) => themes.map((theme) => ({ width, language, theme }))),
    )
  : [
      { width: 360, language: 'en', theme: 'light' },
      { width: 3840, language: 'zh', theme: 'dark' },
    ];
/** Where tables, charts and figures are: looked at in every run. */
const telling = new Set([
  'overview',
  'keys',
  'usage',
  'charge',
  'statement',
  'operator',
  'operator-channels',
  'operator-models',
  'operator-users',
  'operator-orders',
]);

/** The channel of the installation whose vendor refuses its key. */
const refused = 'openai-2';

/** What stands at the left edge is read first, also where there is room for ten pages. */
const widestMain = 1_680;

describe.skipIf(noChromium)('an installation that is lived in, in Chromium', () => {
  test.each(looks)(
    'is readable on every page at $width pixels, $theme, $language: nothing is cut, covered or out of line, times have their zone',
    async (look) => {
      const lived = await livedIn();
      const faults: Record<string, readonly string[]> = {};
      for (const [browser, pages] of [
        [lived.user, pagesOf(lived)],
        [lived.operator, operatorPagesOf(lived)],
      ] as const) {
        const { page, go } = await openWindow(lived.live.url, browser.cookie, look);
        for (const [name, path] of Object.entries(pages)) {
          if (!everyLook && !telling.has(name)) continue;
          await go(path);
          const found = await faultsOf(page);
          if (found.length > 0) faults[name] = found;
          if (everyLook) await expectAccessible(page, name);
          expect(await widthOfMain(page), name).toBeLessThanOrEqual(widestMain);
          await picture(page, `${name}-${look.width}-${look.theme}-${look.language}`, {
            whole: true,
          });
        }
      }
      expect(faults).toEqual({});
    },
    240_000,
  );

  test('breaks no name of a channel in an alert while there is room for it in a line', async () => {
    const { live, operator } = await startLivedIn();
    const { page, go } = await openWindow(live.url, operator.cookie, { width: 360 });
    await go('/operator');
    await page
      .getByRole('listitem')
      .filter({ hasText: /refused the key/ })
      .waitFor();
    for (let width = 330; width <= 430; width += 4) {
      await page.setViewportSize({ width, height: 740 });
      expect(await linesOf(page, refused), `at ${width} px`).toBe(1);
    }
  }, 60_000);

  test('tells whole what is cut short, to whoever points at it or comes by with the keyboard', async () => {
    const { live, user } = await livedIn();
    const { page, go } = await openWindow(live.url, user.cookie);
    await go('/keys');
    const tip = page.locator('#tip');
    await page.locator('main .truncate', { hasText: longKey }).last().hover();
    await expect.poll(() => tip.innerText()).toBe(longKey);
    await page.mouse.move(0, 0);
    const link = page.getByRole('main').getByRole('link', { name: longKey });
    await page.keyboard.press('Tab');
    await link.focus();
    await expect.poll(() => tip.innerText()).toBe(longKey);
    const ring: number = await page.evaluate(
      'parseFloat(getComputedStyle(document.activeElement).outlineWidth)',
    );
    expect(ring).toBeGreaterThanOrEqual(2);
  }, 60_000);
});

/** In how many lines the name stands where the page says it first. */
const linesOf = (page: Page, name: string): Promise<number> =>
  page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (!texts.nextNode().data.includes('${name}')) continue;
    const range = document.createRange();
    const start = texts.currentNode.data.indexOf('${name}');
    range.setStart(texts.currentNode, start);
    range.setEnd(texts.currentNode, start + ${name.length});
    return range.getClientRects().length;
  })()`);

const widthOfMain = (page: Page): Promise<number> =>
  page.evaluate("document.querySelector('main').firstElementChild.getBoundingClientRect().width");
