import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  expectAccessible,
  looksIn,
  noChromium,
  openWindow,
  picture,
  settled,
  type Look,
  withChromium,
} from './chromium.ts';
import { type LiveConsole, oneConsolePerFile, startLiveConsole } from './gateway.ts';
import { simConfig } from '../../sim/catalog.ts';
import { systemClock } from '../../src/base/clock.ts';
import { credit } from '../../src/ledger/ledger.ts';
import { png } from '../support/png.ts';
import { configurationFrom } from '../support/running.ts';

withChromium();

const sharedConsole = oneConsolePerFile();

/** The models of videos behave like this at their vendors. */
const filming = (scenario: string) => async (url: string) => ({
  configuration: await configurationFrom(
    simConfig(url).replaceAll(/(id: "sora-2", upstream: "[^"]+)/g, `$1+${scenario}`),
  ),
});

/** A user with so many yuan and a key that pays. */
async function startPaying(live: LiveConsole, yuan = 100n) {
  const user = await live.newUser({ yuan });
  const made = await user.ask('keys', {
    method: 'POST',
    body: { name: 'web', group: 'default' },
    headers: { 'idempotency-key': `play-${user.userId}` },
  });
  return { ...user, keyId: String(made.json.key.id) };
}

async function openAt(live: LiveConsole, path: string, look: Look = {}) {
  const user = await startPaying(live);
  const window = await openWindow(live.url, user.cookie, look);
  await window.go(path);
  return { ...window, user };
}

const main = (page: Page) => page.getByRole('main');
const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true });

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Enter');
}

/** The last answer, once it is charged. */
async function answered(page: Page) {
  const charge = page.locator('[data-charge]').last();
  await charge.waitFor();
  return Number(await charge.getAttribute('data-charge'));
}

describe.skipIf(noChromium)('models, tasks and the playground', () => {
  test.each(['zh', 'en'] as const)(
    'are readable by everybody, in %s',
    async (language) => {
      const live = await sharedConsole();
      const user = await startPaying(live);
      const body = { model: 'sora-2', prompt: 'A fox', duration: 5, async: true };
      const film = () =>
        user.ask('play/videos', { method: 'POST', body, headers: { 'x-paying-key': user.keyId } });
      await Promise.all([film(), film()]);
      const [task] = (await user.ask('tasks')).json.items;
      const paths = {
        models: '/models',
        model: '/models/dall-e-3',
        'model-chat': '/models/openai/gpt-oss-120b',
        chat: '/playground/chat?model=deepseek-chat',
        image: '/playground/image?model=dall-e-3',
        video: '/playground/video?model=sora-2',
        tasks: '/tasks',
        task: `/tasks/${task.id}`,
      };
      for (const { theme, width } of looksIn(language)) {
        const { page, go } = await openWindow(live.url, user.cookie, { width, theme, language });
        for (const [name, path] of Object.entries(paths)) {
          await go(path);
          if (name === 'chat') {
            await page.locator('textarea').last().fill('Explain `sim-think` in one sentence.');
            await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
            await answered(page);
          }
          await expectAccessible(page, `${path} ${theme} ${width}`);
          await picture(page, `play-${name}-${width}-${theme}-${language}`);
        }
        await page.close();
      }
    },
    300_000,
  );
});

describe.skipIf(noChromium)('models', () => {
  test('are searched, sorted and filtered in the address, and opened to their prices and code', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/models');
    await page.keyboard.press('/');
    await page.keyboard.type('claude haiku');
    await expect
      .poll(() => page.getByRole('status').filter({ hasText: 'models' }).innerText())
      .toMatch(/^1 of /);
    await page.waitForURL('**/models?q=claude+haiku');
    await page.getByRole('link', { name: 'claude-haiku-4-5' }).click();
    await page.getByRole('heading', { level: 1, name: 'claude-haiku-4-5' }).waitFor();
    await settled(page);
    await expect.poll(() => main(page).innerText()).toContain('¥7.10');
    await page.getByRole('button', { name: 'Python' }).click();
    await expect
      .poll(() => page.getByRole('figure').innerText())
      .toContain('os.environ["TOLLGATE_API_KEY"]');
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.waitForURL('**/playground/chat?model=claude-haiku-4-5');
  });

  test('say what is not there', async () => {
    const live = await sharedConsole();
    const { page, go } = await openAt(live, '/models?q=no-such-model');
    await expect.poll(() => main(page).innerText()).toContain('No matches.');
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await page.getByRole('link', { name: 'deepseek-chat' }).waitFor();
    await go('/models/no/such');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });
});

describe.skipIf(noChromium)('chat in the playground', () => {
  test('streams, tells cost before and after, and is charged what it says', async () => {
    const live = await sharedConsole();
    const { page, user } = await openAt(live, '/playground/chat?model=sim-chat', { width: 1280 });
    await expect.poll(() => main(page).innerText()).toMatch(/at most ¥0\.0\d+/);
    const top = (await page.getByRole('log').boundingBox())?.y;
    await say(page, 'Say hello');
    const cost = await answered(page);
    expect(cost).toBeGreaterThan(0);
    const balance = (await user.ask('session')).json.balance.available;
    expect(Number(balance)).toBeCloseTo(100 - cost, 9);
    expect((await page.getByRole('log').boundingBox())?.y, 'nothing moved').toBe(top);
    await page.getByRole('link', { name: 'See the charge' }).click();
    await page.getByRole('dialog').getByText('Matches the ledger transfer').waitFor();
    await picture(page, 'play-charge-1280-light-en');
    const [key] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('dialog').getByRole('link', { name: '(opens in a new tab)' }).click(),
    ]);
    expect(new URL(key.url()).pathname).toMatch(/^\/keys\/\w+$/);
    await key.close();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('Say hello').first().waitFor();
    // Edited, and run from there: what came after is gone.
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Message').first().fill('Reply with exactly: 42');
    await page.getByRole('button', { name: 'Run from here' }).click();
    await page.getByText('42', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Raw events' }).click();
    await expect.poll(() => main(page).innerText()).toContain('data: [DONE]');
    await page.getByRole('button', { name: 'Conversation', exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export JSON' }).click(),
    ]);
    const saved = JSON.parse(await readFile(await download.path(), 'utf8'));
    expect(saved).toMatchObject({
      model: 'sim-chat',
      messages: [{ role: 'user', content: 'Reply with exactly: 42' }, { role: 'assistant' }],
    });
  }, 60_000);

  test('is stopped, and says what was charged', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=sim-slow-200ms');
    await say(page, 'Tell me a long story about a fox in the snow.');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.locator('[data-state=running] p[dir]').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    expect(await answered(page)).toBeGreaterThan(0);
  }, 60_000);

  test('draws once a frame, however many chunks come, and leaves the reader where he scrolled', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=sim-long-2000');
    await page.evaluate(`
        window.changes = 0; window.frames = 0;
        const log = document.querySelector('[role=log]');
        new MutationObserver(() => { window.changes++ }).observe(log, { subtree: true, childList: true, characterData: true });
        const tick = () => { window.frames++; requestAnimationFrame(tick); };
        tick();
      `);
    await say(page, 'Write a lot');
    await answered(page);
    const [changes, frames]: [number, number] = await page.evaluate(
      '[window.changes, window.frames]',
    );
    expect(changes).toBeLessThan(frames + 20);
    await page.getByRole('button', { name: 'Raw events' }).click();
    const events = (await page.getByLabel('Raw events').last().innerText()).split('\n').length;
    expect(events).toBeGreaterThan(200);
  }, 60_000);

  test('shows calls of tools as cards and goes on with their results; tools that are no JSON are not sent', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=gpt-4o');
    await page.getByText('More settings').click();
    const tools = page.getByLabel('Tools, as JSON');
    await tools.fill('[{]');
    await tools.blur();
    await expect.poll(() => main(page).innerText()).toContain('This is not valid JSON');
    await tools.fill('');
    await page.getByRole('button', { name: 'Insert an example' }).click();
    await say(page, 'What is the weather in Paris?');
    const card = page.getByRole('article', { name: 'Tool call get_weather' });
    await card.waitFor();
    await answered(page);
    await card.getByLabel('Result get_weather').fill('{"celsius": 21}');
    await card.getByRole('button', { name: 'Submit result' }).click();
    await card.getByLabel('Result submitted').waitFor();
    await page.locator('[data-charge]').nth(1).waitFor();
    await expect.poll(() => page.getByRole('log').innerText()).toContain('21');
  }, 60_000);

  test('takes pictures by file, paste and address, folds thoughts, and compares two models', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=gpt-4o&beside=claude-haiku-4-5');
    const file = { name: 'fox.png', mimeType: 'image/png', buffer: png };
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        file,
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
      ]);
    await page.getByRole('img', { name: 'fox.png' }).waitFor();
    await expect
      .poll(() => page.getByRole('alert').innerText())
      .toContain('notes.txt: the model does not take files of this type.');
    const drawn = (name: string) =>
      page.getByRole('button', { name }).locator('path').getAttribute('d');
    const icons = await Promise.all(
      ['Add a model', 'Attach files', 'Add an image by URL'].map(drawn),
    );
    expect(new Set(icons).size, 'each button has an icon of its own').toBe(3);
    await page.getByRole('button', { name: 'Add an image by URL' }).click();
    await page.getByLabel('Image URL').fill('fox');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => main(page).innerText())
      .toContain('Enter a URL that starts with https://.');
    await page.keyboard.press('Escape');
    await say(page, 'What do you see?');
    await page.locator('[data-charge]').nth(1).waitFor();
    const [left, right] = await page.getByRole('log').allInnerTexts();
    expect([left, right].map((text) => text?.includes('3×2 pixels'))).toEqual([true, true]);
    await expect.poll(() => page.getByRole('figure').innerText()).toContain('base64 < fox.png');
  }, 60_000);

  test('says before a request that the balance is too small, and what it pays for', async () => {
    const live = await sharedConsole();
    const { cookie } = await startPaying(live, 1n);
    const { page, go } = await openWindow(live.url, cookie);
    await go('/playground/chat?model=claude-haiku-4-5');
    const told = /at most ¥2\.\d+ · your balance of ¥1\.00 pays for about ([\d,]+) output tokens/;
    const [, tokens = ''] = told.exec(await main(page).innerText()) ?? [];
    // As many as a yuan buys, without those of the question.
    expect(Number(tokens.replace(',', ''))).toBeGreaterThan(20_000);
    await page.getByText('More settings').click();
    await page.getByLabel('Max tokens', { exact: true }).fill('20');
    await page.getByText(/at most ¥0\.0/).waitFor();
    expect(await main(page).innerText()).not.toContain('your balance of');
    await go('/playground/image?model=dall-e-2');
    await page.getByLabel('Images', { exact: true }).selectOption('10');
    await page.getByText('your balance of ¥1.00 pays for 7 images').waitFor();
    await main(page).getByRole('link', { name: 'Top up' }).waitFor();
    // The price of images is known, so the request would be refused.
    await page.getByText('Your balance is too low.', { exact: true }).waitFor();
    await expect.poll(() => run(page).getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Images', { exact: true }).selectOption('4');
    await expect.poll(() => run(page).getAttribute('aria-disabled')).toBe(null);
  });

  test('says what cannot be paid, and what the vendor would not do', async () => {
    const live = await sharedConsole();
    const { page, go } = await openAt(live, '/playground/chat?model=sim-policy');
    await say(page, 'Something forbidden');
    await page.getByRole('alert').getByText('You were not charged.').waitFor();
    await go('/playground/chat?model=sim-cut-after-3');
    await say(page, 'Hello');
    await page.getByRole('alert').waitFor();
    expect(await answered(page)).toBeGreaterThan(0);
    expect(await page.getByRole('alert').innerText()).not.toContain('not charged');
    const poor = await startPaying(live, 0n);
    const other = await openWindow(live.url, poor.cookie);
    await other.go('/playground/chat?model=deepseek-chat');
    await say(other.page, 'Hello');
    const told = await run(other.page).getAttribute('aria-describedby');
    await expect
      .poll(() => other.page.locator(`[id="${told}"]`).innerText())
      .toBe('Your balance is too low for any model.');
    expect(await other.page.getByRole('log').innerText()).not.toContain('Hello');
    // Enough for a token of the cheapest model.
    const tiny = { id: 'grant', account: poor.userId, from: 'grants', amount: 20_000n } as const;
    const { database } = live.gateway;
    await credit(database, { ...tiny, code: 'grant', ref: 'test', at: systemClock.now() });
    await other.go('/playground/chat?model=deepseek-chat');
    await say(other.page, 'Hello');
    await other.page.getByRole('alert').getByRole('link', { name: 'Top up' }).waitFor();
    await go('/playground/nothing');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    const keyless = await openWindow(live.url, (await live.newUser()).cookie);
    await keyless.go('/playground');
    await keyless.page.getByRole('link', { name: 'Create key' }).last().waitFor();
  });
});

describe.skipIf(noChromium)('pictures in the playground', () => {
  test('have their price at each size, appear in place, and are edited where they are painted over', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/image?model=dall-e-2');
    await run(page).click();
    await expect.poll(() => main(page).innerText()).toContain('Describe the image.');
    await page.getByRole('radio', { name: '256 × 256' }).check();
    await expect.poll(() => main(page).innerText()).toContain('¥0.1136 each');
    await page.getByLabel('Prompt').fill('A red fox');
    await page.getByLabel('Images', { exact: true }).selectOption('2');
    await expect.poll(() => main(page).innerText()).toContain('at most ¥0.2272');
    await run(page).click();
    expect(await answered(page)).toBe(0.2272);
    const line = await page.locator('[data-charge]').innerText();
    expect(line).toContain('2 images');
    expect(line, 'tokens have no part in the price').not.toContain('tokens');
    await page.getByRole('img', { name: 'Result 2' }).waitFor();
    await page.getByRole('button', { name: 'Use as input' }).first().click();
    const canvas = page.getByRole('img', { name: /paint on it/ });
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('the canvas is not shown');
    await page.mouse.move(box.x + 40, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 120, box.y + 80, { steps: 5 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Undo stroke' }).waitFor();
    await page.getByLabel('Prompt').fill('Give the fox a scarf');
    await expect
      .poll(() => page.getByRole('figure').innerText())
      .toContain('mask=@mask.png;type=image/png');
    await expectAccessible(page, 'editing a picture');
    await picture(page, 'play-edit-1440-light-en');
    await run(page).click();
    await page.getByText('Generating 2 images …').waitFor({ state: 'detached' });
    expect(await answered(page)).toBe(0.2272);
    const sent = (await page.getByRole('main').innerText()).includes('That did not work');
    expect(sent).toBe(false);
    // What it costs is what the group of the key pays that is chosen.
    await page.route('**/console/api/models?group=default', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replaceAll('"0.1136"', '"0.5"'),
      });
    });
    await page.reload();
    await page.getByRole('radio', { name: '256 × 256' }).check();
    await main(page)
      .getByText(/¥0\.50? each/)
      .waitFor();
  }, 60_000);
});

describe.skipIf(noChromium)('videos in the playground', () => {
  test('have their price on each length, go on when the page is left, and play in place', async () => {
    const live = await startLiveConsole(filming('sim-task-5000ms'));
    const { page, go, user } = await openAt(live, '/playground/video?model=sora-2');
    await expect.poll(() => main(page).innerText()).toContain('¥3.55');
    await page.getByRole('radio', { name: '10 s' }).check();
    await page.getByLabel('Prompt').fill('A fox walks');
    await page.getByRole('button', { name: 'Generate video' }).click();
    await page.getByText('¥7.100000 held', { exact: false }).waitFor();
    await expect.poll(() => main(page).innerText()).toContain('You can leave');
    expect((await user.ask('session')).json.balance.held).toBe('7.100000000');
    await page.reload();
    await page.locator('video').waitFor({ timeout: 30_000 });
    const seconds: number = await page.evaluate(
      `new Promise((resolve) => { const video = document.querySelector('video'); if (video.readyState > 0) resolve(video.duration); video.onloadedmetadata = () => resolve(video.duration); })`,
    );
    expect(Math.round(seconds)).toBe(10);
    await page.getByRole('link', { name: 'See the charge' }).click();
    await page.waitForURL(/\/usage\/\w+/);
    await page.getByText('Matches the ledger transfer').waitFor();
    await go('/tasks');
    await page
      .getByRole('link')
      .filter({ has: page.locator('time') })
      .first()
      .click();
    await page.getByRole('dialog').locator('video').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL('**/tasks');
  }, 90_000);

  test('give the money back when they fail, and say why', async () => {
    const live = await startLiveConsole(filming('sim-task-moderated'));
    const { page, user } = await openAt(live, '/playground/video?model=sora-2');
    await page.getByLabel('Prompt').fill('A fox');
    // The answer is lost on its way, and it is sent again: it is the same video.
    await page.route(
      '**/console/api/play/videos',
      (route) => route.fetch().then(() => route.abort('internetdisconnected')),
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Generate video' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Generate video' }).click();
    await page.getByText('¥3.550000 released', { exact: false }).waitFor({ timeout: 30_000 });
    expect((await user.ask('tasks')).json.items).toHaveLength(1);
    expect((await user.ask('session')).json.balance).toMatchObject({
      available: '100.000000000',
      held: '0.000000000',
    });
  }, 60_000);
});
