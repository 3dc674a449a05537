import type { AddressInfo } from 'node:net';
import about from '../../package.json' with { type: 'json' };
import { type LiveKeyring, openKeyring, keysTopic } from '../accounts/keys.ts';
import { openApiEntry } from '../api/entry.ts';
import { endpointsOf } from '../api/endpoints.ts';
import { FileHandler } from '../api/file-handler.ts';
import { openDocuments } from '../api/openapi/routes.ts';
import { openSystemRoutes } from '../api/system-routes.ts';
import { answerUnreadable } from '../api/errors.ts';
import { systemClock, systemTimers } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import {
  buildSnapshot,
  currentSnapshot,
  type Serves,
  type ListFees,
  listFeesAt,
} from '../catalog/build-snapshot.ts';
import { defaultUsdRatePpm } from '../catalog/bundled.ts';
import type { Configuration } from '../catalog/configuration.ts';
import { keepPricesInForce } from '../catalog/price-versions.ts';
import { loadCatalog, recordConfiguration } from '../catalog/catalog-store.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { catalogTopic } from '../catalog/editing.ts';
import { openAssets } from '../console/assets.ts';
import { servesKind } from '../gateway/models/offers.ts';
import { ChannelClients } from '../gateway/channels/clients.ts';
import { type GatewayLimits, gatewayLimits, type GatewayParts } from '../gateway/parts.ts';
import { ChannelCounts } from '../gateway/reports/counts.ts';
import { Reporter } from '../gateway/reports/reporter.ts';
import { StreamWatch } from '../gateway/stream-watch.ts';
import { IdempotentRequests } from '../gateway/idempotency.ts';
import { type TaskLimits, taskLimits, type TaskParts } from '../gateway/tasks/parts.ts';
import { TaskChannels } from '../gateway/tasks/task-channels.ts';
import { Tasks } from '../gateway/tasks/tasks.ts';
import { clientAddress } from '../http/client-address.ts';
import { postControl } from '../http/control-call.ts';
import { type ConsoleOptions, mountConsole, openPageRoutes } from './console.ts';
import { type Observation, observeEntry, observeRequests, observeTasks } from './observers.ts';
import { type LimitOptions, openLimits } from './limits.ts';
import { type MetricsCounters, registerMetrics } from './metrics.ts';
import { type PaymentOptions, mountPayments } from './payments.ts';
import { checkHeads, listenAt, openServer, serverLimits } from '../http/server.ts';
import { SpoolPool } from '../http/spool.ts';
import { releaseAllProcesses } from '../ledger/ledger.ts';
import { ledgerProcedures } from '../ledger/procedures.ts';
import type { TillSettings } from '../ledger/settings.ts';
import { type LiveTill, openTill } from '../ledger/till.ts';
import { forgetWindows } from '../ledger/limit-windows.ts';
import { keepLedgerChecked } from '../ledger/nightly-check.ts';
import { FileUrls } from '../media/file-urls.ts';
import { VendorDownloads, Downloads } from '../media/downloads.ts';
import type { Files } from '../media/files.ts';
import { fileLimits, mediaLimits } from '../media/limits.ts';
import { openFiles } from '../media/stored-files.ts';
import { migrations, proofs } from './schema.ts';
import { vendors } from '../providers/index.ts';
import { toolListFees } from '../providers/tool-list-fees.ts';
import { expireHourly } from '../memory/expiry.ts';
import { openResponseStore } from '../memory/responses.ts';
import { openSignatureStore } from '../memory/signatures.ts';
import type { RequestLogLimits } from '../request-log/entry.ts';
import { RequestRecorder } from '../request-log/recorder.ts';
import { keepRequestLogBounded } from '../request-log/retention.ts';
import { Health } from '../routing/candidates.ts';
import { HedgeBudget } from '../routing/hedge-budget.ts';
import { expireSignIns } from '../accounts/sign-in-attempts.ts';
import type { Blobs } from '../storage/blobs.ts';
import { Notifications } from '../notifications/notifications.ts';
import type { NotificationSettings } from '../notifications/settings.ts';
import { watchChanges } from '../storage/changes.ts';
import type { SharedLimiter } from '../limits/limiter.ts';
import type { Database } from '../storage/database.ts';
import { LedgerFolder } from '../storage/ledger-id.ts';
import { migrate } from '../storage/migrate.ts';
import { open } from '../storage/open.ts';
import { type BlobPlace, openBlobs } from '../storage/open-blobs.ts';
import { acquireServingLock, type ServingLock } from '../storage/serving-lock.ts';
import { openSealer, type Sealer } from '../storage/seal.ts';
import { RequestMetrics } from '../telemetry/request-metrics.ts';
import { type Log, openLog } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import { keepRolledUp } from '../usage/rollup.ts';
import { keepPartitions } from '../usage/partitions.ts';
import { recordColumns } from '../usage/record.ts';

/**
 * The kinds of models that a vendor can serve: a vendor with a chat adapter serves chat models, one
 * with an embeddings adapter serves embedding models.
 */
export const serves: Serves = (vendor, kind) =>
  servesKind(kind, vendors.get(vendor)?.adapters ?? {});

/** The vendors' list fees of the tools that they run, in yuan. */
export const listFees = (usdRatePpm = defaultUsdRatePpm): ListFees =>
  listFeesAt(toolListFees, usdRatePpm);

export interface GatewayOptions extends ConsoleOptions, PaymentOptions, LimitOptions {
  readonly databaseUrl: string;
  /**
   * The data folder, whose `ledger.id` names its database; undefined: the database is not checked.
   */
  readonly dataFolder?: string | undefined;
  /** Binds the data folder to this database, even if it belonged to another. */
  readonly acceptDatabase?: boolean | undefined;
  readonly masterKey: Buffer;
  /** Where generated files are kept. */
  readonly media: BlobPlace;
  /** Recorded before anything is served; undefined: the catalogue in the database holds. */
  readonly configuration: Configuration | undefined;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /**
   * The entry file of SQLite's thread; undefined keeps SQLite in this thread, as commands and tests
   * do.
   */
  readonly sqliteThread: URL | undefined;
  /** The folder of the built console; undefined or missing: there is no console. */
  readonly consoleFolder?: string | undefined;
  readonly logLevel: string;
  /** Bearer token of `/metrics`; undefined: there is no such page. */
  readonly metricsToken: string | undefined;
  /** Where requests are traced; undefined: nowhere. */
  readonly traces?: Traces | undefined;
  readonly limits?: Partial<GatewayLimits>;
  readonly taskLimits?: Partial<TaskLimits>;
  readonly till?: Partial<TillSettings>;
  readonly requestLog?: Partial<RequestLogLimits>;
  /** Which notifications go to which recipients; undefined: none. */
  readonly notifications?: NotificationSettings | undefined;
  readonly workers?: WorkerGroup | undefined;
}

/** One of several worker processes on one address; their parent holds the database lock for all. */
export interface WorkerGroup {
  /** The first worker records the configuration. */
  readonly first: boolean;
  /** No other process uses the database: whatever a crashed gateway held is free again. */
  readonly alone: boolean;
  readonly limiter: SharedLimiter;
  /** Turns the metrics of this process into those of all. */
  mergedMetrics(own: () => Promise<string>): () => Promise<string>;
}

export interface Gateway {
  readonly url: string;
  readonly parts: GatewayParts;
  readonly database: Database;
  /** The console's routes, and the providers by which users sign in. */
  readonly console: Pick<Awaited<ReturnType<typeof mountConsole>>, 'rows' | 'signInMethods'>;
  /** Models whose imported price the configuration does not name. */
  readonly keptPrices: readonly string[];
  /** Stops admission, finishes what runs, settles, returns every float. */
  close(): Promise<void>;
}

interface Closing {
  readonly close: () => void | Promise<void>;
}

/** How long a drain waits for running requests before it breaks them off. */
const drainMs = 25_000;

/** Wires the modules, from the lower layers to the upper, and listens. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const log = openLog(options.logLevel, systemClock, options.workers !== undefined);
  const { database, sole, alone } = await openDatabase(options, log);
  const sealer = openSealer(options.masterKey);
  const recorded =
    options.workers?.first !== false &&
    options.configuration &&
    (await recordConfiguration(database, options.configuration, sealer, systemClock));
  const counters = openCounters(options);
  const recorder = new RequestRecorder(database, systemClock, options.requestLog);
  const ground: Foundation = { log, database, sealer, counters, recorder, traces: options.traces };
  const { parts, memory, submissions, changes, limits, blobs } = await openModules(ground, options);
  const { till, files, signatures, keyring, channelClients } = parts;
  const tasks = openTasks(parts, database, sealer, observeTasks(ground), options);
  if (alone) await Promise.all([submissions.release(), tasks.release()]);
  const upkeep = await startUpkeep(
    database,
    parts,
    [memory, submissions, signatures, files, tasks],
    openNotifications(database, log, options),
  );
  const reporter = new Reporter({ ...parts, database, counts: counters.counts });
  const modules = { parts, memory, submissions, tasks };
  const { server, drainables, breakOff, ready, payments, console } = await openServers(
    ground,
    modules,
    options,
  );
  registerMetrics(counters, {
    ...parts,
    recorder,
    version: about.version,
    till,
    reporter,
    tasks,
    ready,
    log,
    nodes: limits.families,
  });
  const loops = [changes.stop, ...upkeep, () => options.traces?.close()].map((stop) => ({
    close: stop,
  }));
  const closing: readonly Closing[] = [
    payments,
    tasks,
    till,
    recorder,
    reporter,
    ...loops,
    keyring,
    channelClients,
    limits,
    blobs,
    database,
  ];
  const close = closer(() => drainServer(server, drainables, breakOff), closing, sole, log);
  await undoOnFailure(listenAt(server, options.host, options.port), close);
  for (const part of [tasks, reporter, payments]) await part.start();
  const keptPrices = recorded ? recorded.keptPrices : [];
  return {
    url: urlOf(server.server.address()),
    parts,
    database,
    console,
    keptPrices,
    close,
  };
}

/** What every module is built on. */
interface Foundation extends Observation {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly counters: Counters;
}

/** The modules that requests pass through. */
async function openModules(ground: Foundation, options: GatewayOptions) {
  const { log, database, sealer } = ground;
  const channelClients = new ChannelClients(vendors, {
    now: () => systemClock.now(),
    post: postControl,
  });
  const keyring = openKeyring(database, systemClock);
  const blobs = openBlobs(options.media, systemClock);
  const files = openFileStore(database, blobs, sealer, options);
  const memories = openMemories(database, sealer);
  const till = await openTillOf(database, log, options.till);
  const { catalog, changes } = await openCatalog(
    database,
    sealer,
    keyring,
    channelClients,
    listFees(options.configuration?.usdRatePpm),
  );
  const limits = await openLimits({ ...options, limiter: options.workers?.limiter }, log);
  const parts = {
    clock: systemClock,
    random: systemRandom,
    timers: systemTimers,
    keyring,
    limiter: limits.limiter,
    till,
    health: new Health(),
    hedges: new HedgeBudget(),
    limits: { ...gatewayLimits, ...options.limits },
    watch: new StreamWatch(),
    channelClients,
    downloads: new Downloads({ ...mediaLimits, ...options.configuration?.media }),
    files,
    spools: new SpoolPool(),
    signatures: memories.signatures,
    catalog,
    ...observeRequests(ground),
  } satisfies GatewayParts;
  return { parts, ...memories, changes, limits, blobs };
}

interface OpenModules {
  readonly parts: GatewayParts & { readonly till: LiveTill };
  readonly memory: ReturnType<typeof openResponseStore>;
  readonly submissions: IdempotentRequests;
  readonly tasks: Tasks;
}

/** The server and everything that it serves. */
async function openServers(
  ground: Foundation,
  { parts, memory, submissions, tasks }: OpenModules,
  options: GatewayOptions,
) {
  const { log, database, sealer, counters } = ground;
  const entryLog = observeEntry(ground);
  const fileHandler = new FileHandler(parts.files, systemClock, entryLog.bug);
  const unreadable = answerUnreadable(systemClock);
  const server = openServer(serverLimits, unreadable);
  const { defaultModels, usdRatePpm } = options.configuration ?? {};
  const endpoints = endpointsOf(parts, {
    ...{ memory, submissions, tasks, fileHandler, database },
    ...{ defaultModels, usdRatePpm },
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
    usdRatePpm,
    payments: payments.payments,
    email: options.notifications?.email !== undefined,
    publicModels: options.publicModels,
  });
  const console = await mountConsole(server, { database, log, pages: pagesOf }, options);
  openDocuments(server, endpoints, { version: about.version, publicUrl: options.publicUrl });
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

/** Waits until no request is left, then closes the modules in order. */
const closer =
  (
    empty: () => Promise<void>,
    closing: readonly Closing[],
    sole: ServingLock | undefined,
    log: Log,
  ) =>
  async (): Promise<void> => {
    await empty();
    for (const each of closing) await each.close();
    sole?.release();
    log.flush();
  };

/** One metrics page for all worker processes, whichever of them serves it. */
function metricsPageOf(
  metrics: Metrics,
  workers: WorkerGroup | undefined,
): () => ReturnType<Metrics['page']> {
  const all = workers?.mergedMetrics(async () => (await metrics.page()).text);
  return all === undefined
    ? () => metrics.page()
    : async () => ({ type: metrics.type, text: await all() });
}

/** Empty without settings. */
function openNotifications(
  database: Database,
  log: Log,
  { notifications: settings, publicUrl: home }: GatewayOptions,
): readonly Notifications[] {
  if (settings === undefined) return [];
  const onAttempt = (id: string, way: string, why: string | undefined): void =>
    log.line('notice', { id, way, ...(why !== undefined && { why }) });
  return [
    new Notifications({
      database,
      clock: systemClock,
      settings,
      home,
      onAttempt,
      onError: (error) => log.error('notices', error, {}),
    }),
  ];
}

/** The catalogue in force, and the watcher that keeps it and the keys up to date. */
async function openCatalog(
  database: Database,
  sealer: Sealer,
  keyring: LiveKeyring,
  channelClients: ChannelClients,
  fees: ListFees,
) {
  const read = async (): Promise<Snapshot> =>
    buildSnapshot(await loadCatalog(database, sealer), serves, fees);
  const current = currentSnapshot(await read());
  const changes = watchChanges(database, {
    [keysTopic]: () => keyring.refresh(),
    [catalogTopic]: async () => {
      const snapshot = await read();
      current.replace(snapshot);
      channelClients.keepOnly(snapshot);
    },
  });
  return { catalog: current.get, changes };
}

/** Starts the periodic background work; returns the functions that stop it. */
async function startUpkeep(
  database: Database,
  { limits }: Pick<GatewayParts, 'limits'>,
  memories: Parameters<typeof expireHourly>[0],
  notifications: readonly Notifications[],
): Promise<readonly Closing['close'][]> {
  const windows = { expire: () => forgetWindows(database, systemClock.now()) };
  const signIns = { expire: () => expireSignIns(database, systemClock) };
  const kept = [
    expireHourly([...memories, windows, signIns]),
    await keepPartitions(database, systemClock),
    keepRolledUp(database, systemClock),
    keepPricesInForce(database, systemClock),
    keepRequestLogBounded(database, systemClock),
    keepLedgerChecked(database, systemClock, proofs, limits.utcOffsetMinutes),
  ];
  for (const each of notifications) each.start();
  return [...kept.map(({ stop }) => stop), ...notifications.map((each) => () => each.close())];
}

interface Counters extends MetricsCounters {
  readonly counts: ChannelCounts;
}

function openCounters({ metricsToken }: GatewayOptions): Counters {
  const requests = new RequestMetrics();
  return {
    metrics: new Metrics(metricsToken !== undefined),
    requests,
    counts: new ChannelCounts(systemClock, requests),
  };
}

interface Drainable {
  drain(waitMs: number): Promise<unknown>;
}

/**
 * Drains the server. Requests that take too long are broken off: their delivered part is settled,
 * and the vendor stops.
 */
async function drainServer(
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

const openMemories = (database: Database, sealer: Sealer) => ({
  memory: openResponseStore(database, systemClock),
  submissions: new IdempotentRequests(database, systemClock),
  signatures: openSignatureStore(database, systemClock, sealer),
});

function openFileStore(
  database: Database,
  blobs: Blobs,
  sealer: Sealer,
  { configuration, publicUrl }: GatewayOptions,
): Files {
  const limits = { ...fileLimits, ...configuration?.media?.kept };
  const addresses = new FileUrls(sealer.key('addresses of files'), publicUrl);
  return openFiles({
    database,
    blobs,
    clock: systemClock,
    addresses,
    copies: new VendorDownloads(limits, configuration?.media),
    limits,
  });
}

function openTasks(
  parts: GatewayParts,
  database: Database,
  sealer: Sealer,
  log: Pick<TaskParts, 'ended' | 'trouble'>,
  { configuration, taskLimits: limits }: GatewayOptions,
): Tasks {
  return new Tasks({
    ...parts,
    database,
    taskChannels: new TaskChannels(database, sealer, parts.channelClients, parts.catalog),
    taskLimits: { ...taskLimits, ...configuration?.video, ...limits },
    ...log,
  });
}

const openTillOf = (
  db: Database,
  log: Log,
  settings: Partial<TillSettings> = {},
): ReturnType<typeof openTill> =>
  openTill({
    db,
    clock: systemClock,
    random: systemRandom,
    settings,
    records: { table: 'usage', columns: recordColumns },
    log: ({ event, error, ...fields }) => log.error(`till: ${event}`, error, fields),
  });

interface OpenDatabase {
  readonly database: Database;
  readonly sole: ServingLock | undefined;
  readonly alone: boolean;
}

async function openDatabase(options: GatewayOptions, log: Log): Promise<OpenDatabase> {
  const { databaseUrl, dataFolder, acceptDatabase = false, sqliteThread, workers } = options;
  const folder =
    dataFolder === undefined ? undefined : await LedgerFolder.open(dataFolder, acceptDatabase);
  folder?.requireFile(databaseUrl);
  // Taken before anything is read or migrated: another server may use the file.
  const sole = workers === undefined ? acquireServingLock(databaseUrl) : undefined;
  const thread = sqliteThread === undefined ? {} : { thread: { entry: sqliteThread } };
  const database = await open(databaseUrl, { procedures: ledgerProcedures, ...thread });
  await undoOnFailure(folder?.requireSame(database), async () => {
    await database.close();
    sole?.release();
  });
  await migrate(database, migrations, {
    gaveWay: (error, pauseMs) =>
      log.error('the database is busy: the migration is tried again', error, { pauseMs }),
  });
  await folder?.keep(database);
  const alone = workers === undefined ? sole !== undefined : workers.alone;
  // Alone on a SQLite file: everything that a crashed server held is freed before the first
  // request.
  if (alone) await releaseAllProcesses(database);
  return { database, sole, alone };
}

/** Closes what is already open when the last step fails. */
async function undoOnFailure<T>(
  begun: Promise<T> | undefined,
  undo: () => Promise<void>,
): Promise<T | undefined> {
  try {
    return await begun;
  } catch (error) {
    await undo();
    throw error;
  }
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string')
    throw new Error('the server listens on no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
