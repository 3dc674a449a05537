import { describe, expect, test } from 'vitest';
import overviewEn from '../../web/words/en/overview.ts';
import requestsEn from '../../web/words/en/requests.ts';
import usageEn from '../../web/words/en/usage.ts';
import overviewZh from '../../web/words/zh/overview.ts';
import requestsZh from '../../web/words/zh/requests.ts';
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
import { startLivedIn } from './lived-in.ts';

withChromium();

const wordsOf = {
  en: { usage: usageEn, overview: overviewEn, requests: requestsEn },
  zh: { usage: usageZh, overview: overviewZh, requests: requestsZh },
} as const;
const narrow = 768;

describe.skipIf(noChromium)('usage in Chromium', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, it is sorted, split and compared',
    async (seen) => {
      const { live, user } = await startLivedIn();
      const { page, go } = await openWindow(live.url, user.cookie, seen);
      const { usage, overview, requests } = wordsOf[seen.language];
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
});
