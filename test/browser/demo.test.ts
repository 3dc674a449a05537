import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDemo } from '../support/demo-terminal.ts';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';

withChromium();

async function demoFor(language: 'en' | 'zh', width: number) {
  const { demo, url, key, link } = await startDemo();
  onTestFinished(async () => {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
  });
  const { page, go } = await openWindow(url, undefined, { language, width });
  await page.goto(link);
  await page.getByRole('button').first().click();
  await page.getByRole('main').waitFor();
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

describe.skipIf(noChromium)('the demo in Chromium', () => {
  test('its operator edits a model, a price, a channel and a group, and calls pay the new price', async () => {
    const { page, go, chat } = await demoFor('en', 1440);
    await chat('deepseek-chat');
    await go('/operator/models/deepseek-chat');
    await page.getByLabel('Input: New (v2)', { exact: true }).fill('2000');
    await page.getByRole('region', { name: 'Preview on the usage of the last 7 days' }).waitFor();
    await expectAccessible(page, 'the preview of a price in the demo');
    await picture(page, 'demo-price');
    await page.getByLabel('Reason').fill('to see it work');
    await page.getByRole('button', { name: 'Publish v2' }).click();
    await page.getByText('Version 2 of deepseek-chat is published.').first().waitFor();
    // Processes look for changes of the catalogue once a second.
    const paysTheNewPrice = async () => {
      await go(`/usage/${await chat('deepseek-chat')}`);
      return page.getByText('¥2,000').count();
    };
    await expect.poll(paysTheNewPrice, { timeout: 10_000 }).toBeGreaterThan(0);
    await picture(page, 'demo-charge');

    await go('/operator/channels/sim-deepseek?form=edit');
    const channel = page.getByRole('dialog', { name: 'Edit sim-deepseek' });
    await channel.getByLabel('Weight').fill('3');
    await channel.getByRole('button', { name: 'Save' }).click();
    await channel.waitFor({ state: 'detached' });
    await go('/operator/groups/default');
    await page.getByRole('button', { name: 'Edit' }).click();
    const group = page.getByRole('dialog', { name: 'Edit default' });
    await group.getByLabel('Fallback models').fill('qwen-plus');
    await expectAccessible(page, 'the form of a group');
    await picture(page, 'demo-group');
    await group.getByRole('button', { name: 'Save' }).click();
    await page.getByText('qwen-plus').first().waitFor();
  }, 90_000);

  test('says in Chinese on a phone that its prices can be changed', async () => {
    const { page, go } = await demoFor('zh', 390);
    await go('/operator/models/deepseek-chat');
    await page.getByText('控制台').first().waitFor();
    expect(await page.getByText('配置文件').count()).toBe(0);
    await expectAccessible(page, 'a model of the demo on a phone');
    await picture(page, 'demo-price');
  }, 60_000);

  test('a channel is added from nothing: fetched, priced, tested, saved, called', async () => {
    const { page, go, chat, url } = await demoFor('en', 1440);
    await go('/operator/channels?form=new');
    const form = page.getByRole('dialog', { name: 'Add channel' });
    await form.getByLabel('Name').fill('from-nothing');
    await form.getByLabel('Vendor', { exact: true }).selectOption('groq');
    const { items } = (await page.evaluate(async () =>
      (await fetch('/console/api/operator/channels')).json(),
    )) as { items: { vendor: string; base_url: string }[] };
    const base = items.find(({ vendor }) => vendor === 'groq')?.base_url ?? '';
    await form.getByLabel('Base URL').fill(base);
    await form.getByLabel('Key').fill('sk-sim-groq');
    await form.getByRole('button', { name: 'Fetch models' }).click();
    const models = form.getByRole('list', { name: 'Models of the vendor' });
    await models.getByRole('checkbox', { name: 'sim-chat' }).check();
    await models.getByLabel('sim-chat: Input, yuan per million tokens').fill('2000');
    await models.getByLabel('sim-chat: Output, yuan per million tokens').fill('2000');
    await expectAccessible(page, 'the models of a vendor');
    await picture(page, 'demo-fetched');
    await form.getByRole('button', { name: 'Run test' }).click();
    await form.getByText('Test passed.').waitFor();
    await expectAccessible(page, 'the test of a channel that is not saved');
    await picture(page, 'demo-unsaved-test');
    await form.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'from-nothing' }).waitFor();
    const status = async () =>
      (await fetch(`${url}/v1/models/sim-chat`, { headers: { 'x-api-key': chat.key } })).status;
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
    await go(`/usage/${await chat('sim-chat')}`);
    await page.getByText('¥2,000').first().waitFor();
    expect(await page.content()).not.toContain('sk-sim-groq');
  }, 90_000);

  test('every channel is tested at once, in Chinese on a phone', async () => {
    const { page, go } = await demoFor('zh', 390);
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
