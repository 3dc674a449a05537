import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '../base/env.ts';
import about from '../../package.json' with { type: 'json' };
import type { GatewayOptions } from '../app/gateway.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/thrown.ts';
import { isSiteAddress } from '../catalog/channel-access.ts';
import type { Configuration } from '../catalog/configuration.ts';
import { isNetwork } from '../http/client-address.ts';
import { notificationSettings } from '../notifications/settings.ts';
import { type PaymentSettings, paymentSettings, wrongPayments } from '../payments/settings.ts';
import { signinSettings } from '../signin/settings.ts';
import { type BlobPlace, blobPlace } from '../storage/open-blobs.ts';
import { loadMasterKey, oldMasterKey } from '../storage/seal.ts';
import type { Traces } from '../telemetry/traces.ts';
import { Failure, type SharedOptions } from './command-io.ts';
import { makeInstallation, sqliteThread, utcOffset } from './installation.ts';

export interface ServeOptions extends SharedOptions {
  readonly config?: string;
  readonly port?: number;
  readonly host: string;
  /** Number of worker processes. */
  readonly workers?: number;
  readonly acceptDatabase?: true;
}

export const defaultPort = 8_080;

/** A part of the build: beside this file in dist/, or in dist/ when the sources run. */
const builtFolder = (name: string): string | undefined =>
  [`./${name}/`, `../../dist/${name}/`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder));

/** The gateway's options, from the command, the configuration and the environment. */
export async function gatewayOptions(
  options: ServeOptions,
  configuration: Configuration | undefined,
  env: Env,
): Promise<GatewayOptions> {
  const { dataFolder, databaseUrl } = makeInstallation(options.data, env);
  return {
    databaseUrl,
    dataFolder,
    acceptDatabase: options.acceptDatabase,
    media: mediaPlace(dataFolder, env),
    redisUrl: redisUrl(env),
    publicUrl: publicUrl(env),
    payments: paymentsOf(configuration, env),
    signin: settingsOrFail(signinSettings(configuration?.signin, env)),
    publicModels: configuration?.publicModels ?? (env['TOLLGATE_PUBLIC_MODELS'] || undefined),
    notifications: settingsOrFail(notificationSettings(env)),
    trustedProxies: proxiesOf(env),
    masterKey: await loadMasterKey(dataFolder, env),
    oldMasterKey: oldMasterKey(env),
    configuration,
    configurationFile: options.config && resolve(options.config),
    host: options.host,
    port: options.port ?? defaultPort,
    sqliteThread: sqliteThread(),
    consoleFolder: builtFolder('console'),
    docsFolder: builtFolder('docs'),
    logLevel: logLevel(env, process.stdout.isTTY),
    metricsToken: env['TOLLGATE_METRICS_TOKEN'] || undefined,
    limits: { utcOffsetMinutes: utcOffset(env) },
    traces: await tracesOf(env),
  };
}

function paymentsOf(configuration: Configuration | undefined, env: Env): PaymentSettings {
  const { expiry_minutes: minutes, ...written } = configuration?.payments ?? {};
  const settings = paymentSettings(
    { ...written, expiryMs: minutes === undefined ? undefined : minutes * 60_000 },
    env,
  );
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
  throw new Failure(
    'REDIS_URL is the URL of a Valkey or Redis server such as redis://:password@host:6379/0',
  );
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * On a terminal, lines about single requests hide what the command printed, so only failures are
 * logged there unless TOLLGATE_LOG asks for more.
 */
function logLevel(env: Env, onTerminal: boolean): string {
  const level = env['TOLLGATE_LOG'] || (onTerminal ? 'warn' : 'info');
  if (logLevels.includes(level)) return level;
  throw new Failure(`TOLLGATE_LOG is one of ${logLevels.join(', ')}, not '${level}'`);
}

export function publicUrl(env: Env): string | undefined {
  const text = env['PUBLIC_URL'] || undefined;
  const home = text?.replace(/\/+$/, '');
  if (home === undefined || (isSiteAddress(home) && !home.endsWith('/v1'))) return home;
  throw new Failure(
    `PUBLIC_URL is the URL at which clients reach the gateway, without /v1, such as https://ai.example.com, not '${text}'`,
  );
}

/** A module's settings; fails where it says in a sentence what is wrong with them. */
function settingsOrFail<T>(settings: T | string): T {
  if (typeof settings === 'string') throw new Failure(settings);
  return settings;
}

function proxiesOf(env: Env): readonly string[] {
  const proxies = (env['TRUSTED_PROXIES'] || '')
    .split(',')
    .map((proxy) => proxy.trim())
    .filter(Boolean);
  const wrong = proxies.find((proxy) => !isNetwork(proxy));
  if (wrong !== undefined)
    throw new Failure(
      `TRUSTED_PROXIES are addresses and networks such as 10.0.0.0/8, not '${wrong}'`,
    );
  return proxies;
}

/** The shortest time between two warnings that the trace collector does not answer. */
const everyMs = 60_000;

/**
 * Traces, when an endpoint for them is set. The SDK reads the other `OTEL_…` variables itself, and
 * is not loaded otherwise.
 */
async function tracesOf(env: Env): Promise<Traces | undefined> {
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const variable = names.find((name) => env[name]);
  const endpoint = variable === undefined ? undefined : env[variable];
  if (!endpoint || env['OTEL_SDK_DISABLED'] === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none')
    return undefined;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new Failure(`${variable} is an address such as http://127.0.0.1:4318, not '${endpoint}'`);
  const protocol =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ||
    env['OTEL_EXPORTER_OTLP_PROTOCOL'] ||
    'http/protobuf';
  if (protocol !== 'http/protobuf')
    throw new Failure(
      `traces are sent as http/protobuf; OTEL_EXPORTER_OTLP_PROTOCOL asks for '${protocol}'`,
    );
  const { openSpans } = await import('../telemetry/spans.ts');
  let reportedAt = Number.NEGATIVE_INFINITY;
  const trouble = (error: unknown): void => {
    const now = systemClock.monotonicMs();
    if (now - reportedAt < everyMs) return;
    reportedAt = now;
    console.error(`tollgate: traces cannot be sent to ${endpoint}: ${messageOf(error)}`);
  };
  return openSpans({ version: about.version, clock: systemClock, trouble });
}
