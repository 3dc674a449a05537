import type { AddressInfo } from 'node:net';
import about from '../package.json' with { type: 'json' };
import { type LiveKeyring, openKeyring } from './accounts/keyring.ts';
import { keysTopic } from './accounts/keys.ts';
import { type DoorLog, openDoor } from './api/door.ts';
import { endpointsOf } from './api/endpoints.ts';
import { FileDesk } from './api/files.ts';
import { openDocuments } from './api/openapi/routes.ts';
import { openPages } from './api/pages.ts';
import { unreadableAt } from './api/unreadable.ts';
import { systemClock } from './base/clock.ts';
import { systemRandom } from './base/random.ts';
import { systemTimers } from './base/timers.ts';
import { buildSnapshot, type Serves } from './catalog/build-snapshot.ts';
import { defaultUsdRatePpm } from './catalog/bundled.ts';
import type { Configuration } from './catalog/configuration.ts';
import { type ListFees, listFeesAt } from './catalog/list-fees.ts';
import { keepPricesInForce } from './catalog/prices.ts';
import { load, record } from './catalog/recording.ts';
import type { Snapshot } from './catalog/snapshot.ts';
import { catalogTopic } from './catalog/topic.ts';
import { openAssets } from './console/assets.ts';
import { speaksOf } from './gateway/kinds.ts';
import { Lanes } from './gateway/lanes.ts';
import { type GatewayLimits, gatewayLimits, type Parts } from './gateway/parts.ts';
import { Counts } from './gateway/reports/counts.ts';
import { Reporter } from './gateway/reports/reporter.ts';
import { StreamWatch } from './gateway/stream-watch.ts';
import { Submissions } from './gateway/submissions.ts';
import { type TaskLimits, taskLimits } from './gateway/tasks/limits.ts';
import { Pins } from './gateway/tasks/pins.ts';
import type { TaskParts } from './gateway/tasks/parts.ts';
import { Tasks } from './gateway/tasks/tasks.ts';
import { clientAddress } from './http/client-address.ts';
import { postControl } from './http/control.ts';
import { type ConsoleOptions, consoleOn } from './open-console.ts';
import { type LimitOptions, limitsOn } from './open-limits.ts';
import { type Counted, measure } from './open-metrics.ts';
import { pageRowsOn } from './open-page-rows.ts';
import { type PaymentOptions, paymentsOn } from './open-payments.ts';
import { checkHeads, openServer, serverLimits } from './http/server.ts';
import { Spools } from './http/spool.ts';
import { releaseAllProcesses } from './ledger/ledger.ts';
import { ledgerProcedures } from './ledger/procedures.ts';
import type { TillSettings } from './ledger/settings.ts';
import { type LiveTill, openTill } from './ledger/till.ts';
import { forgetWindows } from './ledger/windows.ts';
import { Addresses } from './media/addresses.ts';
import { Copies } from './media/copies.ts';
import { Downloads } from './media/downloads.ts';
import type { Files } from './media/files.ts';
import { fileLimits, mediaLimits } from './media/limits.ts';
import { openFiles } from './media/stored-files.ts';
import { migrations } from './migrations.ts';
import { vendors } from './providers/index.ts';
import { dollarFees } from './providers/list-fees.ts';
import { expireHourly } from './recall/expiry.ts';
import { openResponseMemory } from './recall/responses.ts';
import { openSignatureMemory } from './recall/signatures.ts';
import { Health } from './routing/health.ts';
import { HedgeBudget } from './routing/hedge-budget.ts';
import { expireSignIns } from './signin/expiry.ts';
import type { Blobs } from './storage/blobs.ts';
import { Notices } from './notices/notices.ts';
import type { NoticeSettings } from './notices/settings.ts';
import { watchChanges } from './storage/changes.ts';
import type { SharedLimiter } from './limits/contract.ts';
import type { Database } from './storage/database.ts';
import { LedgerFolder } from './storage/ledger-id.ts';
import { migrate } from './storage/migrate.ts';
import { open } from './storage/open.ts';
import { type BlobPlace, openBlobs } from './storage/open-blobs.ts';
import { holdSole, type Sole } from './storage/sole.ts';
import { openSealer, type Sealer } from './storage/seal.ts';
import { accessText } from './telemetry/access.ts';
import { type Log, openLog } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { Requests } from './telemetry/requests.ts';
import type { Traces } from './telemetry/traces.ts';
import { keepHours } from './usage/keep-hours.ts';
import { keepMonths } from './usage/months.ts';
import { recordColumns } from './usage/record.ts';

/**
 * What can be sold: a vendor that speaks chat sells chat models, one that makes vectors sells
 * models that do.
 */
export const serves: Serves = (vendor, kind) => speaksOf(kind, vendors.get(vendor)?.speaks ?? {});

/** The vendors' list fees of the tools that they run, in yuan. */
export const listFees = (usdRatePpm = defaultUsdRatePpm): ListFees =>
  listFeesAt(dollarFees, usdRatePpm);

export interface GatewayOptions extends ConsoleOptions, PaymentOptions, LimitOptions {
  readonly databaseUrl: string;
  /**
   * The data folder, whose `ledger.id` names its database; undefined: the database is not checked.
   */
  readonly dataFolder?: string | undefined;
  /** The data folder belongs to this database from now on, whichever it belonged to. */
  readonly acceptDatabase?: boolean | undefined;
  readonly masterKey: Buffer;
  /** Where generated files are kept. */
  readonly media: BlobPlace;
  /** Recorded before anything is served; undefined: what the database holds is sold. */
  readonly configuration: Configuration | undefined;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /**
   * Where SQLite's thread begins; undefined keeps SQLite in this thread, as commands and tests do.
   */
  readonly sqliteThread: URL | undefined;
  /** Where the built console lies; undefined, or nothing there: there is none. */
  readonly consoleFolder?: string | undefined;
  readonly logLevel: string;
  /** Bearer token of `/metrics`; undefined: there is no such page. */
  readonly metricsToken: string | undefined;
  /** Where requests are traced; undefined: nowhere. */
  readonly traces?: Traces | undefined;
  readonly limits?: Partial<GatewayLimits>;
  readonly taskLimits?: Partial<TaskLimits>;
  readonly till?: Partial<TillSettings>;
  /** Who is told what; undefined: nobody anything. */
  readonly notices?: NoticeSettings | undefined;
  readonly crew?: Crew | undefined;
}

/**
 * One of several processes that serve on one address; whoever started them holds the database for
 * all.
 */
export interface Crew {
  /** The first of them records the configuration. */
  readonly first: boolean;
  /** Nobody else is at work on the database: what a crashed gateway held is free again. */
  readonly alone: boolean;
  readonly limiter: SharedLimiter;
  /** From the metrics of this process to those of all. */
  pageOf(own: () => Promise<string>): () => Promise<string>;
}

export interface Gateway {
  readonly url: string;
  readonly parts: Parts;
  readonly database: Database;
  /** What the console answers, and by which providers one signs in to it. */
  readonly console: Pick<Awaited<ReturnType<typeof consoleOn>>, 'rows' | 'signInMethods'>;
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

/** Wires the rooms in the order of the floors, and listens. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const log = openLog(options.logLevel, systemClock, options.crew !== undefined);
  const { database, sole, alone } = await openDatabase(options, log);
  const sealer = openSealer(options.masterKey);
  const recorded =
    options.crew?.first !== false &&
    options.configuration &&
    (await record(database, options.configuration, sealer, systemClock));
  const counters = countersOn(options);
  const ground: Ground = { log, database, sealer, counters };
  const { parts, memory, submissions, changes, limits, blobs } = await roomsOn(ground, options);
  const { till, files, signatures, keyring, lanes } = parts;
  const tasks = tasksOn(parts, database, sealer, taskEnded(log, counters), options);
  if (alone) await Promise.all([submissions.release(), tasks.release()]);
  const upkeep = await upkeepOn(
    database,
    [memory, submissions, signatures, files, tasks],
    noticesOn(database, log, options),
  );
  const reporter = new Reporter({ ...parts, database, counts: counters.counts });
  const rooms = { parts, memory, submissions, tasks };
  const { server, doors, breakOff, ready, payments, console } = await doorsOn(
    ground,
    rooms,
    options,
  );
  measure(counters, {
    ...parts,
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
    reporter,
    ...loops,
    keyring,
    lanes,
    limits,
    blobs,
    database,
  ];
  const close = closer(() => emptied(server, doors, breakOff), closing, sole, log);
  await orElse(server.listen({ host: options.host, port: options.port }), close);
  for (const room of [tasks, reporter, payments]) await room.start();
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

/** What every room stands on. */
interface Ground {
  readonly log: Log;
  readonly database: Database;
  readonly sealer: Sealer;
  readonly counters: Counters;
}

/** The rooms that requests pass through. */
async function roomsOn({ log, database, sealer, counters }: Ground, options: GatewayOptions) {
  const lanes = new Lanes(vendors, { now: () => systemClock.now(), post: postControl });
  const keyring = openKeyring(database, systemClock);
  const blobs = openBlobs(options.media, systemClock);
  const files = filesOn(database, blobs, sealer, options);
  const memories = memoriesOn(database, sealer);
  const till = await tillOn(database, log, options.till);
  const { catalog, changes } = await catalogOn(
    database,
    sealer,
    keyring,
    lanes,
    listFees(options.configuration?.usdRatePpm),
  );
  const limits = await limitsOn({ ...options, limiter: options.crew?.limiter }, log);
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
    lanes,
    downloads: new Downloads({ ...mediaLimits, ...options.configuration?.media }),
    files,
    spools: new Spools(),
    signatures: memories.signatures,
    catalog,
    ...observed(log, counters, options.traces),
  } satisfies Parts;
  return { parts, ...memories, changes, limits, blobs };
}

interface Rooms {
  readonly parts: Parts & { readonly till: LiveTill };
  readonly memory: ReturnType<typeof openResponseMemory>;
  readonly submissions: Submissions;
  readonly tasks: Tasks;
}

/** The server, and everything that answers on it. */
async function doorsOn(
  { log, database, sealer, counters }: Ground,
  { parts, memory, submissions, tasks }: Rooms,
  options: GatewayOptions,
) {
  const told = doorLog(log, counters.metrics, options.traces);
  const desk = new FileDesk(parts.files, systemClock, told.bug);
  const unreadable = unreadableAt(systemClock);
  const server = openServer(serverLimits, unreadable);
  const { defaultModels, usdRatePpm } = options.configuration ?? {};
  const endpoints = endpointsOf(parts, { memory, submissions, tasks, desk, defaultModels });
  const door = await openDoor(
    server,
    parts,
    endpoints,
    told,
    serverLimits.jsonBodyBytesMax,
    clientAddress(options.trustedProxies),
  );
  desk.openOn(server);
  const payments = paymentsOn(server, { database, log }, options, () =>
    urlOf(server.server.address()),
  );
  const pagesOf = pageRowsOn({
    database,
    sealer,
    parts,
    endpoints,
    usdRatePpm,
    payments: payments.payments,
    email: options.notices?.email !== undefined,
  });
  const consoleDoor = await consoleOn(server, { database, log, pages: pagesOf }, options);
  openDocuments(server, endpoints, { version: about.version, publicUrl: options.publicUrl });
  const pages = openAssets(server, options.consoleFolder, options.publicUrl);
  checkHeads(server.server, unreadable);
  const ready = () => door.open && parts.till.admitting;
  openPages(server, {
    ready,
    metrics: pageFor(counters.metrics, options.crew),
    metricsToken: options.metricsToken,
    unreadable,
    otherwise: pages.page,
  });
  const doors: readonly Door[] = [door, desk, consoleDoor];
  return { server, doors, breakOff: () => door.breakOff(), ready, payments, console: consoleDoor };
}

/** Nobody is inside any more, then the rooms close in their order. */
const closer =
  (empty: () => Promise<void>, rooms: readonly Closing[], sole: Sole | undefined, log: Log) =>
  async (): Promise<void> => {
    await empty();
    for (const room of rooms) await room.close();
    sole?.release();
    log.flush();
  };

/** One page for all that serve on the address, whichever of them is asked. */
function pageFor(metrics: Metrics, crew: Crew | undefined): () => ReturnType<Metrics['page']> {
  const all = crew?.pageOf(async () => (await metrics.page()).text);
  return all === undefined
    ? () => metrics.page()
    : async () => ({ type: metrics.type, text: await all() });
}

/** None where nobody is to be told anything. */
function noticesOn(
  database: Database,
  log: Log,
  { notices: settings, publicUrl: home }: GatewayOptions,
): readonly Notices[] {
  if (settings === undefined) return [];
  const said = (id: string, way: string, why: string | undefined): void =>
    log.line('notice', { id, way, ...(why !== undefined && { why }) });
  return [
    new Notices({
      database,
      clock: systemClock,
      settings,
      home,
      said,
      trouble: (error) => log.error('notices', error, {}),
    }),
  ];
}

/** What is sold, as it is in force, and what keeps it and the keys so. */
async function catalogOn(
  database: Database,
  sealer: Sealer,
  keyring: LiveKeyring,
  lanes: Lanes,
  fees: ListFees,
) {
  let snapshot = buildSnapshot(await load(database, sealer), serves, fees);
  const changes = watchChanges(database, {
    [keysTopic]: () => keyring.refresh(),
    [catalogTopic]: async () => {
      snapshot = buildSnapshot(await load(database, sealer), serves, fees);
      lanes.keepOnly(snapshot);
    },
  });
  return { catalog: (): Snapshot => snapshot, changes };
}

/** What happens by itself from time to time, each as what ends it. */
async function upkeepOn(
  database: Database,
  memories: Parameters<typeof expireHourly>[0],
  notices: readonly Notices[],
): Promise<readonly Closing['close'][]> {
  const windows = { expire: () => forgetWindows(database, systemClock.now()) };
  const signIns = { expire: () => expireSignIns(database, systemClock) };
  const kept = [
    expireHourly([...memories, windows, signIns]),
    await keepMonths(database, systemClock),
    keepHours(database, systemClock),
    keepPricesInForce(database, systemClock),
  ];
  for (const told of notices) told.start();
  return [...kept.map(({ stop }) => stop), ...notices.map((told) => () => told.close())];
}

interface Counters extends Counted {
  readonly counts: Counts;
}

function countersOn({ metricsToken }: GatewayOptions): Counters {
  const requests = new Requests();
  return {
    metrics: new Metrics(metricsToken !== undefined),
    requests,
    counts: new Counts(systemClock, requests),
  };
}

/** What is told of every request and every attempt. */
const observed = (
  log: Log,
  { metrics, requests, counts }: Counters,
  traces?: Traces,
): Pick<Parts, 'access' | 'failed' | 'hedged' | 'overran' | 'traces'> => ({
  traces,
  access: (line) => {
    log.text('request', accessText(line));
    requests.finished(line);
    traces?.finished(line);
  },
  failed: (line) => {
    log.warn('attempt failed', line);
    counts.failed(line);
    metrics.failed(line.channel, line.fault);
  },
  hedged: (line) => {
    log.line('hedged', line);
    metrics.hedged(line.model, line.won, line.brokenOff, line.inputTokens);
  },
  overran: ({ excess, ...line }) => {
    log.line('overrun', { ...line, excess: excess.toString() });
    counts.overran(line.channel);
    metrics.overran(line.channel, excess);
  },
});

interface Door {
  drain(waitMs: number): Promise<unknown>;
}

/** Whoever takes too long is broken off: what was delivered is settled, and the vendor stops. */
async function emptied(
  server: ReturnType<typeof openServer>,
  doors: readonly Door[],
  breakOff: () => void,
): Promise<void> {
  await Promise.all(doors.map((door) => door.drain(drainMs)));
  breakOff();
  server.server.closeAllConnections();
  await server.close();
  await doors[0]?.drain(drainMs);
}

const memoriesOn = (database: Database, sealer: Sealer) => ({
  memory: openResponseMemory(database, systemClock),
  submissions: new Submissions(database, systemClock),
  signatures: openSignatureMemory(database, systemClock, sealer),
});

function filesOn(
  database: Database,
  blobs: Blobs,
  sealer: Sealer,
  { configuration, publicUrl }: GatewayOptions,
): Files {
  const limits = { ...fileLimits, ...configuration?.media?.kept };
  const addresses = new Addresses(sealer.key('addresses of files'), publicUrl);
  return openFiles({
    database,
    blobs,
    clock: systemClock,
    addresses,
    copies: new Copies(limits, configuration?.media),
    limits,
  });
}

/** What is told of work that outlived its request. */
const taskEnded = (
  log: Log,
  { metrics, requests }: Counters,
): Pick<TaskParts, 'ended' | 'trouble'> => ({
  ended(line) {
    log.line('task', line);
    metrics.ended(line.model, line.outcome);
    requests.charged(line.model, line.costNano);
  },
  trouble: (task, error) => log.error('task', error, { id: task?.id }),
});

function tasksOn(
  parts: Parts,
  database: Database,
  sealer: Sealer,
  told: Pick<TaskParts, 'ended' | 'trouble'>,
  { configuration, taskLimits: limits }: GatewayOptions,
): Tasks {
  return new Tasks({
    ...parts,
    database,
    pins: new Pins(database, sealer, parts.lanes, parts.catalog),
    taskLimits: { ...taskLimits, ...configuration?.video, ...limits },
    ...told,
  });
}

const tillOn = (
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
  readonly sole: Sole | undefined;
  readonly alone: boolean;
}

async function openDatabase(options: GatewayOptions, log: Log): Promise<OpenDatabase> {
  const { databaseUrl, dataFolder, acceptDatabase = false, sqliteThread, crew } = options;
  const folder =
    dataFolder === undefined ? undefined : await LedgerFolder.open(dataFolder, acceptDatabase);
  folder?.requireFile(databaseUrl);
  // Before anything is read or migrated: another server may be at work on the file.
  const sole = crew === undefined ? holdSole(databaseUrl) : undefined;
  const thread = sqliteThread === undefined ? {} : { thread: { entry: sqliteThread } };
  const database = await open(databaseUrl, { procedures: ledgerProcedures, ...thread });
  await orElse(folder?.requireSame(database), async () => {
    await database.close();
    sole?.release();
  });
  await migrate(database, migrations, {
    gaveWay: (error, pauseMs) =>
      log.error('the migration gave way to others at work, and comes again', error, { pauseMs }),
  });
  await folder?.keep(database);
  const alone = crew === undefined ? sole !== undefined : crew.alone;
  // Alone on a SQLite file: whatever a crashed server held is back before the first request.
  if (alone) await releaseAllProcesses(database);
  return { database, sole, alone };
}

/** What was opened on the way is closed again when the last step fails. */
async function orElse<T>(
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

function doorLog(log: Log, metrics: Metrics, traces: Traces | undefined): DoorLog {
  return {
    refused(id, status, refusal, method, path) {
      log.line('refused', { id, status, refusal, method, path });
      metrics.refused(refusal);
      traces?.refused(id, status, refusal);
    },
    bug: (id, error) => log.error('bug', error, { id }),
  };
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string')
    throw new Error('the server listens on no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
