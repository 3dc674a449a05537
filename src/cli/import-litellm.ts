import { existsSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { Env } from '../base/env.ts';
import { systemClock } from '../base/clock.ts';
import { loadBundled } from '../catalog/bundled.ts';
import { utcDate } from '../catalog/configuration.ts';
import { ppmPlaces } from '../catalog/decimal.ts';
import { describeProblems } from '../catalog/problem.ts';
import { readYaml } from '../catalog/yaml-source.ts';
import { ofMillionths } from '../base/fraction.ts';
import { decimalText } from '../base/money.ts';
import { type ConvertedConfig, convertLitellm } from '../imports/litellm.ts';
import { litellmList } from '../imports/litellm-prices.ts';
import { vendors } from '../providers/index.ts';
import { Failure, print, type SharedOptions, countPhrase, readText } from './command-io.ts';
import { readConfigurationText } from './serve.ts';
import { usdRateOf } from './usd-rate.ts';

interface Options extends Pick<SharedOptions, 'json'> {
  readonly prices?: string;
  readonly rate?: string;
  readonly out?: string;
}

/**
 * Writes a configuration file that sells the models of LiteLLM's file. Goes to standard output, or
 * into a file that must not exist yet.
 */
export async function importLitellm(file: string, options: Options, env: Env): Promise<void> {
  const source = readYaml(readText(file));
  if (source.problems.length > 0) throw new Failure(describeProblems(file, source.problems));
  const { ratePpm } = usdRateOf(options.rate, env);
  const bundled = await loadBundled({ usdRatePpm: ratePpm, today: utcDate(systemClock.now()) });
  const list = options.prices === undefined ? undefined : listIn(options.prices);
  const converted = convertLitellm(source.value, {
    bundled,
    vendors: [...vendors.values()],
    list,
    rate: ofMillionths(ratePpm),
  });
  if (converted.models.length + converted.channels.length + converted.leftOut.length === 0)
    throw new Failure(`${file} is not a LiteLLM configuration: it has no model_list`);
  const text = await configurationText(converted, ratePpm);
  if (options.out !== undefined) writeNew(options.out, text);
  const { leftOut, notes, models, channels } = converted;
  const lines = [...leftOut.map(({ what, why }) => `left out: ${what}: ${why}`), ...notes];
  if (options.json === true)
    print(
      options,
      {
        configuration: text,
        models: models.length,
        channels: channels.length,
        left_out: leftOut,
        notes,
      },
      [],
    );
  else {
    for (const line of lines) console.error(`tollgate: ${line}`);
    print(options, undefined, [
      options.out === undefined
        ? text.trimEnd()
        : `${options.out}: ${countPhrase(channels.length, 'channel')}, ${countPhrase(models.length, 'model')} of its own`,
    ]);
  }
}

/**
 * Numbers are read by plain JSON: a price list has hundreds of them, and none needs more digits.
 */
function listIn(file: string): ReturnType<typeof litellmList> {
  let value: unknown;
  try {
    value = JSON.parse(readText(file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Failure(`${file} cannot be read: ${error.message}`);
  }
  const list = litellmList(value);
  if (list === undefined) throw new Failure(`${file} is not a LiteLLM price list`);
  return list;
}

/** A variable's value that is right as a key and as an address. */
const anyValue = 'https://set';

/**
 * Reads the result once more as the gateway will; the variables that it names need not be set yet.
 */
async function configurationText(
  { models, channels }: ConvertedConfig,
  ratePpm: bigint,
): Promise<string> {
  const value = asNumbers({
    settings: { usd_rate: decimalText(ratePpm, ppmPlaces) },
    groups: [{ name: 'default', price_multiplier: '1' }],
    ...(models.length > 0 && { models }),
    channels,
  });
  const text = stringify(value, { lineWidth: 0 });
  const names = [...text.matchAll(/(?<!\$)\$\{([^}\n]*)\}/g)].map(([, name = '']) => name);
  const read = await readConfigurationText(
    text,
    Object.fromEntries(names.map((name) => [name, anyValue])),
  );
  if (!read.ok)
    throw new Failure(
      `the resulting configuration is not valid:\n${describeProblems('configuration', read.problems)}`,
    );
  return text;
}

/** Writes decimals that a number holds exactly as numbers, which read better. */
function asNumbers(value: unknown): unknown {
  if (typeof value === 'string')
    return /^\d{1,15}(?:\.\d{1,15})?$/.test(value) && decimalOf(Number(value)) === value
      ? Number(value)
      : value;
  if (Array.isArray(value)) return value.map(asNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) =>
      one === undefined ? [] : [[name, textMembers.has(name) ? one : asNumbers(one)]],
    ),
  );
}

const textMembers = new Set([
  'id',
  'upstream',
  'name',
  'vendor',
  'api_key',
  'base_url',
  'owned_by',
]);

const decimalOf = (value: number): string => (String(value).includes('e') ? '' : String(value));

function writeNew(file: string, text: string): void {
  if (existsSync(file)) throw new Failure(`${file} already exists`);
  // It may contain keys from the source file.
  writeFileSync(file, text, { mode: 0o600 });
}
