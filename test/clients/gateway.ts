import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { open } from '../../src/storage/open.ts';
import { run } from './program.ts';

const entry = fileURLToPath(new URL('../../bin/tollgate.js', import.meta.url));
const startMsMax = 120_000;
const settleMs = 1_500;

/** A line of the gateway's log. */
export interface LogLine {
  readonly msg: string;
  readonly [member: string]: unknown;
}

/** The built gateway with every vendor simulated, as `tollgate demo --faults` starts it. */
export interface Demo {
  readonly url: string;
  readonly key: string;
  /** The lines of its log so far. */
  readonly log: readonly LogLine[];
  /** Waits for running requests, then checks its usage records and ledger: returns the errors. */
  close(): Promise<readonly string[]>;
}

export async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clients-'));
  const child = spawn(
    process.execPath,
    // With `--faults`: the models whose stream fails.
    [entry, 'demo', '--faults', '--json', '--port', '0', '--data', folder],
    {
      env: { PATH: process.env['PATH'], TOLLGATE_LOG: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const log: LogLine[] = [];
  const lines = createInterface({ input: child.stdout });
  const [first] = await once(lines, 'line', { signal: AbortSignal.timeout(startMsMax) });
  const { url, key } = JSON.parse(String(first));
  lines.on('line', (line) => log.push(JSON.parse(line)));
  return {
    url,
    key,
    log,
    async close() {
      // The gateway settles abandoned requests a moment later.
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      const wrong = [...(await recordsProblems(folder, log)), ...(await ledgerProblems(folder))];
      rmSync(folder, { recursive: true, force: true });
      return wrong;
    },
  };
}

/**
 * Each request that was answered must have one usage record, and each record its request: a stream
 * that failed on its way has one too.
 */
async function recordsProblems(
  folder: string,
  log: readonly LogLine[],
): Promise<readonly string[]> {
  const requests = log.filter(({ msg }) => msg === 'request');
  const answered = requests.filter(({ outcome }) => !String(outcome).startsWith('fault:'));
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`);
  const rows = await database.query('SELECT id FROM usage');
  await database.close();
  const recorded = new Set(rows.map(({ id }) => id));
  const missing = answered.filter(({ id }) => !recorded.has(String(id)));
  const known = new Set(requests.map(({ id }) => id));
  const others = rows.filter(({ id }) => !known.has(id));
  if (missing.length === 0 && others.length === 0) return [];
  return [
    `${answered.length} requests were answered, and ${missing.length} of them have no usage record; ${others.length} records have no request`,
  ];
}

async function ledgerProblems(folder: string): Promise<readonly string[]> {
  const { code, output } = await run(
    process.execPath,
    [entry, 'check', '--data', folder, '--json'],
    { env: {} },
  );
  return code === 0 ? [] : [`tollgate check: ${output.trim()}`];
}
