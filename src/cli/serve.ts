import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../base/clock.ts';
import { offsetOf } from '../base/period.ts';
import type { Configuration, ConfigurationResult } from '../catalog/configuration.ts';
import { environmentConfiguration } from '../catalog/environment.ts';
import { describeProblems } from '../catalog/problem.ts';
import { isNetwork } from '../http/client-address.ts';
import { type Gateway, type GatewayOptions, openGateway, serves } from '../main.ts';
import { type NoticeSettings, noticeSettings } from '../notices/settings.ts';
import { type PaymentSettings, paymentSettings, wrongPayments } from '../payments/settings.ts';
import { vendors } from '../providers/index.ts';
import { linkAddress, operatorLink } from '../signin/operator-link.ts';
import { type SigninSettings, signinSettings } from '../signin/settings.ts';
import { isTyped, loadMasterKey, makeOneWith } from '../storage/master-key.ts';
import { type BlobPlace, blobPlace } from '../storage/open-blobs.ts';
import { type Env, makeInstallation } from './installation.ts';
import { Failure } from './output.ts';
import { crewOf, type Ready } from './workers/crew.ts';
import { tracesOf } from './tracing.ts';

export interface ServeOptions {
  readonly config?: string;
  readonly port?: number;
  readonly host: string;
  readonly data?: string;
  readonly json?: true;
  /** Processes that serve. */
  readonly workers?: number;
}

export const defaultPort = 8_080;

/** SQLite's thread, beside this file in dist/. */
export const sqliteThread = new URL('./sqlite-thread.js', import.meta.url);

/** The built console: beside this file in dist/, or there when the sources are run. */
const consoleFolders = ['./console/', '../../dist/console/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * The heap is cleaned when it has grown by so much. By itself V8 lets one of this size grow to two or three times what is in use: with 5,000
 * open streams that was 327 MB of memory instead of 256, for 1 % of a small request's time.
 */
const heapGrowthPercent = 30;

export async function serve(options: ServeOptions, env: Env): Promise<void> {
  const crew = crewOf(env);
  const { workers = 1 } = options;
  if (workers > 1 && crew === undefined) {
    const { supervise } = await import('./workers/supervisor.ts');
    return tell(options, await supervise(workers, options.data, env));
  }
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  const configuration = await configurationOf(options.config, env);
  if (crew?.first !== false) for (const warning of configuration.warnings) console.error(`tollgate: ${warning}`);
  if (configuration.channels.length === 0 && crew?.first !== false) {
    console.error(
      'tollgate: no vendor is configured. Set a key such as OPENAI_API_KEY, or name a file with --config; `demo` works without any.',
    );
  }
  // Without a file and without keys, what was recorded before goes on being sold.
  const named = options.config !== undefined || configuration.channels.length > 0;
  const wanted = await gatewayOptions(options, named ? configuration : undefined, env);
  if (isTyped(wanted.masterKey) && crew?.first !== false)
    console.error(`tollgate: the master key is a pattern that can be guessed. Make one with: ${makeOneWith}`);
  const gateway = await openGateway({ ...wanted, crew });
  stopOnSignal(gateway);
  for (const id of gateway.keptPrices) console.error(`tollgate: ${id} keeps its imported price, which the configuration does not name`);
  const link = crew?.first === false ? undefined : await signInLink(gateway, env);
  if (crew === undefined) tell(options, { url: gateway.url, link });
  else crew.ready({ url: gateway.url, link });
}

function tell({ json }: ServeOptions, { url, link }: Ready): void {
  if (json === true) console.log(JSON.stringify({ url, link: link ?? null }));
  else console.log([`tollgate listens on ${url}`, ...(link === undefined ? [] : [`console, for the operator, once: ${link}`])].join('\n'));
}

/** The operator's way in where there is no other: an address at the console of this gateway that works once. */
export async function signInLink(gateway: Gateway, env: Env): Promise<string | undefined> {
  const secret = await operatorLink(gateway.database, gateway.console.signInMethods, systemClock.now());
  return secret && linkAddress(publicUrl(env) ?? gateway.url, secret);
}

/** What is configured, or the demo when nothing is. */
export async function start(options: ServeOptions, env: Env): Promise<void> {
  if (options.config === undefined && (await configurationOf(undefined, env)).channels.length === 0)
    await (await import('./demo.ts')).demo(options, env);
  else await serve(options, env);
}

export async function gatewayOptions(options: ServeOptions, configuration: Configuration | undefined, env: Env): Promise<GatewayOptions> {
  const { dataFolder, databaseUrl } = makeInstallation(options.data, env);
  return {
    databaseUrl,
    media: mediaPlace(dataFolder, env),
    redisUrl: redisUrl(env),
    publicUrl: publicUrl(env),
    payments: paymentsOf(configuration, env),
    signin: signinOf(configuration, env),
    notices: noticesOf(env),
    trustedProxies: proxiesOf(env),
    masterKey: await loadMasterKey(dataFolder, env),
    configuration,
    host: options.host,
    port: options.port ?? defaultPort,
    sqliteThread: existsSync(fileURLToPath(sqliteThread)) ? sqliteThread : undefined,
    consoleFolder: consoleFolders.find((folder) => existsSync(folder)),
    logLevel: logLevel(env),
    metricsToken: env['TOLLGATE_METRICS_TOKEN'] || undefined,
    limits: { utcOffsetMinutes: utcOffset(env) },
    traces: await tracesOf(env),
  };
}

function paymentsOf(configuration: Configuration | undefined, env: Env): PaymentSettings {
  const { expiry_minutes: minutes, ...written } = configuration?.payments ?? {};
  const settings = paymentSettings({ ...written, expiryMs: minutes === undefined ? undefined : minutes * 60_000 }, env);
  const wrong = wrongPayments(settings);
  if (wrong !== undefined) throw new Failure(wrong);
  return settings;
}

function mediaPlace(dataFolder: string, env: Env): BlobPlace {
  const place = blobPlace(env['MEDIA_URL'] || join(dataFolder, 'media'), env);
  if (place instanceof Error) throw new Failure(`MEDIA_URL ${place.message}`);
  return place;
}

function redisUrl(env: Env): string | undefined {
  const text = env['REDIS_URL'] || undefined;
  if (text === undefined || (/^rediss?:\/\//.test(text) && URL.canParse(text))) return text;
  throw new Failure('REDIS_URL is the address of a Valkey or Redis server such as redis://:password@host:6379/0');
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

function logLevel(env: Env): string {
  const level = env['TOLLGATE_LOG'] || 'info';
  if (logLevels.includes(level)) return level;
  throw new Failure(`TOLLGATE_LOG is one of ${logLevels.join(', ')}, not '${level}'`);
}

export function publicUrl(env: Env): string | undefined {
  const text = env['PUBLIC_URL'] || undefined;
  if (text === undefined || /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/.test(text)) return text?.replace(/\/+$/, '');
  throw new Failure(`PUBLIC_URL is how clients reach the gateway, such as https://ai.example.com, not '${text}'`);
}

function signinOf(configuration: Configuration | undefined, env: Env): SigninSettings {
  const settings = signinSettings(configuration?.signin, env);
  if (typeof settings === 'string') throw new Failure(settings);
  return settings;
}

function noticesOf(env: Env): NoticeSettings | undefined {
  const settings = noticeSettings(env);
  if (typeof settings === 'string') throw new Failure(settings);
  return settings;
}

function proxiesOf(env: Env): readonly string[] {
  const proxies = (env['TRUSTED_PROXIES'] || '')
    .split(',')
    .map((proxy) => proxy.trim())
    .filter(Boolean);
  const wrong = proxies.find((proxy) => !isNetwork(proxy));
  if (wrong !== undefined) throw new Failure(`TRUSTED_PROXIES are addresses and networks such as 10.0.0.0/8, not '${wrong}'`);
  return proxies;
}

function utcOffset(env: Env): number {
  const text = env['TOLLGATE_UTC_OFFSET'] || '+08:00';
  const minutes = offsetOf(text);
  if (minutes === undefined) throw new Failure(`TOLLGATE_UTC_OFFSET is where days begin, such as +08:00, not '${text}'`);
  return minutes;
}

async function configurationOf(file: string | undefined, env: Env): Promise<Configuration> {
  const context = { env, vendors: [...vendors.values()], serves, now: systemClock.now() };
  if (file === undefined) return orFail(await environmentConfiguration(context), 'the environment');
  return orFail(await readConfigurationFile(file, env), file);
}

export async function readConfigurationFile(file: string, env: Env): Promise<ConfigurationResult> {
  if (!existsSync(file)) throw new Failure(`there is no configuration file ${file}`);
  if (statSync(file).isDirectory()) throw new Failure(`${file} is a folder, and no configuration file`);
  const { readConfiguration } = await import('../catalog/config.ts');
  return readConfiguration(readFileSync(file, 'utf8'), { env, vendors: [...vendors.values()], serves, now: systemClock.now() });
}

export function orFail(result: ConfigurationResult, where: string): Configuration {
  if (result.ok) return result.configuration;
  throw new Failure(`${where} cannot be used:\n${describeProblems(where, result.problems)}`);
}

/** What is still open after a drain gets so long to close by itself. */
const lingerMs = 2_000;

/** A terminal and the package runner may both pass on one Ctrl-C: signals so close together are one. */
const sameWishMs = 500;

/**
 * The first signal drains, a second one ends at once, and is the system's own: `process.exit` would end the database's threads in the middle of a
 * call, which is a crash of the engine.
 */
export function stopOnSignal(gateway: Gateway, alsoClose: () => Promise<void> = async () => {}): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.off('SIGTERM', stop).off('SIGINT', stop), sameWishMs).unref();
    void gateway
      .close()
      .then(alsoClose)
      // The process ends when nothing is open any more: ending it under a closing database is a crash of the engine.
      .then(() => {
        // A supervisor's line is no reason to stay.
        process.channel?.unref();
        setTimeout(() => process.exit(0), lingerMs).unref();
      });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
