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
  const chat = async (model: string): Promise<string | null> => {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
    return reply.headers.get('x-request-id');
  };
  return { page, go, chat, url };
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
});
