import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { blocksOf, readerless } from './support/documents.ts';
import { openDemoTerminal, openOperatorTerminal, type Terminal } from './support/demo-terminal.ts';

/** Pages whose blocks a reader follows from top to bottom. */
const userPages = [
  'README.md',
  'README.zh-CN.md',
  'docs/guides/quick-start.md',
  'docs/guides/clients.md',
  'docs/zh/guides/quick-start.md',
  'docs/zh/guides/clients.md',
  'docs/reference/endpoints.md',
];
const operatorPages = ['docs/guides/operate.md', 'docs/zh/guides/operate.md'];
const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');

let demo: Terminal;
beforeAll(async () => {
  demo = await openDemoTerminal();
});
afterAll(() => demo.close());

test.each([...userPages, ...operatorPages])(
  'every block of %s says whether it is played, and why not',
  (page) => {
    expect(
      blocksOf(read(page))
        .filter(({ mark }) => mark === undefined)
        .map(({ line }) => `${page}:${line}`),
    ).toEqual([]);
  },
);

test.each(['README', 'quick-start', 'clients', 'operate'])(
  'the Chinese page of %s has the blocks of the English one',
  (name) => {
    const [english, chinese] =
      name === 'README'
        ? ['README.md', 'README.zh-CN.md']
        : [`docs/guides/${name}.md`, `docs/zh/guides/${name}.md`];
    /** Comments are in the language of the page. */
    const codeOf = (page: string) =>
      blocksOf(read(page)).map(({ code }) => code.replaceAll(/ +# .*$/gm, ''));
    expect(codeOf(chinese)).toEqual(codeOf(english));
  },
);

test.each(userPages)('%s works, word for word, on a fresh install', { timeout: 120_000 }, (page) =>
  follow(page, demo),
);

test.each(operatorPages)(
  '%s works, word for word, from an empty folder',
  {
    timeout: 120_000,
  },
  async (page) => {
    const terminal = await openOperatorTerminal();
    onTestFinished(() => terminal.close());
    await follow(page, terminal);
  },
);

async function follow(page: string, terminal: Terminal): Promise<void> {
  const blocks = blocksOf(read(page));
  expect(blocks.filter(({ mark }) => mark?.kind === 'prints').length).toBeGreaterThan(0);
  for (const block of blocks) {
    const { mark, line } = block;
    if (mark?.kind === 'started') await terminal.start(block);
    if (mark?.kind !== 'prints' && mark?.kind !== 'runs') continue;
    const said = await terminal.play(block);
    if (said !== readerless && mark.kind === 'prints')
      expect(said, `${page}:${line}`).toMatch(new RegExp(mark.text, 'm'));
    expect(said, `${page}:${line}`).not.toMatch(/"error":\s*\{/);
  }
}
