import { existsSync, readFileSync } from 'node:fs';
import { byCommand, writeAudit } from '../accounts/audit.ts';
import { systemClock } from '../base/clock.ts';
import { importPrices as takeOver, type PriceImport } from '../catalog/import-prices.ts';
import { describeProblems } from '../catalog/problem.ts';
import { type Env, withDatabase } from './installation.ts';
import { Failure, print, several } from './output.ts';
import { readConfigurationFile } from './serve.ts';

interface Options {
  readonly data?: string;
  readonly json?: true;
}

export async function checkConfig(file: string, options: Options, env: Env): Promise<void> {
  const result = await readConfigurationFile(file, env);
  if (!result.ok) {
    print(options.json === true, { ok: false, problems: result.problems }, [
      `${file} cannot be used:`,
      describeProblems(file, result.problems),
    ]);
    process.exitCode = 1;
    return;
  }
  const { groups, models, channels, warnings } = result.configuration;
  const counts = { groups: groups.length, models: models.length, channels: channels.length };
  const counted = [several(counts.groups, 'group'), several(counts.models, 'model'), several(counts.channels, 'channel')];
  const summary = `${file}: ok (${counted.join(', ')})`;
  print(options.json === true, { ok: true, ...counts, warnings }, [summary, ...warnings.map((warning) => `  ${warning}`)]);
}

export async function importPrices(file: string, options: Options & { readonly dryRun?: true }, env: Env): Promise<void> {
  if (!existsSync(file)) throw new Failure(`there is no file ${file}`);
  await withDatabase(options, env, async (database) => {
    const at = systemClock.now();
    const done = await takeOver(database, readFileSync(file, 'utf8'), { dry: options.dryRun === true, clock: systemClock }, ({ changed }) =>
      writeAudit(at, { ...byCommand, action: 'price.import', target: 'prices', after: { models: changed.map(({ id }) => id) } }),
    );
    const { added: _, ...told } = done;
    print(options.json === true, told, linesOf(file, done, options.dryRun === true));
    if (done.refused.length > 0) process.exitCode = 1;
  });
}

function linesOf(file: string, done: PriceImport, dry: boolean): string[] {
  if (done.refused.length > 0) return ['nothing was changed:', describeProblems(file, done.refused)];
  const changed = done.changed.flatMap(({ id, differences }) =>
    differences.map((difference) => `  ${id}: ${difference.member} ${difference.from ?? '-'} → ${difference.to ?? '-'}`),
  );
  return [`${several(done.changed.length, 'price')} ${dry ? 'would change' : 'changed'}, ${done.unchanged.length} as before`, ...changed];
}
