import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, readerless } from './support/documents.ts';
import { type DemoTerminal, openDemoTerminal } from './support/demo-terminal.ts';

/** Pages whose blocks a reader follows from top to bottom. */
const pages = ['README.md', 'docs/guides/quick-start.md', 'docs/guides/clients.md'];
const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');

let terminal: DemoTerminal;
beforeAll(async () => {
  terminal = await openDemoTerminal();
});
afterAll(() => terminal.close());

test.each(pages)('every block of %s says whether it is played, and why not', (page) => {
  expect(
    blocksOf(read(page))
      .filter(({ mark }) => mark === undefined)
      .map(({ line }) => `${page}:${line}`),
  ).toEqual([]);
});

test.each(pages)('%s works, word for word, on a fresh install', { timeout: 120_000 }, async (page) => {
  const played = blocksOf(read(page)).filter(({ mark }) => mark?.kind === 'prints' || mark?.kind === 'runs');
  expect(played.length).toBeGreaterThan(2);
  for (const block of played) {
    const said = await terminal.play(block);
    if (said !== readerless && block.mark?.kind === 'prints')
      expect(said, `${page}:${block.line}`).toMatch(new RegExp(block.mark.text, 'm'));
    expect(said, `${page}:${block.line}`).not.toMatch(/"error":\s*\{/);
  }
});
