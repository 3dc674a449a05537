import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hourMs } from '../../src/base/calendar.ts';
import { simConfig } from '../../sim/catalog.ts';
import { systemClock } from '../../src/base/clock.ts';
import { configurationFrom } from '../support/running.ts';
import {
  expectAccessible,
  looksAt,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { type AtEnd, type LiveConsole, onePerFile, startLiveConsole } from './gateway.ts';

withChromium();

/** Names that a page could take for markup, or that turn around what stands beside them. */
const oddNames = ['<img src=x onerror="document.title=1">', 'عربي-נסיון', '𝕱ancy,%2C,ﷺ\u200d🦊'];

const odd = oddNames
  .map(
    (id) =>
      `  - { id: ${JSON.stringify(id)}, owned_by: "<b>odd</b>", kind: chat, price: { input: 1, output: 2 } }\n`,
  )
  .join('');

/**
 * All of the simulator's models, two with the speeds of a week, and three with odd names, readable
 * without a session.
 */
const market = onePerFile(async (atEnd) => {
  const live = await startMarket(atEnd);
  await addSpeeds(live);
  return live;
});

const startMarket = (atEnd: AtEnd): Promise<LiveConsole> =>
  startLiveConsole(
    async (url) => ({
      publicModels: 'default',
      configuration: await configurationFrom(
        simConfig(url)
          .replace('models:\n', `models:\n${odd}`)
          .replace(
            'channels:\n',
            `channels:\n  - { name: odd, vendor: openai, base_url: "${url}", api_key: k, models: [${oddNames.map((id) => JSON.stringify(id)).join(', ')}] }\n`,
          ),
      ),
    }),
    atEnd,
  );

/** A week of requests of two models. */
async function addSpeeds({ gateway: { database } }: LiveConsole): Promise<void> {
  const now = Math.floor(systemClock.now() / hourMs) * hourMs;
  for (const [model, slow] of [
    ['deepseek-chat', 1],
    ['gpt-4o', 2],
  ] as const)
    for (let hours = 1; hours < 160; hours += 5)
      await database.query(
        `INSERT INTO speed_hour (model, hour, channel, first_byte, requests, cut, cost, duration, output)
          VALUES ('${model}', ${now - hours * hourMs}, 'c', ${hours % 2 === 0 ? 300 : 500}, 40, ${hours % 3}, 1, ${40 * 5_000 * slow}, ${40 * 240})`,
      );
}

const compared = 'compare=deepseek-chat%2Cgpt-4o%2Cclaude-haiku-4-5%2Csora-2&show=comparison';
const paths = {
  cards: '/models?compare=gpt-4o%2Cdeepseek-chat',
  table: '/models?view=table',
  comparison: `/models?${compared}`,
  model: '/models/deepseek-chat',
  image: '/models/dall-e-3',
};

const cards = (page: Page) => page.getByRole('main').getByRole('listitem');

describe.skipIf(noChromium)('the market of models', () => {
  test('is readable without a session, by everybody', async () => {
    const live = await market();
    for (const look of looksAt()) {
      const { page, go } = await openWindow(live.url, undefined, look);
      for (const [name, path] of Object.entries(paths)) {
        await go(path);
        const what = `market-${name}-${look.width}-${look.theme}-${look.language}`;
        await expectAccessible(page, what);
        // Side by side, a column holds different facts: nothing lines up in it.
        if (name !== 'comparison') expect(await faultsOf(page), what).toEqual([]);
        await picture(page, what, { whole: name !== 'cards' && name !== 'table' });
      }
      await page.close();
    }
  }, 600_000);

  test('is filtered, sorted and compared in the address', async () => {
    const live = await market();
    const { page, go } = await openWindow(live.url, undefined);
    await go('/models');
    await page.getByRole('button', { name: 'Vision' }).click();
    await page.getByRole('button', { name: 'Files' }).click();
    await page.getByLabel('Context', { exact: true }).selectOption('1000000');
    await page.getByLabel('Input', { exact: true }).selectOption('5');
    await page.waitForURL('**/models?can=vision%2Cfiles&context=1000000&price=5');
    await expect.poll(() => cards(page).count()).toBeLessThan(6);
    await expect
      .poll(() => cards(page).allInnerTexts())
      .toEqual(expect.arrayContaining([expect.stringContaining('gemini-2.5-flash')]));
    await go('/models?sort=first&kind=chat');
    // The page is there before its cards are drawn.
    await expect.poll(() => cards(page).first().innerText()).toContain('deepseek-chat');
    await page.getByLabel('Compare deepseek-chat').check();
    await page.getByLabel('Compare gpt-4o', { exact: true }).check();
    await page.getByRole('button', { name: 'Compare 2 models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Comparison' }).waitFor();
    const pace = page.getByRole('row').filter({ hasText: 'tok/s' });
    await expect.poll(() => pace.innerText()).toMatch(/48 tok\/s\s+best/);
    // As on the page of a model, a figure names its period.
    for (const name of [/^First byte, .*24/, /^Output speed, 24/, /^Uptime, 24/])
      await page.getByRole('rowheader', { name }).waitFor();
    await page.goBack();
    await page.getByLabel('Compare sonar', { exact: true }).check();
    await page.getByLabel('Compare glm-4.7', { exact: true }).check();
    await expect
      .poll(() => page.getByLabel('Compare grok-4.3', { exact: true }).isDisabled())
      .toBe(true);
  }, 120_000);

  test('leads to the code of a model, and to the sign-in', async () => {
    const live = await market();
    const { page, go } = await openWindow(live.url, undefined);
    await go('/models/gpt-4o');
    const code = page.getByRole('figure').filter({ hasText: '/v1/chat/completions' });
    await expect.poll(() => code.innerText()).toContain(live.url);
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.waitForURL('**/sign-in?next=*');
    expect(new URL(page.url()).searchParams.get('next')).toBe('/playground/chat?model=gpt-4o');
    await page.getByRole('link', { name: 'Models and prices' }).click();
    await page.waitForURL('**/models');
    await go('/models/gpt-4o');
    await page.getByRole('main').getByRole('link', { name: 'Models', exact: true }).click();
    await page.waitForURL('**/models');
    await go('/keys');
    expect(page.url()).toContain('/sign-in');
  }, 60_000);

  test('shows odd names as text', async () => {
    const live = await market();
    const { page, go } = await openWindow(live.url, undefined);
    for (const id of oddNames) {
      await go(`/models?q=${encodeURIComponent(id)}&compare=${encodeURIComponent(id)}`);
      await page.getByRole('link', { name: id, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: id, exact: true }).waitFor();
      await settled(page);
      expect(await page.title()).toContain(id);
      const shown = new URLSearchParams({
        compare: id.replaceAll('%', '%25').replaceAll(',', '%2C'),
        show: 'comparison',
      });
      await go(`/models?${shown.toString()}`);
      await page.getByRole('columnheader', { name: id }).waitFor();
    }
    const images: number = await page.evaluate("document.querySelectorAll('img, b').length");
    expect(images).toBe(0);
  }, 90_000);

  test('is closed where it is not switched on', async () => {
    const live = await startLiveConsole();
    const { page } = await openWindow(live.url, undefined);
    await page.goto(`${live.url}/models`);
    await page.waitForURL('**/sign-in?next=%2Fmodels');
    await expect.poll(() => page.getByRole('link', { name: 'Models and prices' }).count()).toBe(0);
  });
});
