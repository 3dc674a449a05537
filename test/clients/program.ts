import { spawn } from 'node:child_process';

export interface Ended {
  /** Undefined when it was stopped after its time limit. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** Standard output and standard error. */
  readonly output: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly folder?: string;
  readonly timeoutMs?: number;
}

export type Run = (
  command: string,
  args: readonly string[],
  options?: RunOptions,
) => Promise<Ended>;

const timeoutMsUsual = 120_000;

/** Runs a program to its end, or stops it and all its children at its time limit. */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { env, input = '', folder, timeoutMs = timeoutMsUsual } = options;
  return new Promise((resolve) => {
    // A process group of its own, so that its children end with it.
    const child = spawn(command, args, {
      cwd: folder,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let output = '';
    let late = false;
    child.stdout.on('data', (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.on('data', (text) => {
      output += text;
    });
    const timer = setTimeout(() => {
      late = true;
      stopGroup(child.pid);
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ code: 127, stdout, output: `${output}${error.message}` });
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: late ? undefined : (code ?? 128), stdout, output });
    });
    // A program that ends without reading its input breaks the pipe; its exit code tells the
    // result.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function stopGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}
