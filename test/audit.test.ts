import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('what is installed has licences that may be passed on, no scripts but the known ones, and one version each', () => {
  const script = fileURLToPath(new URL('../scripts/audit.mjs', import.meta.url));
  expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toContain(
    'as they should be',
  );
});
