import type { AddressInfo } from 'node:net';
import about from '../../package.json' with { type: 'json' };
import { openApiEntry } from '../api/entry.ts';
import { endpointsOf } from '../api/endpoints.ts';
import { answerUnreadable } from '../api/errors.ts';
import { FileHandler } from '../api/file-handler.ts';
import { openDocuments } from '../api/openapi/routes.ts';
import { openSystemRoutes } from '../api/system-routes.ts';
import { systemClock } from '../base/clock.ts';
import type { Configuration } from '../catalog/configuration.ts';
import { openAssets } from '../console/assets.ts';
import type { IdempotentRequests } from '../gateway/idempotency.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { Tasks } from '../gateway/tasks/tasks.ts';
import { clientAddress } from '../http/client-address.ts';
import { checkHeads, openServer, serverLimits } from '../http/server.ts';
import type { LiveTill } from '../ledger/till.ts';
import type { Uploads } from '../media/uploads.ts';
import type { openResponseStore } from '../memory/responses.ts';
import type { Database } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type ConsoleOptions, mountConsole, openPageRoutes } from './console.ts';
import { type Observation, observeEntry } from './observers.ts';
import { mountPayments, type PaymentOptions } from './payments.ts';
import type { NotificationOptions } from './upkeep.ts';

/** What every module is built on. */
export interface Foundation extends Observation {
  readonly database: Database;
  readonly sealer: Sealer;
}

export interface ServerOptions extends ConsoleOptions, PaymentOptions, NotificationOptions {
  readonly configuration: Configuration | undefined;
  /** The folder of the built console; undefined or missing: there is no console. */
  readonly consoleFolder?: string | undefined;
  /** The folder of the built documents; undefined or missing: there are none below `/docs`. */
  readonly docsFolder?: string | undefined;
  /** Bearer token of `/metrics`; undefined: there is no such page. */
  readonly metricsToken: string | undefined;
  readonly workers?: MetricsMerger | undefined;
}

interface MetricsMerger {
  /** Turns the metrics of this process into those of all. */
  mergedMetrics(own: () => Promise<string>): () => Promise<string>;
}

interface OpenModules {
  readonly parts: GatewayParts & { readonly till: LiveTill };
  readonly memory: ReturnType<typeof openResponseStore>;
  readonly submissions: IdempotentRequests;
  readonly tasks: Tasks;
  readonly uploads: Uploads;
}

/** The server and everything that it serves. */
export async function openServers(
  ground: Foundation,
  { parts, memory, submissions, tasks, uploads }: OpenModules,
  options: ServerOptions,
) {
  const { log, database, sealer, counters } = ground;
  const entryLog = observeEntry(ground);
  const fileHandler = new FileHandler(parts.files, systemClock, entryLog.bug);
  const unreadable = answerUnreadable(systemClock);
  const server = openServer(serverLimits, unreadable);
  const { defaultModels, usdRatePpm } = options.configuration ?? {};
  const endpoints = endpointsOf(parts, {
    memory,
    submissions,
    tasks,
    fileHandler,
    uploads,
    database,
    defaultModels,
    usdRatePpm,
  });
  const entry = openApiEntry(
    server.server,
    parts,
    endpoints,
    entryLog,
    serverLimits.jsonBodyBytesMax,
    clientAddress(options.trustedProxies),
  );
  fileHandler.openOn(server);
  const payments = mountPayments(server, { database, log }, options, () =>
    urlOf(server.server.address()),
  );
  const pagesOf = openPageRoutes({
    database,
    sealer,
    parts,
    endpoints,
    refusedOfKey: entryLog.refusedOfKey,
    usdRatePpm,
    payments: payments.payments,
    email: options.notifications?.email !== undefined,
    publicModels: options.publicModels,
    demo: options.demo === true,
  });
  const console = await mountConsole(server, { database, log, pages: pagesOf }, options);
  const described = { version: about.version, publicUrl: options.publicUrl };
  openDocuments(server, endpoints, described, options.docsFolder);
  const pages = openAssets(server, options.consoleFolder, options.publicUrl);
  checkHeads(server.server, unreadable);
  const ready = () => entry.open && parts.till.admitting;
  openSystemRoutes(server, {
    ready,
    metrics: metricsPageOf(counters.metrics, options.workers),
    metricsToken: options.metricsToken,
    unreadable,
    endpoints,
    otherwise: pages.page,
  });
  const drainables: readonly Drainable[] = [entry, fileHandler, console];
  return { server, drainables, breakOff: () => entry.breakOff(), ready, payments, console };
}

export type OpenServers = Awaited<ReturnType<typeof openServers>>;

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

interface Drainable {
  drain(waitMs: number): Promise<unknown>;
}

/**
 * Drains the server. Requests that take too long are broken off: their delivered part is settled,
 * and the vendor stops.
 */
export async function drainServer(
  server: ReturnType<typeof openServer>,
  drainables: readonly Drainable[],
  breakOff: () => void,
): Promise<void> {
  await Promise.all(drainables.map((each) => each.drain(drainMs)));
  breakOff();
  server.server.closeAllConnections();
  await server.close();
  await drainables[0]?.drain(drainMs);
}

export function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string')
    throw new Error('the server listens on no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
