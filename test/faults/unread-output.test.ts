import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import { open } from '../../src/storage/open.ts';
import { newCustomer } from '../support/customer.ts';
import { askPlainly } from '../support/plain-client.ts';
import { startProcess } from '../support/process.ts';
import { oneModel } from '../support/running.ts';
import { startVendor } from '../support/scripted-vendor.ts';

const chats = 10_000;
const clients = 16;
/** Nothing waits for the reader: this is what a busy machine needs. */
const promptMs = 5_000;

interface Pipe {
  /** What writes to it has to wait when it is full. */
  readonly writeEnd: number;
  fill(): void;
  /** All that is in it. */
  drain(): string;
}

/** A pipe that stays open whether or not somebody reads. */
function pipeIn(folder: string): Pipe {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const ours = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY);
  onTestFinished(() => [ours, writeEnd].forEach((fd) => closeSync(fd)));
  const bytes = Buffer.alloc(65_536);
  const untilRefused = (act: () => void): void => {
    try {
      for (;;) act();
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' });
    }
  };
  return {
    writeEnd,
    fill: () => untilRefused(() => writeSync(ours, 'x\n')),
    drain() {
      let text = '';
      untilRefused(() => {
        text += bytes.toString('latin1', 0, readSync(ours, bytes));
      });
      return text;
    },
  };
}

async function promptly(url: string): Promise<number> {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(promptMs) });
  return status;
}

test.each([
  { workers: '1', full: 'from the start' },
  { workers: '2', full: 'after a while' },
])(
  'R1: $workers workers, standard output that nobody reads, full $full: chats, health and SIGTERM go on',
  async ({ workers, full }) => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-unread-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const vendor = await startVendor();
    const pipe = pipeIn(folder);
    if (full === 'from the start') pipe.fill();
    const env = {
      TOLLGATE_LOG: 'info',
      TOLLGATE_WORKERS: workers,
      TOLLGATE_METRICS_TOKEN: 'token',
    };
    const node = await startProcess({
      folder,
      configuration: oneModel(vendor.url),
      env,
      outputTo: pipe.writeEnd,
    });
    onTestFinished(() => node.kill());
    const database = await open(`sqlite:${join(folder, 'tollgate.db')}`, {
      procedures: ledgerProcedures,
    });
    onTestFinished(() => database.close());
    const { key } = await newCustomer(database, 1_000_000_000_000n);
    const dropped = async (): Promise<number> => {
      const page = await fetch(`${node.url}/metrics`, {
        headers: { authorization: 'Bearer token' },
      });
      return Number(/^tollgate_log_lines_dropped_total (\d+)$/m.exec(await page.text())?.[1]);
    };

    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    onTestFinished(() => agent.destroy());
    let asked = 0;
    let whole = 0;
    const client = async (): Promise<void> => {
      while (asked++ < chats)
        if ((await askPlainly(node.url, key.secret, agent, false, 5))?.whole === true) whole += 1;
    };
    const health: number[] = [];
    const watch = setInterval(
      () =>
        void promptly(`${node.url}/healthz`).then(
          (status) => health.push(status),
          () => health.push(0),
        ),
      500,
    );
    await Promise.all(Array.from({ length: clients }, client));
    clearInterval(watch);
    expect(whole).toBe(chats);
    expect(health.filter((status) => status !== 200)).toEqual([]);
    expect(await promptly(`${node.url}/readyz`)).toBe(200);
    expect(await dropped()).toBeGreaterThan(0);

    // Read again, it says how many lines are missing, and each of the others is whole.
    let text = '';
    await expect
      .poll(() => (text += pipe.drain()), { timeout: 10_000, interval: 20 })
      .toMatch(/"dropped":\d+,"msg":"log lines were dropped/);
    const lines = text.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.filter((line) => !line.endsWith('}'))).toEqual([]);
    expect(lines.filter((line) => line.includes('"msg":"request"')).length).toBeGreaterThan(500);

    pipe.fill();
    const before = performance.now();
    expect(await node.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(20_000);
  },
  240_000,
);
