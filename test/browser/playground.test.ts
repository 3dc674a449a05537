import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  expectAccessible,
  looksAt,
  looksIn,
  nameOf,
  noChromium,
  openWindow,
  picture,
  type Look,
  withChromium,
} from './chromium.ts';
import en from '../../web/words/en/playground.ts';
import zh from '../../web/words/zh/playground.ts';
import { faultsOf } from './eyes.ts';
import { type LiveConsole, oneConsolePerFile } from './gateway.ts';
import { wav } from '../../sim/media/wav.ts';

withChromium();

const sharedConsole = oneConsolePerFile();
const wordsOf = { en, zh } as const;

async function openAt(live: LiveConsole, path: string, look: Look = {}) {
  const user = await live.newUser({ yuan: 100n });
  await user.ask('keys', {
    method: 'POST',
    body: { name: 'web', group: 'default' },
    headers: { 'idempotency-key': `play-${user.userId}` },
  });
  const window = await openWindow(live.url, user.cookie, look);
  await window.go(path);
  return { ...window, user };
}

const charges = (page: Page) => page.locator('[data-charge]');
const message = (page: Page) => page.getByRole('textbox', { name: /^(Message|消息)$/ });

async function say(page: Page, text: string): Promise<void> {
  await message(page).last().fill(text);
  await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
}

describe.skipIf(noChromium)('the models of the playground', () => {
  test('are found by keyboard, by name, vendor and ability, and the last tried come first', async () => {
    const live = await sharedConsole();
    const { page, go } = await openAt(live, '/playground/chat?model=sim-chat');
    const field = page.getByRole('combobox', { name: 'Model', exact: true });
    await field.click();
    const list = page.getByRole('listbox', { name: 'Model' });
    await list.waitFor();
    await expectAccessible(page, 'the open list of models');
    await picture(page, 'play-models-1440-light-en');
    await page.keyboard.type('anthropic opus');
    await expect.poll(() => list.getByRole('option').count()).toBeLessThan(6);
    await page.getByRole('button', { name: 'Vision' }).click();
    await page.keyboard.press('ArrowDown');
    const marked = await field.getAttribute('aria-activedescendant');
    await expect.poll(() => page.locator(`[id="${marked}"]`).innerText()).toContain('opus');
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    await expect.poll(() => field.inputValue()).toContain('opus');
    await page.waitForURL(/model=.*opus/);
    await page.keyboard.press('ArrowDown');
    await list.waitFor();
    await page.keyboard.type('no such model');
    await page.getByText('No model matches.').waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await expect.poll(() => field.inputValue()).toContain('opus');
    await say(page, 'Hello');
    await charges(page).waitFor();
    await go('/playground/chat');
    await expect.poll(() => field.inputValue()).toContain('opus');
    await field.click();
    await expect
      .poll(() => list.getByRole('group').first().getAttribute('aria-label'))
      .toBe('Recently used');
  }, 60_000);

  test('answer side by side, four at most, each with its cost; one can be taken away', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(
      live,
      '/playground/chat?model=gpt-4o&beside=claude-haiku-4-5&beside2=sim-think',
    );
    await page.getByRole('button', { name: 'Add a model' }).click();
    await page.getByRole('combobox', { name: 'Model 4' }).fill('sim-500');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('button', { name: 'Add a model' }).count()).toBe(0);
    await say(page, 'Count to three');
    await charges(page).nth(2).waitFor();
    await page.getByRole('alert').waitFor();
    // The code of the error is one long word, in a column a quarter as wide as the page.
    const beyond = `[...document.querySelectorAll('[role="alert"] code')].filter(
      (code) => code.getBoundingClientRect().right > code.closest('[role="alert"]').getBoundingClientRect().right).length`;
    expect(await page.evaluate(beyond)).toBe(0);
    await expectAccessible(page, 'four models');
    await picture(page, 'play-four-1440-light-en');
    await page.getByRole('button', { name: 'Remove claude-haiku-4-5' }).click();
    await page.waitForURL(/beside=sim-think/);
    await expect.poll(() => page.getByRole('log').count()).toBe(3);
    await expect
      .poll(() => page.getByRole('log', { name: 'sim-think' }).innerText())
      .toContain('sim-think');
    await page.getByRole('button', { name: 'Remove gpt-4o' }).click();
    await page.waitForURL(/model=sim-think&beside=sim-500/);
    await expect.poll(() => page.getByRole('log').count()).toBe(2);
    await expect.poll(() => page.getByRole('log').first().innerText()).toContain('sim-think');
    await page.getByRole('button', { name: 'Remove sim-500' }).click();
    await page.getByRole('log').nth(1).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('button', { name: /^Remove / }).count()).toBe(0);
  }, 60_000);

  test('are sent only what is set', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=gpt-4o');
    const temperature = page.getByRole('textbox', { name: 'Temperature' });
    await expect.poll(() => temperature.isVisible()).toBe(false);
    await page.getByText('More settings').click();
    const slider = page.getByRole('slider', { name: 'Slider: Temperature' });
    const code = page.getByRole('figure');
    expect(await code.innerText()).not.toContain('temperature');
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => temperature.inputValue()).toBe('1.1');
    await expect.poll(() => code.innerText()).toContain('"temperature": 1.1');
    await temperature.fill('3');
    await page.getByText('Enter a number from 0 to 2.').waitFor();
    await page.getByRole('button', { name: 'Stop sending Temperature' }).click();
    await expect.poll(() => temperature.inputValue()).toBe('');
    expect(await code.innerText()).not.toContain('temperature');
  }, 60_000);

  test('of an answer in a Chinese console, paragraphs without Chinese have Latin quotation marks', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=sim-echo', { language: 'zh' });
    await say(page, '“Yes,” she said.\n\n他说“好”。');
    await charges(page).waitFor();
    await page.locator('[role=log] .contents > p').nth(1).waitFor();
    const typefaces = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[role=log] .contents > p')].map((each) => getComputedStyle(each).fontFamily)`,
    );
    expect(typefaces.map((name) => name.includes('Inter Punctuation'))).toEqual([true, false]);
    await expectAccessible(page, 'an answer in two languages');
    await picture(page, 'play-quotes-zh');
  }, 60_000);

  test('fail with the code, the message and the request id of the gateway, and a link to what happened', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/chat?model=sim-500');
    await say(page, 'Hello');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    const text = await alert.innerText();
    expect(text).toMatch(/503 \w+_error|503 service\w+/);
    expect(text).toMatch(/req_\w+/);
    expect(text).not.toContain('Something went wrong on our side');
    await picture(page, 'play-failed-1440-light-en');
    // The page waits some seconds for the record; a busy machine may take longer to write it.
    const record = `/console/api/requests/${/req_\w+/.exec(text)?.[0]}`;
    const status = () => page.evaluate(async (path) => (await fetch(path)).status, record);
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
    const [happened] = await Promise.all([
      page.waitForEvent('popup'),
      alert.getByRole('link', { name: 'What happened' }).click(),
    ]);
    await happened.waitForURL('**/requests/req_*');
    await happened.getByRole('main').getByText('sim-500').first().waitFor();
    await page.getByText('Hello', { exact: true }).waitFor();
  }, 60_000);
});

describe.skipIf(noChromium)('sound and vectors', () => {
  test('a text is read aloud, and the recording plays and is downloaded', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/speech?model=tts-1');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Enter the text to read aloud.').waitFor();
    await page.getByLabel('Text', { exact: true }).fill('Hello, fox');
    await expect.poll(() => page.getByRole('main').innerText()).toContain('at most ¥0.001065');
    await page.getByLabel('Format').selectOption('wav');
    await page.getByRole('button', { name: 'Run' }).click();
    await charges(page).waitFor();
    await expect.poll(() => charges(page).getAttribute('data-charge')).toBe('0.001065000');
    const seconds: number = await page.evaluate(
      `new Promise((resolve) => { const sound = document.querySelector('audio'); if (sound.readyState > 0) resolve(sound.duration); sound.onloadedmetadata = () => resolve(sound.duration); })`,
    );
    expect(seconds).toBeGreaterThan(0.4);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('speech.wav');
    await expectAccessible(page, 'speech');
    await page.getByLabel('Voice').fill('nobody');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').getByText('req_').waitFor();
  }, 60_000);

  test('a file or the microphone is written down, at the cost of its length', async () => {
    const live = await sharedConsole();
    const { page, context } = await openAt(live, '/playground/transcription?model=whisper-1');
    await context.grantPermissions(['microphone', 'clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Choose a file or record one.').waitFor();
    await page.locator('input[type=file]').setInputFiles({
      name: 'fox.wav',
      mimeType: 'audio/wav',
      buffer: wav('Hello from the fox'),
    });
    await page.getByText(/about ¥0\.00/).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await charges(page).waitFor();
    await expect
      .poll(() => page.getByRole('region', { name: 'Transcript' }).innerText())
      .toContain('Hello from the fox');
    await expectAccessible(page, 'transcription');
    await picture(page, 'play-transcription-1440-light-en');
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await page.getByRole('button', { name: 'Stop recording (1 s)' }).click();
    await page.getByText('recording.webm', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await charges(page).waitFor();
  }, 60_000);

  test('texts are compared', async () => {
    const live = await sharedConsole();
    const { page } = await openAt(live, '/playground/embedding?model=text-embedding-3-small');
    await page.getByLabel('Texts').fill('one');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Enter 2 to 12 texts, one per line.').waitFor();
    await page.getByLabel('Texts').fill('a fox\na fox\n<b>shares</b> fell \u202eodd');
    await page.getByRole('button', { name: 'Run' }).click();
    await charges(page).waitFor();
    const table = page.getByRole('table');
    await expect.poll(() => table.getByRole('row').nth(1).innerText()).toMatch(/1\.000\s+1\.000/);
    await expect.poll(() => table.innerText()).toContain('<b>shares</b>');
    await expectAccessible(page, 'embeddings');
    await picture(page, 'play-embedding-1440-light-en');
  }, 60_000);
});

describe.skipIf(noChromium)('every part of the playground', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, is readable and fits',
    async (look) => {
      const live = await sharedConsole();
      const { page, go } = await openAt(
        live,
        '/playground/chat?model=sim-chat&beside=sim-think',
        look,
      );
      const seen = async (name: string) => {
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `play-${name}-${nameOf(look)}`);
      };
      await say(page, 'Hello');
      await charges(page).nth(1).waitFor();
      await seen('two');
      await go('/playground/speech?model=tts-1');
      await page.locator('textarea[dir=auto]').first().fill('Hello');
      await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
      await charges(page).waitFor();
      await seen('speech');
      await go('/playground/transcription?model=whisper-1');
      await seen('transcription');
      await go('/playground/embedding?model=text-embedding-3-small');
      await page
        .locator('textarea[dir=auto]')
        .first()
        .fill('A fox\nA long text about a fox that crosses the river\n狐狸');
      await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
      await charges(page).waitFor();
      await seen('embedding');
      await go('/playground/image?model=dall-e-3');
      await seen('image');
      await page.locator('textarea').first().fill('A red fox');
      await page.getByRole('button', { name: /^(Run|运行)$/ }).click();
      await charges(page).waitFor();
      await seen('image-made');
      await go('/playground/video?model=sora-2');
      await page.locator('textarea').first().fill('A fox walks');
      await seen('video');
      await page.getByRole('button', { name: /^(Generate video|生成视频)$/ }).click();
      await page.locator('video').waitFor({ timeout: 60_000 });
      await seen('video-made');
    },
    180_000,
  );
});

describe.skipIf(noChromium)('on a phone', () => {
  test.each(['zh', 'en'] as const)(
    'the message stays in view, in %s',
    async (language) => {
      const live = await sharedConsole();
      for (const { theme } of looksIn(language)) {
        const { page } = await openAt(live, '/playground/chat?model=sim-chat', {
          width: 390,
          theme,
          language,
        });
        const inView = async () => {
          const box = await page.getByRole('button', { name: /^(Run|运行)$/ }).boundingBox();
          const bar = await page.locator('nav').last().boundingBox();
          expect(box).not.toBeNull();
          expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 740);
        };
        await inView();
        await say(page, 'Hello');
        await charges(page).waitFor();
        await inView();
        const warning = await page.getByText(wordsOf[language].notSaved).boundingBox();
        expect(warning?.width, 'on the narrowest pages, too').toBeGreaterThan(100);
        await expectAccessible(page, `chat on a phone, ${theme}`);
        await picture(page, `play-phone-390-${theme}-${language}`);
        await page.getByRole('combobox').first().click();
        await picture(page, `play-phone-models-390-${theme}-${language}`);
        await page.close();
      }
    },
    120_000,
  );
});
