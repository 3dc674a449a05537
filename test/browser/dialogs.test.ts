import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import channelsEn from '../../web/words/en/operator-channels.ts';
import keysEn from '../../web/words/en/keys.ts';
import keysZh from '../../web/words/zh/keys.ts';
import {
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();
const keys = { en: keysEn, zh: keysZh } as const;
const phonePxMax = 700;

/** Every width of the walks, and the narrowest phone. */
const looks = looksAt().flatMap((look) =>
  look.width < phonePxMax ? [look, { ...look, width: 360 }] : [look],
);

/** Head and buttons stand in the window, wherever the middle of the dialog has been scrolled to. */
async function expectInView(page: Page, dialog: Locator, buttons: number): Promise<void> {
  const middle = dialog.locator('[data-middle]');
  const ofFoot = dialog.locator('footer button');
  await expect.poll(() => ofFoot.count()).toBe(buttons);
  const kept = [dialog.getByRole('heading').first(), ...(await ofFoot.all())];
  const height = page.viewportSize()?.height ?? 0;
  for (const end of [0, 100_000]) {
    await middle.evaluate((box, top) => box.scrollTo(0, top), end);
    for (const one of kept) {
      const box = await one.boundingBox();
      expect(box?.y, await one.innerText()).toBeGreaterThanOrEqual(0);
      expect((box?.y ?? 0) + (box?.height ?? 0), await one.innerText()).toBeLessThan(height);
    }
  }
}

/** The middle has the focus in its turn, and keys scroll it. */
async function expectScrolledByKeys(page: Page, dialog: Locator): Promise<void> {
  const middle = dialog.locator('[data-middle]');
  await middle.evaluate((box) => box.scrollTo(0, 0));
  await dialog.focus();
  for (let turns = 0; turns < 3; turns++) {
    await page.keyboard.press('Tab');
    if (await middle.evaluate((box) => box.matches(':focus'))) break;
  }
  await page.keyboard.press('End');
  await expect.poll(() => middle.evaluate((box) => box.scrollTop)).toBeGreaterThan(0);
}

describe.skipIf(noChromium)('dialogs that are longer than the window, in Chromium', () => {
  test.each(looks)(
    'keep head and buttons in view at $width px, $theme, $language',
    { timeout: 60_000 },
    async (look) => {
      const live = await sharedConsole();
      const { cookie, ask } = await live.newUser({ role: 'operator' });
      const { json: made } = await ask('keys', {
        method: 'POST',
        headers: { 'idempotency-key': 'a-key-with-a-form' },
        body: { name: 'ci', group: 'default' },
      });
      const { page, go } = await openWindow(live.url, cookie, look);
      const dialog = page.getByRole('dialog');
      await go('/operator/channels?form=new');
      await dialog.waitFor();
      await picture(page, `dialog-channel-${nameOf(look)}`);
      await expectInView(page, dialog, 2);
      await expectScrolledByKeys(page, dialog);
      await expectAccessible(page, 'add a channel');

      await go(`/keys/${made.key.id}`);
      await page
        .getByRole('button', { name: keys[look.language].detail.edit, exact: true })
        .click();
      await dialog.waitFor();
      await picture(page, `dialog-key-${nameOf(look)}`);
      await expectInView(page, dialog, 2);
      await dialog.locator('footer button[type=submit]').click();
      await dialog.waitFor({ state: 'detached' });
    },
  );

  test('without a field are scrolled by keys, and what is refused as a whole is scrolled to', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    const { page, go } = await openWindow(live.url, cookie, { width: 800, height: 300 });
    await go('/keys');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await expectInView(page, dialog, 0);
    await expectScrolledByKeys(page, dialog);
    await expectAccessible(page, 'the shortcuts');

    await go('/keys/new');
    await page.route('**/console/api/keys', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 503, json: { error: { message: 'Busy', code: 'busy' } } })
        : route.continue(),
    );
    await dialog.getByRole('textbox', { name: keysEn.form.name }).fill('ci');
    await dialog.locator('footer button[type=submit]').click();
    const alert = dialog.getByRole('alert');
    await alert.waitFor();
    const bottomOf = async (one: Locator) => {
      const box = await one.boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    const middle = dialog.locator('[data-middle]');
    await expect.poll(() => bottomOf(alert)).toBeLessThanOrEqual(await bottomOf(middle));
  }, 60_000);

  test('scroll to what is refused as a whole, past an alert inside the form', async () => {
    const live = await sharedConsole();
    const { cookie, ask } = await live.newUser({ role: 'operator' });
    const body = {
      name: 'second',
      vendor: 'deepseek',
      secret: 'sk-of-a-vendor',
      models: ['deepseek-chat'],
    };
    expect((await ask('operator/channels', { method: 'POST', body })).status).toBe(201);
    const { page, go } = await openWindow(live.url, cookie, { width: 800, height: 400 });
    await page.route(/operator\/(vendor-models|channels\/)/, (route) =>
      route.request().method() === 'GET'
        ? route.continue()
        : route.fulfill({ status: 503, json: { error: { message: 'Busy', code: 'busy' } } }),
    );
    await go('/operator/channels/second?form=edit');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: channelsEn.fetch.button }).click();
    const alerts = dialog.getByRole('alert');
    await expect.poll(() => alerts.count()).toBe(1);
    await dialog.getByLabel(channelsEn.form.weight).fill('3');
    await dialog.locator('footer button[type=submit]').click();
    await expect.poll(() => alerts.count()).toBe(2);
    const tops = () =>
      Promise.all(
        [alerts.last(), dialog.locator('footer')].map(async (one) => (await one.boundingBox())?.y),
      );
    await expect
      .poll(async () => {
        const [alert = Number.NaN, foot = Number.NaN] = await tops();
        return alert < foot;
      })
      .toBe(true);
  }, 60_000);
});
