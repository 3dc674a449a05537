import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { everyLook } from './chromium.ts';

const script = readFileSync(new URL('./eyes.js', import.meta.url), 'utf8');

/** The width between a phone's and a desk's, which only `npm run test:long` walks at. */
const tabletPx = 1_024;

/** Columns that have no room any more are gone two frames after the window has become narrow. */
const drawn =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))';

/**
 * What somebody who looks at a page would find wrong with it, in words: text that is cut off
 * without a sign of it or runs over its neighbour, a gap after the dots of an id, dates that break,
 * decimal points of a column that do not stand below each other, headers that are not above their
 * amounts, exponents, times without their zone, a space after a Chinese sentence, more than one
 * primary button, a status that is a colour alone, a page that scrolls sideways. A page on a desk is
 * looked at on a tablet as well.
 */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  const found: readonly string[] = await page.evaluate(script);
  const size = page.viewportSize();
  if (everyLook || size === null || size.width <= tabletPx) return found;
  await page.setViewportSize({ ...size, width: tabletPx });
  await page.evaluate(drawn);
  const narrow: readonly string[] = await page.evaluate(script);
  await page.setViewportSize(size);
  await page.evaluate(drawn);
  return [...found, ...narrow.map((fault) => `at ${tabletPx} px: ${fault}`)];
}
