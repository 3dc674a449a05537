// `npm test`: the checks, then every test, then one line with the skipped tests and how to run
// them. With CI=true a skipped test is a failure.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './sources.mjs';

const report = join(root, 'coverage', 'tests.json');
const named = process.argv.slice(2); // `npm test -- src/ledger` runs these alone

/** External needs of tests, found by words in the file or title of a skipped test. */
const needs = [
  {
    words: /postgres/i,
    what: 'PostgreSQL',
    get: 'install it (Debian: apt-get install postgresql) or set DATABASE_URL',
  },
  {
    words: /valkey|redis/i,
    what: 'Valkey or Redis',
    get: 'install it (Debian: apt-get install redis-server) or set REDIS_URL',
  },
  {
    words: /chromium|browser|console/i,
    what: 'Chromium',
    get: 'install it (Debian: apt-get install chromium)',
  },
  { words: /record/i, what: 'recorded traffic', get: 'put the recordings at ../shared/recordings' },
];

// The rules of the house are a test, which runs with the others.
const checked = named.length > 0 ? 0 : run('npm', ['run', '--silent', 'check:code']);
mkdirSync(dirname(report), { recursive: true });
rmSync(report, { force: true });
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const status = run(process.execPath, [
  vitest,
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...named,
]);
const skipped = skippedTests();
process.stdout.write(closingLine(skipped));
if (checked !== 0) process.stdout.write('The checks failed: their words stand above the tests.\n');
process.exit(
  checked !== 0 || status !== 0 || (skipped.length > 0 && process.env.CI === 'true') ? 1 : 0,
);

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.error) process.stderr.write(`tollgate: ${command}: ${result.error.message}\n`);
  return result.status ?? 1;
}

function skippedTests() {
  const files = JSON.parse(readFileSync(report, 'utf8')).testResults;
  return files.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status !== 'passed' && test.status !== 'failed')
      .map((test) => `${file.name.slice(root.length)} ${test.fullName}`),
  );
}

function closingLine(skipped) {
  if (skipped.length === 0) return 'Nothing was skipped.\n';
  const counts = new Map();
  for (const test of skipped) {
    const need = needs.find((candidate) => candidate.words.test(test));
    const key = need === undefined ? `other (${test})` : `${need.what}: ${need.get}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const parts = [...counts].map(([key, count]) => `${count} for want of ${key}`);
  return `Skipped ${skipped.length} tests: ${parts.join('; ')}.\n`;
}
