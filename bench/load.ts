import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { Target } from './contender.ts';
import { type Core, find, runAsync } from './process.ts';

export interface Load {
  readonly connections: number;
  readonly seconds: number;
  /** The client's core; `around` by default. */
  readonly core?: Core;
}

/** The responses of a run. Requests that were still running at its end are not included. */
export interface Answered {
  readonly requests: number;
  readonly errors: number;
  readonly seconds: number;
}

/** Milliseconds: p50, p99, largest. Empty without measurements. */
export type Percentiles = readonly number[];

export interface Paced extends Answered {
  readonly chunks: number;
  /** 200s including the warm-up, which `requests` and all times leave out. */
  readonly all: number;
  /** 200s that ended within the counted seconds, whenever their requests began. */
  readonly within: number;
  /** From the instant of the request's schedule to the end of its response. */
  readonly wholeMs: Percentiles;
  /** From the same instant to the first chunk. */
  readonly firstMs: Percentiles;
  /** From the vendor's write of a chunk to the client's read. */
  readonly lateMs: Percentiles;
  /**
   * The client's own delay: from the instant at which a request should and could have been sent to
   * its sending.
   */
  readonly lagMs: Percentiles;
  /** Processor time of the client. */
  readonly cpuSeconds: number;
  /** The first failure: the beginning of a response other than 200, for example. */
  readonly wrong: string;
}

const wrk = find('wrk');
export const closedLoop = wrk === undefined ? 'own loop (wrk is not installed)' : 'wrk';

/** As many requests as `connections` can handle, one after the other on each. */
export async function saturate(folder: string, target: Target, load: Load): Promise<Answered> {
  if (wrk === undefined) return loop(target, load.connections, { seconds: load.seconds });
  const script = join(folder, `wrk-${new URL(target.url).port}.lua`);
  writeFileSync(script, wrkScript(target));
  const args = [
    '-t1',
    `-c${load.connections}`,
    `-d${Math.ceil(load.seconds)}s`,
    '--timeout',
    '20s',
    '-s',
    script,
    target.url,
  ];
  const output = await runAsync(load.core ?? 'around', wrk, args);
  const [requests = 0, errors = 0, microseconds = 0] = (/RESULT ([\d ]+)/.exec(output)?.[1] ?? '')
    .split(' ')
    .map(Number);
  return { requests: requests - errors, errors, seconds: microseconds / 1e6 };
}

function wrkScript(target: Target): string {
  const headers = Object.entries(target.headers).map(
    ([name, value]) => `wrk.headers[ [[${name}]] ] = [[${value}]]`,
  );
  return `wrk.method = "POST"
wrk.body = [==[${target.body}]==]
${headers.join('\n')}
function done(summary)
  local e = summary.errors
  print(string.format("RESULT %d %d %d", summary.requests, e.status + e.connect + e.read + e.write + e.timeout, summary.duration))
end
`;
}

/**
 * Requests at fixed instants (`rate` a second) or as fast as responses come (`rate` 0). Those of
 * the first `warm` seconds (0) are not counted; `seconds` follow them. Waits for all, but for
 * `patience` seconds (20) at most; a request without a response by then is an error. Needs the Go
 * program.
 */
export async function pace(
  folder: string,
  command: string,
  target: Target,
  load: Load & { readonly rate: number; readonly warm?: number; readonly patience?: number },
): Promise<Paced> {
  const file = join(folder, 'body.json');
  writeFileSync(file, target.body);
  const headers = Object.entries(target.headers).flatMap(([name, value]) => [
    '-header',
    `${name}: ${value}`,
  ]);
  const { connections, warm = 0, seconds, rate, patience = 20 } = load;
  const numbers = Object.entries({ connections, warm, seconds, rate, patience }).flatMap(
    ([name, value]) => [`-${name}`, String(value)],
  );
  return JSON.parse(
    await runAsync(load.core ?? 'around', command, [
      'load',
      '-url',
      target.url,
      '-body',
      file,
      ...headers,
      ...numbers,
    ]),
  );
}

/**
 * The same in this process, for machines without Go, and for exactly `requests` requests, all of
 * them finished.
 */
export async function loop(
  target: Target,
  connections: number,
  until: { seconds?: number; requests?: number },
): Promise<Answered> {
  const url = new URL(target.url);
  const pool = new Pool(url.origin, { connections, pipelining: 1 });
  const startedAt = performance.now();
  const endsAt = startedAt + (until.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  let left = until.requests ?? Number.POSITIVE_INFINITY;
  let requests = 0;
  let errors = 0;
  const one = async () => {
    while (left-- > 0 && performance.now() < endsAt) {
      const answer = await pool.request({
        path: url.pathname,
        method: 'POST',
        headers: target.headers,
        body: target.body,
      });
      await answer.body.arrayBuffer();
      if (answer.statusCode === 200) requests++;
      else errors++;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { requests, errors, seconds };
}
