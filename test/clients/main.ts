// `npm run clients`: real clients, installed outside the project (`TOLLGATE_CLIENTS`, or the user's
// cache), against the built gateway and simulated vendors. `-- --only codex,llm --models groq`
// chooses; `--install` only installs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import { blind, type Client, features, type Outcome, type Session } from './client.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';
import { type Demo, startDemo } from './gateway.ts';
import { install, newerNode } from './install.ts';
import { libraries } from './libraries.ts';
import { llm } from './llm.ts';
import { compliance, suiteMissing } from './open-responses.ts';
import { opencode } from './opencode.ts';
import { run } from './program.ts';

const clients: readonly Client[] = [
  codex,
  claudeCode,
  geminiCli,
  opencode,
  aider,
  llm,
  ...libraries,
];

/** The model of each vendor that the clients use. */
const modelOf: Readonly<Record<string, string>> = {
  openai: 'gpt-5-mini',
  claude: 'claude-haiku-4-5',
  gemini: 'gemini-2.5-flash',
  deepseek: 'deepseek-chat',
  groq: 'llama-3.3-70b',
  mistral: 'mistral-small-latest',
};
const suite = 'open-responses';
/** The gateway writes its log every half second. */
const logMs = 1_000;

interface Row {
  readonly title: string;
  /** Cells by vendor. */
  readonly cells: ReadonlyMap<string, string>;
}

const { values: chosen } = parseArgs({
  options: { only: { type: 'string' }, models: { type: 'string' }, install: { type: 'boolean' } },
});
const vendors = pick('models', chosen.models, Object.keys(modelOf));
const wanted = new Set(pick('only', chosen.only, [...clients.map(({ id }) => id), suite]));
const problems: string[] = [];
const skipped: string[] = [];
const rows: Row[] = [];

const node = await newerNode();
const installed = new Map<string, string>();
for (const client of clients.filter(({ id }) => wanted.has(id))) {
  console.log(`${client.title} ${client.version}: looking for its packages`);
  const found =
    node === undefined ? { missing: 'no newer Node' } : await install(client.id, client.needs);
  if ('folder' in found) installed.set(client.id, found.folder);
  else skipped.push(`${client.title} ${client.version}: ${found.missing}`);
}

if (chosen.install !== true) await playAll();
for (const line of skipped) console.log(`SKIPPED  ${line}`);
for (const line of problems) console.log(`FAILED   ${line}`);
if (problems.length > 0) process.exitCode = 1;

async function playAll(): Promise<void> {
  const demo = await startDemo();
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-clients-scratch-'));
  try {
    for (const client of clients) {
      const folder = installed.get(client.id);
      if (folder !== undefined)
        await play(client, sessionOf(demo, folder, join(scratch, client.id)), demo);
    }
    if (wanted.has(suite)) await playSuite(sessionOf(demo, '', scratch));
  } finally {
    problems.push(...(await demo.close()).map((problem) => `the books: ${problem}`));
    rmSync(scratch, { recursive: true, force: true });
  }
  printTable();
}

function sessionOf({ url, key }: Demo, folder: string, scratch: string): Session {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: scratch,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_PROXY: '127.0.0.1',
  };
  return {
    url,
    key,
    models: vendors.map((vendor) => modelOf[vendor] ?? ''),
    installed: folder,
    scratch,
    node: node ?? process.execPath,
    run: (command, args, options) =>
      run(command, args, { ...options, env: { ...env, ...options?.env } }),
  };
}

async function play(client: Client, session: Session, { log }: Demo): Promise<void> {
  const { title, version } = client;
  const before = log.length;
  const from = performance.now();
  const outcomes = await client.play(session);
  const seconds = Math.round((performance.now() - from) / 1000);
  await new Promise((resolve) => setTimeout(resolve, logMs));
  const asked = log.slice(before).filter(({ msg }) => msg === 'request').length;
  const passed = outcomes.filter(({ error }) => error === undefined).length;
  console.log(
    `${title} ${version}: ${passed} of ${outcomes.length} in ${seconds} s, ${asked} requests`,
  );
  if (asked === 0) problems.push(`${title}: no request of it reached the gateway`);
  for (const { door, feature, model, error } of outcomes)
    if (error !== undefined) problems.push(`${title}, ${door}, ${feature}, ${model}: ${error}`);
  for (const door of new Set(outcomes.map((outcome) => outcome.door)))
    for (const feature of features)
      addRow(
        `${title} ${version}, ${door}: ${feature}`,
        outcomes.filter((outcome) => outcome.door === door && outcome.feature === feature),
      );
}

function addRow(title: string, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return;
  const word = (model: string | undefined) => {
    const outcome = outcomes.find((one) => one.model === model);
    return outcome === undefined ? '' : outcome.error === undefined ? 'yes' : 'FAILED';
  };
  rows.push({ title, cells: new Map(vendors.map((vendor) => [vendor, word(modelOf[vendor])])) });
}

async function playSuite(session: Session): Promise<void> {
  const missing = suiteMissing();
  if (missing !== undefined) {
    skipped.push(`Open Responses compliance: ${missing}`);
    return;
  }
  // The suite needs models that see pictures.
  const seeing = vendors.filter((vendor) => !blind.has(modelOf[vendor] ?? ''));
  const told = await compliance({
    ...session,
    models: seeing.map((vendor) => modelOf[vendor] ?? ''),
  });
  const cells = new Map(
    seeing.map((vendor, index) => [vendor, `${told[index]?.passed} of ${told[index]?.total}`]),
  );
  rows.push({ title: 'Open Responses compliance over HTTP', cells });
  for (const { model, failures } of told)
    problems.push(...failures.map((failure) => `Open Responses, ${model}, ${failure}`));
}

function printTable(): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const width = Math.max(0, ...rows.map(({ title }) => title.length));
  console.log(
    `\n${line(['client, format: feature'.padEnd(width), ...vendors.map((vendor) => modelOf[vendor] ?? '')])}`,
  );
  console.log(
    line(['-'.repeat(width), ...vendors.map((vendor) => '-'.repeat(modelOf[vendor]?.length ?? 0))]),
  );
  for (const { title, cells } of rows)
    console.log(
      line([
        title.padEnd(width),
        ...vendors.map((vendor) => (cells.get(vendor) ?? '').padEnd(modelOf[vendor]?.length ?? 0)),
      ]),
    );
  console.log('');
}

/** The values of an option, or all possible ones; an unknown value ends the run. */
function pick(
  option: string,
  words: string | undefined,
  all: readonly string[],
): readonly string[] {
  const picked = words?.split(',') ?? all;
  for (const word of picked)
    if (!all.includes(word)) throw new Error(`--${option} knows no ${word}, but ${all.join(', ')}`);
  return picked;
}
