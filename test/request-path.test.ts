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
const filesMax = 92;
const warmUp = 50;
/** Charges are written and watches look within this time after an answer. */
const settledMs = 300;

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

/** The files whose functions ran since this was called last. */
async function filesRun(): Promise<ReadonlySet<string>> {
  const lines = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const before = lines().length;
  process.kill(hired.payer.pid, 'SIGUSR2');
  await wait(settledMs); // each thread writes a line
  const functions: [string, number][] = lines()
    .slice(before)
    .flatMap((line) => JSON.parse(line));
  return new Set(functions.flatMap(([url, offset]) => sourceOf(url, offset) ?? []));
}

interface Script {
  readonly map: SourceMap;
  /** The offset at which each line begins. */
  readonly lines: readonly number[];
}
const scripts = new Map<string, Script>();

/** The file of `src/` that a place of a built script was made of. */
function sourceOf(url: string, offset: number): string | undefined {
  if (!/\/dist\/[^/]+\.js$/.test(url)) return undefined;
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

test(`one warm small chat passes at most ${filesMax} files`, async () => {
  const chat = requestText(hired.payer.keys[0] ?? '', whole);
  for (let asked = 0; asked < warmUp; asked += 1) await client.ask(() => chat);
  await wait(settledMs);
  await filesRun();
  await client.ask(() => chat);
  await wait(settledMs);
  const files = [...(await filesRun())].toSorted();
  console.log(`${files.length} files:\n${files.join('\n')}`);
  expect(files).toContain('src/gateway/admit.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(filesMax);
});
