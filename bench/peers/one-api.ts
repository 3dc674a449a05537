import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres.ts';
import { findRedis, startRedis } from '../../test/support/redis-server.ts';
import { body, json } from '../contender.ts';
import { ownDatabase } from '../postgres.ts';
import { freePort } from '../../test/support/free-port.ts';
import { listening, type Started, start } from '../process.ts';
import { isStream, type Kind, kindsOf, type Vendors } from '../vendor.ts';
import { type Peer, programOnly, startedOnce } from './peer.ts';

const key = 'bench';
const rootKey = 'benchroot';
/** It has a counter of tokens ready at its start only for models that are named like this. */
const modelOf = (kind: Kind) => `gpt-3.5-${kind}`;

/**
 * As its documents set it up for many requests: PostgreSQL instead of SQLite, Redis before it, and
 * sums written in batches. Its program looks for the files of tiktoken in the folder `tiktoken`
 * beside it, or downloads them.
 */
export const oneApi: Peer = {
  name: 'one-api',
  version: '0.6.11-preview.7',
  ...programOnly('one-api'),
  contender: async (folder, scratch, vendors) => {
    const port = await freePort();
    const place = join(scratch, 'one-api');
    mkdirSync(place, { recursive: true });
    const stores = await startStores();
    const env = { ...process.env, ...stores.env, ...settings(folder) };
    const args = ['--port', String(port), '--log-dir', join(place, 'logs')];
    const serve = () => start('measured', join(folder, 'one-api'), args, env, place);
    await setUp(port, serve(), vendors);
    return startedOnce({
      name: 'one-api',
      version: oneApi.version,
      target: (kind, request) =>
        kind in vendors.base
          ? {
              url: `http://127.0.0.1:${port}/v1/chat/completions`,
              headers: { ...json, authorization: `Bearer sk-${key}` },
              body: body(modelOf(kind), isStream(kind), request),
            }
          : undefined,
      start: async () => serve(),
      close: stores.stop,
    });
  },
};

interface Stores {
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** What is installed of PostgreSQL and Redis; without PostgreSQL it keeps its data in SQLite. */
async function startStores(): Promise<Stores> {
  const postgres = await startPostgres();
  const database =
    'missing' in postgres
      ? undefined
      : await ownDatabase(postgres.url, `one_api_bench_${process.pid}`);
  const redis = findRedis() === undefined ? undefined : await startRedis();
  const env = {
    ...(database && { SQL_DSN: database.url, SQL_MAX_OPEN_CONNS: '200' }),
    // it uses Redis only together with this interval, in seconds
    ...(redis && { REDIS_CONN_STRING: redis.url, SYNC_FREQUENCY: '60' }),
  };
  const stop = async () => {
    await redis?.stop();
    await database?.drop();
    if (!('missing' in postgres)) await postgres.stop();
  };
  return { env, stop };
}

function settings(folder: string): NodeJS.ProcessEnv {
  const encodings = join(folder, 'tiktoken');
  return {
    INITIAL_ROOT_TOKEN: key,
    INITIAL_ROOT_ACCESS_TOKEN: rootKey,
    MEMORY_CACHE_ENABLED: 'true',
    BATCH_UPDATE_ENABLED: 'true',
    // As newer programs in Go do, it uses the cores that it is given after its start.
    GODEBUG: 'updatemaxprocs=1',
    ...(existsSync(encodings) && { TIKTOKEN_CACHE_DIR: encodings }),
  };
}

const openai = 1;
const anthropic = 14;

/** A channel and a price for each kind, through its own API. */
async function setUp(port: number, started: Started, vendors: Vendors): Promise<void> {
  try {
    await listening(port, started);
    const kinds = kindsOf(vendors);
    for (const [kind, base] of kinds)
      await call(port, 'POST', '/api/channel/', {
        name: kind,
        type: kind === 'messages' ? anthropic : openai,
        key: 'bench',
        base_url: base.replace(/\/v1$/, ''),
        models: modelOf(kind),
        group: 'default',
      });
    for (const [option, ratio] of Object.entries({ ModelRatio: 1, CompletionRatio: 1.5 }))
      await call(port, 'PUT', '/api/option/', {
        key: option,
        value: JSON.stringify(Object.fromEntries(kinds.map(([kind]) => [modelOf(kind), ratio]))),
      });
  } finally {
    await started.stop();
  }
}

async function call(port: number, method: string, path: string, value: object): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...json, authorization: rootKey },
    body: JSON.stringify(value),
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes('"success":true'))
    throw new Error(`one-api refused ${path}: ${answer.status} ${text}`);
}
