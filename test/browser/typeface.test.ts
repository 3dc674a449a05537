import { describe, expect, test } from 'vitest';
import { noChromium, openWindow, withChromium } from './chromium.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

const shiftMax = 0.02;
const lateMs = 700;

const shifts = `
  globalThis.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

const interIsThere =
  '[...document.fonts].some(({ family, status }) => /^"?Inter"?$/.test(family) && status === "loaded")';

/** The widths of texts in the page's typeface, in pixels. */
const widths = (texts: readonly string[]) => `(() => {
  const place = document.createElement('span');
  place.className = 'figures';
  document.querySelector('main').append(place);
  const measured = ${JSON.stringify(texts)}.map((text) => {
    place.textContent = text;
    return place.getBoundingClientRect().width;
  });
  place.remove();
  return measured;
})()`;

describe.skipIf(noChromium)('the typeface in Chromium', () => {
  test.each(['en', 'zh'] as const)(
    'ships with the console, has digits of one width, and moves nothing when it comes late, in %s',
    async (language) => {
      const live = await sharedConsole();
      const { cookie } = await live.newUser({ yuan: 20n, role: 'operator' });
      const { page, go } = await openWindow(live.url, cookie, { language });
      await page.addInitScript(shifts);
      let asked = 0;
      await page.route('**/*.woff2', async (route) => {
        asked++;
        await new Promise((resolve) => setTimeout(resolve, lateMs));
        await route.continue();
      });
      await go('/operator/channels');
      await page.waitForFunction(interIsThere);
      expect(asked).toBe(1);
      const [ones, eights, letters] = await page.evaluate<number[]>(
        widths(['111.11', '888.88', 'Tollgate']),
      );
      expect(ones).toBe(eights);
      expect(letters).toBeGreaterThan(10);
      expect(await page.evaluate('shifted')).toBeLessThanOrEqual(shiftMax);
    },
    60_000,
  );

  test('is the same on the console, the reference and the guides', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page } = await openWindow(live.url, cookie);
    page.setDefaultTimeout(90_000);
    for (const path of ['/', '/docs', '/docs/guide/']) {
      await page.goto(live.url + path);
      await page.locator('h1').first().waitFor();
      await page.waitForFunction(interIsThere);
      expect(
        await page.evaluate('getComputedStyle(document.querySelector("h1")).fontFamily'),
      ).toMatch(/^"?Inter/);
    }
  }, 120_000);
});
