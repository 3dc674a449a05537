import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../test/postgres.ts';
import { findRedis, startRedis } from '../test/support/redis-server.ts';
import { body, type Target } from './contender.ts';
import { ownDatabase } from './postgres.ts';
import { freePort } from '../test/support/free-port.ts';
import { family, type Started } from './process.ts';
import { type Installed, install, ready } from './tollgate.ts';

/** A number of serving processes. */
export interface Arrangement {
  readonly way: string;
  readonly processes: number;
  /** One, or as many as there are processes that share nothing. */
  readonly gateways: readonly Installed[];
  /** The addresses for clients: one per process where each has its own. */
  readonly targets: readonly Target[];
  readonly serving: readonly number[];
  /** Processes that hand out connections and serve no requests. */
  readonly supervising: readonly number[];
  /** Their last output. */
  tail(): string;
  stop(): Promise<void>;
}

/** The possible arrangements, by name. */
export type Way = 'nodes' | 'workers' | 'separate';

/** One process, and two, with separate databases. `configuration` names the vendor. */
export async function arrangements(
  way: Way,
  folder: string,
  configuration: string,
): Promise<Arrangement[]> {
  const both = [1, 2];
  if (way === 'workers')
    return Promise.all(both.map((processes) => workers(folder, configuration, processes)));
  if (way === 'separate')
    return Promise.all(both.map((processes) => separate(folder, configuration, processes)));
  const postgres = await startPostgres();
  if ('missing' in postgres || findRedis() === undefined) {
    const reason =
      'missing' in postgres
        ? postgres.missing
        : 'neither valkey-server nor redis-server is installed';
    console.log(`no nodes in this run: ${reason}`);
    return [];
  }
  const all = await Promise.all(
    both.map((processes) => nodes(folder, configuration, processes, postgres.url)),
  );
  let left = all.length;
  const stop = async (one: Arrangement) => {
    await one.stop();
    if (--left === 0) await postgres.stop();
  };
  return all.map((one) => ({ ...one, stop: () => stop(one) }));
}

/** Gateways that share only PostgreSQL and Valkey. */
async function nodes(
  folder: string,
  configuration: string,
  processes: number,
  server: string,
): Promise<Arrangement> {
  const database = await ownDatabase(server, `scale_${process.pid}_${processes}`);
  const redis = await startRedis();
  const place = mkdtempSync(join(folder, 'nodes-'));
  const gateway = await install(place, configuration, {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
  });
  const ports = await Promise.all(Array.from({ length: processes }, freePort));
  const started = ports.map((port) => gateway.another(port));
  const targets = ports.map((port) => at(gateway, port));
  for (const [n, { url: asked }] of targets.entries()) await serves(asked, started[n]);
  return {
    way: 'nodes on PostgreSQL and Valkey',
    processes,
    gateways: [gateway],
    targets,
    serving: started.map(({ pid }) => pid),
    supervising: [],
    tail: () => started.map(({ tail }) => tail()).join(),
    stop: async () => {
      for (const each of started) await each.stop();
      await redis.stop();
      await database.drop();
    },
  };
}

async function workers(
  folder: string,
  configuration: string,
  processes: number,
): Promise<Arrangement> {
  const place = mkdtempSync(join(folder, 'workers-'));
  const gateway = await install(place, configuration);
  const port = await freePort();
  const started = gateway.another(port, '--workers', String(processes));
  const target = at(gateway, port);
  await serves(target.url, started);
  // Further workers start after the first one, and do not report when they are ready.
  while (family(started.pid).length <= processes && processes > 1) await wait(50);
  const serving = processes > 1 ? family(started.pid).slice(1) : [started.pid];
  if (serving.length !== processes)
    throw new Error(`${serving.length} processes serve instead of ${processes}`);
  return {
    way: 'workers on SQLite',
    processes,
    gateways: [gateway],
    targets: [target],
    serving,
    supervising: processes > 1 ? [started.pid] : [],
    tail: started.tail,
    stop: () => started.stop(),
  };
}

/** Gateways that share nothing but the machine, each with books of its own. */
async function separate(
  folder: string,
  configuration: string,
  processes: number,
): Promise<Arrangement> {
  const all = await Promise.all(
    Array.from({ length: processes }, () => workers(folder, configuration, 1)),
  );
  return {
    way: 'separate gateways on SQLite',
    processes,
    gateways: all.flatMap(({ gateways }) => gateways),
    targets: all.flatMap(({ targets }) => targets),
    serving: all.flatMap(({ serving }) => serving),
    supervising: [],
    tail: () => all.map(({ tail }) => tail()).join(),
    stop: async () => {
      for (const each of all) await each.stop();
    },
  };
}

function at({ headers }: Installed, port: number): Target {
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers,
    body: body('whole', false),
  };
}

async function serves(url: string, started: Started | undefined): Promise<void> {
  await ready(new URL('/readyz', url).href, () => started?.tail() ?? '');
}
