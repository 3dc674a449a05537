import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import about from '../package.json' with { type: 'json' };
import { startProcess } from './support/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-kept-code-'));
const entry = join(folder, 'bin/tollgate.js');
const program = join(folder, 'dist/tollgate.js');
const compiled = join(folder, 'dist/compiled');
/** Is written when a gateway makes the code that it would keep. */
const made = join(folder, 'made');
const watched = { NODE_OPTIONS: `--require=${join(folder, 'watch.cjs')}` };
const keptMsMax = 60_000;
const everyMs = 50;
/** Longer than a start waits before it keeps its code. */
const keptAgainMs = 6_000;

const versionTold = () =>
  execFileSync(process.execPath, [entry, '--version'], { encoding: 'utf8' });
const files = (): string[] => (existsSync(compiled) ? readdirSync(compiled) : []);

beforeAll(async () => {
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'dist'));
  for (const name of readdirSync(join(root, 'dist')).filter((one) => /\.c?js$/.test(one)))
    cpSync(join(root, 'dist', name), join(folder, 'dist', name));
  writeFileSync(
    join(folder, 'watch.cjs'),
    `const { Script } = require('node:vm');
    const { createCachedData } = Script.prototype;
    Script.prototype.createCachedData = function () {
      require('node:fs').writeFileSync(${JSON.stringify(made)}, '');
      return createCachedData.call(this);
    };`,
  );
  const data = join(folder, 'data');
  mkdirSync(data);
  const gateway = await startProcess({ folder: data, configuration: '{}', entry, env: watched });
  for (let waited = 0; !files().some((name) => name.endsWith('.bin')); waited += everyMs) {
    if (waited >= keptMsMax) throw new Error('no compiled code was kept');
    await wait(everyMs);
  }
  await gateway.stop();
}, 2 * keptMsMax);
afterAll(() => rmSync(folder, { recursive: true }));

test('a start keeps one file of compiled code, and the next start takes it', async () => {
  expect(files()).toEqual([expect.stringMatching(/\.bin$/)]);
  const file = join(compiled, files()[0] ?? '');
  const { ino } = statSync(file);
  expect(versionTold()).toBe(`${about.version}\n`);
  const gateway = await startProcess({ folder: join(folder, 'data'), configuration: '{}', entry });
  // A start that cannot take the code keeps its own.
  await wait(keptAgainMs);
  await gateway.stop();
  expect(statSync(file).ino).toBe(ino);
});

test('damaged code is not run', () => {
  const file = join(compiled, files()[0] ?? '');
  const whole = readFileSync(file);
  for (const damaged of [
    Buffer.alloc(0),
    Buffer.alloc(whole.length),
    whole.subarray(0, whole.length >> 1),
    Buffer.concat([whole.subarray(0, whole.length >> 1), Buffer.alloc(whole.length >> 1)]),
  ]) {
    writeFileSync(file, damaged);
    expect(versionTold()).toBe(`${about.version}\n`);
  }
  writeFileSync(file, whole);
});

test('code of another program with the same length is not run', () => {
  const other = about.version.replace(/^\d/, '9');
  const text = readFileSync(program, 'utf8');
  writeFileSync(program, text.replaceAll(`"${about.version}"`, `"${other}"`));
  expect(versionTold()).toBe(`${other}\n`);
});

test('a gateway that cannot write to dist/compiled does not make the code, and serves', async () => {
  expect(existsSync(made)).toBe(true);
  rmSync(made);
  rmSync(compiled, { recursive: true });
  writeFileSync(compiled, 'no folder');
  const gateway = await startProcess({
    ...{ folder: join(folder, 'data'), configuration: '{}', entry, env: watched },
  });
  await wait(keptAgainMs);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  expect(existsSync(made)).toBe(false);
});
