import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectNothingLost, startLoad } from '../support/fault-load.ts';
import { postgresCanBeHurt, startPostgresServer } from '../support/postgres-server.ts';
import { type GatewayProcess, startProcess } from '../support/process.ts';
import { findRedis, startRedis } from '../support/redis-server.ts';
import { oneModel, startRunning } from '../support/running.ts';
import { completion, json, sse, startVendor, streamOf } from '../support/scripted-vendor.ts';

/** How long a node sleeps; of those that are awake, one gives it up after `silenceMs`. */
const sleepMs = Number(process.env['SLEEP_MS'] ?? 4_000);
const silenceMs = 1_500;
const clients = 9;

/**
 * A network of its own: one node in this process, which is quick to give others up, and two that
 * are processes as operators run them.
 */
async function startNetwork() {
  const vendor = await startVendor();
  vendor.answer(({ text }, response) => {
    const answer = (): void => {
      if (text.includes('"stream":true')) sse(response).end(streamOf(['Hel', 'lo', '!']));
      else json(response, 200, completion());
    };
    setTimeout(answer, 20);
  });
  const postgres = await startPostgresServer();
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const configuration = oneModel(vendor.url);
  const till = { silenceMs, lookEveryMs: 300, heartbeatMs: 300, silentLooks: 3 };
  const first = await startRunning({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    configuration,
    yuan: '10000',
    till,
  });
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const start = async (): Promise<GatewayProcess> => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-node-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const node = await startProcess({ folder, configuration, env });
    onTestFinished(() => node.kill());
    return node;
  };
  const [second, third] = [await start(), await start()];
  const again = async (node: GatewayProcess): Promise<GatewayProcess> => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-node-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { port } = new URL(node.url);
    const restarted = await startProcess({ folder, configuration, env, port: Number(port) });
    onTestFinished(() => restarted.kill());
    return restarted;
  };
  return { postgres, redis, first, second, third, again };
}

describe.skipIf(!postgresCanBeHurt || findRedis() === undefined)(
  'three nodes on PostgreSQL and Valkey',
  () => {
    test('serve while each component is killed or stopped in turn: only a killed node breaks connections, and every answer is charged once', {
      timeout: 120_000 + sleepMs,
    }, async () => {
      const { postgres, redis, first, second, third, again } = await startNetwork();
      const { database } = first.gateway;
      const load = startLoad([first, second, third], first.key, clients);
      const moreFrom = async (node: number): Promise<void> => {
        const before = load.deliveredBy[node] ?? 0;
        await expect
          .poll(() => load.deliveredBy[node] ?? 0, { timeout: 30_000, message: `node ${node}` })
          .toBeGreaterThan(before + 20);
      };
      await Promise.all([0, 1, 2].map(moreFrom));

      // The third node sleeps with requests under way, and is given up by the first: its money is
      // back while it sleeps.
      const processes = async (): Promise<number> =>
        (await database.query('SELECT id FROM process WHERE fenced=0')).length;
      expect(await processes()).toBe(3);
      third.child.kill('SIGSTOP');
      const slept = wait(sleepMs);
      await expect.poll(processes, { timeout: 15_000 }).toBe(2);

      await redis.kill();
      await moreFrom(0);
      await redis.start();
      redis.pause();
      await moreFrom(1);
      redis.resume();

      await second.kill();
      const back = await again(second);
      await moreFrom(1);

      await slept;
      expect(load.broken[2]).toBe(0);
      third.child.kill('SIGCONT');
      await moreFrom(2);

      postgres.pause();
      await wait(1_000);
      postgres.resume();
      await moreFrom(0);
      await postgres.kill();
      await wait(500);
      await postgres.start();
      await Promise.all([0, 1, 2].map(moreFrom));

      await load.stop();
      expect([...load.refused.keys()].filter((status) => status !== 503)).toEqual([]);
      expect(load.unexplained).toEqual([]);
      // A node that was killed broke what it had under way, and nobody else broke anything.
      expect(load.broken[0]).toBe(0);
      // Who waited for the node that slept has waited for it to wake: what it was answering
      // arrived, what it had not admitted is one of the 503s.
      expect(load.broken[2]).toBe(0);
      expect(await Promise.all([back.stop(), third.stop()])).toEqual([0, 0]);
      await expectNothingLost(database, load);
    });
  },
);
