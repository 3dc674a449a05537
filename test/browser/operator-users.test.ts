import { describe, expect, test } from 'vitest';
import enKeys from '../../web/words/en/keys.ts';
import en from '../../web/words/en/operator-people.ts';
import zhKeys from '../../web/words/zh/keys.ts';
import zh from '../../web/words/zh/operator-people.ts';
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
import { onePerFile, startLiveConsole } from './gateway.ts';
import { startLivedIn } from './lived-in.ts';

withChromium();

const livedIn = onePerFile(startLivedIn);

const wordsOf = { en, zh } as const;
const keysWordsOf = { en: enKeys, zh: zhKeys } as const;
const reasonOf = { en: 'Reason', zh: '原因' } as const;

const userTabs = ['statement', 'usage', 'failed', 'keys', 'orders', 'audit'];

describe.skipIf(noChromium)('an operator and the users, in Chromium', () => {
  test.each([1440, 1024])(
    'at %d px, each list of a user has the columns that fit, the cost among them',
    async (width) => {
      const { live, operator, paths } = await livedIn();
      const { page, go } = await openWindow(live.url, operator.cookie, { width });
      const wider: string[] = [];
      for (const tab of userTabs) {
        await go(`${paths.user}?tab=${tab}`);
        for (const table of await page
          .getByRole('region')
          .filter({ has: page.locator('th') })
          .all()) {
          const byPx: number = await table.evaluate((box) => box.scrollWidth - box.clientWidth);
          if (byPx > 0) wider.push(`${tab} by ${byPx} px`);
        }
        if (tab === 'usage')
          await page.getByRole('columnheader', { name: 'Charge', exact: true }).waitFor();
        await picture(page, `user-${tab}-${width}`);
      }
      expect(wider).toEqual([]);

      await go(`${paths.user}?tab=statement`);
      const period = page.getByText(/^\d{4}-\d{2}-\d{2} to /);
      const thisMonth = await period.innerText();
      await page.getByRole('button', { name: en.statement.earlier }).click();
      await expect.poll(() => period.innerText()).not.toBe(thisMonth);
      await expect
        .poll(() => period.innerText())
        .toMatch(/^(\d{4}-\d{2})-01 to \1-(?:28|29|30|31),/);
      await page.getByRole('button', { name: en.statement.thisMonth }).click();
      await expect.poll(() => period.innerText()).toBe(thisMonth);
    },
    60_000,
  );

  test.each(looksAt())(
    'at $width px, $theme, $language: orders them, invites one, disables a key, and suspends two at once',
    async (seen) => {
      const words = wordsOf[seen.language];
      const live = await startLiveConsole();
      const poor = await live.newUser({ name: 'Poor', yuan: 1n });
      const rich = await live.newUser({ name: 'Rich', yuan: 300n });
      const operator = await live.newUser({ role: 'operator', name: 'Wu' });
      const { page, go } = await openWindow(live.url, operator.cookie, seen);
      const look = async (name: string) => {
        await expectAccessible(page, name);
        expect(await faultsOf(page), name).toEqual([]);
        await picture(page, `${name}-${nameOf(seen)}`);
      };
      await go('/operator/users');
      await page.getByRole('combobox', { name: words.users.sort }).selectOption('balance');
      const rows = page.getByRole('main').locator('[data-row]');
      const shown = async () =>
        (await rows.allInnerTexts()).map((row) =>
          /(Rich|Poor|Wu)[^…]*(…\w{6})/.exec(row)?.slice(1).join(),
        );
      const ends = [rich, poor, operator].map(({ userId }) => `…${userId.slice(-6)}`);
      await expect
        .poll(shown)
        .toEqual(['Rich', 'Poor', 'Wu'].map((name, i) => `${name},${ends[i]}`));

      await page.getByRole('button', { name: words.users.create.open }).click();
      const form = page.getByRole('dialog', { name: words.users.create.title });
      await form.getByRole('button', { name: words.users.create.submit }).click();
      await form.locator('[aria-invalid="true"]').waitFor();
      await form.getByRole('textbox', { name: words.users.create.name }).fill('Guest');
      await look('new-user');
      await form.getByRole('button', { name: words.users.create.submit }).click();
      const invitation = page.getByRole('dialog', { name: words.users.create.linkTitle('Guest') });
      const link = await invitation.getByLabel(words.users.create.link).innerText();
      await look('invitation');
      await page.keyboard.press('Escape');

      const guest = await openWindow(live.url, undefined, seen);
      await guest.page.goto(link);
      await guest.page.getByRole('button').first().click();
      await guest.page.getByRole('main').waitFor();
      await settled(guest.page);
      const name: string = await guest.page.evaluate(
        "fetch('/console/api/session').then((answer) => answer.json()).then(({ me }) => me.name)",
      );
      expect(name).toBe('Guest');

      const keys = keysWordsOf[seen.language];
      const { json: made } = await poor.ask('keys', {
        method: 'POST',
        headers: { 'idempotency-key': 'a-form-for-a-key' },
        body: { name: 'ci', group: 'default' },
      });
      const { id, prefix, last4 } = made.key;
      const state = async () => (await poor.ask(`keys/${id}`)).json.state;
      const act = async (verb: string) => {
        await page.getByRole('button', { name: keys.menu('ci') }).click();
        await page.getByRole('menuitem', { name: verb }).click();
      };
      await go(`/operator/users/${poor.userId}?tab=keys`);
      await act(keys.disable);
      const stop = page.getByRole('alertdialog', { name: keys.disableTitle('ci') });
      await stop.getByText(words.keys.disableEffect(`${prefix}…${last4}`)).waitFor();
      await look('user-key-disable');
      await stop.getByRole('button', { name: keys.disable }).click();
      await page.getByText(keys.disabled('ci')).first().waitFor();
      expect(await state()).toBe('disabled');
      await act(keys.enable);
      await page.getByText(keys.enabled('ci')).first().waitFor();
      expect(await state()).toBe('active');

      await go('/operator/users');
      for (const name of ['Rich', 'Guest'])
        await page.getByRole('checkbox', { name: words.users.bulk.pick(name) }).check();
      await page.getByText(words.users.bulk.count(2)).waitFor();
      await look('users-selected');
      const bar = page.getByRole('region', { name: words.users.bulk.column });
      // Nobody among them is suspended.
      await expect
        .poll(() => bar.getByRole('button', { name: words.user.restore }).count())
        .toBe(0);
      await bar.getByRole('button', { name: words.user.suspend }).click();
      const asked = page.getByRole('dialog', { name: words.users.bulk.suspendTitle(2) });
      await asked.getByLabel(reasonOf[seen.language]).fill('abuse');
      await look('users-suspend');
      await asked.getByRole('button', { name: words.user.suspend }).click();
      await page.getByText(words.users.bulk.suspended(2)).first().waitFor();
      const { json } = await operator.ask('operator/users?state=suspended');
      expect(json.items.map(({ name }: { name: string }) => name)).toEqual(['Guest', 'Rich']);
    },
    120_000,
  );
});
