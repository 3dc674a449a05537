import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const script = readFileSync(new URL('./eyes.js', import.meta.url), 'utf8');

/**
 * What somebody who looks at a page would find wrong with it, in words: text that is cut off
 * without a sign of it or runs over its neighbour, a gap after the dots of an id, dates that break,
 * decimal points of a column that do not stand below each other, headers that are not above their
 * amounts, exponents, times without their zone, a space after a Chinese sentence, more than one
 * primary button, a status that is a colour alone.
 */
export const faultsOf = (page: Page): Promise<readonly string[]> => page.evaluate(script);
