import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
const unpackedBytesMax = 25e6;

/** `PACKAGE_NODES=22,24` plays it on those, too, which npm brings; so does the long run. */
const others =
  process.env['PACKAGE_NODES'] ?? (process.env['LONG_TESTS'] === 'true' ? '22,24' : '');
const nodes = ['this', ...others.split(',').filter(Boolean)];

/** What `npm pack --json` tells. */
interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let packed: Packed;

beforeAll(async () => {
  // What is packed was built before the tests began.
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    { cwd: root },
  );
  [packed] = JSON.parse(stdout);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('everything that runs is in the bundle, but for the engine of Nodes that have none', async () => {
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  // `npm install X` writes into `dependencies`: what is bundled belongs to those of development.
  expect(dependencies).toBeUndefined();
  expect(Object.keys(optionalDependencies)).toEqual(['@photostructure/sqlite']);
});

test('the package is what runs and its papers, and small', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(packed.unpackedSize).toBeLessThan(unpackedBytesMax);
  expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
  expect(paths.filter((path) => !/^(bin|dist)\//.test(path)).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'README.zh-CN.md',
    'package.json',
  ]);
  expect(paths).toEqual(
    expect.arrayContaining([
      'bin/tollgate.js',
      'dist/tollgate.js',
      'dist/console/index.html',
      'dist/LICENSES.txt',
    ]),
  );
});

describe.each(nodes)('on a machine with Node (%s) and nothing else', (version) => {
  test('it installs, tells its version, serves a call and the console, and proves its books', {
    timeout: 170_000,
  }, async () => {
    const machine = await newMachine(await nodeOf(version), join(folder, version));
    // Those have an engine of their own, and need none of ours.
    const omitted = version === 'this' ? ['--omit=dev'] : ['--omit=dev', '--omit=optional'];
    await machine.run('npm', [
      'install',
      ...omitted,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      join(folder, packed.filename),
    ]);
    const { version: told } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect((await machine.run('tollgate', ['--version'])).trim()).toBe(told);

    const demo = machine.start('tollgate', ['demo', '--json', '--port', '0', '--data', 'data']);
    const { url, key, model } = JSON.parse(await demo.firstLine);
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(await answer.json()).toMatchObject({
      object: 'chat.completion',
      usage: { total_tokens: expect.any(Number) },
    });
    expect(await (await fetch(url)).text()).toContain('<title>');
    expect(await demo.stop()).toBe(0);

    const books = JSON.parse(await machine.run('tollgate', ['check', '--json', '--data', 'data']));
    // What the user was given, and the call.
    expect(books).toMatchObject({ ok: true, transfers: 2, problems: [] });
  });
});

/** A machine as far as `PATH` tells: node, npm and a shell, no compiler. */
async function newMachine(node: string, home: string) {
  const bin = join(home, 'path');
  await mkdir(bin, { recursive: true });
  symlinkSync(node, join(bin, 'node'));
  for (const command of ['npm', 'sh'])
    symlinkSync(realpathSync(found(command)), join(bin, command));
  const env = {
    PATH: [join(home, 'node_modules', '.bin'), bin].join(delimiter),
    HOME: process.env['HOME'],
    TMPDIR: folder,
    TOLLGATE_LOG: 'silent',
  };
  const options = { cwd: home, env };
  return {
    run: async (command: string, args: readonly string[]) =>
      (await run(command, args, options)).stdout,
    start(command: string, args: readonly string[]) {
      const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
      const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
      const firstLine = new Promise<string>((resolve, reject) => {
        createInterface(child.stdout).once('line', resolve);
        void gone.then((code) => reject(new Error(`${command} ended with ${code}`)));
      });
      const stop = (): Promise<number | null> => {
        child.kill('SIGTERM');
        return gone;
      };
      return { firstLine, stop };
    },
  };
}

function found(command: string): string {
  for (const place of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      accessSync(join(place, command), constants.X_OK);
      return join(place, command);
    } catch {
      // In one of the next places.
    }
  }
  throw new Error(`there is no ${command} here`);
}

async function nodeOf(version: string): Promise<string> {
  if (version === 'this') return process.execPath;
  const place = join(folder, `node-${version}`);
  await mkdir(place, { recursive: true });
  await run('npm', ['install', '--prefix', place, '--no-audit', '--no-fund', `node@${version}`], {
    cwd: dirname(place),
  });
  return join(place, 'node_modules', 'node', 'bin', 'node');
}
