import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

const ownEntry = fileURLToPath(new URL('../../bin/tollgate.js', import.meta.url));
const startMsMax = 40_000;

/** The product as an operator runs it: its own process, from dist/. */
export interface GatewayProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends it at once, as a crash does. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks it to drain. Resolves with its exit code. */
  stop(): Promise<number | null>;
  output(): string;
}

export interface ProcessOptions {
  readonly folder: string;
  readonly configuration: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The port of a node that restarts in place; else any free one. */
  readonly port?: number;
  /** `bin/tollgate.js` of another build; else this checkout's. */
  readonly entry?: string;
  /** Its output goes there; else this process reads it. */
  readonly outputTo?: number;
  /** Further arguments. */
  readonly args?: readonly string[];
  /** The time between two readiness checks. */
  readonly everyMs?: number;
}

/** The same for every node of a test. */
const masterKey = createHash('sha256').update('nodes of tests').digest('base64');

export async function startProcess({
  folder,
  configuration,
  env = {},
  port: fixed,
  entry = ownEntry,
  outputTo,
  args = [],
  everyMs = 20,
}: ProcessOptions): Promise<GatewayProcess> {
  const config = join(folder, 'tollgate.yaml');
  writeFileSync(config, configuration);
  const port = fixed ?? (await freePort());
  const child = spawn(
    process.execPath,
    [entry, 'serve', '--config', config, '--port', String(port), '--data', folder, ...args],
    {
      env: { ...process.env, TOLLGATE_MASTER_KEY: masterKey, TOLLGATE_LOG: 'warn', ...env },
      stdio: ['ignore', outputTo ?? 'pipe', outputTo ?? 'pipe'],
    },
  );
  let output = '';
  child.stdout?.on('data', (text) => {
    output += text;
  });
  child.stderr?.on('data', (text) => {
    output += text;
  });
  const gone = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  const url = `http://127.0.0.1:${port}`;
  await ready(url, child, () => output, everyMs);
  return {
    url,
    child,
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    stop() {
      child.kill('SIGTERM');
      return gone;
    },
  };
}

async function ready(
  url: string,
  child: ChildProcess,
  output: () => string,
  everyMs: number,
): Promise<void> {
  const until = performance.now() + startMsMax;
  while (performance.now() < until) {
    if (child.exitCode !== null)
      throw new Error(`the gateway ended with ${child.exitCode}: ${output()}`);
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return;
    await wait(everyMs);
  }
  child.kill('SIGKILL');
  throw new Error(`the gateway is not ready after ${startMsMax} ms: ${output()}`);
}
