import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dayMs, minuteMs } from '../../src/base/calendar.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { OrderAnswer } from '../../src/console/contract.ts';
import { credit, refund } from '../../src/ledger/ledger.ts';
import { rollUp } from '../../src/usage/rollup.ts';
import type { Browser } from '../support/console.ts';
import { charge, topUp } from '../support/console-user.ts';
import {
  expectAccessible,
  looksIn,
  noChromium,
  openWindow,
  picture,
  settled,
  withChromium,
} from './chromium.ts';
import { type LiveConsole, onePerFile, startLiveConsole } from './gateway.ts';

withChromium();

const yuan = 1_000_000_000n;

/**
 * A request whose arithmetic shows each rule: cached input rounded up, reasoning, no cache at all.
 */
const lines = [
  ['input', 1155, 2_125_000_000n, 2_454_375n],
  ['cached_input', 11_263, 212_500_000n, 2_393_388n],
  ['output', 296, 8_500_000_000n, 2_516_000n],
  ['reasoning', 731, 8_500_000_000n, 6_213_500n],
] as const;
const models = [
  'deepseek-chat',
  'glm-4.7',
  'qwen-plus',
  'kimi-k2.6',
  'claude-haiku-4-5',
  'gpt-5-mini',
  'gemini-2.5-flash',
  'mistral-small-latest',
];

/**
 * A user with a month behind him: two top-ups, requests on most days, pictures, one that was cut,
 * one that was paid back.
 */
async function withHistory(
  live: LiveConsole,
): Promise<{ readonly user: Browser; readonly keyId: string; readonly now: number }> {
  const { database } = live.gateway;
  const user = await live.newUser();
  const made = await user.ask('keys', {
    method: 'POST',
    body: { name: 'ci-key', group: 'default' },
    headers: { 'idempotency-key': 'form-of-the-first-key' },
  });
  const keyId: string = made.json.key.id;
  const of = { account: user.userId, keyId };
  const now = systemClock.now();
  await topUp(database, user.userId, 20n * yuan, now - 25 * dayMs, '4200000001');
  await topUp(database, user.userId, 50n * yuan, now - 6 * dayMs, '2026112001');
  for (let day = 1; day <= 22; day++) {
    for (const [index, model] of models.entries()) {
      if ((day * 7 + index * 3) % 4 === 0) continue;
      const cost = BigInt((models.length - index) * (day % 7) + 1) * 7_123_457n;
      const id = `req_day${day}model${index}`;
      await charge(database, {
        ...{
          ...of,
          id,
          model,
          at: now - day * dayMs - index * minuteMs,
          inputTokens: 900 + day,
          outputTokens: 240,
        },
        lines: [
          ['input', 900 + day, 1n, cost / 3n],
          ['output', 240, 1n, cost - cost / 3n],
        ],
      });
    }
  }
  await charge(database, {
    ...of,
    id: 'req_arithmetic',
    model: 'glm-4.7',
    at: now - 3 * minuteMs,
    lines,
    inputTokens: 12_418,
    outputTokens: 1027,
  });
  await charge(database, {
    ...{
      ...of,
      id: 'req_pictures',
      model: 'gpt-image-2',
      capability: 'images',
      at: now - 2 * minuteMs,
    },
    lines: [['image', 2, 357_000_000_000_000n, 714_000_000n]],
  });
  await charge(database, {
    ...{
      ...of,
      id: 'req_cut',
      model: 'deepseek-chat',
      status: 'cut',
      at: now - minuteMs,
      inputTokens: 14,
      outputTokens: 3,
    },
    lines: [['output', 3, 3_000_000_000n, 9_000n]],
  });
  await refund(database, {
    id: 'req_pictures/refund',
    original: 'req_pictures',
    amount: 714_000_000n,
    at: now - 30_000,
  });
  while (await rollUp(database, now)) continue;
  return { user, keyId, now };
}

/** A console and that user, for the tests of his usage. */
const history = onePerFile(async (atEnd) => {
  const live = await startLiveConsole(undefined, atEnd);
  return { live, ...(await withHistory(live)) };
});

async function ordered(
  user: Browser,
  amount: string,
  wallet: string,
): Promise<OrderAnswer['order']> {
  const { json, status } = await user.ask('orders', {
    method: 'POST',
    body: { amount, wallet },
    headers: { 'idempotency-key': `form-of-${amount}-by-${wallet}` },
  });
  expect(status).toBe(201);
  return json.order;
}

/** All that the reader sees, spaces as they are written. */
const read = (page: Page): Promise<string> => page.getByRole('main').innerText();

describe.skipIf(noChromium).each(['zh', 'en'] as const)(
  'pages of money in Chromium, %s',
  (language) => {
    test('are readable by everybody', async () => {
      const live = await startLiveConsole();
      const { user } = await withHistory(live);
      const { id } = await ordered(user, '1.00', 'wechat_pay');
      const paid = await ordered(user, '10.00', 'alipay');
      live.simulator.wallets.pay(paid.qr ?? '');
      await expect
        .poll(async () => (await user.ask(`orders/${paid.id}`)).json.state)
        .toBe('credited');
      const statement = await user.ask('statement');
      const unfolded: string = statement.json.rows.findLast(
        ({ kind }: { kind: string }) => kind === 'charges',
      ).from;
      const pages: Readonly<Record<string, string>> = {
        usage: '/usage',
        'usage-day': '/usage?tab=day',
        'usage-model': '/usage?tab=model',
        'usage-filtered': '/usage?model=glm-4.7&status=ok&from=-7d',
        charge: '/usage/req_arithmetic',
        'charge-cut': '/usage/req_cut',
        statement: '/statement',
        'statement-unfolded': `/statement?from=-7d&open=${encodeURIComponent(unfolded)}`,
        'top-up': '/top-up',
        order: `/top-up/${id}`,
        'order-paid': `/top-up/${paid.id}`,
        missing: '/top-up/ord_of_nobody',
      };
      for (const { theme, width } of looksIn(language)) {
        const { page, go } = await openWindow(live.url, user.cookie, { width, theme, language });
        for (const [name, path] of Object.entries(pages)) {
          await go(path);
          await expectAccessible(page, `${name} ${theme} ${width}`);
          await picture(page, `${name}-${width}-${theme}-${language}`, { whole: true });
        }
        await go('/usage');
        await page.locator('[data-row-link]').nth(2).click();
        await page.getByRole('dialog').getByText('0.013577263').first().waitFor();
        await settled(page);
        await expectAccessible(page, `drawer ${theme} ${width}`);
        await picture(page, `drawer-${width}-${theme}-${language}`);
        await page.close();
      }
      const nobody = await live.newUser();
      const fresh = await openWindow(live.url, nobody.cookie, { width: 360, language });
      for (const path of ['/usage', '/usage?tab=key', '/statement', '/top-up']) {
        await fresh.go(path);
        await expectAccessible(fresh.page, `${path} without anything`);
        await picture(fresh.page, `empty${path.replace(/\W+/g, '-')}-360-light-${language}`);
      }
    }, 300_000);
  },
);

describe.skipIf(noChromium)('usage in Chromium', () => {
  test('a filter lives in the address, a request opens beside the list and is a page by its own address', async () => {
    const { live, user } = await history();
    const { page, go } = await openWindow(live.url, user.cookie);
    await go('/usage');
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByLabel('Model').fill('glm-4.7');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Model glm-4.7' }).waitFor();
    await settled(page);
    expect(new URL(page.url()).search).toBe('?model=glm-4.7');
    await expect
      .poll(() => page.locator('tbody tr').filter({ hasNotText: 'glm-4.7' }).count())
      .toBe(0);

    // Tabs keep the filter; so does the file.
    await page.getByRole('tab', { name: 'Per key' }).click();
    await page.getByRole('region', { name: 'Per key' }).getByText('ci-key').waitFor();
    expect(new URL(page.url()).searchParams.get('model')).toBe('glm-4.7');
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    const file = await (await saving).createReadStream();
    let csv = '';
    for await (const part of file) csv += String(part);
    expect(
      csv
        .trim()
        .split('\r\n')
        .slice(1)
        .every((line) => line.includes(',glm-4.7,')),
    ).toBe(true);
    await page.goBack();
    await page.goBack();
    await page.getByRole('button', { name: 'Remove Model glm-4.7' }).waitFor({ state: 'detached' });

    // Rows by j and Enter, the next one by the arrow, back to the row by Escape.
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Charge' });
    await drawer.getByText('gpt-image-2').first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/usage/req_pictures');
    // Nothing of the one before stands in for the one that is still loading.
    let answer = async (): Promise<void> => {};
    await page.route('**/console/api/usage/req_arithmetic', (route) => {
      answer = () => route.continue();
    });
    await page.keyboard.press('ArrowDown');
    await drawer.locator('[aria-busy="true"]').first().waitFor();
    expect(await drawer.innerText()).not.toContain('gpt-image-2');
    await answer();
    await drawer.getByText('Cached input', { exact: true }).first().waitFor();
    const arithmetic = await drawer.innerText();
    for (const figure of [
      '11,263 tokens',
      '¥0.2125',
      '0.0023933875',
      '¥0.002393388',
      '−¥0.013577263',
      'Matches the ledger transfer',
    ])
      expect(arithmetic).toContain(figure);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.evaluate('document.activeElement?.getAttribute("href")'))
      .toBe('/usage/req_arithmetic');
    await page.keyboard.press('Enter');
    await drawer.waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Charge' }).waitFor();
    await expect.poll(() => drawer.count()).toBe(0);
    await go('/usage/req_of_nobody');
    await page
      .getByRole('alert')
      .getByText('It does not exist any more, or it is not yours.')
      .waitFor();
    for (const path of ['/keys/key_of_nobody', '/top-up/ord_of_nobody']) {
      await go(path);
      await page.getByRole('heading', { name: 'Not found' }).waitFor();
    }
    await go('/keys?q=nothing-has-this-name');
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  }, 150_000);

  test('what failed is said where it failed and asked again, new requests come in by themselves', async () => {
    const { live, user, keyId } = await history();
    const { page, go } = await openWindow(live.url, user.cookie);
    await page.route('**/console/api/usage/summary**', (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'unavailable', message: 'away' } } }),
    );
    await page.goto(`${live.url}/usage`);
    await page.getByRole('alert').getByText('The database does not respond.').waitFor();
    await page.getByRole('link', { name: '2026' }).first().waitFor();
    await page.unroute('**/console/api/usage/summary**');
    await page.getByRole('alert').getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Cached input', { exact: true }).waitFor();
    await go('/usage?kind=chat');
    await page.waitForTimeout(1500); // the stream of events has begun
    const at = systemClock.now();
    await charge(live.gateway.database, {
      account: user.userId,
      keyId,
      id: 'req_new',
      model: 'brand-new',
      at,
      lines: [['output', 3, 3_000_000_000n, 9_000n]],
    });
    await page.getByText('brand-new').waitFor();
  }, 150_000);
});

describe.skipIf(noChromium)('the statement in Chromium', () => {
  test('adds up as it is read, unfolds to price lines, and is proved', async () => {
    const live = await startLiveConsole();
    const { user } = await withHistory(live);
    const { page, go } = await openWindow(live.url, user.cookie);
    await go('/statement?from=-7d');
    const cents = (text: string) => BigInt(text.replace('−', '-').replace(/[¥,.+]/g, ''));
    const summary: readonly string[] = await page
      .getByRole('table', { name: 'Summary' })
      .locator('td')
      .allInnerTexts();
    const [opening = '', ...moved] = summary.slice(0, -1);
    expect(moved.reduce((sum, amount) => sum + cents(amount), cents(opening))).toBe(
      cents(summary.at(-1) ?? ''),
    );
    const amounts: readonly string[] = await page
      .getByRole('region', { name: 'Day by day' })
      .locator('tbody tr td:nth-of-type(3)')
      .allInnerTexts();
    const balances = amounts.reduce(
      (sum, amount) => sum + cents(amount.split('\n')[0] ?? ''),
      cents(opening),
    );
    expect(balances).toBe(cents(summary.at(-1) ?? ''));

    await page
      .getByRole('button', { name: /^Charges/ })
      .last()
      .click();
    await page.getByRole('button', { name: /glm-4.7.*Show the lines of req_arithmetic/ }).click();
    await page.getByText('0.0023933875').waitFor();
    expect(new URL(page.url()).searchParams.get('open')).toMatch(/Z$/);
    await page.reload();
    await page.getByRole('button', { name: /req_arithmetic/ }).waitFor();
    await page.getByRole('button', { name: 'Verify with the ledger' }).click();
    await page
      .getByRole('status')
      .getByText(/\d+ lines, all match\./)
      .waitFor();

    for (const [level, column] of [
      ['One row per day', 'balance_yuan'],
      ['One row per request', 'status'],
      ['One row per price line', 'price_yuan'],
    ] as const) {
      await page.getByRole('button', { name: 'CSV' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: level }).click();
      const parts = await (await saving).createReadStream();
      let csv = '';
      for await (const part of parts) csv += String(part);
      expect(csv.split('\r\n')[0]).toContain(column);
    }
    // An own period is two days, no longer apart than what is added up.
    await page.getByLabel('Period').selectOption('custom');
    const first = page.getByLabel('First day');
    await first.fill('02/01/2024');
    await page.keyboard.press('Enter');
    await page.getByText('Enter a day such as 2026-11-21.').waitFor();
    await expectAccessible(page, 'a day that is none');
    await first.fill('2024/2/1');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('to')).toBe('2025-01-31');
    await settled(page);
    await expectAccessible(page, 'an own period');
    await page.getByText('No transactions in this period.').waitFor();
    await go('/statement?from=2020-01-01');
    await page.getByRole('alert').waitFor();

    // No event tells of the money that comes: the statement does, and the balance above follows.
    const other = await live.newUser({ yuan: 20n });
    const quiet = await openWindow(live.url, other.cookie);
    await quiet.page.route('**/console/api/events', () => undefined);
    await quiet.go('/keys');
    const more = { id: 'more', account: other.userId, from: 'grants', amount: yuan } as const;
    const { database } = live.gateway;
    await credit(database, { ...more, code: 'grant', ref: 'test', at: systemClock.now() });
    await quiet.page.getByRole('link', { name: 'Statement' }).click();
    await quiet.page.getByText('available ¥21.000000000').waitFor();
    await quiet.page.getByRole('link', { name: /^Available ¥21\.00/ }).waitFor();
  }, 150_000);
});

describe.skipIf(noChromium)('top-up in Chromium', () => {
  test('amounts are checked as they are typed, two windows see the same order, money arrives once', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const { page, context, go } = await openWindow(live.url, user.cookie);
    await go('/top-up');
    const amount = page.getByLabel('Amount', { exact: true });
    for (const [typed, said] of [
      ['0.99', 'At least ¥1.00.'],
      ['50000.01', 'At most ¥50,000.00.'],
      ['1.005', 'At most two decimals.'],
      ['ten', 'Enter an amount such as 10 or 10.50.'],
    ] as const) {
      await amount.fill(typed);
      await page.keyboard.press('Enter');
      await page.getByText(said).waitFor();
      await expect.poll(() => amount.getAttribute('aria-invalid')).toBe('true');
    }
    const fifty = page.getByRole('button', { name: '¥50', exact: true });
    await amount.fill('50.00');
    await expect.poll(() => fifty.getAttribute('aria-pressed')).toBe('true');
    await amount.fill('50.0x');
    await expect.poll(() => fifty.getAttribute('aria-pressed')).toBe('false');
    await fifty.click();
    await page.getByRole('radio', { name: 'Alipay' }).check();
    await page.getByRole('button', { name: 'Show QR code · ¥50.00' }).click();
    await page.getByText('Scan with Alipay to pay ¥50.00').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByText('Scan with Alipay to pay ¥50.00').waitFor();

    const { wallets } = live.simulator;
    const code: string = (await user.ask(`orders/${id}`)).json.qr;
    wallets.scan(code);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Scanned; confirm on your phone.').waitFor();
    wallets.pay(code);
    await page.getByText('¥50.00 received. Balance ¥50.00.').first().waitFor();
    await other.getByText('¥50.00 received. Balance ¥50.00.').first().waitFor();
    expect((await user.ask('session')).json.balance.total).toBe('50.000000000');
    await go('/top-up');
    await page.getByRole('region', { name: 'Your top-ups' }).getByText('Credited').waitFor();
  }, 150_000);

  test('a notification that never came is made up for, a cancelled order is ordered again, a wallet that is away charges nothing', async () => {
    const live = await startLiveConsole();
    const user = await live.newUser();
    const { page, go } = await openWindow(live.url, user.cookie);
    const { wallets } = live.simulator;
    wallets.counter.silent = true;
    const lost = await ordered(user, '2.50', 'wechat_pay');
    await go(`/top-up/${lost.id}`);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('No payment for this order has arrived yet.').waitFor();
    wallets.pay(lost.qr ?? '');
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('¥2.50 received. Balance ¥2.50.').first().waitFor();

    const left = await ordered(user, '3.00', 'wechat_pay');
    await go(`/top-up/${left.id}`);
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await page.getByText('The order was cancelled. No payment has arrived.').waitFor();
    await page.getByRole('button', { name: 'New order' }).click();
    await page.getByText('Scan with WeChat Pay to pay ¥3.00').waitFor();
    expect(page.url()).not.toContain(left.id);
    expect(await read(page)).toMatch(/1[45]:\d\d left to pay/);

    wallets.counter.trouble = { kind: 'down' };
    await go('/top-up');
    await page.getByRole('button', { name: /^Show QR code/ }).click();
    await page
      .getByText('The payment service does not respond. Nothing was paid; please retry.')
      .waitFor();
    wallets.counter.trouble = undefined;
    await page.getByRole('button', { name: /^Show QR code/ }).click();
    await page.getByText('Scan with WeChat Pay to pay ¥10.00').waitFor();
  }, 150_000);
});
