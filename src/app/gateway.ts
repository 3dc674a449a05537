import about from '../../package.json' with { type: 'json' };
import { type LiveKeyring, openKeyring, keysTopic } from '../accounts/keys.ts';
import { requestIdOf } from '../api/responses.ts';
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
import {
  loadCatalog,
  recordConfiguration,
  type RecordResult,
  resealChannels,
} from '../catalog/catalog-store.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { catalogTopic } from '../catalog/editing.ts';
import { servesKind } from '../gateway/models/offers.ts';
import { OpenChannels } from '../gateway/channels/open-channels.ts';
import { type GatewayLimits, gatewayLimits, type GatewayParts } from '../gateway/parts.ts';
import { ChannelCounts } from '../gateway/reports/counts.ts';
import { Reporter } from '../gateway/reports/reporter.ts';
import { PeriodicChecks } from '../gateway/periodic-checks.ts';
import { IdempotentRequests } from '../gateway/idempotency.ts';
import { UnattendedRequests } from '../gateway/unattended.ts';
import { type TaskLimits, taskLimits, type TaskParts } from '../gateway/tasks/parts.ts';
import { resealTaskChannels, TaskChannels } from '../gateway/tasks/task-channels.ts';
import { Tasks } from '../gateway/tasks/tasks.ts';
import { postControl } from '../http/control-call.ts';
import { observeBackgroundWork, observeRequests, observeTasks } from './observers.ts';
import { type DatabaseOptions, openDatabase, undoOnFailure } from './database.ts';
import { type LimitOptions, openLimits } from './limits.ts';
import { type MetricsCounters, registerMetrics } from './metrics.ts';
import { type Foundation, openServers, type Pages, type ServerOptions, urlOf } from './servers.ts';
import { openNotifications, startUpkeep } from './upkeep.ts';
import { listenAt } from '../http/server.ts';
import { SpoolPool } from '../http/spool.ts';
import type { TillSettings } from '../ledger/settings.ts';
import { openTill } from '../ledger/till.ts';
import { payBackTx } from '../ledger/transactions/account.ts';
import { FileUrls } from '../media/file-urls.ts';
import { VendorDownloads, Downloads } from '../media/downloads.ts';
import type { Files } from '../media/files.ts';
import { fileLimits, mediaLimits, uploadLimits } from '../media/limits.ts';
import { openFiles } from '../media/stored-files.ts';
import { Uploads } from '../media/uploads.ts';
import { vendors } from '../providers/index.ts';
import { toolListFees } from '../providers/tool-list-fees.ts';
import { ResponseStore } from '../memory/responses.ts';
import { openSignatureStore } from '../memory/signatures.ts';
import type { RequestLogLimits } from '../request-log/entry.ts';
import { RequestRecorder } from '../request-log/recorder.ts';
import { Health } from '../routing/candidates.ts';
import { HedgeBudget } from '../routing/hedge-budget.ts';
import type { Blobs } from '../storage/blobs.ts';
import { watchChanges } from '../storage/changes.ts';
import type { OnError } from '../storage/repeat.ts';
import type { SharedLimiter } from '../limits/limiter.ts';
import type { Database } from '../storage/database.ts';
import { type BlobPlace, openBlobs } from '../storage/open-blobs.ts';
import type { ServingLock } from '../storage/serving-lock.ts';
import { openResealer, openSealer, type Sealer } from '../storage/seal.ts';
import { RequestMetrics } from '../telemetry/request-metrics.ts';
import { type Log, openLog } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
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

export interface GatewayOptions extends DatabaseOptions, LimitOptions, ServerOptions {
  readonly masterKey: Buffer;
  /** The master key before this one: what it has sealed is sealed anew. */
  readonly oldMasterKey?: Buffer | undefined;
  /** Where generated files are kept. */
  readonly media: BlobPlace;
  /** Recorded before anything is served; undefined: the catalog in the database holds. */
  readonly configuration: Configuration | undefined;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly logLevel: string;
  /** Where requests are traced; undefined: nowhere. */
  readonly traces?: Traces | undefined;
  readonly limits?: Partial<GatewayLimits>;
  readonly taskLimits?: Partial<TaskLimits>;
  readonly till?: Partial<TillSettings>;
  readonly requestLog?: Partial<RequestLogLimits>;
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
  /** What is served beside the API. The first request for it opens it, too. */
  readonly pages: Pages;
  /** The result of recording the configuration; undefined where none was given. */
  readonly recorded: RecordResult | undefined;
  /** Channels whose secrets the master key before had sealed. */
  readonly resealed: number;
  /** Stops admission, finishes what runs, settles, returns every float. */
  close(): Promise<void>;
}

interface Closing {
  readonly close: () => void | Promise<void>;
}

/** Wires the modules, from the lower layers to the upper, and listens. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const log = openLog(options.logLevel, systemClock, options.workers !== undefined);
  const { database, sole, alone } = await openDatabase(options, log);
  const sealer = openSealer(options.masterKey);
  const recorded = await recordCatalog(database, sealer, options);
  const counters = openCounters(options);
  const onError = observeBackgroundWork(log);
  const recorder = new RequestRecorder(database, systemClock, onError, options.requestLog);
  const { traces } = options;
  const ground: Foundation = { log, onError, database, sealer, counters, recorder, traces };
  const opened = await openModules(ground, options);
  const { parts, responseStore, idempotentRequests, uploads, changes, limits, blobs } = opened;
  const { till, files, signatures, keyring, openChannels } = parts;
  const tasks = openTasks(parts, database, sealer, observeTasks(ground), options);
  if (alone) await Promise.all([idempotentRequests.release(), tasks.release()]);
  const memories = {
    responses: responseStore,
    'answers of Idempotency-Keys': idempotentRequests,
    signatures,
    uploads,
    files,
    tasks,
  };
  const notifications = openNotifications(database, log, options);
  const upkeep = await startUpkeep(database, parts, memories, notifications, onError);
  const reporter = new Reporter({ ...parts, database, counts: counters.counts, onError });
  const modules = { parts, responseStore, idempotentRequests, tasks, uploads };
  const { server, drain, ready, payments, pages } = openServers(ground, modules, options);
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
  const loops = [changes.stop, ...upkeep, () => traces?.close()].map((stop) => ({
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
    openChannels,
    limits,
    blobs,
    database,
  ];
  const close = closer(drain, closing, sole, log);
  // Payments write at their start: before there are requests, and while a signal ends the process.
  await undoOnFailure(payments.start(), close);
  await undoOnFailure(listenAt(server, options.host, options.port), close);
  tasks.start();
  reporter.start();
  return {
    url: urlOf(server.address()),
    parts,
    database,
    pages,
    ...recorded,
    close,
  };
}

/** Brings what is recorded in line with the options; the first of several processes does it. */
async function recordCatalog(
  database: Database,
  sealer: Sealer,
  { workers, oldMasterKey, configuration }: GatewayOptions,
): Promise<Pick<Gateway, 'recorded' | 'resealed'>> {
  if (workers?.first === false) return { recorded: undefined, resealed: 0 };
  const resealer = oldMasterKey && openResealer(sealer, oldMasterKey);
  const resealed = resealer
    ? (await resealChannels(database, resealer)) + (await resealTaskChannels(database, resealer))
    : 0;
  const recorded =
    configuration && (await recordConfiguration(database, configuration, sealer, systemClock));
  return { recorded, resealed };
}

/** The modules that requests pass through. */
async function openModules(ground: Foundation, options: GatewayOptions) {
  const { log, onError, database, sealer } = ground;
  const openChannels = new OpenChannels(vendors, {
    now: () => systemClock.now(),
    post: postControl,
  });
  const keyring = openKeyring(database, systemClock, onError);
  const blobs = await openBlobs(options.media, systemClock);
  const { files, uploads } = openFileStore(database, blobs, sealer, options);
  const memories = openMemories(ground);
  const till = await openTillOf(database, log, options.till);
  const { catalog, changes } = await openCatalog(
    database,
    sealer,
    keyring,
    openChannels,
    listFees(options.configuration?.usdRatePpm),
    onError,
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
    watch: new PeriodicChecks(),
    unattended: new UnattendedRequests(),
    openChannels,
    downloads: new Downloads({ ...mediaLimits, ...options.configuration?.media }),
    files,
    spools: new SpoolPool(),
    signatures: memories.signatures,
    catalog,
    ...observeRequests(ground),
  } satisfies GatewayParts;
  return { parts, ...memories, uploads, changes, limits, blobs };
}

/** The interval does nothing, so any length will do. */
const keepsProcessAliveMs = 60_000;

/** Waits until no request is left, then closes the modules in order. */
const closer =
  (
    empty: () => Promise<void>,
    closing: readonly Closing[],
    sole: ServingLock | undefined,
    log: Log,
  ) =>
  async (): Promise<void> => {
    // Nothing else may keep the process alive while the till waits for a database that is away.
    const interval = setInterval(() => {}, keepsProcessAliveMs);
    try {
      await empty();
      for (const each of closing) await each.close();
    } finally {
      clearInterval(interval);
    }
    sole?.release();
    log.flush();
  };

/** The catalog in force, and the watcher that keeps it and the keys up to date. */
async function openCatalog(
  database: Database,
  sealer: Sealer,
  keyring: LiveKeyring,
  openChannels: OpenChannels,
  fees: ListFees,
  onError: OnError,
) {
  const read = async (): Promise<Snapshot> =>
    buildSnapshot(await loadCatalog(database, sealer), serves, fees);
  const current = currentSnapshot(await read());
  const handlers = {
    [keysTopic]: () => keyring.refresh(),
    [catalogTopic]: async () => {
      const snapshot = await read();
      current.replace(snapshot);
      openChannels.keepOnly(snapshot);
    },
  };
  const changes = watchChanges(database, handlers, onError);
  return { catalog: current.get, changes };
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

const openMemories = ({ database, sealer, onError }: Foundation) => ({
  responseStore: new ResponseStore(database, systemClock, ({ id, at }) =>
    payBackTx({ id: requestIdOf(id), at }),
  ),
  idempotentRequests: new IdempotentRequests(database, systemClock, onError),
  signatures: openSignatureStore(database, systemClock, sealer, onError),
});

function openFileStore(
  database: Database,
  blobs: Blobs,
  sealer: Sealer,
  { configuration, publicUrl }: GatewayOptions,
): { readonly files: Files; readonly uploads: Uploads } {
  const limits = { ...fileLimits, ...configuration?.media?.kept };
  const addresses = new FileUrls(sealer.key('addresses of files'), publicUrl);
  const base = { database, clock: systemClock, addresses };
  const copies = new VendorDownloads(limits, configuration?.media);
  const files = openFiles({ ...base, blobs, copies, limits });
  const keptMs = Math.min(uploadLimits.keptMs, limits.keptMs);
  const fileBytesMax = Math.min(uploadLimits.fileBytesMax, limits.fileBytesMax);
  const uploads = new Uploads({
    ...base,
    sealer,
    files,
    limits: { ...uploadLimits, keptMs, fileBytesMax },
  });
  return { files, uploads };
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
    taskChannels: new TaskChannels(database, sealer, parts.openChannels, parts.catalog),
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
