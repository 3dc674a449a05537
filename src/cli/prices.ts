import type { Env } from '../base/env.ts';
import { byCommand, writeAudit } from '../accounts/audit.ts';
import { systemClock } from '../base/clock.ts';
import { importPrices, type PriceImport } from '../catalog/import-prices.ts';
import { describeProblems } from '../catalog/problem.ts';
import { storedCatalog } from '../catalog/stored-catalog.ts';
import { readYaml } from '../catalog/yaml-source.ts';
import { ofMillionths } from '../base/fraction.ts';
import { litellmList, pricesFrom } from '../imports/litellm-prices.ts';
import type { Database } from '../storage/database.ts';
import { withDatabase } from './installation.ts';
import { print, countPhrase, type SharedOptions, readText } from './command-io.ts';
import { paint } from './terminal.ts';
import { usdRateOf } from './usd-rate.ts';

interface PriceOptions extends SharedOptions {
  readonly dryRun?: true;
  readonly rate?: string;
  readonly acceptFarOff?: true;
}

export async function importPricesCommand(
  file: string,
  options: PriceOptions,
  env: Env,
): Promise<void> {
  const written = readText(file);
  const isDry = options.dryRun === true;
  await withDatabase(options, env, async (database) => {
    const at = systemClock.now();
    const { text, without } = await pricesIn(written, database, options, env);
    const done = await importPrices(
      database,
      text,
      { dry: isDry, clock: systemClock, acceptFarOff: options.acceptFarOff },
      ({ changed }) =>
        writeAudit(at, {
          ...byCommand,
          action: 'price.import',
          target: 'prices',
          after: { models: changed.map(({ id }) => id) },
        }),
    );
    const run: Run = {
      isDry,
      needsConsent: done.farOff.length > 0 && options.acceptFarOff !== true,
    };
    print(options, { ...reportOf(done), ...(without.length > 0 && { without }) }, [
      ...(done.refused.length > 0
        ? ['nothing was changed:', describeProblems(file, done.refused)]
        : linesOf(done, run)),
      ...(without.length === 0 ? [] : [`the list has no price for ${without.join(', ')}`]),
    ]);
    if (done.refused.length > 0 || (run.needsConsent && !isDry)) process.exitCode = 1;
  });
}

interface Run {
  readonly isDry: boolean;
  /** Prices are far off, and nobody has said that they are meant. */
  readonly needsConsent: boolean;
}

const reportOf = ({ applied, changed, unchanged, refused, farOff }: PriceImport) => ({
  applied,
  changed: changed.map(({ id, differences }) => ({
    id,
    differences: differences.map(({ member, from, to, percent }) => ({
      member,
      from,
      to,
      percent,
    })),
  })),
  unchanged,
  refused,
  far_off: farOff,
});

/**
 * Takes a list in our own format as it is. Of LiteLLM's list, which is in dollars per token, takes
 * the models that are sold.
 */
async function pricesIn(
  written: string,
  database: Database,
  { rate }: PriceOptions,
  env: Env,
): Promise<{ readonly text: string; readonly without: readonly string[] }> {
  const list = written.trimStart().startsWith('{')
    ? litellmList(readYaml(written).value)
    : undefined;
  if (list === undefined) return { text: written, without: [] };
  const catalog = await storedCatalog(database);
  const { prices, without } = pricesFrom(list, catalog, ofMillionths(usdRateOf(rate, env).ratePpm));
  return { text: JSON.stringify(prices), without };
}

const farOffText = (models: readonly string[]): string =>
  `prices of ${models.join(', ')} are at least 1,000 times as high or as low as before. Check their units; --accept-far-off publishes them`;

function linesOf(
  { applied, changed, unchanged, farOff }: PriceImport,
  { isDry, needsConsent }: Run,
): string[] {
  const verb = isDry || needsConsent ? 'would change' : 'changed';
  const lines = changed.flatMap(({ id, differences, windowsRemoved }) => [
    ...differences
      .filter(({ member, to }) => !(member.startsWith('window ') && to === undefined))
      .map(({ member, from, to }) => `  ${id}: ${member} ${from ?? '-'} → ${to ?? '-'}`),
    ...(windowsRemoved.length === 0
      ? []
      : [`  ${id}: removes the price windows (${windowsRemoved.join(', ')})`]),
  ]);
  return [
    `${countPhrase(changed.length, 'price')} ${verb}, ${unchanged.length} unchanged`,
    ...lines,
    ...(needsConsent ? [paint('yellow', farOffText(farOff))] : []),
    ...(needsConsent && !isDry ? ['nothing was changed'] : []),
    ...(applied ? ['the new prices are in force within a second'] : []),
  ];
}
