import { describe, expect, test } from 'vitest';
import channelsEn from '../../web/words/en/operator-channels.ts';
import operatorEn from '../../web/words/en/operator.ts';
import modelsEn from '../../web/words/en/models.ts';
import peopleEn from '../../web/words/en/operator-people.ts';
import pricesEn from '../../web/words/en/operator-prices.ts';
import sharedEn from '../../web/words/en/shared.ts';
import usageEn from '../../web/words/en/usage.ts';
import channelsZh from '../../web/words/zh/operator-channels.ts';
import operatorZh from '../../web/words/zh/operator.ts';
import modelsZh from '../../web/words/zh/models.ts';
import peopleZh from '../../web/words/zh/operator-people.ts';
import pricesZh from '../../web/words/zh/operator-prices.ts';
import sharedZh from '../../web/words/zh/shared.ts';
import usageZh from '../../web/words/zh/usage.ts';
import { noChromium, openWindow, picture, withChromium } from './chromium.ts';
import { oneConsolePerFile } from './gateway.ts';

withChromium();

const sharedConsole = oneConsolePerFile();
const inLanguage = {
  en: {
    channels: channelsEn,
    operator: operatorEn,
    models: modelsEn,
    people: peopleEn,
    prices: pricesEn,
    shared: sharedEn,
    usage: usageEn,
  },
  zh: {
    channels: channelsZh,
    operator: operatorZh,
    models: modelsZh,
    people: peopleZh,
    prices: pricesZh,
    shared: sharedZh,
    usage: usageZh,
  },
};

async function open(language: 'en' | 'zh', width: number) {
  const live = await sharedConsole();
  const { cookie, userId } = await live.newUser({ role: 'operator' });
  const { page, go } = await openWindow(live.url, cookie, { language, width });
  return { live, page, go, userId, main: page.getByRole('main'), words: inLanguage[language] };
}

describe.skipIf(noChromium)('words of operators in Chromium', () => {
  test.each(['en', 'zh'] as const)(
    'a channel without requests says so, in %s',
    async (language) => {
      const { page, go, main, words } = await open(language, 1_440);
      await go('/operator/channels/sim-deepseek');
      await main.getByText(words.channels.states.untried, { exact: true }).first().waitFor();
      await expect
        .poll(() => main.getByText(words.channels.states.healthy, { exact: true }).count())
        .toBe(0);
      await main.getByRole('button', { name: words.channels.menu.drain, exact: true }).waitFor();
      await picture(page, `channel-untried-${language}`);
      await go('/operator/channels/sim-deepseek?tab=settings');
      await main.getByText('/etc/tollgate.yaml', { exact: true }).waitFor();
      await go('/operator/channels?form=new');
      const { form } = words.channels;
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(form.optional(form.baseUrl), { exact: true }).waitFor();
      const vendor = dialog.getByLabel(form.vendor, { exact: true });
      await expect.poll(() => vendor.locator('option').first().innerText()).toBe(form.chooseVendor);
      await expect
        .poll(() => dialog.getByLabel(form.optional(form.secret), { exact: true }).count())
        .toBe(0);
    },
    60_000,
  );

  test.each(['en', 'zh'] as const)(
    'capabilities have names, and a cost on a phone has its label, in %s',
    async (language) => {
      const wide = await open(language, 1_440);
      await wide.go('/operator/channels/sim-openai-images?tab=models');
      const { image_edits: edits } = wide.words.usage.kinds;
      await wide.main.getByText(edits).first().waitFor();
      expect(await wide.main.innerText()).not.toContain('image_edits');
      await picture(wide.page, `channel-models-${language}`);
      const phone = await open(language, 390);
      await phone.go('/operator/channels/sim-openai-images?tab=models');
      const { cost, noCost } = phone.words.channels.models;
      const card = phone.main.locator('[data-row]').first();
      await card.getByText(noCost).waitFor();
      await expect.poll(() => card.innerText()).toContain(cost);
      await picture(phone.page, `channel-models-phone-${language}`);
    },
    60_000,
  );

  test.each(['en', 'zh'] as const)(
    'the last visit of a user stands by itself, in %s',
    async (language) => {
      const { page, go, main, userId, words } = await open(language, 1_440);
      await go(`/operator/users/${userId}`);
      const { seen, keys } = words.people.users.columns;
      const keysTile = main.getByText(keys, { exact: true }).first().locator('..');
      await main.getByText(seen, { exact: true }).waitFor();
      expect(await keysTile.innerText()).not.toContain(seen);
      await picture(page, `user-seen-${language}`);
    },
    60_000,
  );

  test.each(['en', 'zh'] as const)(
    'figures that were 0 in the period before, or are what they were, say so, in %s',
    async (language) => {
      const { live, page, go, main, words } = await open(language, 1_440);
      await live.newUser();
      await go('/operator');
      for (const text of [words.operator.overview.trend.fromZero, words.shared.change.same])
        await main.getByText(text, { exact: true }).first().waitFor();
      await picture(page, `trend-no-earlier-${language}`);
    },
    60_000,
  );

  test('a group counts what uses it beside its buttons, and links to its channels', async () => {
    const { live, go, main, words } = await open('en', 1_440);
    const { groups } = words.prices;
    await go('/operator/groups/default');
    await main.getByRole('link', { name: /^\d{2,}$/ }).waitFor();
    const operator = await live.newUser({ role: 'operator' });
    const post = (path: string, body: object) =>
      operator.ask(path, { method: 'POST', headers: { 'idempotency-key': `used-${path}` }, body });
    await post('operator/groups', { name: 'used' });
    // The catalog has the group a moment later.
    const key = { name: 'used', group: 'used' };
    await expect.poll(async () => (await post('keys', key)).status).toBe(201);
    await go('/operator/groups/used');
    await main.getByText(groups.inUse(1, 0)).waitFor();
    const [edit, remove] = await Promise.all(
      [groups.edit, groups.remove].map((button) =>
        main.getByRole('button', { name: button, exact: true }).boundingBox(),
      ),
    );
    expect(edit?.y).toBe(remove?.y);
  }, 60_000);

  test.each(['en', 'zh'] as const)(
    'the import says what its columns hold, and that comparing changes nothing, in %s',
    async (language) => {
      const { page, go, main, words } = await open(language, 390);
      await go('/operator/models/import');
      const { note, columnsOf, reference } = words.prices.import;
      for (const text of [note, ...Object.values(columnsOf), 'my-model,2,0.2,3'])
        await main.getByText(text).first().waitFor();
      const link = main.getByRole('link', { name: reference });
      await expect
        .poll(() => link.getAttribute('href'))
        .toBe('/docs/guide/reference/config.html#price');
      await picture(page, `import-${language}`, { whole: true });
      await go('/operator/models');
      // A figure of a card says what it is.
      const { classes } = words.models;
      const card = main.locator('[data-row]', { hasText: 'deepseek-chat' });
      // A card out of view has no rendered text.
      await card.scrollIntoViewIfNeeded();
      await expect
        .poll(() => card.innerText())
        .toMatch(new RegExp(`${classes.input} ¥?[\\d.]+ · ${classes.output} ¥?[\\d.]+`));
      await expect
        .poll(() => card.innerText())
        .toMatch(new RegExp(`${words.prices.models.columns.version} \\d`));
    },
    60_000,
  );
});
