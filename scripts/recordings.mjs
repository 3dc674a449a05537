// `npm run recordings`: replays all recorded traffic and writes docs/recordings.md, which counts
// passed recordings by vendor and by feature and names every exception with its reason. Fails when
// a recording fails or is not accounted for, or when more than one in a hundred of the language
// endpoints is an exception. `--replayed` takes the figures of the last `npm test` instead of
// another replay.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.mjs';

const folder = join(root, '..', 'shared', 'recordings');
const results = join(root, 'coverage', 'recordings');
const endpoints = {
  chat: 'OpenAI’s chat convention, of every vendor that speaks it',
  messages: 'Anthropic’s Messages, natively, over chat, and to clients of chat',
  gemini: 'Gemini’s generateContent',
  converse: 'Bedrock’s Converse',
  nativechat: 'Cohere’s chat',
  responses: 'OpenAI’s Responses, natively and to clients of chat',
  completion: 'text completions',
  embedding: 'vectors',
  count_tokens: 'counts of tokens',
  audio: 'recordings, written down',
  tts: 'texts, read aloud',
};
const exceptionsShareMax = 0.01;
/**
 * These have few recordings, some of them live sessions over sockets: exceptions are listed, but a
 * percentage means nothing.
 */
const few = new Set(['audio', 'tts']);

if (!existsSync(folder)) {
  process.stdout.write('shared recordings absent: docs/recordings.md stays as it is\n');
  process.exit(0);
}
const status = process.argv.includes('--replayed') ? 0 : replay();

const passed = new Set();
const failed = new Set();
for (const name of existsSync(results) ? readdirSync(results) : []) {
  const told = JSON.parse(readFileSync(join(results, name), 'utf8'));
  for (const id of told.passed) passed.add(id);
  for (const id of told.failed) failed.add(id);
}
const reasons = JSON.parse(readFileSync(join(root, 'test', 'recordings-exceptions.json'), 'utf8'));
const rows = readFileSync(join(folder, 'index.tsv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map(rowOf)
  .filter(({ endpoint }) => endpoint in endpoints);
const good = ({ id }) => passed.has(id) && !failed.has(id);
const exceptions = rows.filter(({ id }) => reasons[id] !== undefined);
const judged = rows.filter(({ endpoint }) => !few.has(endpoint));
const tooMany =
  exceptions.filter(({ endpoint }) => !few.has(endpoint)).length >
  judged.length * exceptionsShareMax;
const wrong = rows.filter((row) => (reasons[row.id] === undefined) !== good(row));
writeFileSync(join(root, 'docs', 'recordings.md'), report());
process.stdout.write(
  `recordings: ${rows.filter(good).length} of ${rows.length} pass, ${exceptions.length} exceptions; docs/recordings.md is written\n`,
);
for (const { id } of wrong)
  process.stderr.write(
    `${id}: ${good({ id }) ? 'passes, its exception has to go' : failed.has(id) ? 'fails' : 'is judged by no test'}\n`,
  );
if (tooMany) process.stderr.write('More exceptions than one in a hundred\n');
process.exit(status !== 0 || wrong.length > 0 || tooMany ? 1 : 0);

function replay() {
  rmSync(results, { recursive: true, force: true });
  const suites = readdirSync(join(root, 'test')).filter(
    (name) => /recordings.*\.test\.ts$/.test(name) && !name.startsWith('simulated-'),
  );
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  return spawnSync(process.execPath, [vitest, 'run', ...suites.map((name) => join('test', name))], {
    cwd: root,
    stdio: 'inherit',
  }).status;
}

function rowOf(line) {
  const [id, vendor, endpoint, , features = ''] = line.split('\t');
  return { id, vendor, endpoint, features: features.split(',').filter(Boolean) };
}

function report() {
  const share = ((100 * exceptions.length) / rows.length).toFixed(2);
  return `# Recorded traffic

Made by \`npm run recordings\`, which replays ${rows.length.toLocaleString('en')} real exchanges with vendors: what the vendor was asked is what we would ask, as far as the client's convention has words for it, and what it answered reaches the client with
every text, call, thought, reason and count, however a network cuts the stream. Passed of recorded, errors, cut and empty replies included; ${rows.filter(good).length.toLocaleString('en')} pass, ${exceptions.length} (${share} %) are exceptions.

## By vendor

${table('vendor', (row) => [row.vendor])}

What the columns are: ${Object.entries(endpoints)
    .map(([name, what]) => `**${name}** ${what}`)
    .join('; ')}.

## By feature

A recording may have several.

${table('feature', (row) => (row.features.length === 0 ? ['plain'] : row.features))}

## Exceptions

${
  exceptions.length === 0
    ? 'None.'
    : byReason()
        .map(([why, ids]) => `- ${why} (${ids.length}: ${ids.join(', ')})`)
        .join('\n')
}
`;
}

/** One line for each name that \`namesOf\` gives a row, one column for each endpoint. */
function table(head, namesOf) {
  const names = [...new Set(rows.flatMap(namesOf))].sort();
  const columns = Object.keys(endpoints);
  const cell = (of) => (of.length === 0 ? '' : `${of.filter(good).length}/${of.length}`);
  const line = (name, of) =>
    `| ${name} | ${columns.map((endpoint) => cell(of.filter((row) => row.endpoint === endpoint))).join(' | ')} |`;
  const body = names.map((name) =>
    line(
      name,
      rows.filter((row) => namesOf(row).includes(name)),
    ),
  );
  return [
    `| ${head} | ${columns.join(' | ')} |`,
    `|${' --- |'.repeat(columns.length + 1)}`,
    ...body,
    line('**all**', rows),
  ].join('\n');
}

function byReason() {
  const all = new Map();
  for (const { id } of exceptions) all.set(reasons[id], [...(all.get(reasons[id]) ?? []), id]);
  return [...all];
}
