import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { noChromium, openWindow, withChromium } from './chromium.ts';
import { onePerFile } from './gateway.ts';
import { startLivedIn } from './lived-in.ts';

withChromium();

const livedIn = onePerFile(startLivedIn);

const router = readFileSync(new URL('../../web/router.tsx', import.meta.url), 'utf8');
/** The parts of the console's addresses that are no names or ids. */
const fixed = new Set(
  [...router.matchAll(/'(\/[^']*)'/g)].flatMap(([, path = '']) => path.split('/')),
);

/** Pages of the same shape are one: all charges, all models. */
const shapeOf = (path: string): string =>
  path.startsWith('/models/')
    ? '/models/*'
    : path
        .split('/')
        .map((part) => (fixed.has(part) ? part : '*'))
        .join('/');

const linksOn = (page: Page): Promise<string[]> =>
  page.evaluate('[...document.querySelectorAll("a[href]")].map(({ href }) => href)');

/** What is wrong with a link to something that is no page of the console. */
async function wrongWith(link: URL, cookie: string): Promise<string | undefined> {
  const response = await fetch(link, { headers: { accept: 'text/html,*/*', cookie } });
  const text = await response.text();
  if (response.status !== 200) return `${response.status}`;
  const anchor = decodeURIComponent(link.hash.slice(1));
  return anchor === '' || text.includes(`id="${anchor}"`) ? undefined : `has no #${anchor}`;
}

describe.skipIf(noChromium)('every link of the console', () => {
  test.each(['en', 'zh'] as const)(
    'leads to a page or chapter that is there, in %s',
    async (language) => {
      const { live, operator, user } = await livedIn();
      const wrong: string[] = [];
      const visited = new Map<string, string>();
      const elsewhere = new Map<string, { from: string; cookie: string }>();
      for (const { cookie } of [user, operator]) {
        const { page, go } = await openWindow(live.url, cookie, { language });
        const waiting = [['/', 'the start']];
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const [path = '', from = ''] = next;
          const key = `${cookie} ${shapeOf(path)}`;
          if (visited.has(key)) continue;
          visited.set(key, from);
          await go(path);
          const title = await page.locator('h1').first().innerText();
          if (/^(Not found|未找到|找不到)/.test(title)) wrong.push(`${from} links to ${path}`);
          for (const href of await linksOn(page)) {
            const link = new URL(href);
            if (link.origin !== live.url) elsewhere.set(href, { from: path, cookie });
            else if (/^\/(docs|openapi|files|auth|console)/.test(link.pathname))
              elsewhere.set(href, { from: path, cookie });
            else waiting.push([link.pathname, path]);
          }
        }
        await page.close();
      }
      for (const [href, { from, cookie }] of elsewhere) {
        const link = new URL(href);
        const fault =
          link.origin === live.url ? await wrongWith(link, cookie) : 'is of another host';
        if (fault !== undefined) wrong.push(`${from} links to ${href}: ${fault}`);
      }
      expect(visited.size).toBeGreaterThan(35);
      expect(elsewhere.size).toBeGreaterThan(1);
      expect(wrong).toEqual([]);
    },
    300_000,
  );
});
