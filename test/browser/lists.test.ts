import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import requestsEn from '../../web/words/en/operator-requests.ts';
import sharedEn from '../../web/words/en/shared.ts';
import type { Browser } from '../support/console.ts';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { type LiveConsole, oneConsolePerFile, onePerFile } from './gateway.ts';
import { startLivedIn } from './lived-in.ts';

withChromium();

const sharedConsole = oneConsolePerFile();
const livedIn = onePerFile(async (atEnd) => {
  const lived = await startLivedIn(atEnd);
  await askUnknownModel(lived.live, lived.user);
  return lived;
});

describe.skipIf(noChromium)('long lists in Chromium', () => {
  test('channels fit at 1440 px: name and menu stay in view, the search narrows, headers sort', async () => {
    const live = await sharedConsole();
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
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending');
    const shown = await names();
    expect(shown.length).toBeGreaterThan(20);
    expect(shown).toEqual(shown.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })));
    expect(shown[0]).toMatch(/^sim-z/);
    await page.getByRole('searchbox', { name: 'Search channels' }).fill('deepseek');
    await expect.poll(names).toContain('sim-deepseek');
    expect((await names()).every((name) => name.includes('deepseek'))).toBe(true);
    await page.setViewportSize({ width: 1024, height: 900 });
    await picture(page, 'channels-1024');
    await page.getByRole('button', { name: 'Columns' }).click();
    const noRoom = page.getByRole('menuitemcheckbox').filter({ hasText: 'no room' });
    const left = (await noRoom.first().innerText()).replace(/\s*no room/, '');
    await expect.poll(() => noRoom.first().getAttribute('aria-checked')).toBe('false');
    await expect
      .poll(() => table.getByRole('columnheader', { name: left, exact: true }).count())
      .toBe(0);
    await noRoom.first().click();
    const ticked = page.getByRole('menuitemcheckbox', { name: left, exact: true, checked: true });
    await ticked.waitFor();
    await page.keyboard.press('Escape');
    await table.getByRole('columnheader', { name: left, exact: true }).waitFor();
    const menu = table.getByRole('button', { name: /sim-deepseek/ }).first();
    expect((await menu.boundingBox())?.x).toBeLessThan(1_024);
  }, 60_000);

  test.each([
    [1440, 'en'],
    [1024, 'en'],
    [1024, 'zh'],
  ] as const)(
    'at %d px, in %s, each list has the columns that fit, and no half of one',
    async (width, language) => {
      const { live, user, operator } = await livedIn();
      const lists = [
        [user, ['/', '/keys', '/usage', '/usage?tab=model', '/models?view=table']],
        [
          operator,
          [
            ...['channels', 'channels/ark?tab=models', 'models', 'requests?all=1'],
            ...['users', 'orders', 'audit', 'groups', 'announcements', 'users?q=林'],
          ],
        ],
      ] as const;
      for (const [{ cookie }, paths] of lists) {
        const { page, go } = await openWindow(live.url, cookie, { width, language });
        for (const path of paths) {
          await go(path.startsWith('/') ? path : `/operator/${path}`);
          const box = page
            .getByRole('main')
            .getByRole('region')
            .filter({ has: page.locator('th') });
          await box.first().waitFor();
          // The columns are chosen once the table has been measured.
          const wider = (): Promise<number> =>
            box.first().evaluate((table) => table.scrollWidth - table.clientWidth);
          await expect.poll(wider, { message: path }).toBe(0);
          await picture(page, `list${path.replaceAll(/\W/g, '-')}-${width}-${language}`);
        }
      }
    },
    120_000,
  );

  test.each([
    ['en', 'Version'],
    ['zh', '版本'],
  ] as const)(
    'the prices have all their columns at 1440 px, in %s',
    async (language, version) => {
      const live = await sharedConsole();
      const { cookie } = await live.newUser({ role: 'operator' });
      const { page, go } = await openWindow(live.url, cookie, { width: 1440, language });
      await go('/operator/models');
      const headers = page.getByRole('main').getByRole('columnheader');
      await headers.filter({ hasText: version }).waitFor();
      await expect.poll(() => headers.count()).toBe(9);
      await picture(page, `models-1440-${language}`);
    },
    60_000,
  );

  test('the list of top-ups beside their form has no half of a column', async () => {
    const { live, user } = await startLivedIn();
    const { page, go } = await openWindow(live.url, user.cookie, { width: 1280, language: 'zh' });
    await go('/top-up');
    const table = page.getByRole('region', { name: '充值记录' });
    const sideways: number = await table.evaluate((box) => box.scrollWidth - box.clientWidth);
    expect(sideways).toBe(0);
    await picture(page, 'top-up-1280');
  }, 60_000);

  test('five figures at 1024 px fill their two rows', async () => {
    const { live, operator } = await livedIn();
    const { page, go } = await openWindow(live.url, operator.cookie, { width: 1024 });
    await go('/operator/channels/ds-main');
    const cost = page.getByText('Vendor cost, 24 h').locator('xpath=..');
    const right = async (place: Locator) => {
      const { x, width } = (await place.boundingBox()) ?? { x: Number.NaN, width: 0 };
      return x + width;
    };
    expect(await right(cost)).toBeCloseTo((await right(cost.locator('xpath=..'))) - 1);
  }, 60_000);

  test('the lines of a price have inputs of one width on a phone', async () => {
    const { live, operator } = await livedIn();
    const { page, go } = await openWindow(live.url, operator.cookie, { width: 390 });
    await go('/operator/models/sora-2');
    await page.getByRole('combobox', { name: 'Add a line' }).selectOption('input');
    const inputs = page.getByLabel(/: New \(v2\)$/);
    await expect.poll(() => inputs.count()).toBe(2);
    const [first, second] = [await inputs.first().boundingBox(), await inputs.last().boundingBox()];
    expect(second?.width).toBe(first?.width);
  }, 60_000);

  test('a column that has no room comes back when there is, and when it is asked for', async () => {
    const live = await sharedConsole();
    const user = await live.newUser();
    for (const name of ['the key of a machine that tests at night', 'ci'])
      await user.ask('keys', {
        method: 'POST',
        headers: { 'idempotency-key': `a-key-with-a-name-of-${name.length}` },
        body: { name, group: 'default' },
      });
    const { page, go } = await openWindow(live.url, user.cookie, { width: 880 });
    await go('/keys');
    const expires = page.getByRole('columnheader', { name: 'Expires' });
    await page.getByRole('columnheader', { name: 'Name' }).waitFor();
    await expect.poll(() => expires.count()).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await expires.waitFor();
    await page.setViewportSize({ width: 880, height: 900 });
    await expires.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Show all columns/ }).click();
    await expires.waitFor();
    await expectAccessible(page, 'a table with all of its columns');
    await page.reload();
    await page.getByRole('button', { name: /^Show all columns/ }).waitFor();
    await expect.poll(() => expires.count()).toBe(0);
    await page.getByRole('searchbox').first().fill('ci');
    await expires.waitFor();
    await page.getByRole('searchbox').first().fill('');
    await expires.waitFor({ state: 'detached' });
  }, 60_000);

  test('a list of over a hundred rows draws those near the view, and its header stays', async () => {
    const live = await sharedConsole();
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

  test('a page without matches says that older records are left; its button keeps the focus', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie);
    await page.route('**/console/api/operator/requests?*', (route) => {
      const isFirst = !new URL(route.request().url()).searchParams.get('after');
      return route.fulfill({ json: { items: [], next: isFirst ? 'req_1' : null, prev: null } });
    });
    await go('/operator/requests?all=1&model=no-such-model');
    await page.getByText(sharedEn.table.noneYet).waitFor();
    const older = page.locator('[data-page="older"]');
    await older.press('Enter');
    await page.getByText(requestsEn.nothing, { exact: true }).waitFor();
    await expect.poll(() => page.getByText(sharedEn.table.noneYet).count()).toBe(0);
    await expect.poll(() => older.getAttribute('aria-disabled')).toBe('true');
    expect(await older.evaluate((button) => button.matches(':focus'))).toBe(true);
    await expect.poll(() => older.isVisible()).toBe(true);
    await expectAccessible(page, 'the last page of a list');
    await page.keyboard.press('Shift+Tab');
    await older.waitFor({ state: 'hidden' });
    const newer = page.locator('[data-page="newer"]');
    expect(await newer.evaluate((button) => button.matches(':focus'))).toBe(true);
  }, 60_000);

  test('the models of a key can be read', async () => {
    const live = await sharedConsole();
    const user = await live.newUser({ yuan: 1n });
    const { json } = await user.ask('keys', {
      method: 'POST',
      headers: { 'idempotency-key': 'a-key-with-models' },
      body: { name: 'ci', group: 'default' },
    });
    const { page, go } = await openWindow(live.url, user.cookie);
    await go(`/keys/${json.key.id}`);
    const model = page.getByRole('list', { name: /^Models in its group/ }).getByRole('listitem');
    await expect.poll(() => model.count()).toBeGreaterThan(100);
    expect((await model.first().boundingBox())?.height).toBeGreaterThan(15);
    await picture(page, 'key', { whole: true });
  }, 60_000);
});

/** A request with the longest usual code, of a model without a channel. */
async function askUnknownModel(live: LiveConsole, user: Browser): Promise<void> {
  const { json } = await user.ask('keys', {
    method: 'POST',
    headers: { 'idempotency-key': 'a-key-for-a-wrong-model' },
    body: { name: 'laptop', group: 'default' },
  });
  const { headers } = await fetch(`${live.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${json.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'no-such-model', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const id = headers.get('x-request-id') ?? '';
  await expect
    .poll(async () => (await user.ask(`requests/${id}`)).status, { timeout: 10_000 })
    .toBe(200);
}
