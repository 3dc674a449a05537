import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import about from '../../package.json' with { type: 'json' };
import { type ApiEntry, openApiEntry } from '../api/entry.ts';
import { endpointsOf } from '../api/endpoints.ts';
import { answerUnreadable } from '../api/errors.ts';
import { FileHandler } from '../api/file-handler.ts';
import { systemClock } from '../base/clock.ts';
import type { Configuration } from '../catalog/configuration.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import { clientAddress } from '../http/client-address.ts';
import { checkHeads, openServer, serveLazily, serverLimits } from '../http/server.ts';
import type { LiveTill } from '../ledger/till.ts';
import type { Uploads } from '../media/uploads.ts';
import type { ResponseStore } from '../memory/responses.ts';
import type { Database } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { OnError } from '../storage/repeat.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Observation, observeEntry } from './observers.ts';
import type { OpenPages, PageOptions } from './pages.ts';
import { openPayments, type PaymentOptions } from './payments.ts';
import type { NotificationOptions } from './upkeep.ts';

/** What every module is built on. */
export interface Foundation extends Observation {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly onError: OnError;
}

export interface ServerOptions extends PageOptions, PaymentOptions, NotificationOptions {
  readonly configuration: Configuration | undefined;
  /** Bearer token of `/metrics`; undefined: there is no such page. */
  readonly metricsToken: string | undefined;
  readonly workers?: MetricsMerger | undefined;
  /** How long a stop waits for running requests; undefined: 25 s. */
  readonly drainMs?: number | undefined;
}

interface MetricsMerger {
  /** Turns the metrics of this process into those of all. */
  mergedMetrics(own: () => Promise<string>): () => Promise<string>;
}

interface OpenModules {
  readonly parts: GatewayParts & { readonly till: LiveTill };
  readonly responseStore: ResponseStore;
  readonly idempotentRequests: IdempotentRequests;
  readonly tasks: Tasks;
  readonly uploads: Uploads;
}

/** The server, the API on it, and the pages, which the first request for one opens. */
export function openServers(
  ground: Foundation,
  { parts, responseStore, idempotentRequests, tasks, uploads }: OpenModules,
  options: ServerOptions,
) {
  const { log, onError, database, sealer, counters } = ground;
  const entryLog = observeEntry(ground);
  const fileHandler = new FileHandler(parts.files, systemClock, entryLog.bug);
  const unreadable = answerUnreadable(systemClock);
  const server = openServer(serverLimits, unreadable);
  const { defaultModels, usdRatePpm } = options.configuration ?? {};
  const endpoints = endpointsOf(parts, {
    responseStore,
    idempotentRequests,
    tasks,
    fileHandler,
    uploads,
    database,
    defaultModels,
    usdRatePpm,
  });
  const payments = openPayments({ database, log }, options, () => urlOf(server.address()));
  // Not with the pages: other workers ask this one for its metrics, too.
  const metrics = metricsPageOf(counters.metrics, options.workers);
  const pages = new Pages(async () => {
    const { openPages } = await import('./pages.ts');
    return openPages(
      {
        log,
        onError,
        database,
        sealer,
        parts,
        endpoints,
        unreadable,
        refusedOfKey: entryLog.refusedOfKey,
        usdRatePpm,
        payments: payments.payments,
        email: options.notifications?.email !== undefined,
        publicModels: options.publicModels,
        configurationFile: options.configurationFile,
        demo: options.demo,
        files: fileHandler,
        about: { version: about.version, publicUrl: options.publicUrl },
        ready,
        metrics,
        metricsToken: options.metricsToken,
      },
      options,
    );
  });
  // The order counts: the API takes its requests before the pages, and heads are checked before both.
  serveLazily(
    server,
    async () => (await pages.open()).serve,
    (error) => log.error('bug', error, {}),
  );
  const entry = openApiEntry(
    server,
    parts,
    endpoints,
    entryLog,
    serverLimits.jsonBodyBytesMax,
    clientAddress(options.trustedProxies),
  );
  checkHeads(server, unreadable);
  const ready = (): boolean => entry.open && parts.till.admitting;
  const drain = () => drainServer(server, entry, [fileHandler, pages], parts, options);
  return { server, drain, ready, payments, pages };
}

/** What is served beside the API, opened when it is first asked for. */
export class Pages implements Drainable {
  readonly #open: () => Promise<OpenPages>;
  #opened: Promise<OpenPages> | undefined;
  #draining = false;

  constructor(open: () => Promise<OpenPages>) {
    this.#open = open;
  }

  async open(): Promise<OpenPages> {
    this.#opened ??= this.#open();
    try {
      const pages = await this.#opened;
      if (this.#draining) await pages.drain(0);
      return pages;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /** Pages that are opened from now on are drained at once. */
  async drain(waitMs: number): Promise<void> {
    this.#draining = true;
    // Pages that cannot be opened have nothing to drain, and `open` has thrown why.
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.drain(waitMs);
  }
}

/** One metrics page for all worker processes, whichever of them serves it. */
function metricsPageOf(
  metrics: Metrics,
  workers: MetricsMerger | undefined,
): () => ReturnType<Metrics['page']> {
  const all = workers?.mergedMetrics(async () => (await metrics.page()).text);
  return all === undefined
    ? () => metrics.page()
    : async () => ({ type: metrics.type, text: await all() });
}

/** How long a drain waits for running requests before it breaks them off. */
const drainMs = 25_000;
/** Requests that were broken off have this long to settle what they delivered. */
const settleMs = 5_000;

interface Drainable {
  drain(waitMs: number): Promise<unknown>;
}

/**
 * Drains the server. Requests that take too long are broken off: their delivered part is settled,
 * and the vendor stops.
 */
async function drainServer(
  server: Server,
  entry: ApiEntry,
  others: readonly Drainable[],
  { unattended }: Pick<GatewayParts, 'unattended'>,
  { drainMs: waitMs = drainMs }: Pick<ServerOptions, 'drainMs'>,
): Promise<void> {
  await Promise.all([entry, ...others].map((each) => each.drain(waitMs)));
  unattended.stop();
  entry.breakOff();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await entry.drain(settleMs);
}

export function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string')
    throw new Error('the server listens on no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
