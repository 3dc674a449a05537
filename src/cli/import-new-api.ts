import { randomBytes } from 'node:crypto';
import type { Env } from '../base/env.ts';
import { systemClock } from '../base/clock.ts';
import { decimalText, formatYuan } from '../base/money.ts';
import { toPlainText } from '../base/plain-text.ts';
import { loadBundled } from '../catalog/bundled.ts';
import { utcDate } from '../catalog/configuration.ts';
import { ppmPlaces, readDecimal } from '../catalog/decimal.ts';
import { type ForeignInstallation, readNewApi } from '../imports/new-api.ts';
import { ofMillionths } from '../base/fraction.ts';
import { changed, type ImportCount, type ImportSummary, importParts } from '../imports/report.ts';
import { openSource, ImportSourceError } from '../imports/source.ts';
import { runImport } from '../imports/importer.ts';
import { vendors } from '../providers/index.ts';
import type { Database } from '../storage/database.ts';
import { loadMasterKey, masterKeyBytes, openSealer, type Sealer } from '../storage/seal.ts';
import { makeInstallation, withDatabase, withDatabaseIfAny } from './installation.ts';
import { Failure, print, type SharedOptions, countPhrase } from './command-io.ts';
import { doneOf, withProgress } from './progress.ts';
import { usdRateOf } from './usd-rate.ts';

interface Options extends SharedOptions {
  readonly as: string;
  readonly rate?: string;
  readonly apply?: true;
}

/**
 * Units per dollar unless that installation has changed it (new-api common/constants.go, 2026-11).
 */
const usualPerDollar = 500_000n;

export async function importNewApi(source: string, options: Options, env: Env): Promise<void> {
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(options.as))
    throw new Failure(`--as is a name of small letters, digits and -, not '${options.as}'`);
  const foreign = await withProgress('reading', () => readForeign(source));
  const theirs = [
    'USDExchangeRate of that installation',
    foreign.options.get('USDExchangeRate'),
  ] as const;
  const { ratePpm, from } = usdRateOf(options.rate, env, theirs);
  const perDollar = readDecimal(foreign.options.get('QuotaPerUnit') ?? usualPerDollar);
  if (perDollar === undefined || perDollar.numerator === 0n)
    throw new Failure('its QuotaPerUnit is no number');
  const apply = options.apply === true;
  const { sealer, running } = apply
    ? await ownInstallation(options, env)
    : reportOnly(options, env);
  const at = systemClock.now();
  const request = {
    origin: options.as,
    worth: { perDollar, rate: ofMillionths(ratePpm) },
    apply,
    sealer,
    vendors: [...vendors.values()],
    bundled: await loadBundled({ usdRatePpm: ratePpm, today: utcDate(at) }),
    at,
  };
  const report = await withProgress('importing', (tell) =>
    running((database) =>
      runImport(database, foreign, {
        ...request,
        onProgress: (part, done, total) => tell(doneOf(done, total, part)),
      }),
    ),
  );
  const rate = { yuan: decimalText(ratePpm, ppmPlaces), from };
  print(
    options,
    valueOf(foreign, report, request.apply, rate),
    linesOf(foreign, report, options, rate),
  );
}

/** The installation into which another one is imported. */
interface Destination {
  readonly sealer: Sealer;
  readonly running: (
    take: (database: Database) => Promise<ImportSummary>,
  ) => Promise<ImportSummary>;
}

/** This installation, made where there is none yet. */
async function ownInstallation(options: Options, env: Env): Promise<Destination> {
  const { dataFolder } = makeInstallation(options.data, env);
  const sealer = openSealer(await loadMasterKey(dataFolder, env));
  return { sealer, running: (take) => withDatabase(options, env, take, { mayBegin: true }) };
}

/**
 * The same for a report that must leave nothing behind: secrets are encrypted with a key that
 * nobody keeps, and a missing installation is one in memory.
 */
function reportOnly(options: Options, env: Env): Destination {
  const sealer = openSealer(randomBytes(masterKeyBytes));
  return { sealer, running: (take) => withDatabaseIfAny(options, env, take) };
}

async function readForeign(address: string): Promise<ForeignInstallation> {
  try {
    const source = await openSource(address);
    try {
      return await readNewApi(source);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof ImportSourceError) throw new Failure(error.message);
    throw error;
  }
}

interface Rate {
  readonly yuan: string;
  readonly from: string;
}

function valueOf(
  foreign: ForeignInstallation,
  report: ImportSummary,
  applied: boolean,
  rate: Rate,
): object {
  const { sums } = report;
  return {
    applied: applied && changed(report),
    source: foreign.kind,
    rate: rate.yuan,
    rate_from: rate.from,
    ...Object.fromEntries(importParts.map((part) => [part, report[part]])),
    sums: {
      units: Number(sums.units),
      worth: formatYuan(sums.worth),
      transferred: formatYuan(sums.transferred),
      compared: sums.compared,
      agree: sums.worth === sums.transferred,
      owed_units: Number(sums.owedUnits),
      deleted_units: Number(sums.deletedUnits),
      reward_units: Number(sums.rewardUnits),
    },
    multipliers: report.multipliers,
    prices: report.prices,
    left_out: report.leftOut,
    notes: report.notes,
    beside: foreign.beside,
    without_sign_in: report.withoutSignIn,
  };
}

function linesOf(
  foreign: ForeignInstallation,
  report: ImportSummary,
  { apply, as }: Options,
  rate: Rate,
): string[] {
  const { sums } = report;
  const counted = (name: string, { taken, before, left }: ImportCount): string =>
    `  ${name.padEnd(8)} ${taken} ${apply ? 'imported' : 'to import'}${before > 0 ? `, ${before} already here` : ''}${left > 0 ? `, ${left} left out` : ''}`;
  return [
    `${foreign.kind}, as '${as}', at ${rate.yuan} yuan per dollar (${rate.from}):`,
    ...importParts.map((part) => counted(part, report[part])),
    `balances: ${sums.units} units are worth ${formatYuan(sums.worth)} yuan, ${formatYuan(sums.transferred)} ${apply ? 'are' : 'would be'} in opening transfers${sums.worth === sums.transferred ? '' : ' (see the notes)'}`,
    ...(sums.owedUnits > 0n
      ? [
          `  ${sums.owedUnits} units are owed there: a balance here cannot be negative, so those users begin with 0`,
        ]
      : []),
    ...(sums.rewardUnits > 0n
      ? [
          `  ${sums.rewardUnits} units of rewards were never moved to a balance: credit them with 'user credit'`,
        ]
      : []),
    ...(report.withoutSignIn > 0
      ? [
          `${countPhrase(report.withoutSignIn, 'user')} cannot sign in here yet: 'link --user ID' prints a link for one`,
        ]
      : []),
    ...section(
      'groups',
      report.multipliers.map(({ group, multiplier }) => `${group}: × ${multiplier}`),
    ),
    ...section(
      'prices, yuan for a million tokens or for one',
      report.prices.map(({ model, price }) => `${model}: ${priceText(price)}`),
    ),
    ...section('left out', [
      ...report.leftOut.map(({ what, why }) => `${what}: ${why}`),
      ...foreign.beside,
    ]),
    ...section(
      'notes',
      report.notes.map(({ what, note }) => `${what}: ${note}`),
    ),
    apply
      ? changed(report)
        ? 'written'
        : 'there was nothing new: nothing was written'
      : 'nothing was written: run it again with --apply',
  ];
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${toPlainText(line)}`)];

const priceText = (price: Readonly<Record<string, string>>): string =>
  Object.entries(price)
    .map(([member, yuan]) => `${member} ${yuan}`)
    .join(', ');
