import { describe, expect, test } from 'vitest';
import en from '../../web/words/en/keys.ts';
import zh from '../../web/words/zh/keys.ts';
import {
  everyLook,
  expectAccessible,
  looksAt,
  nameOf,
  noChromium,
  openWindow,
  picture,
  withChromium,
} from './chromium.ts';
import { onePerFile } from './gateway.ts';
import { type LivedIn, startLivedIn } from './lived-in.ts';

withChromium();

const livedIn = onePerFile(startLivedIn);

const pagesOf = ({ paths, user }: LivedIn): readonly string[] => [
  '/',
  '/keys',
  paths.key,
  '/usage',
  `/usage/req_${user.userId.slice(-6)}arithmetic`,
  '/statement?from=-7d',
  '/top-up',
  paths.order,
  paths.paidOrder,
  '/models',
  '/models/deepseek-chat',
  '/settings',
];

const operatorPagesOf = ({ paths, user }: LivedIn): readonly string[] => [
  '/operator',
  '/operator/channels',
  '/operator/models',
  '/operator/groups',
  '/operator/users',
  '/operator/channels/ds-main',
  '/operator/channels/ds-main?tab=models',
  '/operator/channels/ds-main?tab=settings',
  '/operator/models/deepseek-chat',
  '/operator/groups/default',
  paths.user,
  '/operator/requests',
  `/operator/requests/req_${user.userId.slice(-6)}arithmetic`,
  '/operator/ledger',
  '/operator/audit',
];

/**
 * What can be pressed and looks like the text around it: without the accent colour, an underline, a
 * border, a ground, a picture. An amount copies itself and says so when it is pointed at; the header
 * of a column sorts it.
 */
const likeText = `(() => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--color-accent)';
  const accent = getComputedStyle(probe).color;
  probe.remove();
  const drawn = (element) => {
    const { borderTopWidth, backgroundColor, textDecorationLine, color } = getComputedStyle(element);
    return element.matches('svg, img') || color === accent || borderTopWidth !== '0px' ||
      textDecorationLine.includes('underline') || backgroundColor !== 'rgba(0, 0, 0, 0)';
  };
  return [...document.querySelectorAll('main a, main button, header nav a')]
    .filter((each) => each.checkVisibility() && each.textContent.trim() !== '')
    .filter((each) => each.closest("thead, [role=tablist], [aria-pressed]") === null)
    .filter((each) => getComputedStyle(each).cursor !== 'copy')
    .filter((each) => ![each, ...each.querySelectorAll('*')].some(drawn))
    .map((each) => each.textContent.trim());
})()`;

const words = { en, zh } as const;
const phonePxMax = 640;

/** One thing of a list: `/keys/key_…`, `/operator/models/…`. */
const isDetail = (path: string): boolean =>
  /^\/(operator\/)?(keys|usage|top-up|models|channels|groups|users|requests)\/./.test(path);

/** Buttons that cannot be pressed without a reason that is read beside them. */
const unreasoned = `[...document.querySelectorAll('button[aria-disabled], :disabled')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .filter((each) => {
    const reason = document.getElementById(each.getAttribute('aria-describedby') ?? '');
    return !reason?.checkVisibility() || reason.textContent.trim() === '';
  })
  .map((each) => each.textContent)`;

/** Headers of columns that have no room for all of their content. */
const cutHeaders = `[...document.querySelectorAll('th[scope=col]')]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent)`;

/** What a page is called: by its heading, by the steps above it, and by the link that leads up. */
interface Named {
  readonly heading: string;
  readonly steps: readonly { readonly label: string; readonly path: string | null }[];
  readonly up: { readonly label: string; readonly path: string } | null;
}

const names = `(() => {
  const label = (each) => each.textContent.replace(/^\\s*[/]/, '').trim();
  const up = document.querySelector('[data-way-up]');
  return {
    heading: document.querySelector('h1').textContent.trim(),
    steps: [...document.querySelectorAll('header nav li')].map((each) => ({
      label: label(each), path: each.querySelector('a')?.getAttribute('href') ?? null })),
    up: up?.checkVisibility() ? { label: label(up), path: up.getAttribute('href') } : null,
  };
})()`;

describe.skipIf(noChromium)('the signs of the console in Chromium', () => {
  test.each(looksAt())(
    'tell what can be pressed, why not, and the way up, at $width px, $theme, $language',
    { timeout: 180_000 },
    async (look) => {
      const lived = await livedIn();
      for (const [{ cookie }, paths] of [
        [lived.user, pagesOf(lived)],
        [lived.operator, operatorPagesOf(lived)],
      ] as const) {
        const { page, go } = await openWindow(lived.live.url, cookie, look);
        const headings = new Map<string, string>();
        for (const path of paths) {
          await go(path);
          const name = path.slice(1).replaceAll(/[/?=]+/g, '-') || 'overview';
          await picture(page, `signs-${name}-${nameOf(look)}`, { whole: true });
          expect.soft(await page.evaluate(likeText), path).toEqual([]);
          expect.soft(await page.evaluate(unreasoned), path).toEqual([]);
          if (everyLook) await expectAccessible(page, path);
          const { heading, steps, up }: Named = await page.evaluate(names);
          headings.set(path, heading);
          if (path === '/keys' && look.width < phonePxMax)
            expect
              .soft(await page.locator('main li[data-row]').first().innerText())
              .toContain(words[look.language].spent);
          if (path.startsWith('/models/'))
            expect
              .soft(await page.evaluate(cutHeaders), 'a name is cut, no multiplier')
              .toEqual([]);
          const above = steps.slice(0, -1);
          expect.soft(steps.at(-1), path).toEqual({ label: heading, path: null });
          expect.soft(above, path).toHaveLength(isDetail(path) ? 1 : 0);
          for (const step of above) {
            // The pages come after their lists.
            expect.soft(headings.get(step.path ?? ''), path).toBe(step.label);
            expect.soft(up, path).toEqual(look.width < phonePxMax ? step : null);
          }
        }
      }
    },
  );
});
