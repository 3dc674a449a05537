import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { blocksOf } from './support/documents.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const page = 'docs/guides/add-a-vendor.md';
/** What a copy of the repository does without. */
const left = /^(?:node_modules|dist|coverage|data|\.git|docs\/pictures)(?:\/|$)/;

/**
 * Every block that changes something is played; those that run tests and checks of the copy only
 * with LONG_TESTS.
 */
const leavesOut = (code: string): boolean =>
  process.env['LONG_TESTS'] !== 'true' && /npx (?:vitest|tsc)/.test(code);

test('a vendor is added in the words of the guide, in a copy of the repository', {
  timeout: 240_000,
}, async () => {
  const copy = await mkdtemp(join(tmpdir(), 'tollgate-copy-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  await cp(root, copy, { recursive: true, filter: (path) => !left.test(relative(root, path)) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const blocks = blocksOf(readFileSync(join(root, page), 'utf8'));
  expect(blocks.filter(({ mark }) => mark === undefined)).toEqual([]);
  expect(blocks.length).toBe(7);
  const environment = {
    PATH: process.env['PATH'],
    HOME: copy,
    TMPDIR: tmpdir(),
    DATABASE_URL: inject('postgresUrl'),
  };
  for (const { code, mark, line } of blocks) {
    if (leavesOut(code)) continue;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', code], {
      cwd: copy,
      env: environment,
      maxBuffer: 2 ** 24,
    }).catch((error: Error & { stdout?: string }) =>
      expect.fail(`${page}:${line}: ${error.message}\n${error.stdout?.slice(-3_000)}`),
    );
    if (mark?.kind === 'prints') expect(stdout, `${page}:${line}`).toMatch(new RegExp(mark.text));
  }
});
