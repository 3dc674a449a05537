import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { refund } from '../../src/ledger/ledger.ts';
import { configurationFrom } from '../support/running.ts';
import { completion, json, startVendor } from '../support/scripted-vendor.ts';
import {
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { startLiveConsole } from './gateway.ts';

withChromium();

const [broken, refusing, spare] = ['alpha-line', 'beta-line', 'gamma-line'];
const vendorName = 'siliconflow';
/** What a user must not read: channels, their vendor, and what the vendors did. */
const hidden = [broken, refusing, spare, vendorName, 'overloaded', 'server_error', 'rate_limited'];

const written = (one: string, two: string): string => `
groups:
  - { name: default }
models:
  - { id: never-1, owned_by: lab, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
  - { id: second-1, owned_by: lab, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
channels:
  - { name: ${broken}, vendor: ${vendorName}, base_url: "${one}/v1", api_key: up-key, models: [never-1, second-1] }
  - { name: ${refusing}, vendor: ${vendorName}, base_url: "${one}/v1", api_key: up-key, models: [never-1], priority: 5 }
  - { name: ${spare}, vendor: ${vendorName}, base_url: "${two}/v1", api_key: up-key, models: [second-1], priority: 9 }
`;

const vendorMs = 60;

/** A gateway whose first vendor fails, a user, an operator, and two requests of the user. */
async function start() {
  const [failing, answering] = [await startVendor(), await startVendor()];
  failing.answer((_, response) =>
    setTimeout(() => json(response, 503, JSON.stringify({ error: { message: 'busy' } })), vendorMs),
  );
  answering.answer((_, response) => setTimeout(() => json(response, 200, completion()), vendorMs));
  const live = await startLiveConsole(async () => ({
    configuration: await configurationFrom(written(failing.url, answering.url)),
  }));
  const user = await live.newUser({ yuan: 20n, name: 'Lin' });
  const operator = await live.newUser({ role: 'operator', name: 'Wu' });
  const { json: made } = await user.ask('keys', {
    method: 'POST',
    headers: { 'idempotency-key': 'a-form-for-a-key' },
    body: { name: 'ci', group: 'default' },
  });
  const send = async (model: string, secret: string = made.secret, more: object = {}) => {
    const { status, headers } = await fetch(`${live.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], ...more }),
    });
    return { status, id: headers.get('x-request-id') ?? '' };
  };
  const retried = await send('second-1');
  expect(retried.status).toBe(200);
  const failed = await send('never-1');
  expect(failed.status).toBe(503);
  for (const { id } of [retried, failed])
    await expect
      .poll(async () => (await operator.ask(`operator/requests/${id}`)).json?.attempts?.length, {
        timeout: 10_000,
      })
      .toBe(2);
  return { live, user, operator, send, answering, retried: retried.id, failed: failed.id };
}

/** From the id of a request to its page, as ⌘K finds it. */
async function findById(page: Page, id: string, path: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill(id);
  await page.getByRole('option', { name: id }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${path}`);
  await page.getByText(id.slice(-6)).first().waitFor();
  await settled(page);
}

async function look(page: Page, what: string): Promise<void> {
  expect(await page.getByRole('main').innerText(), what).not.toMatch(/undefined|null|NaN/);
  await expectAccessible(page, what);
  expect(await faultsOf(page), what).toEqual([]);
  await picture(page, what, { whole: true });
}

/** The API's text is English: the page marks it, and says so where it is in Chinese itself. */
async function expectOriginal(page: Page, language: 'zh' | 'en'): Promise<void> {
  const main = page.getByRole('main');
  await expect
    .poll(() => main.locator('[lang="en"]').allInnerTexts())
    .toEqual([expect.stringMatching(/^The service is temporarily unavailable/)]);
  await expect
    .poll(() => main.getByText('网关的英文信息：').count())
    .toBe(language === 'zh' ? 1 : 0);
}

const texts = {
  en: {
    period: 'Period',
    timeline: 'Attempts over time',
    all: 'All requests',
    failed: 'Failed',
    notCharged: 'You were not charged.',
    next: 'What to do next',
    first: 'Retried on another channel.',
    last: 'Not retried: no other channel was available.',
    code: 'Error code',
  },
  zh: {
    period: '时间范围',
    timeline: '各次尝试的时间',
    all: '全部请求',
    failed: '失败的',
    notCharged: '未扣费。',
    next: '如何处理',
    first: '已在另一个渠道重试。',
    last: '未重试：没有其他可用的渠道。',
    code: '错误码',
  },
} as const;

describe.skipIf(noChromium)('a request that failed, in Chromium', () => {
  test('is found by its id: by its user without the channels, by operators with them', async () => {
    const { live, user, operator, failed, retried } = await start();
    for (const seen of looksAt()) {
      const words = texts[seen.language];
      const view = nameOf(seen);
      const own = await openWindow(live.url, user.cookie, seen);
      await own.go('/usage?tab=failed');
      await own.page.getByText('never-1').first().waitFor();
      const period = own.page.getByLabel(words.period, { exact: true });
      const offered: readonly string[] = await period
        .locator('option')
        .evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''));
      expect([await period.inputValue(), offered]).toEqual(['-7d', ['-24h', '-7d', 'custom']]);
      await look(own.page, `requests-${view}`);
      await findById(own.page, failed, `/requests/${failed}`);
      const timeline = own.page.getByRole('list', { name: words.timeline });
      await expect.poll(() => timeline.getByRole('listitem').count()).toBe(2);
      await own.page.getByText(words.notCharged).waitFor();
      await own.page.getByRole('heading', { name: words.next }).waitFor();
      await own.page.locator('main a[href^="/docs/guide/reference/errors.html#"]').waitFor();
      await expectOriginal(own.page, seen.language);
      await look(own.page, `request-${view}`);
      for (const name of hidden) expect(await own.page.content()).not.toContain(name);
      await findById(own.page, retried, `/usage/${retried}`);
      await expect.poll(() => timeline.getByRole('listitem').count()).toBe(2);
      await look(own.page, `retried-charge-${view}`);
      for (const name of hidden) expect(await own.page.content()).not.toContain(name);
      await own.go(`/requests/${retried}`);
      await expect.poll(() => timeline.getByRole('listitem').count()).toBe(2);
      // No label of a code that an answered request does not have.
      expect(await own.page.getByRole('main').innerText()).not.toContain(words.code);
      await own.context.close();

      const all = await openWindow(live.url, operator.cookie, seen);
      await all.go('/operator/requests?all=1');
      await all.page.getByText('second-1').first().waitFor();
      await all.page
        .getByRole('region', { name: words.all })
        .or(all.page.getByRole('list', { name: words.all }))
        .first()
        .waitFor();
      if (seen.width < 700)
        await expect
          .poll(() => all.page.getByRole('main').innerText())
          .toMatch(/Lin \S+ · .* · unavailable/);
      await look(all.page, `operator-requests-${view}`);
      await all.page.getByRole('button', { name: words.failed, exact: true }).click();
      await all.page.getByText('never-1').first().waitFor();
      await expect.poll(() => all.page.getByText('second-1').count()).toBe(0);
      await findById(all.page, failed, `/operator/requests/${failed}`);
      const attempts = all.page.getByRole('list', { name: words.timeline });
      const crumbs = await all.page
        .getByRole('navigation', { name: 'Breadcrumb' })
        .getByRole('listitem', { includeHidden: true })
        .allTextContents();
      expect(new Set(crumbs).size, `names of ${crumbs.join(' / ')}`).toBe(2);
      await attempts.getByText(words.first).waitFor();
      await attempts.getByText(words.last).waitFor();
      await attempts.getByRole('link', { name: broken }).waitFor();
      await attempts.getByText('HTTP 503').first().waitFor();
      await expectOriginal(all.page, seen.language);
      await look(all.page, `operator-request-${view}`);
      await all.go(`/operator/users/${user.userId}?tab=failed`);
      await all.page.getByText('never-1').first().waitFor();
      await look(all.page, `operator-user-requests-${view}`);
      await all.context.close();
    }
  }, 600_000);

  test('tells its user no channel, vendor or fault in its JSON', async () => {
    const { user, failed, retried } = await start();
    const paths = ['requests', `requests/${failed}`, `requests/${retried}`, `usage/${retried}`];
    for (const path of paths) {
      const { status, text } = await user.ask(path);
      expect(status, path).toBe(200);
      for (const name of hidden) expect(text, path).not.toContain(name);
    }
  }, 60_000);

  test('leads operators to its user, its channels and its charge, and appears while they watch', async () => {
    const { live, user, operator, send, answering, retried } = await start();
    const { page, go } = await openWindow(live.url, operator.cookie);
    await go(`/operator/requests/${retried}`);
    const facts = page.getByRole('main').locator('dt');
    expect(await facts.allInnerTexts()).not.toEqual(expect.arrayContaining(['Error code']));
    expect(await facts.allInnerTexts()).not.toEqual(expect.arrayContaining(['Message']));
    await page.getByText('Only the attempt that answered is charged.').waitFor();
    await page.getByRole('link', { name: 'See the charge' }).click();
    const charge = page.getByRole('dialog', { name: 'Charge' });
    await charge.getByRole('list', { name: 'Attempts over time' }).waitFor();
    await expectAccessible(page, 'a charge of a user');
    expect((await charge.innerText()).split(retried.slice(-4))).toHaveLength(2);
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Failed requests' }).click();
    await page.getByRole('link', { name: /^20/ }).first().click();
    await page.waitForURL('**/operator/requests/req_*');
    await page.getByRole('link', { name: refusing }).first().click();
    await page.getByRole('heading', { level: 1, name: refusing }).waitFor();

    await go(`/operator/requests?user=${user.userId}&http=4xx&live=1`);
    await page.getByText('No matches.').waitFor();
    const { status, id } = await send('no-such-model');
    expect(status).toBe(404);
    await page.locator(`[data-row-link][href="/operator/requests/${id}"]`).waitFor();
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
    expect((await operator.ask(csv ?? '')).text).toContain(id);
    await page.getByRole('switch', { name: 'Live' }).click();
    expect(new URL(page.url()).searchParams.has('live')).toBe(false);
    await go(`/operator/requests/${id}`);
    await page.getByText('The request was not sent to any channel.').waitFor();
    await expect.poll(() => page.getByText('model_not_found', { exact: true }).count()).toBe(1);

    answering.answer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n');
    });
    const cut = await send('second-1', undefined, { stream: true });
    expect(cut.status).toBe(200);
    await go('/operator/requests?live=1&from=2020-01-01&to=2030-01-01');
    await page.getByText('200 interrupted').waitFor();
    await page.getByText(/^Failed requests before .* are no longer kept\.$/).waitFor();
    await go(`/operator/requests/${cut.id}`);
    await page.getByText(/Only this part is charged\.$/).waitFor();
    const { database } = live.gateway;
    const [record] = await database.query('SELECT cost FROM usage WHERE id=$1', [cut.id]);
    await refund(database, {
      ...{ id: 'refund-of-cut', original: cut.id, amount: BigInt(record?.['cost'] ?? 0) },
      at: Date.now(),
    });
    await database.query('DELETE FROM request_log WHERE id=$1', [retried]);
    await go(`/operator/requests/${cut.id}`);
    await page.getByText('The whole charge was refunded.').waitFor();
    await go(`/operator/requests/${retried}`);
    await page.getByText(/^2 attempts\. Their times are not in the request log/).waitFor();
    await page.getByRole('link', { name: spare }).waitFor();
    await database.query('DELETE FROM channels WHERE name=$1', [spare]);
    await page.reload();
    await page.getByRole('link', { name: spare }).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('main').innerText()).toContain(spare);
  }, 90_000);

  test('says what to do about an empty balance, and of an id that is not known', async () => {
    const { live, send, failed } = await start();
    const other = await live.newUser({ name: 'Chen' });
    const { page, go } = await openWindow(live.url, other.cookie);
    await go('/usage?tab=failed');
    await page.getByText('No failed requests.').waitFor();
    await go(`/requests/${failed}`);
    await page.getByText('This request does not exist, or it is not yours.').waitFor();
    await expectAccessible(page, 'a request of another user');
    const { json: made } = await other.ask('keys', {
      method: 'POST',
      headers: { 'idempotency-key': 'a-form-for-another-key' },
      body: { name: 'empty', group: 'default' },
    });
    const { status, id } = await send('never-1', made.secret);
    expect(status).toBe(429);
    await expect
      .poll(async () => (await other.ask(`requests/${id}`)).status, { timeout: 10_000 })
      .toBe(200);
    await go('/usage?tab=failed&code=insufficient_quota');
    await page.getByRole('link', { name: /^20/ }).click();
    await page.getByText('Ended before the first attempt.').waitFor();
    await page.locator('nav a[href="/usage"][aria-current="page"]').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Top up' }).click();
    await page.waitForURL('**/top-up');
  }, 90_000);
});
