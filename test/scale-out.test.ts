import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { onPostgres } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { expectNothingLost, startLoad } from './support/fault-load.ts';
import { temporaryFolder } from './support/file-store.ts';
import { startNginx } from './support/nginx.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';
import { startRedis } from './support/redis-server.ts';
import { oneModel } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';

const guide = readFileSync(new URL('../docs/guides/scale-out.md', import.meta.url), 'utf8');
const written = /```nginx\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
const clients = 12;

/** The guide's lines, with these nodes in place of its own. */
function siteOf(nodes: readonly GatewayProcess[], down?: GatewayProcess): string {
  const servers = nodes.map(
    (node) =>
      `    server ${new URL(node.url).host}${node === down ? ' down' : ' max_fails=1 fail_timeout=2s'};\n`,
  );
  return written.replace(/(?: {4}server 10\..*\n)+/, servers.join(''));
}

onPostgres((_name, _openFresh, fresh) => {
  test.skipIf(inject('redis') === undefined || inject('nginx') === undefined)(
    'three nodes behind nginx lose nothing while one is taken out, the shared state dies and comes back, and another node is killed',
    async () => {
      const { url: databaseUrl, open } = await fresh();
      const vendor = await startVendor();
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const configuration = oneModel(vendor.url).replace(
        '1.0 }',
        '1.0, limits: { rpm: 1000000, tpm: 1000000000, concurrency: 64 } }',
      );
      const folder = await temporaryFolder();
      const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, TRUSTED_PROXIES: '127.0.0.1' };
      const nodes = await Promise.all(
        [1, 2, 3].map(() => startProcess({ folder, configuration, env })),
      );
      onTestFinished(async () => {
        await Promise.all(nodes.map((node) => node.kill()));
      });
      const [leaving, killed] = nodes;
      if (leaving === undefined || killed === undefined) throw new Error('there are three nodes');
      const nginx = await startNginx(siteOf(nodes));
      const database = await open({ procedures: ledgerProcedures });
      const { key } = await newCustomer(database, 1_000_000_000_000n, { addresses: ['127.0.0.1'] });

      const load = startLoad([nginx], key.secret, clients);
      const delivered = async (more: number) => {
        const from = load.delivered.size;
        await expect
          .poll(() => load.delivered.size - from, { timeout: 15_000, interval: 20 })
          .toBeGreaterThan(more);
      };
      await delivered(60);
      await redis.kill();
      await delivered(60);
      await nginx.reload(siteOf(nodes, leaving));
      expect(await leaving.stop()).toBe(0);
      await redis.start();
      await delivered(60);
      expect([load.refused.size, load.broken]).toEqual([0, [0]]);

      await killed.kill();
      await delivered(60);
      await wait(200);
      await load.stop();
      expect([...load.refused.keys()].filter((status) => status !== 502)).toEqual([]);
      const lost = [...load.refused.values(), ...load.broken].reduce(
        (sum, count) => sum + count,
        0,
      );
      expect(lost).toBeLessThanOrEqual(clients);
      await expectNothingLost(database, load);
    },
    60_000,
  );
});
