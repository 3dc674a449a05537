import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { type Block, readerless } from './documents.ts';
import { freePort } from './free-port.ts';
import { hasPython, python, runsPython } from './python.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const startMsMax = 30_000;

/** A terminal in an empty folder, like a reader's. Later blocks see the exports of earlier ones. */
export interface Terminal {
  /** Runs a block; returns its output. Throws when it fails. */
  play(block: Block): Promise<string>;
  /** Starts a block that keeps running. */
  start(block: Block): Promise<void>;
  close(): Promise<void>;
}

/** A terminal beside a running demo. */
export async function openDemoTerminal(): Promise<Terminal> {
  const { demo, url, key } = await startDemo();
  // `test/cli.test.ts` pastes what the demo prints; with --json it prints a value instead.
  const printed = {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    TOLLGATE_URL: url,
    TOLLGATE_API_KEY: key,
  };
  return openTerminal(printed, [demo]);
}

/** A terminal without a gateway, with a free port for one. */
export async function openOperatorTerminal(): Promise<Terminal> {
  const port = await freePort();
  return openTerminal(
    { TOLLGATE_URL: `http://127.0.0.1:${port}`, PORT: String(port), TOLLGATE_LOG: 'silent' },
    [],
  );
}

async function openTerminal(
  variables: Readonly<Record<string, string>>,
  processes: ChildProcess[],
): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-reader-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'tollgate'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'bin', 'tollgate.js')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  await writeFile(
    join(folder, 'variables'),
    Object.entries(variables)
      .map(([name, value]) => `export ${name}=${value}\n`)
      .join(''),
  );
  const environment = {
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: folder,
    NO_PROXY: '127.0.0.1',
  };
  const shell = (code: string) =>
    run('bash', ['-euo', 'pipefail', '-c', `. ./variables\n${code}\nexport -p > variables`], {
      cwd: folder,
      env: environment,
    });
  const programs: Readonly<Record<Block['language'], (code: string) => Promise<string>>> = {
    sh: async (code) => (await shell(`${code.trimEnd()}\necho " "`)).stdout,
    async ts(code) {
      await writeFile(join(folder, 'block.ts'), code);
      return (await shell(`"${process.execPath}" node_modules/tsx/dist/cli.mjs block.ts`)).stdout;
    },
    async python(code) {
      await writeFile(join(folder, 'block.py'), code);
      const [, needed = ''] = /^from (\w+) import/m.exec(code) ?? [];
      if (await runsPython(needed)) return (await shell(`"${python}" block.py`)).stdout;
      if (await hasPython()) await shell(`"${python}" -m py_compile block.py`);
      return readerless;
    },
  };
  return {
    play: ({ language, code }) => programs[language](code),
    async start({ code }) {
      const started = spawn('bash', ['-c', `. ./variables\nexec ${code}`], {
        cwd: folder,
        env: environment,
        stdio: 'ignore',
      });
      processes.push(started);
      await untilReady(`${variables['TOLLGATE_URL']}/readyz`, started);
    },
    async close() {
      for (const each of processes) {
        each.kill('SIGTERM');
        if (each.exitCode === null) await once(each, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(address: string, started: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < startMsMax && started.exitCode === null; waitedMs += 50) {
    if ((await fetch(address).catch(() => undefined))?.ok === true) return;
    await wait(50);
  }
  throw new Error(`${address} does not answer`);
}

interface Demo {
  readonly demo: ChildProcess;
  readonly url: string;
  readonly key: string;
  /** Signs in its operator, once. */
  readonly link: string;
}

/** Starts the demo from dist/, like `npm start`, on any port. */
export async function startDemo(): Promise<Demo> {
  const environment = { ...process.env, TOLLGATE_LOG: 'silent', DATABASE_URL: '' };
  const demo = spawn(
    process.execPath,
    [join(root, 'bin', 'tollgate.js'), 'demo', '--port', '0', '--json'],
    {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const timer = setTimeout(() => demo.kill('SIGKILL'), startMsMax);
  try {
    for await (const line of createInterface(demo.stdout)) return { demo, ...JSON.parse(line) };
    throw new Error('the demo ended before it began');
  } finally {
    clearTimeout(timer);
  }
}
