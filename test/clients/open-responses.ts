import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Session } from './client.ts';

/** A copy of github.com/openresponses/openresponses whose packages are installed. */
export const suiteFolder = process.env['TOLLGATE_OPEN_RESPONSES'];

/** The tests over HTTP; those over a WebSocket have it in their ids. */
const overHttp = [
  'basic-response',
  'assistant-phase',
  'response-output-phase-schema',
  'streaming-response',
  'system-prompt',
  'tool-calling',
  'image-input',
  'multi-turn',
  'compact-response',
  'compact-missing-model',
];
const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url));

export interface Compliance {
  readonly model: string;
  readonly passed: number;
  readonly total: number;
  /** The failed tests, with their reasons. */
  readonly failures: readonly string[];
}

/** The reason why the suite cannot run; undefined when it can. */
export function suiteMissing(): string | undefined {
  if (suiteFolder === undefined)
    return 'TOLLGATE_OPEN_RESPONSES names no folder with a copy of openresponses/openresponses';
  return existsSync(join(suiteFolder, 'bin/compliance-test.ts'))
    ? undefined
    : `${suiteFolder} has no bin/compliance-test.ts`;
}

/** Runs the compliance suite's HTTP tests against each model. */
export async function compliance({
  run,
  url,
  key,
  models,
}: Session): Promise<readonly Compliance[]> {
  const told: Compliance[] = [];
  for (const model of models) {
    const args = [
      'bin/compliance-test.ts',
      '--base-url',
      `${url}/v1`,
      '--model',
      model,
      '--json',
      '--filter',
      overHttp.join(','),
    ];
    const ended = await run(process.execPath, [tsx, ...args], {
      folder: suiteFolder ?? '',
      env: { OPENRESPONSES_API_KEY: key },
    });
    const at = ended.stdout.indexOf('{');
    const results: readonly Result[] = at < 0 ? [] : JSON.parse(ended.stdout.slice(at)).results;
    const failed = results.filter(({ status }) => status !== 'passed');
    const failures = failed.map(
      ({ id, status, errors = [] }) => `${id}: ${status} ${errors.join('; ').slice(0, 600)}`,
    );
    if (results.length !== overHttp.length)
      failures.push(
        `${results.length} of ${overHttp.length} tests ran: ${ended.output.trim().slice(-600)}`,
      );
    told.push({ model, passed: results.length - failed.length, total: overHttp.length, failures });
  }
  return told;
}

interface Result {
  readonly id: string;
  readonly status: string;
  readonly errors?: readonly string[];
}
