// Runs the judge of recorded traffic (../shared/judge) in all of its modes: at least 99 % of whole
// cases pass, and every other one is explained in test/judge-exceptions.json. An exception that
// passes again is a failure too: remove it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.mjs';

const shared = join(root, '..', 'shared');
const judge = join(shared, 'judge', 'judge.mjs');
const modes = ['passthrough', 'errors', 'stream-cut', 'translate', 'pairs'];
const percentMin = 99;

if (!existsSync(judge)) fail('The judge of recorded traffic is not at ../shared/judge');
const explained = JSON.parse(readFileSync(join(root, 'test', 'judge-exceptions.json'), 'utf8'));
mkdirSync(join(root, 'coverage'), { recursive: true });

// Each mode has a gateway of its own. Where there are two processors, two modes use them.
const left = [...modes];
const results = new Map();
const running = new Set();
async function work() {
  for (let mode = left.shift(); mode !== undefined; mode = left.shift())
    results.set(mode, await judgeMode(mode));
}
await Promise.all([work(), work()]);

const totals = { passed: 0, judged: 0 };
const wrong = [];
for (const mode of modes) {
  const { passed, judged, failures } = results.get(mode);
  totals.passed += passed;
  totals.judged += judged;
  const known = explained[mode] ?? {};
  for (const { id, first } of failures)
    if (!(id in known)) wrong.push(`${mode}: ${id} ${JSON.stringify(first)}`);
  for (const id of Object.keys(known))
    if (!failures.some((failure) => failure.id === id))
      wrong.push(`${mode}: ${id} passes, its exception has to go`);
  process.stdout.write(`judge ${mode}: ${passed}/${judged}, ${failures.length} exceptions\n`);
}
const percent = (100 * totals.passed) / totals.judged;
process.stdout.write(
  `judge: ${totals.passed}/${totals.judged} whole cases, ${percent.toFixed(2)} %\n`,
);
if (wrong.length > 0) fail(`Not explained:\n${wrong.join('\n')}`);
if (!(percent >= percentMin)) fail(`Less than ${percentMin} %`);

async function judgeMode(mode) {
  const out = join(root, 'coverage', `judge-${mode}.jsonl`);
  const table = join(root, 'coverage', `judge-${mode}.json`);
  for (const file of [out, table]) rmSync(file, { force: true });
  const args = [
    '--target',
    'tollgate',
    '--cases',
    join(shared, 'recordings'),
    '--mode',
    mode,
    '--pairs',
    join(shared, 'recordings', 'pairs.tsv'),
    '--out',
    out,
    '--table',
    table,
  ];
  const ran = spawn(process.execPath, [judge, ...args], { cwd: root });
  running.add(ran);
  let said = '';
  for (const stream of [ran.stdout, ran.stderr]) stream.on('data', (text) => (said += text));
  await once(ran, 'close');
  running.delete(ran);
  if (!existsSync(table)) fail(`The judge did not finish ${mode}:\n${said}`);
  const cases = Object.values(JSON.parse(readFileSync(table, 'utf8')).byCheck).map(
    (checks) => checks.CASE ?? [0, 0],
  );
  const failures = readFileSync(out, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((failure) => failure.all.some((check) => !check.soft));
  return { passed: sum(cases, 0), judged: sum(cases, 1), failures };
}

function sum(rows, column) {
  return rows.reduce((total, row) => total + row[column], 0);
}

function fail(message) {
  for (const judging of running) judging.kill();
  process.stderr.write(`tollgate: ${message}\n`);
  process.exit(1);
}
