import type { Env } from '../base/env.ts';
import { type Gateway, openGateway, serves } from '../app/gateway.ts';
import { systemClock } from '../base/clock.ts';
import type {
  Configuration,
  ConfigurationContext,
  ConfigurationResult,
} from '../catalog/configuration.ts';
import { environmentConfiguration } from '../catalog/environment.ts';
import { describeProblems } from '../catalog/problem.ts';
import { vendors } from '../providers/index.ts';
import { linkAddress, operatorLink } from '../signin/enrol.ts';
import { signInMethods, type SigninSettings } from '../signin/settings.ts';
import { looksTyped, masterKeyCommand } from '../storage/seal.ts';
import { countPhrase, Failure, print, readText } from './command-io.ts';
import { defaultPort, gatewayOptions, publicUrl, type ServeOptions } from './gateway-options.ts';
import { noVendorText, priceLines, publicModelsLines, serveLines } from './serve-lines.ts';
import { paint } from './terminal.ts';
import { clusterWorker, type WorkerReady } from './workers/worker.ts';

export async function serve(options: ServeOptions, env: Env): Promise<void> {
  const worker = clusterWorker(env);
  const { workers = 1 } = options;
  if (workers > 1 && worker === undefined) {
    const { supervise } = await import('./workers/supervisor.ts');
    return printReady(options, await supervise(workers, options.data, env));
  }
  // Of several processes, the first one speaks for all.
  const isFirst = worker?.first !== false;
  const warn = (text: string): void => {
    if (isFirst) console.error(`tollgate: ${text}`);
  };
  const configuration = await configurationOf(options.config, env, options.port);
  for (const warning of configuration.warnings) warn(warning);
  // Without a file and without keys, the gateway goes on selling what was recorded before.
  const named = options.config !== undefined || configuration.channels.length > 0;
  const wanted = await gatewayOptions(options, named ? configuration : undefined, env);
  if (looksTyped(wanted.masterKey))
    warn(`the master key is easy to guess. Make a new one with: ${masterKeyCommand}`);
  // The first of several processes accepts the database. The others find it accepted.
  const acceptDatabase = wanted.acceptDatabase === true && isFirst;
  const gateway = await openGateway({ ...wanted, acceptDatabase, workers: worker });
  stopOnSignal(gateway);
  openPagesSoon(gateway);
  if (isFirst) warnOfDifferences(gateway, wanted.publicModels);
  if (wanted.oldMasterKey !== undefined)
    warn(
      `vendors' keys of ${countPhrase(gateway.resealed, 'channel')} are encrypted with the new master key now: remove TOLLGATE_OLD_MASTER_KEY`,
    );
  const { database, parts, url } = gateway;
  const catalog = parts.catalog();
  if (catalog.channels.size === 0) warn(noVendorText(options.config));
  const link = isFirst ? await signInLink(gateway, wanted.signin, env) : undefined;
  const lines = isFirst
    ? await serveLines({ database, url, catalog, data: options.data, env, link })
    : [];
  if (worker === undefined) printReady(options, { url, link, lines });
  else worker.ready({ url, link, lines });
}

/** Warns where prices or the public models are not what the configuration says. */
export function warnOfDifferences(
  { recorded, parts }: Gateway,
  publicModels: string | undefined,
): void {
  const { groups } = parts.catalog();
  for (const line of [...priceLines(recorded), ...publicModelsLines(publicModels, groups)])
    console.error(`tollgate: ${line}`);
}

function printReady(options: ServeOptions, { url, link, lines }: WorkerReady): void {
  print(options, { url, link: link ?? null }, [
    `tollgate listens on ${paint('bold', url)}`,
    ...lines,
  ]);
}

/**
 * The operator's way in while there is no other: an address at this gateway's console that works
 * once.
 */
export async function signInLink(
  gateway: Gateway,
  signin: SigninSettings | undefined,
  env: Env,
): Promise<string | undefined> {
  const secret = await operatorLink(gateway.database, signInMethods(signin), systemClock.now());
  return secret && linkAddress(publicUrl(env) ?? gateway.url, secret);
}

export async function configurationOf(
  file: string | undefined,
  env: Env,
  ownPort: number = defaultPort,
): Promise<Configuration> {
  if (file !== undefined) return orFail(await readConfigurationFile(file, env), file);
  const context = { ...configurationContext(env), ownPort };
  return orFail(await environmentConfiguration(context), 'the environment');
}

export const readConfigurationFile = async (file: string, env: Env): Promise<ConfigurationResult> =>
  readConfigurationText(readText(file), env);

/** Reads a configuration with the vendors of this build. */
export async function readConfigurationText(text: string, env: Env): Promise<ConfigurationResult> {
  const { readConfiguration } = await import('../catalog/config.ts');
  return readConfiguration(text, configurationContext(env));
}

const configurationContext = (env: Env): ConfigurationContext => ({
  env,
  vendors: [...vendors.values()],
  serves,
  now: systemClock.now(),
});

export function orFail(result: ConfigurationResult, where: string): Configuration {
  if (result.ok) return result.configuration;
  throw new Failure(`${where} cannot be used:\n${describeProblems(where, result.problems)}`);
}

/** The pages are opened this long after the API answers, unless a request for one comes before. */
const pagesAfterMs = 1_000;

/**
 * Opens the pages, probes among them, once the start is over: a probe of a busy process must not
 * wait until they are loaded.
 */
export function openPagesSoon({ pages }: Gateway): void {
  // The first request for a page tries again, and reports what is wrong.
  setTimeout(() => void pages.open().catch(() => undefined), pagesAfterMs).unref();
}

/** Connections still open after a drain get this long to close by themselves. */
const lingerMs = 2_000;

/**
 * A terminal and the package runner may both pass on one Ctrl-C: two signals this close count as
 * one.
 */
const repeatedSignalMs = 500;

/**
 * The first signal drains. A second one ends the process at once, by the system's own signal
 * handling: `process.exit` would end the database's threads in the middle of a call, which crashes
 * the engine.
 */
export function stopOnSignal(
  gateway: Gateway,
  alsoClose: () => Promise<void> = async () => {},
): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.off('SIGTERM', stop).off('SIGINT', stop), repeatedSignalMs).unref();
    void gateway
      .close()
      .then(alsoClose)
      // The process ends when nothing is open any more: ending it under a closing database crashes
      // the engine.
      .then(() => {
        // The supervisor's channel must not keep the process alive.
        process.channel?.unref();
        setTimeout(() => process.exit(0), lingerMs).unref();
      });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
