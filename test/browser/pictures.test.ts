import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Look, noChromium, openWindow, picture, settled, withChromium } from './chromium.ts';
import { type LivedIn, startLivedIn } from './lived-in.ts';

/**
 * The pictures of README and the documents. `npm run pictures` writes them into `docs/pictures/`,
 * `PICTURE=call npm run pictures` only one of them, in both languages; without it this test walks
 * the same way and keeps none.
 */
withChromium();

const desk: Look = { width: 1440, height: 900 };
const flat: Look = { width: 1440, height: 540 };
const phone: Look = { width: 390, height: 760, scale: 2 };
const question = { en: 'What does a toll gate do?', zh: '收费站是做什么的？' };

interface Shot {
  readonly name: string;
  readonly as: 'user' | 'operator';
  readonly path: (lived: LivedIn) => string;
  readonly look: Look;
  readonly before?: (page: Page, language: 'en' | 'zh') => Promise<void>;
}

const shots: readonly Shot[] = [
  { name: 'overview-light', as: 'user', path: () => '/', look: desk, before: drawn },
  {
    name: 'overview-dark',
    as: 'user',
    path: () => '/',
    look: { ...desk, theme: 'dark' },
    before: drawn,
  },
  { name: 'top-up', as: 'user', path: ({ paths }) => paths.order, look: phone },
  {
    name: 'call',
    as: 'user',
    path: () => '/playground/chat?model=deepseek-chat',
    // So tall that the conversation shows question and answer without scrolling.
    look: { ...phone, height: 920 },
    async before(page, language) {
      await called(page, language);
      await page.evaluate('scrollTo(0, 0)');
      const hidden = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(
        document.querySelector('[role="log"]'))`;
      expect(await page.evaluate(hidden)).toBe(0);
    },
  },
  {
    // What the same call cost.
    name: 'charge',
    as: 'user',
    path: () => '/playground/chat?model=deepseek-chat',
    look: phone,
    async before(page, language) {
      await called(page, language);
      const charge = page.getByRole('link', { name: /^(See the charge|查看这笔扣费)$/ });
      await page.goto(new URL((await charge.getAttribute('href')) ?? '', page.url()).href);
      await settled(page);
    },
  },
  { name: 'operator', as: 'operator', path: () => '/operator', look: desk },
  { name: 'channels', as: 'operator', path: () => '/operator/channels', look: flat },
];

/** A question is asked, answered and charged. */
async function called(page: Page, language: 'en' | 'zh'): Promise<void> {
  await page.locator('textarea').last().fill(question[language]);
  await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
  await page.locator('[data-charge]').last().waitFor();
}

/** The chart is drawn after the page has its figures. */
async function drawn(page: Page): Promise<void> {
  await page.locator('canvas').first().waitFor();
}

const languages = ['en', 'zh'] as const;
const only = process.env['PICTURE'];

test('docs/pictures/ holds the pictures that this file makes, and no other', () => {
  const made = languages.flatMap((language) => shots.map(({ name }) => `${name}-${language}.png`));
  const kept = readdirSync(new URL('../../docs/pictures', import.meta.url));
  expect(kept.filter((name) => name.endsWith('.png')).sort()).toEqual(made.sort());
});

test.skipIf(noChromium).each(languages)(
  'an installation with a month behind it is pictured, %s',
  async (language) => {
    const lived = await startLivedIn();
    await withdrawAnnouncements(lived);
    for (const { name, as, path, look, before } of shots) {
      if (only !== undefined && only !== name) continue;
      const { page, go } = await openWindow(lived.live.url, lived[as].cookie, {
        ...look,
        language,
      });
      await go(path(lived));
      await before?.(page, language);
      await picture(page, `${name}-${language}`);
      await page.close();
    }
  },
  120_000,
);

/** The banner of a maintenance says nothing to a reader of the documents. */
async function withdrawAnnouncements({ operator }: LivedIn): Promise<void> {
  const { json } = await operator.ask('operator/announcements');
  for (const { id } of json.items)
    await operator.ask(`operator/announcements/${id}`, { method: 'DELETE' });
}
