import { expect, test } from 'vitest';
import { operations } from '../../src/api/openapi/operations.ts';
import { sqliteUrl } from '../databases.ts';
import { oneModel, startGateway } from '../support/running.ts';
import { expectAccessible, noChromium, openWindow, picture, withChromium } from './chromium.ts';

withChromium();

test.skipIf(noChromium)(
  'the interface for people: every endpoint, without a script, on a telephone as well, light and dark',
  async () => {
    const { url } = await startGateway({
      databaseUrl: await sqliteUrl(),
      configuration: oneModel('http://127.0.0.1:9'),
    });
    for (const [width, theme] of [
      [360, 'light'],
      [1440, 'dark'],
    ] as const) {
      const { page, go } = await openWindow(url, undefined, { width, theme });
      await page.emulateMedia({ colorScheme: theme });
      await go('/docs');
      for (const { id } of Object.values(operations))
        expect(await page.locator(`#${id}`).count(), id).toBe(1);
      expect(await page.locator('script').count()).toBe(0);
      await expectAccessible(page, `docs at ${width}`);
      await picture(page, `docs-${width}-${theme}`);
    }
  },
);
