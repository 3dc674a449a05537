// `npm run bench:ledger`: settlements per second on PostgreSQL and SQLite, each a transfer, a usage
// record and its share of a float, committed before it is answered. Every process is a real one.
// PostgreSQL: DATABASE_URL, else a server of its own with fsync as the machine has it.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { check } from '../src/ledger/check.ts';
import { createAccount, credit } from '../src/ledger/ledger.ts';
import { ledgerMigrations } from '../src/ledger/migrations.ts';
import { migrate } from '../src/storage/migrate.ts';
import { open } from '../src/storage/open.ts';
import { usageMigrations } from '../src/usage/migrations.ts';
import { startPostgres } from '../test/postgres.ts';
import type { Done, Work } from './ledger-worker.ts';

interface Case {
  readonly database: 'postgres' | 'sqlite';
  readonly processes: number;
  readonly atOnce: number;
  readonly accounts: number;
}

const seconds = Number(process.env['SECONDS_EACH'] ?? 3);

const cases: readonly Case[] = [
  ...[1, 4, 16].map((processes) => ({
    database: 'postgres' as const,
    processes,
    atOnce: 500,
    accounts: 1,
  })),
  { database: 'postgres', processes: 4, atOnce: 500, accounts: 1_000 },
  { database: 'postgres', processes: 1, atOnce: 1, accounts: 1 },
  { database: 'sqlite', processes: 1, atOnce: 500, accounts: 1 },
  { database: 'sqlite', processes: 1, atOnce: 500, accounts: 1_000 },
  { database: 'sqlite', processes: 2, atOnce: 250, accounts: 1 },
  { database: 'sqlite', processes: 4, atOnce: 125, accounts: 1 },
  { database: 'sqlite', processes: 1, atOnce: 1, accounts: 1 },
];

function worker(work: Work): Promise<Done> {
  const child = fork(fileURLToPath(new URL('./ledger-worker.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  child.send(work);
  return new Promise((resolve, reject) => {
    child.once('message', (done) => resolve(done as Done));
    child.once('exit', (code) => code !== 0 && reject(new Error(`a process ended with ${code}`)));
  });
}

async function measure(url: string, { processes, atOnce, accounts }: Case): Promise<string> {
  const db = await open(url);
  await migrate(db, [...ledgerMigrations, ...usageMigrations]);
  for (let i = 0; i < accounts; i++) {
    await createAccount(db, `user-${i}`);
    await credit(db, {
      id: `first-${i}`,
      account: `user-${i}`,
      amount: 1_000_000_000_000_000n,
      from: 'grants',
      code: 'grant',
      at: 1,
    });
  }
  const done = await Promise.all(
    Array.from({ length: processes }, () => worker({ url, seconds, atOnce, accounts })),
  );
  const settled = done.reduce((sum, { settled: its }) => sum + its, 0);
  const batches = done.reduce((sum, { batches: its }) => sum + its, 0);
  const drawn = done.reduce((sum, { drawn: its }) => sum + its, 0);
  const { ok, problems } = await check(db);
  await db.close();
  if (!ok) throw new Error(`the ledger is wrong: ${JSON.stringify(problems)}`);
  const worst = (pick: (done: Done) => number): string => Math.max(...done.map(pick)).toFixed(1);
  const rate = Math.round(settled / seconds).toLocaleString('en');
  return `${rate.padStart(8)}/s  p50 ${worst(({ p50Ms }) => p50Ms)} ms  p99 ${worst(({ p99Ms }) => p99Ms)} ms  ${(settled / batches).toFixed(0)} per batch  ${drawn} waited for a draw`;
}

const server = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
try {
  let made = 0;
  for (const one of cases) {
    let url = `sqlite:${join(folder, `${made++}.db`)}`;
    if (one.database === 'postgres') {
      if ('missing' in server) continue;
      const name = `bench_${process.pid}_${made}`;
      const client = new pg.Client(server.url);
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
    }
    const what = `${one.database}, ${one.processes} × ${one.atOnce} at once, ${one.accounts} account${one.accounts > 1 ? 's' : ''}`;
    console.log(`${what.padEnd(46)} ${await measure(url, one)}`);
  }
} finally {
  if (!('missing' in server)) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
