import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/openapi/operations.ts';
import { newCustomer } from '../support/customer.ts';
import {
  everyLook,
  expectAccessible,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { type LiveConsole, oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

const desk = { width: 1440, theme: 'light' } as const;
const looks = everyLook
  ? [390, 1024, 1440].flatMap((width) =>
      (['light', 'dark'] as const).map((theme) => ({ width, theme })),
    )
  : [desk, { width: 390, theme: 'dark' } as const];

async function openReference(live: LiveConsole, look: (typeof looks)[number]) {
  const opened = await openWindow(live.url, undefined, look);
  // Drawing an opened group of endpoints keeps a busy machine for long.
  opened.page.setDefaultTimeout(90_000);
  const warnings: string[] = [];
  opened.page.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text());
  });
  // What is not in sight yet says that it is busy for as long as nobody scrolls there.
  await opened.page.goto(`${live.url}/docs`);
  await opened.page.getByText('/v1/chat/completions').first().waitFor();
  return { ...opened, warnings };
}

/**
 * Scalar lets dialogs and answers fade in, at the latest from their second frame on: their colours
 * are looked at afterwards. What moves with scrolling never ends.
 */
const fadedIn = (page: Page) =>
  page.evaluate(`(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const fading = document.getAnimations().filter(({ timeline }) => timeline === document.timeline);
    await Promise.allSettled(fading.map(({ finished }) => finished));
  })()`);

// `openWindow` fails a test whose page asks another host, breaks the policy or throws.
describe.skipIf(noChromium)('the API reference in Chromium', { timeout: 180_000 }, () => {
  test.each(looks)('is accessible at $width, $theme', async (look) => {
    const { page } = await openReference(await sharedConsole(), look);
    expect(await page.evaluate('document.body.className')).toContain(`${look.theme}-mode`);
    await expectAccessible(page, `/docs at ${look.width}, ${look.theme}`);
    await picture(page, `docs-${look.width}-${look.theme}`);
  });

  test('has every endpoint and the schemas', async () => {
    const live = await sharedConsole();
    const { page, warnings } = await openReference(live, desk);
    expect(warnings).toEqual([]);
    const sidebar = page.locator('aside').first();
    const all = Object.values(operations);
    for (const tag of new Set(all.map((operation) => operation.tag))) {
      const [first, ...others] = all.filter((operation) => operation.tag === tag);
      const summary = sidebar.getByText(first?.summary ?? '', { exact: true });
      if (!(await summary.isVisible())) await sidebar.getByText(tag, { exact: true }).click();
      await summary.waitFor();
      const shown = await sidebar.innerText();
      for (const other of others) expect(shown).toContain(other.summary);
    }
    expect((await sidebar.innerText()).split('\n')).toContain('Models');
  });

  // On a page of its own: each look at one with all groups open takes many seconds.
  test('is searched, and tries an endpoint', async () => {
    const live = await sharedConsole();
    const { key } = await newCustomer(live.gateway.database, 10n ** 9n);
    const { page } = await openReference(live, desk);
    const sidebar = page.locator('aside').first();
    // Samples are drawn once they come into sight.
    await sidebar.getByText('Create a chat completion', { exact: true }).click();
    const sample = `curl ${live.url}/v1/chat/completions`;
    await page.locator('pre', { hasText: sample }).first().waitFor();
    await page.getByText('Reduces repetition of frequent tokens.').first().waitFor();

    await sidebar.getByRole('button', { name: /Search/ }).click();
    await page.getByRole('dialog').locator('input').fill('transcriptions');
    await page.getByRole('dialog').getByText('/v1/audio/transcriptions').first().waitFor();
    await page.keyboard.press('Escape');

    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const client = page.getByRole('dialog').last();
    await client.getByPlaceholder('Token').first().waitFor();
    await fadedIn(page);
    await expectAccessible(page, 'the dialog that tries an endpoint');
    // Nothing lies behind the button that closes it.
    await expect
      .poll(() => page.getByRole('link', { name: 'OpenAPI', exact: true }).count())
      .toBe(0);
    await client.getByPlaceholder('Token').first().fill(key.secret);
    await client.getByRole('button', { name: /^Send/ }).first().click();
    await client.getByText('200 OK').waitFor();
    await picture(page, 'docs-tried');
    await expect.poll(() => client.innerText()).toContain('chat.completion');
    await fadedIn(page);
    await expectAccessible(page, 'the answer to a tried request');

    const behind = page.locator('main[inert]');
    await expect.poll(() => behind.count()).toBe(1);
    await page.keyboard.press('Escape');
    await behind.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'OpenAPI', exact: true }).waitFor();
    await sidebar.getByText('Create a chat completion', { exact: true }).click();
  });
});
