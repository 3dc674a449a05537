import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { requestLogPage } from '../../src/request-log/queries.ts';
import { forEachDatabase } from '../databases.ts';
import { newCustomer } from '../support/customer.ts';
import { hello, oneModel, startRunning } from '../support/running.ts';
import { startVendor } from '../support/scripted-vendor.ts';

const yuan = 1_000_000_000n;
const limits = { waitingMax: 60, batchMax: 20, writeEveryMs: 50, accountPerMinuteMax: 5_000 };
const flood = 600;
/** Of a machine that does other things at the same time; a write waits for seconds. */
const promptMs = 1_500;

/** Another process holds SQLite's file as a slow disk does: nothing is written meanwhile. */
const holdingScript = `
const [sqlite] = await Promise.all([import('node:sqlite').catch(() => import('@photostructure/sqlite'))]);
const database = new sqlite.DatabaseSync(process.argv[1]);
database.exec('PRAGMA busy_timeout=10000');
database.exec('BEGIN IMMEDIATE');
process.stdout.write('held');
process.stdin.on('data', () => { database.exec('ROLLBACK'); process.exit(); });
`;

async function holdSqlite(url: string): Promise<() => Promise<void>> {
  const path = url.replace(/^sqlite:/, '');
  const child = spawn(process.execPath, ['--input-type=module', '-e', holdingScript, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.write('end');
    await once(child, 'exit');
  };
}

/** Another connection holds the table of the log alone. */
async function holdPostgres(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('BEGIN; LOCK TABLE request_log IN ACCESS EXCLUSIVE MODE');
  return () => client.end();
}

forEachDatabase((name, _openFresh, fresh) => {
  test('a flood of refusals while nothing can be written: answers stay prompt, memory bounded, and the records of another account are kept', {
    timeout: 60_000,
  }, async () => {
    const vendor = await startVendor();
    const { url: databaseUrl } = await fresh();
    const configuration = oneModel(vendor.url);
    const running = await startRunning({ databaseUrl, configuration, requestLog: limits });
    const { database } = running.gateway;
    const other = await newCustomer(database, 10n * yuan);
    const ask = async (key: string, model: string) => {
      const begun = performance.now();
      const answer = await fetch(`${running.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...hello, model }),
      });
      await answer.text();
      const id = answer.headers.get('x-request-id') ?? '';
      return { status: answer.status, id, ms: performance.now() - begun };
    };
    // Both keys are in memory, and have drawn money.
    expect([
      (await ask(running.key, 'm1')).status,
      (await ask(other.key.secret, 'm1')).status,
    ]).toEqual([200, 200]);
    const release = await (name === 'sqlite' ? holdSqlite : holdPostgres)(databaseUrl);
    let left = flood;
    const floods: Awaited<ReturnType<typeof ask>>[] = [];
    const lane = async (): Promise<void> => {
      while (left-- > 0) floods.push(await ask(running.key, 'absent'));
    };
    const flooding = Promise.all(Array.from({ length: 6 }, lane));
    const small: Awaited<ReturnType<typeof ask>>[] = [];
    await expect.poll(() => floods.length, { timeout: 20_000 }).toBeGreaterThan(flood / 2);
    for (let n = 0; n < 5; n++) small.push(await ask(other.key.secret, 'absent'));
    // On SQLite the charge waits for the same file; elsewhere the log holds nothing up.
    const paid = ask(other.key.secret, 'm1');
    if (name === 'postgres') expect(await paid).toMatchObject({ status: 200 });
    await flooding;
    for (const { status, ms } of [...floods, ...small]) {
      expect(status).toBe(404);
      expect(ms).toBeLessThan(promptMs);
    }
    const metrics = await fetch(`${running.url}/metrics`, {
      headers: { authorization: 'Bearer metrics' },
    });
    const dropped = Number(
      /^tollgate_request_log_dropped_total (\d+)/m.exec(await metrics.text())?.[1],
    );
    expect(dropped).toBe(flood + small.length - limits.waitingMax);
    await release();
    expect((await paid).status).toBe(200);
    const logged = async (account: string) => {
      const rows = await database.snapshot(() => requestLogPage({ account, limit: 100 }));
      return rows.map(({ id }) => id);
    };
    await expect
      .poll(async () => (await logged(other.userId)).sort(), { timeout: 20_000 })
      .toEqual(small.map(({ id }) => id).sort());
    await expect
      .poll(async () => (await logged(running.userId)).length, { timeout: 20_000 })
      .toBe(limits.waitingMax - small.length);
    await running.expectBooks();
  });
});
