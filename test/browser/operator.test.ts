import { describe, expect, test } from 'vitest';
import { proofs } from '../../src/app/schema.ts';
import { systemClock } from '../../src/base/clock.ts';
import { checkRun, startNightlyCheck } from '../../src/ledger/check-runs.ts';
import en from '../../web/words/en/operator.ts';
import zh from '../../web/words/zh/operator.ts';
import { configurationFrom } from '../support/running.ts';
import {
  expectAccessible,
  looksIn,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { faultsOf } from './eyes.ts';
import { type LiveConsole, oneConsolePerFile, onePerFile, startLiveConsole } from './gateway.ts';
import { startLivedIn } from './lived-in.ts';
import { unexpected } from '../support/unexpected.ts';

withChromium();

const sharedConsole = oneConsolePerFile();
const withoutChannels = onePerFile((atEnd) =>
  startLiveConsole(
    async () => ({ configuration: await configurationFrom('models: []\nchannels: []\n') }),
    atEnd,
  ),
);

const pages = [
  '/operator',
  '/operator/channels',
  '/operator/channels?form=new',
  '/operator/channels/sim-deepseek',
  '/operator/channels/sim-deepseek?tab=models',
  '/operator/channels/sim-deepseek?tab=settings',
  '/operator/channels/sim-deepseek?form=test',
  '/operator/models',
  '/operator/models/deepseek-chat',
  '/operator/models/openai/gpt-oss-120b',
  '/operator/models/import',
  '/operator/groups',
  '/operator/groups/default',
  '/operator/requests',
  '/operator/users',
  '/operator/orders',
  '/operator/reconciliation',
  '/operator/ledger',
  '/operator/audit',
  '/operator/announcements?form=new',
] as const;

/** Traffic of one user, so that there is something to see. */
async function traffic(live: LiveConsole): Promise<string> {
  const user = await live.newUser({ yuan: 20n, name: '陈一鸣' });
  const headers = { 'idempotency-key': 'a-key-for-traffic' };
  const { json } = await user.ask('keys', {
    method: 'POST',
    headers,
    body: { name: 'ci', group: 'default' },
  });
  for (const model of ['deepseek-chat', 'glm-4.7', 'deepseek-chat'])
    await fetch(`${live.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${json.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
  return user.userId;
}

interface Figure {
  readonly size: string;
  readonly cut: boolean;
}

const figuresOf = `[...document.querySelectorAll('[data-figure]')].map((figure) => ({
  size: getComputedStyle(figure).fontSize,
  cut: figure.scrollWidth > figure.clientWidth,
}))`;

const looks = (['zh', 'en'] as const).flatMap((language) =>
  looksIn(language).map(
    (look) => [`${language} ${look.width} ${look.theme}`, { language, ...look }] as const,
  ),
);

describe.skipIf(noChromium)('the pages of operators in Chromium', () => {
  test.each(looks)(
    'are readable by everybody, %s',
    async (_, look) => {
      const live = await sharedConsole();
      const userId = await traffic(live);
      const { cookie } = await live.newUser({ role: 'operator', name: '运营' });
      const { page, go } = await openWindow(live.url, cookie, look);
      for (const path of [
        ...pages,
        `/operator/users/${userId}`,
        `/operator/users/${userId}?tab=usage`,
        `/operator/users/${userId}?tab=keys`,
      ]) {
        await go(path);
        await expectAccessible(page, path);
        const name = path
          .slice(1)
          .replace(userId, 'user')
          .replaceAll(/[/?=]+/g, '-');
        await picture(page, `${name}-${look.width}-${look.theme}-${look.language}`);
      }
    },
    240_000,
  );

  test.each(looks)(
    'a period is compared with the one before, and the last check is told, %s',
    async (_, look) => {
      const { live, operator } = await startLivedIn();
      const { database } = live.gateway;
      const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
      // In an hour's first minutes the gateway counts in the same slot.
      for (const [channel, kind, count] of [
        ['ds-main', 'ok', 940],
        ['ds-main', 'timeout', 60],
        ['moonshot', 'ok', 80],
      ] as const)
        for (const days of [0, 3, 7])
          await database.query(
            'INSERT INTO channel_count VALUES ($1, $2, $3, $4) ON CONFLICT (slot, channel, kind) DO UPDATE SET count = excluded.count',
            [hour - days * 86_400_000, channel, kind, count],
          );
      const night = await startNightlyCheck(database, systemClock, proofs, 0, unexpected);
      await expect
        .poll(async () => (await checkRun(database, night ?? '', Date.now()))?.ok)
        .toBe(true);
      const { page, go } = await openWindow(live.url, operator.cookie, look);
      const words = look.language === 'zh' ? zh.overview : en.overview;
      await go('/operator');
      const main = page.getByRole('main');
      await expect.poll(() => main.innerText()).toContain(words.check.proves);
      await expect.poll(() => main.innerText()).toContain(words.check.nightly);
      const business = main.getByRole('region', { name: words.trend.title });
      await business.getByRole('list', { name: words.trend.users }).waitFor();
      for (const width of new Set([look.width, 390, 700, 1024])) {
        await page.setViewportSize({ width, height: 900 });
        const figures = (): Promise<readonly Figure[]> => page.evaluate(figuresOf);
        const drawn = await figures();
        expect(drawn.length).toBeGreaterThan(8);
        expect([...new Set(drawn.map(({ size }) => size))], `${width} px`).toHaveLength(1);
        await expect
          .poll(async () => (await figures()).filter(({ cut }) => cut), { message: `${width} px` })
          .toEqual([]);
      }
      await page.setViewportSize({ width: look.width, height: 900 });
      const name = `${look.width}-${look.theme}-${look.language}`;
      for (const period of ['7d', '30d', 'today'] as const) {
        await business.getByRole('button', { name: words.trend.periods[period] }).click();
        await expect.poll(() => page.url()).toMatch(period === '7d' ? /operator$/ : period);
        await business
          .getByText(/▲|▼/)
          .or(business.getByText(words.trend.fromZero))
          .first()
          .waitFor();
        await expectAccessible(page, period);
        await picture(page, `trend-${period}-${name}`);
      }
      await go('/operator?period=30d&show=requests');
      const models = business.getByRole('list', { name: words.trend.models });
      await models.scrollIntoViewIfNeeded();
      const channels = business.getByRole('list', { name: words.trend.channels });
      await expect.poll(() => channels.innerText()).toContain(words.trend.noAttempts);
      await expect
        .poll(() => channels.innerText())
        .toContain(words.trend.attemptsFailed('0', '240'));
      await picture(page, `trend-lists-${name}`);
      await models.getByRole('link').first().click();
      await expect.poll(() => page.url()).toMatch(/\/operator\/models\/./);
      await go('/operator/ledger');
      await expect.poll(() => main.innerText()).toContain(words.check.nightly);
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `ledger-nightly-${name}`);
    },
    120_000,
  );

  test.each(looks)(
    'a gateway without channels says so, and opens the form that adds one, %s',
    async (_, look) => {
      const live = await withoutChannels();
      const { cookie } = await live.newUser({ role: 'operator' });
      const { page, go } = await openWindow(live.url, cookie, look);
      const words = look.language === 'zh' ? zh.overview : en.overview;
      await go('/operator');
      await page.getByText(words.noChannel).waitFor();
      await expect.poll(() => page.getByText(words.quiet).count()).toBe(0);
      const failed = page.getByText(words.trend.failed, { exact: true }).locator('..');
      await expect.poll(() => failed.innerText()).toContain(words.noAttempts);
      await expectAccessible(page, 'without channels');
      await page.getByRole('link', { name: words.addChannel }).click();
      await page.getByRole('dialog', { name: words.addChannel }).waitFor();
    },
    60_000,
  );

  test('tell at the field, in the reader’s language, what the server refuses', async () => {
    const live = await startLiveConsole();
    const { cookie } = await live.newUser({ role: 'operator' });
    for (const [language, sentence, lack] of [
      ['zh', '必须是地址，例如 https://host/v1', 'chat 模型需要 input 和 output'],
      ['en', 'must be an address such as https://host/v1', 'a chat model needs a price for input'],
    ] as const) {
      const { page, go } = await openWindow(live.url, cookie, { language });
      await go('/operator/channels?form=new');
      const form = page.getByRole('dialog');
      await form.locator('[name=name]').fill('made');
      await form.locator('[name=vendor]').selectOption('openai');
      const address = form.locator('[name=base_url]');
      await address.fill('http://host/?query');
      await form.locator('button[type=submit]').click();
      await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
      const [, error = ''] = (await address.getAttribute('aria-describedby'))?.split(' ') ?? [];
      await expect.poll(() => form.locator(`[id="${error}"]`).innerText()).toContain(sentence);
      await go('/operator/models/deepseek-chat');
      const output = page.locator('[name^="output "]');
      await output.fill('');
      await page.getByText(lack).first().waitFor();
      await output.fill('123456789.9999999999');
      await expect.poll(() => output.getAttribute('aria-invalid')).toBe('true');
    }
  }, 60_000);

  test('are refused to users', async () => {
    const live = await sharedConsole();
    const { cookie } = await live.newUser();
    const { page, go } = await openWindow(live.url, cookie);
    for (const path of pages) {
      await go(path);
      await expect
        .poll(() => page.getByRole('main').innerText(), { message: path })
        .toContain('Operators only.');
    }
  }, 60_000);
});
