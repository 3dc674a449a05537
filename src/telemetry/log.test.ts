import { execFile, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { hasPython, python } from '../../test/support/python.ts';
import { errorText } from './log.ts';

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

test('an error that quotes what it read is told by where it was, and any other by its words', () => {
  const quoting = errorText(thrownBy(() => JSON.parse('my secret\n    at home')));
  expect(quoting).toMatch(/^SyntaxError \(what it quotes is left out\)\n {4}at /);
  expect(quoting).not.toMatch(/secret|home/);
  expect(errorText(new Error('no such table'))).toMatch(/^Error: no such table\n {4}at /);
  expect(errorText('nothing')).toBe('nothing');
});

const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
const linesWritten = 20_000;

/**
 * Writes lines, and reports on standard error how long the event loop stood still and how many
 * lines were dropped.
 */
const writes = `
  import { openLog } from ${source('./log.ts')};
  import { systemClock } from ${source('../base/clock.ts')};
  const log = openLog('info', systemClock);
  let [longestMs, last] = [0, performance.now()];
  const look = () => { longestMs = Math.max(longestMs, performance.now() - last); last = performance.now(); };
  for (let i = 0; i < ${linesWritten}; i += 1) {
    log.text('request', '"n":' + i + ',"rest":"' + 'x'.repeat(150) + '"');
    if (i % 100 === 0) { await new Promise(setImmediate); look(); }
  }
  const before = performance.now();
  log.flush();
  process.stderr.write(JSON.stringify({ longestMs, flushMs: performance.now() - before, dropped: log.dropped }) + '\\n');`;
const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', writes];

interface Written {
  readonly longestMs: number;
  readonly flushMs: number;
  readonly dropped: number;
}

function written(
  [program = '', ...args]: readonly string[],
  stdout: 'pipe' | number | 'ignore',
): Promise<Written> {
  const stdio: StdioOptions = ['ignore', stdout, 'pipe'];
  const child = spawn(program, args, { stdio });
  let text = '';
  child.stderr?.on('data', (piece: Buffer) => (text += piece.toString()));
  return new Promise((resolve) =>
    child.on('close', () => resolve(JSON.parse(text))).stdout?.pause(),
  );
}

/** A terminal whose other end is never read, as one that was stopped with Ctrl-S. */
const stoppedTerminal =
  'import pty, subprocess, sys; end, own = pty.openpty(); sys.exit(subprocess.call(sys.argv[1:], stdout=own))';

test.each([
  { where: 'a socket', stdout: 'pipe', command: node },
  { where: 'a full disk', stdout: '/dev/full', command: node },
  {
    where: 'a stopped terminal',
    stdout: 'ignore',
    command: [python, '-c', stoppedTerminal, ...node],
  },
] as const)(
  'R1: lines for $where that takes none wait for nobody, and are dropped beyond a limit',
  { timeout: 60_000 },
  async (one) => {
    if (one.where === 'a stopped terminal' && !(await hasPython()))
      return console.warn('not tried: Python makes the terminal');
    const fd = one.stdout === '/dev/full' ? openSync(one.stdout, 'w') : one.stdout;
    const { longestMs, flushMs, dropped } = await written(one.command, fd);
    if (typeof fd === 'number') closeSync(fd);
    // A write that waits for the reader would wait for ever; a busy machine takes its time.
    expect(longestMs).toBeLessThan(8_000);
    expect(dropped).toBeGreaterThan(linesWritten / 2);
    expect(flushMs).toBeLessThan(10_000);
  },
);

test('R1: a file gets every line, whole and in order', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const fd = openSync(join(folder, 'log'), 'a');
  expect(await written(node, fd)).toMatchObject({ dropped: 0 });
  closeSync(fd);
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(
    Array.from({ length: linesWritten }, (_, i) => i),
  );
});

test('processes that write to one pipe do not tear each other’s lines, however slowly it is read', async () => {
  const script = `
    import { openLog } from ${source('./log.ts')};
    import { systemClock } from ${source('../base/clock.ts')};
    const log = openLog('info', systemClock, true);
    for (let i = 0; i < 2_000; i += 1) log.text('request', '"n":' + i + ',"rest":"' + 'x'.repeat(150 + (i % 97)) + '"');
    log.flush();`;
  const one = '"$NODE" --import tsx --input-type=module --eval "$SCRIPT"';
  const env = { ...process.env, NODE: process.execPath, SCRIPT: script };
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', `(${one} & ${one} & wait) | (sleep 1.5; cat)`],
    { env, maxBuffer: 10_000_000 },
  );
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((line) => !/^\{[^{}]*"msg":"request"\}$/.test(line))).toEqual([]);
  expect(lines).toHaveLength(4_000);
}, 20_000);
