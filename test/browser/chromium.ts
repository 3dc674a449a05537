import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';

const debian = '/usr/bin/chromium';

function findChromium(): string | undefined {
  const places = [process.env['CHROMIUM'], debian, chromium.executablePath()];
  return places.find((place) => place !== undefined && existsSync(place));
}

const executablePath = findChromium();

/**
 * No Chromium here: neither `CHROMIUM`, nor Debian's, nor Playwright's own. What needs one is
 * skipped, which the closing line of `npm test` tells.
 */
export const noChromium = executablePath === undefined;

/**
 * Playwright turns these off; Chromium takes the last list that it is given, and no other. Ours adds
 * the pages of the address bar: every window draws two, and most of its start goes into them.
 */
const withoutFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

let browser: Browser | undefined;

/** One Chromium for all files of a worker. It ends with the worker's process. */
export function withChromium(): void {
  beforeAll(async () => {
    if (executablePath === undefined || browser?.isConnected()) return;
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--force-color-profile=srgb',
      `--disable-features=${withoutFeatures.join()}`,
      // A microphone that beeps, for those who may listen.
      '--use-fake-device-for-media-stream',
    ];
    browser = await chromium.launch({ executablePath, args });
  });
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly language?: 'zh' | 'en';
  /** In place of Chromium's own. */
  readonly userAgent?: string;
  /** Pixels of a picture for each pixel of the page; 1 unless it is given. */
  readonly scale?: number;
}

const pictures = process.env['SCREENSHOTS'];
export const everyLook = pictures !== undefined || process.env['LONG_TESTS'] === 'true';

/**
 * Themes and widths to look at in `language`: Chinese in the dark on a phone, English by light on a
 * desk. `npm run test:long`, and a run that keeps pictures, have all four in each.
 */
export function looksIn(language: 'zh' | 'en'): readonly Required<Pick<Look, 'theme' | 'width'>>[] {
  if (!everyLook)
    return [language === 'zh' ? { width: 360, theme: 'dark' } : { width: 1440, theme: 'light' }];
  return [360, 1440].flatMap((width) =>
    (['light', 'dark'] as const).map((theme) => ({ width, theme })),
  );
}

export type WalkLook = Required<Pick<Look, 'width' | 'theme' | 'language'>>;

const twelve: readonly WalkLook[] = [1440, 1024, 390].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'zh'] as const).map((language) => ({ width, theme, language })),
  ),
);

const isOneOf =
  (few: readonly string[]) =>
  ({ width, theme, language }: WalkLook): boolean =>
    few.includes(`${width} ${theme} ${language}`);

/**
 * How a walk through the console is looked at: both languages, light and dark, at each of `widths`.
 * `npm run test:long`, and a run that keeps pictures, have all twelve. Other runs have two, English
 * by light on a desk and Chinese in the dark on a phone; `faultsOf` sees the first on a tablet, too.
 */
export function looksAt(widths: readonly number[] = [1440, 1024, 390]): readonly WalkLook[] {
  const all = everyLook ? twelve : twelve.filter(isOneOf(few));
  return all.filter(({ width }) => widths.includes(width));
}

const few = ['1440 light en', '390 dark zh'];

/** The name of a look, for pictures. */
export const nameOf = ({ width, theme, language }: WalkLook): string =>
  `${width}-${theme}-${language}`;

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a path of the console and waits until nothing is loaded any more. */
  go(path: string): Promise<void>;
  /**
   * Whatever the browser complained about: errors of scripts, breaches of the policy, files that
   * are not there; and what the page asked of another host.
   */
  readonly complaints: readonly string[];
}

/**
 * A window with an empty profile, signed in by `cookie` (`name=value`) where one is given. It is
 * closed with the test, which fails if it complained.
 */
export async function openWindow(
  url: string,
  cookie: string | undefined,
  look: Look = {},
): Promise<Window> {
  const { width = 1440, height = width < 700 ? 740 : 900, theme = 'light', language = 'en' } = look;
  if (browser === undefined) throw new Error('call withChromium() first');
  const phone = width < 700;
  const context = await browser.newContext({
    viewport: { width, height },
    reducedMotion: 'reduce',
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(look.userAgent !== undefined && { userAgent: look.userAgent }),
    ...(look.scale !== undefined && { deviceScaleFactor: look.scale }),
    ...(phone && { hasTouch: true, isMobile: true }),
  });
  const [name = '', value = ''] = cookie?.split('=', 2) ?? [];
  await context.addCookies([
    ...(cookie === undefined ? [] : [{ name, value, url, httpOnly: true }]),
    { name: 'tollgate_theme', value: theme, url },
    { name: 'tollgate_language', value: language, url },
  ]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !expected.test(message.text()) &&
      complaints.push(message.text()),
  );
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.host !== '' && asked.hostname !== new URL(url).hostname)
      complaints.push(`The page asks another host: ${asked.href}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  return { page, context, complaints, go: (path) => goTo(page, url + path) };
}

/** A no of the server is shown by the page; that the browser lists it as well is no complaint. */
const expected =
  /the server responded with a status of (?:4\d\d|503)|net::ERR_(?:INTERNET_DISCONNECTED|CONNECTION_|SOCKET_|EMPTY_RESPONSE|INCOMPLETE_CHUNKED)/;

async function goTo(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('h1').first().waitFor();
  await settled(page);
}

/** Nothing is loading: no skeleton, no bar. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
}

/** Half as long as the script that the package gives, and sent to every page that is looked at. */
const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const axeOptions = JSON.stringify({
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // Every rule looks at every element. Only those that break one are described: a selector for each
  // of the others takes longer than the rules do.
  resultTypes: ['violations'],
});

interface Violation {
  readonly id: string;
  readonly where: readonly string[];
}

/** No violation that axe knows, and nothing to scroll sideways for. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const found: readonly Violation[] = await page.evaluate(
    `axe.run(document, ${axeOptions}).then((result) => result.violations.map(({ id, nodes }) => ({ id, where: nodes.map(({ html, failureSummary }) => html.slice(0, 300) + ' ' + failureSummary) })))`,
  );
  expect(found, what).toEqual([]);
  const sideways: number = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(sideways, `${what} can be scrolled sideways`).toBe(0);
}

const tallestPx = 2_400;

/**
 * Keeps a picture of the page in the folder that `SCREENSHOTS` names; without it there are none.
 */
export async function picture(
  page: Page,
  name: string,
  options: { readonly whole?: boolean } = {},
): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  const size = page.viewportSize();
  const whole: number = options.whole
    ? await page.evaluate('document.documentElement.scrollHeight')
    : 0;
  // The window grows to the page, so that what keeps its place in a window (the bars) stands where
  // it does for a reader.
  if (size !== null && whole > size.height)
    await page.setViewportSize({ ...size, height: Math.min(whole, tallestPx) });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
  if (size !== null && whole > size.height) await page.setViewportSize(size);
}

/** The API reference and the guides as `npm run build` leaves them. */
export const builtDocs = fileURLToPath(new URL('../../dist/docs', import.meta.url));

/**
 * The console as `npm run build` leaves it, or another build in the folder that `CONSOLE` names.
 */
export function builtConsole(): string {
  const folder =
    process.env['CONSOLE'] ?? fileURLToPath(new URL('../../dist/console', import.meta.url));
  if (!existsSync(join(folder, 'index.html')))
    throw new Error('dist/console is missing: npm run build');
  return folder;
}
