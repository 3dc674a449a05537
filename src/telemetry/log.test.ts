import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
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

test('processes that write to one pipe do not tear each other’s lines, however slowly it is read', async () => {
  const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
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
