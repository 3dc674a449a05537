import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { taskProof } from '../src/gateway/tasks/migrations.ts';
import { check } from '../src/ledger/check.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { migrations } from '../src/app/schema.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { films } from './support/film-vendor.ts';
import { openTaskNode } from './support/task-node.ts';
import { threadFrom } from './thread.ts';

/** Where the suite is the judge as many and as often as in earnest, a few at the desk. */
const inEarnest = process.env['CI'] === 'true';
const crowd = inEarnest ? 10_000 : 2_000;
const silent = Math.ceil(crowd / 10);
const pollMs = inEarnest ? 15_000 : 4_000;
const watchedMs = pollMs * 2 + 2_000;

/** A vendor that answers after a while, and keeps account of who asks. */
async function startCrowded(answers: boolean) {
  const last = new Map<string, number>();
  const asking = new Map<string, number>();
  const seen = { polls: 0, gapMs: 0, twice: 0, sockets: 0, socketsMost: 0, last };
  const server = createServer((request, response) => {
    const id = /\/videos\/([^/?]+)/.exec(request.url ?? '')?.[1] ?? '';
    const now = systemClock.monotonicMs();
    seen.gapMs = Math.max(seen.gapMs, now - (last.get(id) ?? now));
    last.set(id, now);
    seen.polls += 1;
    const at = (asking.get(id) ?? 0) + 1;
    asking.set(id, at);
    if (at > 1) seen.twice += 1;
    response.on('close', () => asking.set(id, (asking.get(id) ?? 1) - 1));
    if (!answers) return;
    const body = JSON.stringify({ id, status: 'in_progress', progress: 10 });
    setTimeout(
      () =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
          .end(body),
      20,
    );
  });
  server.on('connection', (socket) => {
    seen.sockets += 1;
    seen.socketsMost = Math.max(seen.socketsMost, seen.sockets);
    socket.on('close', () => {
      seen.sockets -= 1;
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...seen, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Tasks that are being made, as submissions a minute ago have left them: all of them due now. */
async function fill(
  database: Database,
  account: string,
  channel: string,
  count: number,
): Promise<void> {
  const at = systemClock.now() - pollMs * 4;
  const rowsAtOnce = 200;
  for (let from = 0; from < count; from += rowsAtOnce) {
    const ids = Array.from(
      { length: Math.min(rowsAtOnce, count - from) },
      (_, i) => `video_${channel}_${from + i}`,
    );
    const values = ids.map(
      (id) =>
        `('${id}', '${account}', 'k', '[]', 'video', 'sora-2', 'default', '${channel}', 'm', 'up_${id}', 'running', 5, '[]', '[]', 1000, ${at}, 0)`,
    );
    await database.query(
      `INSERT INTO task (id, account, key_id, limits, capability, model, group_name, channel, upstream_model, upstream_id, state, seconds, variants, bill, cost, created_at, next_poll_at) VALUES ${values.join()}`,
    );
    await database.query(
      `INSERT INTO hold (id, account, amount, state, made_at) VALUES ${ids.map((id) => `('${id}', '${account}', 1000, 'open', ${at})`).join()}`,
    );
  }
  await database.query('UPDATE account SET held=held+$2 WHERE id=$1', [account, 1000 * count]);
}

async function pinned(database: Database, name: string): Promise<string> {
  const [row] = await database.query('SELECT revision FROM channels WHERE name=$1', [name]);
  return `${name}@${String(row?.['revision'])}`;
}

forEachDatabase((name, _openFresh, fresh) => {
  const nodes = name === 'postgres' ? 2 : 1;
  test(`${crowd} open videos on one channel while another vendor hangs: each is refreshed in time, by one of ${nodes} at a time`, {
    timeout: 240_000,
  }, async () => {
    const [vendor, hanging] = [await startCrowded(true), await startCrowded(false)];
    const place = await fresh();
    const threads =
      name === 'sqlite'
        ? { thread: threadFrom(new URL('../src/ledger/sqlite-thread.ts', import.meta.url)) }
        : {};
    const open = () => place.open({ procedures: ledgerProcedures, ...threads });
    const database = await open();
    await migrate(database, migrations);
    const configuration = films(
      vendor.url,
      `  - { name: hangs, vendor: openai-compatible, base_url: "${hanging.url}/v1", models: [sora-2] }`,
    );
    const all = [
      await openTaskNode(database, configuration, {
        pollMsMin: 2_000,
        pollMsMax: pollMs,
        lookEveryMs: 500,
        backoffMsMax: 60_000,
      }),
    ];
    while (all.length < nodes)
      all.push(
        await openTaskNode(await open(), configuration, {
          pollMsMin: 2_000,
          pollMsMax: pollMs,
          lookEveryMs: 500,
          backoffMsMax: 60_000,
        }),
      );
    const { userId } = await newCustomer(database, 100n * nanoPerYuan);
    await fill(database, userId, await pinned(database, 'films'), crowd);
    await fill(database, userId, await pinned(database, 'hangs'), silent);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let most = before;
    const startedMs = systemClock.monotonicMs();
    for (const { tasks } of all) tasks.start();
    while (systemClock.monotonicMs() - startedMs < watchedMs) {
      await wait(200);
      most = Math.max(most, process.memoryUsage.rss());
    }
    const endMs = systemClock.monotonicMs();
    const { seen } = vendor;
    const waitedMs = Math.max(
      seen.gapMs,
      ...[...seen.last.values()].map((lastMs) => endMs - lastMs),
    );
    console.info(
      `${seen.polls} polls, ${seen.last.size} tasks, longest ${Math.round(waitedMs)} ms, ${seen.socketsMost} and ${hanging.seen.socketsMost} sockets, ${Math.round((most - before) / 1e6)} MB`,
    );
    expect(seen.last.size).toBe(crowd);
    expect(waitedMs).toBeLessThan(2 * pollMs);
    expect(seen.twice).toBe(0);
    expect(hanging.seen.twice).toBe(0);
    expect(seen.socketsMost + hanging.seen.socketsMost).toBeLessThanOrEqual(nodes * 512);
    expect(most - before).toBeLessThan(200_000_000);
    for (const { troubles } of all) expect(troubles).toEqual([]);
    expect(await check(database, taskProof)).toMatchObject({ ok: true });
  });
});
