import { describe, expect, test } from 'vitest';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { startLiveConsole } from './gateway.ts';

withChromium();

describe.skipIf(noChromium)('long lists in Chromium', () => {
  test('channels fit at 1440 px: name and menu stay in view, the search narrows, headers sort', async () => {
    const live = await startLiveConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie, { width: 1440 });
    await go('/operator/channels');
    const table = page.getByRole('region', { name: 'Channels' });
    const sideways: number = await table.evaluate((box) => box.scrollWidth - box.clientWidth);
    expect(sideways).toBe(0);
    await expectAccessible(page, 'channels');
    await picture(page, 'channels-1440');

    const names = () => table.getByRole('rowheader').allInnerTexts();
    await table.getByRole('button', { name: 'Name' }).click();
    await table.getByRole('button', { name: 'Name' }).click();
    const header = table.getByRole('columnheader', { name: 'Name' });
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    const shown = await names();
    expect(shown.length).toBeGreaterThan(20);
    expect(shown).toEqual(shown.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })));
    expect(shown[0]).toMatch(/^sim-z/);
    await page.getByRole('searchbox', { name: 'Search channels' }).fill('deepseek');
    await expect.poll(names).toContain('sim-deepseek');
    expect((await names()).every((name) => name.includes('deepseek'))).toBe(true);
    await page.setViewportSize({ width: 1024, height: 900 });
    await picture(page, 'channels-1024');
    const menu = table.getByRole('button', { name: /sim-deepseek/ }).first();
    expect((await menu.boundingBox())?.x).toBeLessThan(1_024);
  }, 60_000);

  test('a list of over a hundred rows draws those near the view, and its header stays', async () => {
    const live = await startLiveConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie);
    for (const path of ['/models?view=table', '/operator/models']) {
      await go(path);
      const table = page.getByRole('region', { name: 'Models' });
      const drawn = () => table.locator('[data-row]').count();
      const whole = Number(await table.getByRole('table').getAttribute('aria-rowcount'));
      expect(whole, path).toBeGreaterThan(100);
      expect(await drawn(), path).toBeLessThan(80);
      const top = (await table.getByRole('columnheader').first().boundingBox())?.y;
      await table.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await table.locator(`[aria-rowindex="${whole}"]`).waitFor();
      expect(await drawn(), path).toBeLessThan(80);
      expect((await table.getByRole('columnheader').first().boundingBox())?.y).toBe(top);
      await picture(page, `list-end-${path.replaceAll(/\W/g, '-')}`);
      await expectAccessible(page, path);
    }
  }, 60_000);

  test('the models of a key can be read', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser({ yuan: 1n });
    const { json } = await user.ask('keys', {
      method: 'POST',
      headers: { 'idempotency-key': 'a-key-with-models' },
      body: { name: 'ci', group: 'default' },
    });
    const { page, go } = await openWindow(live.url, user.cookie);
    await go(`/keys/${json.key.id}`);
    const model = page.getByRole('list', { name: /^Models in its group/ }).getByRole('listitem');
    expect(await model.count()).toBeGreaterThan(100);
    expect((await model.first().boundingBox())?.height).toBeGreaterThan(15);
    await picture(page, 'key', { whole: true });
  }, 60_000);
});
