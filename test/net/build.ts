import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';

/** 2026-11-20, noon in Shanghai: the time of every recorded gateway. */
export const now = Date.UTC(2026, 10, 20, 4);
const startMsMax = 120_000;
const commandMsMax = 60_000;

/**
 * A folder with `bin/tollgate.js` and `dist/`, in which its processes may write, and the number of
 * processes so far.
 */
export interface Build {
  readonly folder: string;
  readonly scratch: string;
  processes: number;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface RunningBuild {
  readonly url: string;
  readonly data: string;
  /** Its standard output so far. */
  log(): string;
  /** Stops it; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export interface Place {
  /** The data folder. */
  readonly data: string;
  /** Variables besides those of every process. Nothing of the caller's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

const preload = new URL('fixed.mjs', import.meta.url).href;

function start(build: Build, args: readonly string[], { data, env }: Place): ChildProcess {
  const { folder, scratch } = build;
  build.processes += 1;
  return spawn(process.execPath, [join(folder, 'bin', 'tollgate.js'), ...args], {
    cwd: scratch,
    env: {
      PATH: process.env['PATH'],
      TZ: 'UTC',
      COLUMNS: '100',
      NODE_OPTIONS: `--import ${preload}`,
      // A millisecond later with each process, so that rows have an order.
      NET_NOW: String(now + build.processes),
      NET_SEED: String(build.processes),
      TOLLGATE_DATA: data,
      TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const heard = (child: ChildProcess, name: 'stdout' | 'stderr'): (() => string) => {
  const parts: Buffer[] = [];
  child[name]?.on('data', (part: Buffer) => parts.push(part));
  return () => Buffer.concat(parts).toString('utf8');
};

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('close', resolve));

/** Runs one command of the gateway to its end. */
export async function command(build: Build, args: readonly string[], place: Place): Promise<Ended> {
  const child = start(build, args, place);
  const [out, error] = [heard(child, 'stdout'), heard(child, 'stderr')];
  const tooLong = setTimeout(() => child.kill('SIGKILL'), commandMsMax);
  const code = await ended(child);
  clearTimeout(tooLong);
  return { code, out: out(), error: error() };
}

/** The same for a command that must succeed: its `--json` output. */
export async function commandJson(
  build: Build,
  args: readonly string[],
  place: Place,
): Promise<Readonly<Record<string, string>>> {
  const { code, out, error } = await command(build, [...args, '--json'], place);
  if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}: ${error}`);
  return JSON.parse(out);
}

/** `serve`, ready for requests. */
export async function serve(
  build: Build,
  args: readonly string[],
  place: Place,
): Promise<RunningBuild> {
  const port = await freePort();
  const child = start(build, ['serve', '--port', String(port), ...args], place);
  const [log, error] = [heard(child, 'stdout'), heard(child, 'stderr')];
  const gone = ended(child);
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + startMsMax;
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.ok !== true) {
    if (child.exitCode !== null || performance.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`${build.folder} does not serve: ${log()}${error()}`);
    }
    await wait(20);
  }
  return {
    url,
    data: place.data,
    log,
    stop() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}
