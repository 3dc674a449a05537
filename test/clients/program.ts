import { spawn } from 'node:child_process';

export interface Ended {
  /** Undefined when it was stopped because its time was over. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** Both of its outputs. */
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

/**
 * Runs a program to its end or to the end of its time, when it is stopped with all that it started.
 */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { env, input = '', folder, timeoutMs = timeoutMsUsual } = options;
  return new Promise((resolve) => {
    // A group of its own, so that what it started ends with it.
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
    // A program that ends without reading its input breaks the pipe; its exit code says what became
    // of it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function stopGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended in the same moment.
  }
}
