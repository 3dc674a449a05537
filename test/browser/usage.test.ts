import { describe, expect, test } from 'vitest';
import { dayMs } from '../../src/base/calendar.ts';
import { systemClock } from '../../src/base/clock.ts';
import overviewEn from '../../web/words/en/overview.ts';
import requestsEn from '../../web/words/en/requests.ts';
import usageEn from '../../web/words/en/usage.ts';
import sharedEn from '../../web/words/en/shared.ts';
import overviewZh from '../../web/words/zh/overview.ts';
import requestsZh from '../../web/words/zh/requests.ts';
import sharedZh from '../../web/words/zh/shared.ts';
import usageZh from '../../web/words/zh/usage.ts';
import {
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { onePerFile } from './gateway.ts';
import { startLivedIn } from './lived-in.ts';

withChromium();

const livedIn = onePerFile(startLivedIn);

const wordsOf = {
  en: { usage: usageEn, overview: overviewEn, requests: requestsEn, shared: sharedEn },
  zh: { usage: usageZh, overview: overviewZh, requests: requestsZh, shared: sharedZh },
} as const;
const narrow = 768;

/** A day of the accounts' zone, as pages write it. */
const daysAgo = (days: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Shanghai' }).format(
    systemClock.now() - days * dayMs,
  );

/** Keeps what canvases write, with its box. */
const observed = `
  globalThis.labels = [];
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  Object.assign(CanvasRenderingContext2D.prototype, {
    clearRect(...rect) {
      labels.length = 0;
      return clearRect.apply(this, rect);
    },
    fillText(text, x, y, ...more) {
      const size = this.measureText(text);
      const corner = (byX, byY) => this.getTransform().transformPoint({ x: x + byX, y: y + byY });
      const start = corner(-size.actualBoundingBoxLeft, -size.actualBoundingBoxAscent);
      const end = corner(size.actualBoundingBoxRight, size.actualBoundingBoxDescent);
      labels.push({ text, left: start.x, top: start.y, right: end.x, bottom: end.y });
      return fillText.call(this, text, x, y, ...more);
    },
  });`;

interface Label {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const apartPxMin = 3;
const touches = (one: Label, other: Label): boolean =>
  one.left < other.right + apartPxMin &&
  other.left < one.right + apartPxMin &&
  one.top < other.bottom + apartPxMin &&
  other.top < one.bottom + apartPxMin;

describe.skipIf(noChromium)('usage in Chromium', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, it is sorted, split and compared',
    async (seen) => {
      const { live, user } = await livedIn();
      const { page, go } = await openWindow(live.url, user.cookie, seen);
      const { usage, overview, requests, shared } = wordsOf[seen.language];
      const look = async (name: string) => {
        await settled(page);
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `usage-${name}-${nameOf(seen)}`);
      };
      await go('/usage');
      const rows = page.locator('main [data-row]');
      const costOf = async (index: number): Promise<number> =>
        Number(/¥([\d.]+)/.exec((await rows.nth(index).textContent()) ?? '')?.[1]);
      if (seen.width < narrow) {
        await page.getByLabel(requests.order.label, { exact: true }).selectOption('-cost');
      } else {
        const header = page.getByRole('columnheader', { name: usage.columns.cost });
        await header.getByRole('button').click();
        await page.locator('th[aria-sort="descending"]', { hasText: usage.columns.cost }).waitFor();
      }
      await page.waitForURL(/sort=-cost/);
      await settled(page);
      const [dearest, next, last] = [await costOf(0), await costOf(1), await costOf(20)];
      expect(dearest).toBeGreaterThanOrEqual(next);
      expect(next).toBeGreaterThan(last);
      await look('sorted');

      const titles = [];
      for (const tab of ['day', 'model', 'key'] as const) {
        await page.getByRole('tab', { name: usage.tabs[tab] }).click();
        await page.getByRole('heading', { name: usage.chartTitles[tab], exact: true }).waitFor();
        await settled(page);
        titles.push(await page.locator('main [role="img"]').first().getAttribute('aria-label'));
      }
      expect(new Set(titles).size).toBe(3);
      await page.locator('main').getByText(shared.chart.lastOpen, { exact: true }).waitFor();
      await page.getByRole('tab', { name: usage.tabs.course }).click();
      await page.getByRole('heading', { name: requests.course.latency }).waitFor();
      await page.getByText(requests.course.interrupted, { exact: true }).first().waitFor();
      await look('course');

      await go('/?period=7d');
      await page.getByRole('heading', { name: overview.spend.perDay }).waitFor();
      const today = overview.spend.periods.today;
      await page.getByRole('button', { name: today, exact: true }).click();
      await page.getByRole('heading', { name: overview.spend.perHour }).waitFor();
      await page.waitForURL(/period=today/);
      await look('overview');
    },
    120_000,
  );

  test('hatches the last day only while it runs, and says what hatching means', async () => {
    const { live, user } = await livedIn();
    const { page, go } = await openWindow(live.url, user.cookie);
    const open = sharedEn.chart.open;
    await go('/usage?tab=day');
    await page.locator('main canvas').waitFor();
    await page.getByText(sharedEn.chart.lastOpen, { exact: true }).waitFor();
    const chart = page.getByRole('main').getByRole('img').first();
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await chart.getByText(`${daysAgo(0)} · ${open}`).waitFor();
    await page.getByRole('button', { name: sharedEn.actions.asTable }).click();
    await page.getByRole('rowheader', { name: `${daysAgo(0)} · ${open}` }).waitFor();

    await go(`/usage?tab=day&from=${daysAgo(9)}&to=${daysAgo(2)}`);
    await page.locator('main canvas').waitFor();
    await expect.poll(() => page.getByText(open).count()).toBe(0);
  }, 60_000);

  test.each([390, 1440])(
    'at %i px the chart of a key is drawn below the window, too, and no label of it touches another',
    async (width) => {
      const { live, user, paths } = await startLivedIn();
      const { page, go } = await openWindow(live.url, user.cookie, { width, height: 150 });
      await page.addInitScript(observed);
      await go(paths.key);
      await page.locator('main canvas').waitFor();
      const labels: readonly Label[] = await page.evaluate('labels');
      expect(labels.map(({ text }) => text)).toContain('¥0');
      const pairs = labels.flatMap((one, index) =>
        labels.slice(index + 1).flatMap((other) => (touches(one, other) ? [[one, other]] : [])),
      );
      expect(pairs).toEqual([]);
      expect(await page.evaluate('scrollY')).toBe(0);
    },
    60_000,
  );

  test('its chart says what fingers can do there, and a tap on a day tells its costs', async () => {
    const { live, user } = await livedIn();
    const { page, go } = await openWindow(live.url, user.cookie, { width: 390 });
    await go('/usage?tab=day');
    await page.getByText(usageEn.chartHintTouch, { exact: true }).waitFor();
    await page.locator('main .u-over').tap({ position: { x: 150, y: 100 } });
    const chart = page.getByRole('main').getByRole('img').first();
    await chart.getByText(/^20\d\d-/).waitFor();
    await go('/usage?kind=images');
    await page.locator('main [data-row]').first().getByText(usageEn.statuses.refunded).waitFor();
    // A page of yesterday's thirty days is no page of today's: the list begins anew.
    await go('/usage?after=of-yesterday');
    await page.locator('main [data-row]').first().waitFor();
    expect(page.url()).not.toContain('after');
  }, 60_000);

  test('tells what was made under Out, and what was sent under In', async () => {
    const { live, user } = await livedIn();
    const { page, go } = await openWindow(live.url, user.cookie);
    await go('/usage?kind=images');
    const headers = await page.getByRole('columnheader').allInnerTexts();
    const cells = await page.locator('main [data-row]').first().locator('th, td').allInnerTexts();
    const under = (header: string) => cells[headers.indexOf(header)];
    expect([under(usageEn.columns.input), under(usageEn.columns.output)]).toEqual([
      '—',
      '2 images',
    ]);
  }, 60_000);

  test('a row of tabs without room fades out at the side where it goes on', async () => {
    const { live, user } = await livedIn();
    const { page, go } = await openWindow(live.url, user.cookie, { width: 320 });
    await go('/usage');
    const tabs = page.getByRole('tablist', { name: usageEn.tabs.label });
    const sides = () =>
      tabs.evaluate((row) =>
        ['before', 'after'].filter((side) => row.hasAttribute(`data-more-${side}`)),
      );
    await expect.poll(sides).toEqual(['after']);
    await tabs.getByRole('tab', { name: usageEn.tabs.key }).click();
    await expect.poll(sides).toEqual(['before', 'after']);
    await tabs.getByRole('tab', { name: usageEn.tabs.course }).click();
    await expect.poll(sides).toEqual(['before']);
    await page.setViewportSize({ width: 1200, height: 800 });
    await expect.poll(sides).toEqual([]);

    await page.setViewportSize({ width: 320, height: 800 });
    await go('/playground/embedding');
    await page.locator('main nav[data-more-before]:not([data-more-after])').waitFor();
  }, 60_000);

  test('says to a new user what will stand there, once, and no shares of nothing', async () => {
    const { live } = await livedIn();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    await go('/usage?tab=day');
    await page.getByText(usageEn.none, { exact: true }).waitFor();
    const main = page.getByRole('main');
    await expect.poll(() => main.getByText(usageEn.chartHint).count()).toBe(0);
    expect(await main.innerText()).not.toMatch(/— of|of all requests/);
    await go('/usage?tab=day&model=glm-4.7');
    await page.getByText(usageEn.nothing, { exact: true }).waitFor();
  }, 60_000);
});
