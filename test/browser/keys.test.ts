import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import en from '../../web/words/en/keys.ts';
import shared from '../../web/words/en/shared.ts';
import zh from '../../web/words/zh/keys.ts';
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
import { startLiveConsole } from './gateway.ts';

withChromium();

const wordsOf = { en, zh } as const;
const savedBy = { en: 'Save', zh: '保存' } as const;

async function chat(url: string, secret: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'deepseek-chat',
      messages: [{ role: 'user', content: 'Hello!' }],
    }),
  });
  return status;
}

/** The secret that the page shows once; the page is left with Done. */
async function takeSecret(page: Page, words: typeof en): Promise<string> {
  const secret = await page.locator('[data-secret]').innerText();
  await page.getByRole('checkbox', { name: words.secret.saved }).check();
  await page.getByRole('button', { name: words.secret.done }).click();
  return secret;
}

const phonePxMax = 700;
const within = { timeout: 3_000, interval: 50 };

describe.skipIf(noChromium)('the life of a key in Chromium', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, it is made, limited, rotated and deleted',
    { timeout: 180_000 },
    async (seen) => {
      const words = wordsOf[seen.language];
      const live = await startLiveConsole();
      const user = await live.newUser({ yuan: 20n });
      const { page, go } = await openWindow(live.url, user.cookie, seen);
      const look = async (name: string) => {
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `${name}-${nameOf(seen)}`);
      };
      const said = async (text: string) => {
        const toast = page.getByRole('status').getByText(text);
        await toast.waitFor();
        // On a phone it lies over the dialogs that are opened next.
        if (seen.width < phonePxMax) await toast.waitFor({ state: 'hidden' });
      };
      const dialog = page.getByRole('dialog');
      const field = (name: string) => dialog.getByRole('textbox', { name });

      await go('/keys/new');
      await field(words.form.name).fill('ci');
      await field(words.form.limitOf.daily_limit).fill('x');
      await dialog.getByRole('button', { name: words.form.submit }).click();
      await dialog.locator('[aria-invalid="true"]:focus').waitFor();
      await field(words.form.limitOf.daily_limit).fill('0.000000001');
      await look('key-form');
      await dialog.getByRole('button', { name: words.form.submit }).click();
      await page.locator('[data-secret]').waitFor();
      const first = await takeSecret(page, words);
      if (seen.width >= phonePxMax)
        await page.getByText(words.spentOf.day('¥0.00', '¥0.000000001')).waitFor();
      expect(await chat(live.url, first)).toBe(429);

      const [key] = (await user.ask('keys')).json.items;
      await go(`/keys/${key.id}`);
      await page.getByRole('button', { name: words.detail.edit, exact: true }).click();
      await field(words.form.limitOf.daily_limit).fill('5');
      await field(words.form.limitOf.limit).fill('10');
      await look('key-edit');
      await dialog.getByRole('button', { name: savedBy[seen.language] }).click();
      await said(words.detail.saved);
      await expect.poll(() => chat(live.url, first), within).toBe(200);

      await page.getByRole('button', { name: words.rotate.open }).click();
      await dialog.getByRole('combobox').selectOption('1h');
      await look('key-rotate');
      await dialog.getByRole('button', { name: words.rotate.action }).click();
      await page.locator('[data-secret]').waitFor();
      const second = await takeSecret(page, words);
      expect([await chat(live.url, first), await chat(live.url, second)]).toEqual([200, 200]);
      const end = page.getByRole('button', { name: words.rotate.endNow });
      await end.waitFor();
      await look('key-rotated');
      await end.click();
      await said(words.rotate.ended);
      await expect.poll(() => chat(live.url, first), within).toBe(401);
      expect(await chat(live.url, second)).toBe(200);

      await go('/keys');
      const search = page.getByRole('searchbox', { name: words.search });
      await search.fill('nobody');
      await page.getByText(words.nothingFound('nobody')).waitFor();
      await search.fill(second.slice(-4));
      await page.getByText('ci', { exact: true }).first().waitFor();
      await page.getByRole('combobox', { name: words.sort }).selectOption('spent');
      await look('keys-found');
      await page
        .getByRole('button', { name: words.menu('ci') })
        .first()
        .click();
      await page.getByRole('menuitem', { name: words.remove.open }).click();
      const asked = page.getByRole('alertdialog');
      await asked.getByRole('textbox').fill('c');
      await asked.getByRole('button', { name: words.remove.action }).click();
      await asked.locator('[aria-invalid="true"]').waitFor();
      await asked.getByRole('textbox').fill('ci');
      await look('key-delete');
      await asked.getByRole('button', { name: words.remove.action }).click();
      await page.getByRole('status').getByText(words.remove.done('ci')).waitFor();
      await expect.poll(() => chat(live.url, second), within).toBe(401);
      expect((await user.ask('keys')).json.items).toEqual([]);
      expect((await user.ask('usage')).json.items[0].key_name).toBe('ci');
    },
  );

  test('a day that no calendar of the console reaches, and an unknown model, are refused at their fields', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const { page, go } = await openWindow(live.url, user.cookie);
    await go('/keys/new');
    await page.getByLabel('Name').fill('typed before');
    await page.getByLabel(en.form.expires).fill('9999-12-31');
    await page.getByRole('button', { name: en.form.submit }).click();
    await page.getByText(shared.errors.fields['not_a_day'] ?? '').waitFor();
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('typed before');
    await page.getByLabel(en.form.expires).fill('');
    await page.getByText(en.form.terms, { exact: true }).click();
    await page.getByLabel(en.form.onlyModels).fill('glm-4.7, depseek-chat');
    await page.getByRole('button', { name: en.form.submit }).click();
    await page
      .getByText("group default does not sell 'depseek-chat', did you mean 'deepseek-chat'?", {
        exact: true,
      })
      .waitFor();
  }, 60_000);

  test('what it spends is told on its page and taken from the balance above, by one refresh', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser({ yuan: 20n });
    const { json: made } = await user.ask('keys', {
      method: 'POST',
      headers: { 'idempotency-key': 'a-key-that-is-watched' },
      body: { name: 'ci', group: 'default' },
    });
    const { page, go } = await openWindow(live.url, user.cookie);
    await go(`/keys/${made.key.id}`);
    const chip = page.getByRole('link', { name: /^Available/ });
    const spent = page
      .getByRole('main')
      .locator('dl > div', { hasText: en.columns.spent })
      .locator('dd');
    const millionths = async (of: Locator) =>
      Math.round(Number(/[\d.]+/.exec(await of.innerText())?.[0]) * 1e6);
    const sum = async () => (await millionths(chip)) + (await millionths(spent));
    expect(await sum()).toBe(20_000_000);
    for (const _ of [1, 2]) {
      const before = await millionths(spent);
      expect(await chat(live.url, made.secret)).toBe(200);
      await expect
        .poll(() => millionths(chip), { timeout: 10_000 })
        .toBeLessThan(20_000_000 - before);
      await expect.poll(sum, { timeout: 500, interval: 50 }).toBe(20_000_000);
    }
  }, 60_000);
});
