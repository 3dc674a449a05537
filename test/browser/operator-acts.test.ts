import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { type LiveConsole, startLiveConsole } from './gateway.ts';

withChromium();

const keyed = (name: string) => ({ 'idempotency-key': `a-form-for-${name}` });

/** A key of that user. */
async function keyOf(user: Awaited<ReturnType<LiveConsole['newUser']>>): Promise<string> {
  const { json } = await user.ask('keys', {
    method: 'POST',
    headers: keyed('a-key'),
    body: { name: 'ci', group: 'default' },
  });
  return json.secret;
}

async function chat(live: LiveConsole, secret: string, model: string): Promise<number> {
  const { status } = await fetch(`${live.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  return status;
}

async function asOperator(live: LiveConsole) {
  const operator = await live.newUser({ role: 'operator', name: 'Wu' });
  return { operator, ...(await openWindow(live.url, operator.cookie)) };
}

const said = (page: Page, text: string | RegExp) =>
  page.getByRole('status').getByText(text).first().waitFor();

describe.skipIf(noChromium)('operators in Chromium', () => {
  test('read what needs them, test a channel stage by stage, drain it and undo that', async () => {
    const live = await startLiveConsole();
    const secret = await keyOf(await live.newUser({ yuan: 20n }));
    expect(await chat(live, secret, 'sim-401')).toBe(503);
    // One of three: no attention is drawn to failing requests as such.
    expect(await chat(live, secret, 'deepseek-chat')).toBe(200);
    expect(await chat(live, secret, 'deepseek-chat')).toBe(200);
    const { page, go, operator } = await asOperator(live);
    await expect
      .poll(async () => (await operator.ask('operator/overview')).json.attention.length, {
        timeout: 10_000,
      })
      // The parked channel, and its model, which no other channel serves.
      .toBe(2);
    await go('/operator');
    const panel = page
      .getByRole('listitem')
      .filter({ hasText: 'The vendor refused the key of sim-401-openai.' });
    await panel.waitFor();
    await page.getByText('Errors per channel and hour').waitFor();
    await expectAccessible(page, 'attention');
    await picture(page, 'operator-attention');
    await panel.getByRole('link', { name: 'Open channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'sim-401-openai' }).waitFor();
    await page.getByText('Parked', { exact: true }).first().waitFor();
    await page.getByText('The gateway tries it again by itself').waitFor();

    await go('/operator/channels/sim-deepseek');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Test sim-deepseek' });
    await dialog.getByRole('button', { name: 'Run test' }).click();
    await dialog.getByText('Test passed.').waitFor();
    await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toHaveLength(4);
    await expectAccessible(page, 'a test of a channel');
    await picture(page, 'operator-channel-test');
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Drain' }).hover();
    await page.getByRole('tooltip').getByText('the running ones finish').waitFor();
    await page.getByRole('button', { name: 'Drain' }).click();
    const asked = page.getByRole('alertdialog');
    await asked.getByText(/deepseek-chat, deepseek-reasoner/).waitFor();
    await asked.getByRole('button', { name: 'Drain anyway' }).click();
    await page
      .getByText(/Draining|Drained/)
      .first()
      .waitFor();
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Drain' }).waitFor();
    await said(page, 'sim-deepseek takes requests again.');
  }, 90_000);

  test('add a channel, enter its costs, and find both in its history', async () => {
    const live = await startLiveConsole();
    const { page, go, operator } = await asOperator(live);
    await go('/operator/channels');
    await page.keyboard.press('c');
    const form = page.getByRole('dialog', { name: 'Add channel' });
    await form.getByRole('button', { name: 'Add channel' }).click();
    await expect.poll(() => form.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Name').fill('second');
    await form.getByLabel('Vendor', { exact: true }).selectOption('openai');
    await form.getByLabel('Base URL').fill(`${live.simulator.url}/openai/v1`);
    await form.getByLabel('Key').fill('sk-of-the-second-channel');
    await form.getByLabel('Models, one per line').fill('gpt-4o');
    await form.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'second' }).waitFor();
    await go('/operator/channels/second?form=edit');
    const edit = page.getByRole('dialog', { name: 'Edit second' });
    await edit.getByRole('button', { name: 'Add another key' }).click();
    await edit.getByLabel('Key 2', { exact: true }).fill('sk-of-its-second-key');
    await expectAccessible(page, 'several keys');
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Keys (2)' }).waitFor();
    expect((await operator.ask('operator/channels/second')).json.keys).toHaveLength(2);
    const entries = page.getByRole('link').filter({ hasText: /^20/ });
    await page.getByRole('tab', { name: 'History' }).click();
    await expect.poll(() => entries.count()).toBe(2);
    await page.getByRole('tab', { name: 'Models' }).click();
    await page.getByRole('button', { name: 'Enter cost: gpt-4o' }).click();
    const costs = page.getByRole('dialog');
    const group = costs.getByRole('group', { name: 'Vendor cost' });
    const help = await group.getAttribute('aria-describedby');
    await expect
      .poll(() => costs.locator(`[id="${help}"]`).innerText())
      .toMatch(/^Used for margins only/);
    await costs.getByLabel(/^Input/).fill('10');
    await costs.getByLabel(/^Output/).fill('40');
    await costs.getByRole('button', { name: 'Save' }).click();
    await said(page, 'Costs saved.');
    expect((await operator.ask('operator/channels/second')).json.costs[0].prices).toHaveLength(2);
    await page.getByRole('tab', { name: 'History' }).click();
    await expect.poll(() => entries.count()).toBe(3);
    await entries.first().click();
    const entry = page.getByRole('dialog', { name: 'changed a channel' });
    for (const text of ['Vendor cost of gpt-4o: Input', '¥10.00', '¥40.00'])
      await entry.getByText(text).waitFor();
    await expectAccessible(page, 'an entry of the trail');
    await picture(page, 'operator-audit-entry');
    expect(await page.content()).not.toContain('sk-of-the-second-channel');
  }, 90_000);

  test('see what a price would bring before they publish it, and compare a list before they import it', async () => {
    const live = await startLiveConsole();
    const secret = await keyOf(await live.newUser({ yuan: 20n }));
    expect(await chat(live, secret, 'deepseek-chat')).toBe(200);
    const { page, go, operator } = await asOperator(live);
    await go('/operator/models/deepseek-chat');
    await page.getByLabel('Input: New (v2)', { exact: true }).fill('9');
    const preview = page.getByRole('region', { name: 'Preview on the usage of the last 7 days' });
    await preview.getByText('Input changes by +350 %.').waitFor();
    await expectAccessible(page, 'a preview of a price');
    await picture(page, 'operator-price-preview', { whole: true });
    await page.getByRole('button', { name: 'Publish v2' }).click();
    await expect.poll(() => page.getByLabel('Reason').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Reason').fill('dearer since Monday');
    await page.getByRole('button', { name: 'Publish v2' }).click();
    await said(page, 'Version 2 of deepseek-chat is published.');
    await page.getByText('dearer since Monday').waitFor();
    expect((await operator.ask('operator/models/deepseek-chat')).json.price_version).toBe(2);

    await go('/operator/models/import');
    const list = page.getByLabel('Price list: YAML, JSON or CSV');
    await list.fill(
      'id,input,cached_input,output\ndeepseek-chat,2,0.2,3\nglm-4.7,2,0.4,8\nqwen-plus,cheap,0.1,2\n',
    );
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Correct the refused lines, then choose “Compare” again.').waitFor();
    await page.getByText("must be a decimal number, not 'cheap'", { exact: true }).waitFor();
    await list.fill('id,input,cached_input,output\ndeepseek-chat,2,0.2,3\nglm-4.7,2,0.4,8\n');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('¥9.00 → ¥2.00').waitFor();
    await expectAccessible(page, 'a price list');
    await picture(page, 'operator-import', { whole: true });
    await page.getByLabel('Reason').fill('back again');
    await page.getByRole('button', { name: 'Publish all' }).click();
    await said(page, '1 model has a new price.');
    expect((await operator.ask('operator/models/deepseek-chat')).json.price_version).toBe(3);
  }, 90_000);
});

describe.skipIf(noChromium)('operators and money in Chromium', () => {
  test('see that another price was published meanwhile, and relist a model at its whole price', async () => {
    const live = await startLiveConsole();
    const { page, go, operator } = await asOperator(live);
    const post = (path: string, body: object) =>
      operator.ask(`operator/${path}`, { method: 'POST', headers: keyed(path), body });
    const price = { input: '1', output: '2', modes: { flex: { times: '0.5' } } };
    await post('models', { id: 'lab/one', price });
    await go('/operator/models/lab/one');
    await page.getByLabel('Output: New (v2)', { exact: true }).fill('9');
    await page.getByLabel('Reason').fill('dearer');
    await post('prices/publish', {
      changes: [{ model: 'lab/one', price: { input: '1.5', output: '2' } }],
      reason: 'another',
    });
    await page.getByRole('button', { name: 'Publish v2' }).click();
    await said(page, 'Someone else changed this. The current values are shown.');
    await expect
      .poll(() => page.getByLabel('Input: New (v3)', { exact: true }).inputValue())
      .toBe('1.5');
    await expect
      .poll(() => page.getByLabel('Output: New (v3)', { exact: true }).inputValue())
      .toBe('2');

    await page.getByLabel('Output: New (v3)', { exact: true }).fill('9');
    await page.getByLabel('Reason').fill('dearer');
    await post('prices/publish', {
      changes: [{ model: 'lab/one', price: { input: '3', output: '4' } }],
      reason: 'from the new year on',
      effective_at: '2100-01-01T00:00:00.000Z',
    });
    await page.getByRole('button', { name: 'Publish v3' }).click();
    await page.getByText(/^v3 is scheduled for 2100-01-01/).waitFor();
    await page.getByText('from the new year on').waitFor();
    await page.getByLabel('Output: New (v4)', { exact: true }).fill('9');
    await page.getByLabel('Reason').fill('dearer');
    await page.getByRole('button', { name: 'Publish v4' }).click();
    await said(page, 'Version 4 of lab/one is published.');
    await page.getByText(/^v3 is scheduled for/).waitFor({ state: 'detached' });

    const before = (await operator.ask('operator/models/lab%2Fone')).json;
    await page.getByRole('button', { name: 'Delist' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delist' }).click();
    await said(page, 'lab/one is delisted.');
    await page.getByRole('button', { name: 'Relist' }).click();
    await said(page, 'lab/one is listed.');
    const after = (await operator.ask('operator/models/lab%2Fone')).json;
    expect(after).toEqual({ ...before, version: 3 });
    expect(after.further_prices).not.toEqual([]);
  }, 90_000);

  test('credit and debit with a reason and the amount typed twice, suspend and restore, each in the trail', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser({ yuan: 20n, name: 'Lin' });
    const namesake = await live.newUser({ name: 'Lin' });
    const end = `…${user.userId.slice(-6)}`;
    const { page, go, operator } = await asOperator(live);
    await go('/operator/users');
    await page.getByRole('searchbox').fill('lin');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('lin');
    await page.getByRole('link', { name: `…${namesake.userId.slice(-6)}` }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('lin');
    await page.getByRole('option', { name: end }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: end }).click();
    await page.getByRole('button', { name: 'Add to balance' }).click();
    const credit = page.getByRole('dialog', { name: 'Add to the balance of Lin' });
    await credit.getByText(end).waitFor();
    await credit.getByLabel('Amount', { exact: true }).fill('10.5');
    await credit.getByLabel('Reason').fill('compensation');
    await credit.getByLabel('Type 10.5 to confirm').fill('10');
    await credit.getByRole('button', { name: 'Add ¥10.50' }).click();
    await credit.getByText('Doesn’t match the amount.').waitFor();
    await credit.getByLabel('Type 10.5 to confirm').fill('10.5');
    await expectAccessible(page, 'a credit');
    await picture(page, 'operator-credit');
    await credit.getByRole('button', { name: 'Add ¥10.50' }).click();
    await said(page, '¥10.50 added. Balance ¥30.50.');

    await page.getByRole('button', { name: 'Take from balance' }).click();
    const debit = page.getByRole('dialog', { name: 'Take from the balance of Lin' });
    await debit.getByLabel('Amount', { exact: true }).fill('0.5');
    await debit.getByLabel('Reason').fill('a mistake');
    await debit.getByLabel('Type 0.5 to confirm').fill('0.5');
    await debit.getByRole('button', { name: 'Take ¥0.50' }).click();
    await said(page, '¥0.50 taken. Balance ¥30.00.');

    await page.getByRole('button', { name: 'Actions for Lin' }).click();
    await page.getByRole('menuitem', { name: 'Suspend' }).click();
    const suspend = page.getByRole('dialog', { name: 'Suspend Lin?' });
    await suspend.getByText(end).waitFor();
    await suspend.getByLabel('Reason').fill('abuse');
    await suspend.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('This account is suspended').waitFor();
    expect((await operator.ask(`operator/users/${user.userId}`)).json).toMatchObject({
      state: 'suspended',
      balance: '30.000000000',
    });
    await page.getByRole('tab', { name: 'Audit' }).click();
    for (const act of [
      'suspended a user',
      'took from a balance −¥0.50',
      'added to a balance ¥10.50',
    ]) {
      const row = page.locator('[data-row]').filter({ hasText: act });
      await row.filter({ hasText: end }).waitFor();
    }
    await expectAccessible(page, 'the trail of a user');
    // The operator's own balance would look like the user's.
    expect(await page.getByRole('banner').innerText()).not.toContain('¥');
  }, 90_000);

  test('refund an order in two steps, and compare the wallet’s bill', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser({ name: 'Lin' });
    const body = { amount: '50.00', wallet: 'alipay' };
    const { order } = (
      await user.ask('orders', { method: 'POST', headers: keyed('an-order'), body })
    ).json;
    live.simulator.wallets.pay(order.qr);
    await expect
      .poll(async () => (await user.ask(`orders/${order.id}`)).json.state, { timeout: 10_000 })
      .toBe('credited');
    const { page, go } = await asOperator(live);
    await go(`/operator/orders?order=${order.id}`);
    const drawer = page.getByRole('dialog', { name: 'Order' });
    await drawer.getByRole('button', { name: 'Refund' }).click();
    const refund = page.getByRole('dialog', { name: `Refund order ${order.id}` });
    await refund.getByLabel('Amount').fill('60');
    await refund.getByLabel('Reason').fill('not wanted any more');
    await refund.getByRole('button', { name: 'Continue' }).click();
    await refund.getByText('More than the refundable amount.').waitFor();
    await refund.getByLabel('Amount').fill('20');
    await refund.getByRole('button', { name: 'Continue' }).click();
    await refund.getByLabel('Type 20 to confirm').fill('20');
    await expectAccessible(page, 'a refund');
    await picture(page, 'operator-refund');
    await refund.getByRole('button', { name: 'Refund ¥20.00' }).click();
    await said(page, '¥20.00 held; the refund is requested.');
    await expect
      .poll(async () => (await user.ask('session')).json.balance.total, { timeout: 20_000 })
      .toBe('30.000000000');
    await go('/operator/orders?state=credited');
    await page.getByRole('link', { name: 'Lin' }).waitFor();
    await expectAccessible(page, 'orders');
    await picture(page, 'operator-orders');

    await go('/operator/reconciliation?wallet=alipay');
    // After half past ten in China it has been compared by itself.
    await page.getByRole('button', { name: /^Run (now|again)$/ }).click();
    await page.getByText('The bill and the ledger agree.').waitFor();
    await expectAccessible(page, 'a reconciliation');
    await picture(page, 'operator-reconciliation');
  }, 90_000);

  test('prove the ledger rule by rule, and announce something in both languages', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser({ yuan: 20n });
    const { page, go } = await asOperator(live);
    await go('/operator/ledger');
    await page.getByRole('button', { name: 'Run check' }).click();
    await page.getByText('All rules passed').waitFor();
    await page.getByText('Every credited order has its transfer').waitFor();
    await expect.poll(() => page.getByRole('main').innerText()).toContain('¥20.000000000');
    await expectAccessible(page, 'a check of the ledger');
    await picture(page, 'operator-ledger-checked');

    await go('/operator/announcements');
    await page.getByRole('button', { name: 'New announcement' }).click();
    const form = page.getByRole('dialog', { name: 'New announcement' });
    await form.getByLabel('Title in Chinese').fill('今晚维护');
    await form.getByLabel('Title in English').fill('Maintenance tonight');
    await form.getByLabel('Text in Chinese').fill('22:00 起约十分钟。');
    await form.getByLabel('Text in English').fill('From 22:00, for ten minutes.');
    await form.getByLabel('Level').selectOption('warn');
    const preview = form.getByRole('region', { name: 'Preview' });
    await expect.poll(() => preview.innerText()).toContain('Maintenance tonight');
    await expectAccessible(page, 'an announcement');
    await picture(page, 'operator-announcement');
    await form.getByRole('button', { name: 'Publish' }).click();
    await said(page, 'Published.');
    expect((await user.ask('announcements')).json.items[0].title.en).toBe('Maintenance tonight');
    await page.getByRole('button', { name: 'Actions for Maintenance tonight' }).click();
    await page.getByRole('menuitem', { name: 'Hide' }).click();
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Shown', { exact: true }).waitFor();
    expect((await user.ask('announcements')).json.items).toHaveLength(1);
  }, 90_000);
});
