import { randomBytes } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { formatYuan, parseYuan } from '../../src/base/money.ts';
import { readConfiguration } from '../../src/catalog/config.ts';
import { check } from '../../src/ledger/check.ts';
import { balance } from '../../src/ledger/ledger.ts';
import { type Gateway, type GatewayOptions, openGateway, serves } from '../../src/app/gateway.ts';
import { proofs } from '../../src/app/schema.ts';
import { vendors } from '../../src/providers/index.ts';
import type { Row } from '../../src/storage/database.ts';
import { temporaryFolder } from './file-store.ts';
import { type KeyWish, type NewTestKey, newCustomer, newTestKey } from './customer.ts';

/** A gateway with everything on, a user with money and a key. */
export interface Running {
  readonly gateway: Gateway;
  readonly url: string;
  readonly key: string;
  readonly userId: string;
  post(
    path: string,
    body: unknown,
    init?: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal },
  ): Promise<Response>;
  /** Yuan, as shown to the user. */
  balance(): Promise<string>;
  usage(): Promise<readonly Row[]>;
  /** Checks the ledger, and that each usage record has one transfer. */
  expectBooks(): Promise<void>;
  newKey(wish?: KeyWish): Promise<NewTestKey>;
}

export interface RunningOptions {
  readonly databaseUrl: string;
  readonly configuration: string;
  readonly yuan?: string;
  readonly limits?: GatewayOptions['limits'];
  readonly taskLimits?: GatewayOptions['taskLimits'];
  readonly till?: GatewayOptions['till'];
  readonly requestLog?: GatewayOptions['requestLog'];
  /** Shared by several nodes; else one of its own. */
  readonly media?: GatewayOptions['media'];
  readonly payments?: GatewayOptions['payments'];
  readonly traces?: GatewayOptions['traces'];
  readonly redisUrl?: GatewayOptions['redisUrl'];
  readonly trustedProxies?: GatewayOptions['trustedProxies'];
  readonly drainMs?: GatewayOptions['drainMs'];
}

/**
 * One model at 1000 yuan a million tokens, a thousandth of a yuan each, over one channel to a
 * scripted vendor.
 */
export const oneModel = (vendorUrl: string, extra = ''): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
  - { name: other, price_multiplier: 1.0 }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: hidden, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1 } }
channels:
  - { name: a, vendor: openai, base_url: "${vendorUrl}/v1", api_key: up-key, groups: [default], models: [{ id: m1, upstream: up }] }
  - { name: b, vendor: openai, base_url: "${vendorUrl}/v1", api_key: up-key, groups: [other], models: [hidden] }
${extra}`;

/** The key that seals the secrets of these gateways' channels. */
export const masterKey = randomBytes(32);

export async function configurationFrom(
  text: string,
): Promise<NonNullable<GatewayOptions['configuration']>> {
  const read = await readConfiguration(text, {
    env: {},
    vendors: [...vendors.values()],
    serves,
    now: systemClock.now(),
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.configuration;
}

/** Options of a gateway for tests: on loopback, at any port, without a log. */
export async function quietOptions({
  databaseUrl,
  media,
  configuration,
  limits,
  taskLimits,
  till,
  requestLog,
  payments,
  redisUrl,
  traces,
  trustedProxies = [],
  drainMs,
}: RunningOptions & Pick<GatewayOptions, 'media'>): Promise<GatewayOptions> {
  return {
    databaseUrl,
    masterKey,
    media,
    publicUrl: undefined,
    redisUrl,
    traces,
    trustedProxies,
    drainMs,
    configuration: await configurationFrom(configuration),
    host: '127.0.0.1',
    port: 0,
    sqliteThread: undefined,
    logLevel: 'silent',
    metricsToken: 'metrics',
    ...(limits === undefined ? {} : { limits }),
    ...(taskLimits === undefined ? {} : { taskLimits }),
    ...(till === undefined ? {} : { till }),
    ...(requestLog === undefined ? {} : { requestLog }),
    ...(payments === undefined ? {} : { payments }),
  };
}

export async function startGateway(options: RunningOptions): Promise<Gateway> {
  const gateway = await openGateway(
    await quietOptions({ ...options, media: options.media ?? (await temporaryFolder()) }),
  );
  let closed = false;
  onTestFinished(async () => {
    if (!closed) await gateway.close();
  });
  return {
    ...gateway,
    close: () => {
      closed = true;
      return gateway.close();
    },
  };
}

export async function startRunning(options: RunningOptions): Promise<Running> {
  const gateway = await startGateway(options);
  const { database } = gateway;
  const amount = parseYuan(options.yuan ?? '100');
  if (amount === undefined) throw new Error('yuan is a decimal string');
  const {
    userId,
    key: { secret },
  } = await newCustomer(database, amount);
  return {
    gateway,
    url: gateway.url,
    key: secret,
    userId,
    newKey: (wish) => newTestKey(database, userId, wish),
    post: (path, body, init = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          ...init.headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(init.signal === undefined ? {} : { signal: init.signal }),
      }),
    balance: async () => formatYuan((await balance(database, userId))?.balance ?? 0n),
    usage: () => database.query('SELECT * FROM usage ORDER BY reserved_at, id'),
    async expectBooks() {
      expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
      const [counts] = await database.query(
        `SELECT (SELECT COUNT(*) FROM usage) AS records, (SELECT COUNT(*) FROM transfer WHERE credit='revenue') AS charges`,
      );
      expect(counts?.['records']).toBe(counts?.['charges']);
    },
  };
}

export const hello = {
  model: 'm1',
  messages: [{ role: 'user', content: 'Hello' }],
  max_tokens: 50,
};
