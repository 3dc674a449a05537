import type { Env } from '../base/env.ts';
import { describeProblems } from '../catalog/problem.ts';
import { countPhrase, print, type SharedOptions } from './command-io.ts';
import { readConfigurationFile } from './serve.ts';
import { paint } from './terminal.ts';

/** Reports every mistake in a configuration file. */
export async function checkConfig(file: string, options: SharedOptions, env: Env): Promise<void> {
  const result = await readConfigurationFile(file, env);
  if (!result.ok) {
    print(options, { ok: false, problems: result.problems }, [
      paint('red', `${file} cannot be used:`),
      describeProblems(file, result.problems),
    ]);
    process.exitCode = 1;
    return;
  }
  const { groups, models, channels, warnings } = result.configuration;
  const counts = { groups: groups.length, models: models.length, channels: channels.length };
  const counted = [
    countPhrase(counts.groups, 'group'),
    countPhrase(counts.models, 'model'),
    countPhrase(counts.channels, 'channel'),
  ];
  const summary = `${file}: ${paint('green', 'ok')} (${counted.join(', ')})`;
  print(options, { ok: true, ...counts, warnings }, [
    summary,
    ...warnings.map((warning) => paint('yellow', `  ${warning}`)),
  ]);
}
