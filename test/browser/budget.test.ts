import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtConsole } from './chromium.ts';

const entryBytesMax = 200_000;
const stylesBytesMax = 20_000;

/**
 * Scripts that a browser reads before it shows anything: those of the page, and all that they
 * import at once.
 */
function entryScripts(folder: string): string[] {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
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
      readdirSync(join(folder, 'assets')).filter((name) => /^index-.*\.css$/.test(name)),
    ),
  ).toBeLessThanOrEqual(stylesBytesMax);
});

test('charts and the palette come later', () => {
  const folder = builtConsole();
  const entry = entryScripts(folder).join(' ');
  expect(entry).not.toMatch(/chart-canvas|palette|overview|operator/);
});
