import { describe, expect, test } from 'vitest';
import {
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

const operatorPagesOf = ({ paths }: LivedIn): readonly string[] => [
  '/operator',
  '/operator/channels',
  '/operator/channels/ds-main',
  '/operator/channels/ds-main?tab=models',
  '/operator/channels/ds-main?tab=settings',
  '/operator/models/deepseek-chat',
  '/operator/groups/default',
  paths.user,
  '/operator/requests',
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

describe.skipIf(noChromium)('the signs of the console in Chromium', () => {
  test.each(looksAt())(
    'what can be pressed looks like it, at $width px, $theme, $language',
    { timeout: 180_000 },
    async (look) => {
      const lived = await livedIn();
      for (const [{ cookie }, paths] of [
        [lived.user, pagesOf(lived)],
        [lived.operator, operatorPagesOf(lived)],
      ] as const) {
        const { page, go } = await openWindow(lived.live.url, cookie, look);
        for (const path of paths) {
          await go(path);
          const name = path.slice(1).replaceAll(/[/?=]+/g, '-') || 'overview';
          await picture(page, `signs-${name}-${nameOf(look)}`, { whole: true });
          expect.soft(await page.evaluate(likeText), path).toEqual([]);
          await expectAccessible(page, path);
        }
      }
    },
  );
});
