import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * The measured process runs on the first core, vendors and load on the others, so that they do not
 * take time from each other; `any` runs on every core.
 */
export type Core = 'measured' | 'around' | 'any';

export interface Started {
  readonly pid: number;
  /** The last lines that it printed, for errors. */
  readonly tail: () => string;
  readonly stop: () => Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The command's full path; undefined when it is not installed. */
export function find(command: string): string | undefined {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/go/bin',
  ];
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const taskset = find('taskset');
const cores = availableParallelism();
export const pinned = taskset !== undefined && cores > 1;
const listOf = (core: Core) =>
  core === 'any' ? `0-${cores - 1}` : core === 'measured' ? '0' : `1-${cores - 1}`;

/** The command with its pinning before it. */
function pin(core: Core, command: string, args: readonly string[]): [string, string[]] {
  if (core === 'any' || taskset === undefined || cores < 2) return [command, [...args]];
  return [taskset, ['-c', listOf(core), command, ...args]];
}

/** Moves a process that runs, with its children and all of their threads. */
export function place(core: Core, pid: number): void {
  if (taskset === undefined || cores < 2) return;
  for (const one of family(pid)) run(taskset, ['-a', '-c', '-p', listOf(core), String(one)]);
}

export function start(
  core: Core,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd?: string,
): Started {
  const child = spawn(...pin(core, command, args), { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let tail = '';
  const keep = (text: Buffer) => {
    tail = (tail + text.toString()).slice(-2000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      if (code !== 0 && code !== null) console.log(`${command} ended with code ${code}: ${tail}`);
      resolve();
    });
  });
  if (child.pid === undefined) throw new Error(`${command} did not start`);
  return {
    pid: child.pid,
    tail: () => tail,
    stop: async () => {
      child.kill('SIGTERM');
      const slow = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(slow);
    },
  };
}

/** Runs a command to the end; returns its standard output. Throws with its output when it fails. */
export function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
): string {
  const result = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    cwd,
    maxBuffer: 1 << 26,
  });
  if (result.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')}: ${result.error?.message ?? result.stderr.slice(-2000)}`,
    );
  return result.stdout;
}

/** Like `run`, while this process goes on. */
export async function runAsync(
  core: Core,
  command: string,
  args: readonly string[],
): Promise<string> {
  const child = spawn(...pin(core, command, args), { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  let output = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  running.delete(child);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${output.slice(-500)}`);
  return output;
}

const microsecondsPerTick = 1e6 / Number(run('getconf', ['CLK_TCK']));

/** Processor time of the process and its children, all threads, user and system, in µs. */
export function cpuMicroseconds(pid: number): number {
  return family(pid).reduce((sum, one) => {
    const fields = afterName(readFileSync(`/proc/${one}/stat`, 'utf8'));
    return sum + (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
  }, 0);
}

/**
 * Processor time of each thread of a process so far, in µs; `system` is the kernel's part of it.
 */
export function threads(pid: number): {
  readonly id: number;
  readonly name: string;
  readonly amount: number;
  readonly system: number;
}[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8');
    const fields = afterName(stat);
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const [user, system] = [
      Number(fields[11]) * microsecondsPerTick,
      Number(fields[12]) * microsecondsPerTick,
    ];
    return { id: Number(id), name, amount: user + system, system };
  });
}

/**
 * Processor time of the whole machine so far, and of this process and its ended children, in µs.
 */
export function machineMicroseconds(): {
  readonly all: number;
  readonly busy: number;
  /** Nothing ran, or everything waited for a disk. */
  readonly idle: number;
  readonly stolen: number;
  readonly own: number;
} {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0, stolen = 0] = (
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? ''
  )
    .split(' ')
    .map((ticks) => Number(ticks) * microsecondsPerTick);
  const own = afterName(readFileSync('/proc/self/stat', 'utf8')).slice(11, 15);
  return {
    all: user + nice + system + idle + waiting + hard + soft + stolen,
    busy: user + nice + system,
    idle: idle + waiting,
    stolen,
    own: own.reduce((sum, ticks) => sum + Number(ticks) * microsecondsPerTick, 0),
  };
}

/** Resident memory of the process and its children in MB. */
export function memoryMb(pid: number): number {
  return family(pid).reduce((sum, one) => {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${one}/status`, 'utf8'));
    return sum + Number(line?.[1] ?? 0) / 1024;
  }, 0);
}

/** The process and all its descendants. */
export function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return [pid, ...children.flatMap(family)];
}

/**
 * The fields of a stat line after the name, which is in brackets and may hold spaces: utime is the
 * 12th of them.
 */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Waits until something answers at the port. */
export async function listening(port: number, started: Started): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () =>
        resolve(false),
      );
      socket.once('close', () => socket.destroy());
      socket.once('connect', () => socket.end());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`nothing listens at port ${port}: ${started.tail()}`);
}
