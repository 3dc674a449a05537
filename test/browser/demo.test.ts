import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDemo } from '../support/demo-terminal.ts';
import channelsEn from '../../web/words/en/operator-channels.ts';
import modelsEn from '../../web/words/en/models.ts';
import operatorEn from '../../web/words/en/operator.ts';
import pricesEn from '../../web/words/en/operator-prices.ts';
import signInEn from '../../web/words/en/sign-in.ts';
import signInZh from '../../web/words/zh/sign-in.ts';
import channelsZh from '../../web/words/zh/operator-channels.ts';
import modelsZh from '../../web/words/zh/models.ts';
import operatorZh from '../../web/words/zh/operator.ts';
import pricesZh from '../../web/words/zh/operator-prices.ts';
import {
  expectAccessible,
  type Look,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { type AtEnd, onePerFile } from './gateway.ts';

withChromium();

const wordsOf = {
  en: { channels: channelsEn, classes: modelsEn.classes, operator: operatorEn, prices: pricesEn },
  zh: { channels: channelsZh, classes: modelsZh.classes, operator: operatorZh, prices: pricesZh },
} as const;

type Started = Omit<Awaited<ReturnType<typeof startDemo>>, 'demo'>;

async function startUntil(atEnd: AtEnd): Promise<Started> {
  const { demo, ...started } = await startDemo();
  atEnd(async () => {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
  });
  return started;
}

/** Its operator, signed in by the link that works once. */
async function enter({ url, link }: Started, look: Look) {
  const window = await openWindow(url, undefined, look);
  await window.page.goto(link);
  await window.page.getByRole('button').first().click();
  await window.page.getByRole('main').waitFor();
  return window;
}

/** A demo of the test's own, whose prices and channels it changes. */
async function demoFor(look: Look) {
  const started = await startUntil(onTestFinished);
  const { url, key } = started;
  const { page, go } = await enter(started, look);
  const send = async (model: string): Promise<string | null> => {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
    return reply.headers.get('x-request-id');
  };
  return { page, go, chat: Object.assign(send, { key }), url };
}

/** A demo that the tests of this file change nothing of, and the cookie of its operator. */
const unchanged = onePerFile(async (atEnd) => {
  const started = await startUntil(atEnd);
  const { context } = await enter(started, {});
  const session = (await context.cookies()).find(({ name }) => name === 'tollgate');
  return { url: started.url, cookie: `tollgate=${session?.value}` };
});

async function openUnchanged(look: Look) {
  const { url, cookie } = await unchanged();
  return openWindow(url, cookie, look);
}

describe.skipIf(noChromium)('the demo in Chromium', () => {
  test.each(looksAt())(
    'at $width px, $theme, $language, its operator changes a price after a preview and adds a channel from nothing',
    async (seen) => {
      const words = wordsOf[seen.language];
      const { page, go, chat, url } = await demoFor(seen);
      const look = async (name: string) => {
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `demo-${name}-${nameOf(seen)}`);
      };
      await chat('deepseek-chat');
      await go('/operator/models/deepseek-chat');
      const { editor } = words.prices;
      const field = `${words.classes.input}: ${editor.next(2)}`;
      await page.getByLabel(field, { exact: true }).fill('2000');
      await page.getByRole('region', { name: editor.preview }).waitFor();
      await page.getByText(editor.users('1', '0', '0')).waitFor();
      await look('price');
      await page.getByLabel(words.operator.form.reason).fill('to see it work');
      await page.getByRole('button', { name: editor.publish(2) }).click();
      await page.getByText(editor.published('deepseek-chat', 2)).first().waitFor();
      // Processes look for changes of the catalog once a second.
      const paysTheNewPrice = async () => {
        await go(`/usage/${await chat('deepseek-chat')}`);
        return page.getByText('¥2,000').count();
      };
      await expect.poll(paysTheNewPrice, { timeout: 10_000 }).toBeGreaterThan(0);
      await look('charge');

      await addChannel({ page, go, look, words });
      const status = async () =>
        (await fetch(`${url}/v1/models/sim-chat`, { headers: { 'x-api-key': chat.key } })).status;
      await expect.poll(status, { timeout: 10_000 }).toBe(200);
      await go(`/usage/${await chat('sim-chat')}`);
      await page.getByText('¥2,000').first().waitFor();
      expect(await page.content()).not.toContain('sk-sim-groq');
    },
    120_000,
  );

  test('its operator edits a channel, which gets a model with its price, and a group', async () => {
    const { page, go } = await demoFor({ language: 'en', width: 1440 });
    await go('/operator/channels/sim-deepseek?form=edit');
    const channel = page.getByRole('dialog', { name: 'Edit sim-deepseek' });
    await channel.getByLabel('Weight').fill('3');
    await channel.getByRole('button', { name: channelsEn.fetch.button }).click();
    const models = channel.getByRole('list', { name: channelsEn.fetch.title });
    await models.getByRole('checkbox', { name: 'sim-chat' }).check();
    await channel.getByRole('button', { name: 'Save' }).click();
    await models.getByText(channelsEn.fetch.needsPrice('sim-chat')).waitFor();
    for (const line of ['Input', 'Output'])
      await models.getByLabel(channelsEn.fetch.priceOf('sim-chat', line)).fill('2000');
    await expectAccessible(page, 'the form of a channel that gets a model');
    await picture(page, 'demo-edit-channel');
    await channel.getByRole('button', { name: 'Save' }).click();
    await channel.waitFor({ state: 'detached' });
    await go('/operator/models/sim-chat');
    await page.getByText('¥2,000').first().waitFor();
    await go('/operator/groups/default');
    await page.getByRole('button', { name: 'Edit' }).click();
    const group = page.getByRole('dialog', { name: 'Edit default' });
    await group.getByLabel('Fallback models').fill('qwen-plus');
    await expectAccessible(page, 'the form of a group');
    await picture(page, 'demo-group');
    await group.getByRole('button', { name: 'Save' }).click();
    await page.getByText('qwen-plus').first().waitFor();
  }, 90_000);

  test('says in Chinese on a phone that its prices can be changed, and why a list of them is refused', async () => {
    const { page, go } = await openUnchanged({ language: 'zh', width: 390 });
    await go('/operator/models/deepseek-chat');
    await page.getByText('控制台').first().waitFor();
    await expect.poll(() => page.getByText('配置文件').count()).toBe(0);
    await go('/operator/models/import');
    await page.getByRole('textbox').fill('id,input,outptu\ndeepseek-chat,cheap,1');
    await page.getByRole('button', { name: '比较' }).click();
    await page.getByText('必须是数字，例如 2.5，不能是“cheap”').waitFor();
    await page.getByText('没有列“outptu”，是否要写“output”？').waitFor();
    await expectAccessible(page, 'refused lines of a price list');
    await picture(page, 'demo-import-refused', { whole: true });
  }, 60_000);

  test('its sign-in page says that it is a demo, and which account to use', async () => {
    const { url } = await unchanged();
    for (const [language, words] of [
      ['en', signInEn],
      ['zh', signInZh],
    ] as const) {
      const { page, go } = await openWindow(url, undefined, { language, width: 390 });
      await go('/sign-in');
      for (const text of Object.values(words.demo)) await page.getByText(text).waitFor();
      for (const text of [words.scan, words.scanHere])
        await expect.poll(() => page.getByText(text).count()).toBe(0);
      await expectAccessible(page, 'the sign-in page of a demo');
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `demo-sign-in-${language}`);
    }
  }, 90_000);

  test('every channel is tested at once, in Chinese on a phone', async () => {
    const { page, go } = await openUnchanged({ language: 'zh', width: 390 });
    await go('/operator/channels?form=test');
    const dialog = page.getByRole('dialog', { name: '全部测试' });
    await dialog.getByRole('button', { name: '开始测试' }).click();
    await dialog.getByText(/已测试 (\d+)\/\1 个，失败 0 个/).waitFor({ timeout: 60_000 });
    await expectAccessible(page, 'the test of all channels');
    await picture(page, 'demo-test-all');
    await go('/operator/channels?form=new');
    await page.getByRole('dialog', { name: '添加渠道' }).waitFor();
    await picture(page, 'demo-new-channel');
  }, 90_000);
});

interface Adding {
  readonly page: Page;
  readonly go: (path: string) => Promise<void>;
  readonly look: (name: string) => Promise<void>;
  readonly words: (typeof wordsOf)['en' | 'zh'];
}

/** Fetches the models of a vendor, prices one of them, tests it and saves the channel. */
async function addChannel({ page, go, look, words: { channels, classes } }: Adding): Promise<void> {
  await go('/operator/channels?form=new');
  const form = page.getByRole('dialog', { name: channels.form.createTitle });
  await form.getByLabel(channels.form.name).fill('from-nothing');
  await form.getByLabel(channels.form.vendor, { exact: true }).selectOption('groq');
  const { items } = (await page.evaluate(async () =>
    (await fetch('/console/api/operator/channels')).json(),
  )) as { items: { vendor: string; base_url: string }[] };
  const base = items.find(({ vendor }) => vendor === 'groq')?.base_url ?? '';
  await form.getByLabel(channels.form.baseUrl).fill(base);
  await form.getByLabel(channels.form.secret, { exact: true }).fill('sk-sim-groq');
  await form.getByRole('button', { name: channels.fetch.button }).click();
  const models = form.getByRole('list', { name: channels.fetch.title });
  await models.getByRole('checkbox', { name: 'sim-chat' }).check();
  const input = models.getByLabel(channels.fetch.priceOf('sim-chat', classes.input));
  await form.getByRole('button', { name: channels.form.submit }).click();
  await models.getByText(channels.fetch.needsPrice('sim-chat')).waitFor();
  await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => form.getByRole('alert').count()).toBe(0); // refused before it was sent
  await look('needs-price');
  for (const line of [classes.input, classes.output])
    await models.getByLabel(channels.fetch.priceOf('sim-chat', line)).fill('2000');
  await look('fetched');
  await form.getByRole('button', { name: channels.test.run }).click();
  await form.getByText(channels.test.ok).waitFor();
  await look('unsaved-test');
  await form.getByRole('button', { name: channels.form.submit }).click();
  await page.getByRole('heading', { level: 1, name: 'from-nothing' }).waitFor();
}
