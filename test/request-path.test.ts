import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choir, type Choir } from '../bench/cost/client.ts';
import { requestText, whole } from '../bench/cost/cost.ts';
import { hireGateway, type Hired } from '../bench/cost/payers.ts';

/*
 * A reader who wants to know what happens to a request opens each file that it passes. This counts
 * them: files of `src/` with a function that one warm small chat runs, the SQLite thread included.
 */
const filesMax = 45;
const warmUp = 50;
/**
 * Work that runs periodically may fall into a round, on a busy machine into many: the round with the
 * fewest files counts.
 */
const roundsMax = 40;
const quietMs = 300;

const hook = fileURLToPath(new URL('support/covered-files.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-path-'));
const file = join(folder, 'covered');
let hired: Hired;
let client: Choir;

beforeAll(async () => {
  writeFileSync(file, '');
  hired = await hireGateway({
    vendor: 'openai-compatible',
    env: { NODE_OPTIONS: `--import=${hook}`, COVERED_FILE: file },
  });
  client = await choir(hired.payer.port, 1);
});

afterAll(async () => {
  client.close();
  await hired.stop();
  rmSync(folder, { recursive: true });
});

type Ran = readonly [url: string, offset: number, name: string];

/** The functions that ran since this was called last. Each of the process's threads adds a line. */
async function functionsRun(threads: number): Promise<readonly Ran[]> {
  const before = linesWritten().length;
  process.kill(hired.payer.pid, 'SIGUSR2');
  while (linesWritten().length < before + threads) await wait(1);
  return linesWritten()
    .slice(before)
    .flatMap((line): Ran[] => JSON.parse(line));
}

const linesWritten = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

/** The process's threads that run JavaScript, counted until no other one answers for a while. */
async function threadsOf(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  let threads = 0;
  for (let quiet = 0; quiet < 5; quiet += 1) {
    await wait(quietMs);
    if (linesWritten().length > threads) quiet = 0;
    threads = linesWritten().length;
  }
  return threads;
}

interface Script {
  readonly map: SourceMap;
  /** The offset at which each line begins. */
  readonly lines: readonly number[];
}
const scripts = new Map<string, Script>();

/** The file of `src/` that a place of a built script was made of. */
function sourceOf(url: string, offset: number): string | undefined {
  if (!/\/dist\/[^/]+\.c?js$/.test(url)) return undefined;
  const { map, lines } = scripts.get(url) ?? readScript(url);
  const line = lines.findLastIndex((start) => start <= offset);
  const entry = map.findEntry(line, offset - (lines[line] ?? 0));
  const source = 'originalSource' in entry ? entry.originalSource : undefined;
  return source?.match(/src\/.*/)?.[0];
}

function readScript(url: string): Script {
  const path = fileURLToPath(url);
  const lines = [0];
  for (const { index } of readFileSync(path, 'utf8').matchAll(/\n/g)) lines.push(index + 1);
  const script = { map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))), lines };
  scripts.set(url, script);
  return script;
}

/** Functions by the files of `src/` that they are written in. */
function byFile(functions: readonly Ran[]): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>();
  for (const [url, offset, name] of functions) {
    const source = sourceOf(url, offset);
    if (source !== undefined) files.set(source, [...(files.get(source) ?? []), name]);
  }
  return files;
}

test(`one warm small chat passes at most ${filesMax} files`, async () => {
  const chat = requestText(hired.payer.keys[0] ?? '', whole);
  for (let asked = 0; asked < warmUp; asked += 1) await client.ask(() => chat);
  const threads = await threadsOf(hired.payer.pid);
  let files: ReturnType<typeof byFile> = new Map();
  const isEnough = (): boolean => files.size > 0 && files.size <= filesMax;
  for (let round = 0; round < roundsMax && !isEnough(); round += 1) {
    await wait(quietMs);
    await functionsRun(threads);
    await client.ask(() => chat);
    const ran = byFile(await functionsRun(threads));
    if (files.size === 0 || ran.size < files.size) files = ran;
  }
  const listed = [...files].map(([path, names]) => `${path}: ${names.join(' ')}`).toSorted();
  console.info(`${files.size} files:\n${listed.join('\n')}`);
  expect(files.has('src/gateway/admit.ts')).toBe(true);
  expect(files.size, listed.join('\n')).toBeLessThanOrEqual(filesMax);
}, 120_000);
