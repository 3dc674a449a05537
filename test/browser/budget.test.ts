import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { builtConsole, noChromium, openWindow, withChromium } from './chromium.ts';
import { type LiveConsole, startLiveConsole } from './gateway.ts';
import { recordTraffic } from './measured.ts';

withChromium();

const entryBytesMax = 200_000;
const stylesBytesMax = 20_000;

/**
 * Scripts that a browser reads before it shows anything: those of the page, and all that they
 * import at once.
 */
function entryScripts(folder: string): string[] {
  // Lines for one path or language are sent with that page alone.
  const page = readFileSync(join(folder, 'index.html'), 'utf8').replaceAll(
    /<link data-for="[^"]+"[^>]*>/g,
    '',
  );
  const waiting = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(
    (match) => match[1] ?? '',
  );
  const seen = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const text = readFileSync(join(folder, 'assets', name), 'utf8');
    for (const [, next = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      waiting.push(next);
  }
  return [...seen];
}

const packed = (folder: string, names: readonly string[]) =>
  names.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(folder, 'assets', name)), { level: 9 }).length,
    0,
  );

test('the console begins with at most 200 kB of script and 20 kB of styles', () => {
  const folder = builtConsole();
  const scripts = entryScripts(folder);
  expect(scripts.length).toBeGreaterThan(0);
  expect(packed(folder, scripts)).toBeLessThanOrEqual(entryBytesMax);
  expect(
    packed(
      folder,
      readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.css')),
    ),
  ).toBeLessThanOrEqual(stylesBytesMax);
});

test('charts and the palette come later', () => {
  const folder = builtConsole();
  const entry = entryScripts(folder).join(' ');
  expect(entry).not.toMatch(/chart-canvas|palette|overview|operator/);
});

const overviewRequestsMax = 15;
const overviewScriptBytesMax = 150_000;
const requestsMax = 18;
const jsonBytesMax = 60_000;

/** An operator's key spends on several models, so that every part of the pages has its content. */
async function spend({ url }: LiveConsole, operator: Awaited<ReturnType<LiveConsole['newUser']>>) {
  const { json } = await operator.ask('keys', {
    method: 'POST',
    headers: { 'idempotency-key': 'a-key-to-spend-with' },
    body: { name: 'ci', group: 'default' },
  });
  for (const model of ['deepseek-chat', 'glm-4.7', 'deepseek-chat'])
    await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${json.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
}

describe.skipIf(noChromium)('what a page fetches, with nothing kept by the browser', () => {
  test('is few files, and no JSON of more than 60 kB', async () => {
    const live = await startLiveConsole();
    const operator = await live.newUser({ yuan: 20n, role: 'operator' });
    await spend(live, operator);
    for (const path of [
      '/',
      '/usage',
      '/keys',
      '/models',
      '/playground',
      '/operator',
      '/operator/channels',
      '/operator/models',
    ]) {
      const { page, go } = await openWindow(live.url, operator.cookie);
      const sent = await recordTraffic(page);
      await go(path);
      if (path === '/') await page.locator('canvas').waitFor();
      await page.waitForLoadState('load');
      const list = sent.map((each) => `${each.bytes} ${each.path}`).join('\n');
      const scripts = sent.filter(({ type }) => type === 'Script');
      const overview = path === '/';
      expect(sent.length, list).toBeLessThanOrEqual(overview ? overviewRequestsMax : requestsMax);
      if (overview) {
        expect(scripts.length, list).toBeGreaterThan(4);
        expect(
          scripts.reduce((sum, { bytes }) => sum + bytes, 0),
          list,
        ).toBeLessThanOrEqual(overviewScriptBytesMax);
      }
      for (const { type, bytes } of sent)
        if (type === 'Fetch') expect(bytes, list).toBeLessThanOrEqual(jsonBytesMax);
    }
  }, 120_000);
});
