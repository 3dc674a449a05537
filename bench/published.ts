import { type Contender, words } from './contender.ts';
import { type Paced, pace } from './load.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuMicroseconds, memoryMb, type Started } from './process.ts';
import { median } from './report.ts';
import type { Kind } from './vendor.ts';

/** The workload of another gateway's published benchmark, shortened. */
export interface Published {
  readonly name: string;
  /** The resembled benchmark, its requests and responses. */
  readonly like: string;
  readonly kind: Kind;
  readonly request: object;
  /**
   * Connections, and requests a second at fixed instants; 0: each connection sends the next request
   * after a response.
   */
  readonly load: { readonly connections: number; readonly rate: number };
  /** The vendor's delay in seconds: a request without a response two seconds later has failed. */
  readonly vendorSeconds: number;
}

const ask = (content: string, rest: object = {}) => ({
  messages: [{ role: 'user', content }],
  ...rest,
});
const hello = ask('Say hello for a benchmark test.');
/** A vendor that tells more tokens than were asked for is another workload: these tell 90. */
const word = ask('Return one word.', { max_tokens: 100 });
const santa = ask('Is Santa real?');
const large = ask(words.repeat(128).trim(), { max_tokens: 1000 });
const fifteen = ask(words.repeat(185).trim(), { user: 'my-new-end-user-1' });

const closed = (connections: number) => ({ connections, rate: 0 });
const open = (rate: number) => ({ connections: rate, rate });

export const published: readonly Published[] = [
  {
    name: 'A',
    like: 'GoModel: 180 characters at once, 10 at a time',
    kind: 'short',
    request: hello,
    load: closed(10),
    vendorSeconds: 0,
  },
  {
    name: 'A stream',
    like: 'the same, 100 chunks at once',
    kind: 'burst',
    request: hello,
    load: closed(10),
    vendorSeconds: 0,
  },
  {
    name: 'B 50',
    like: 'Ferro: after 60 ms, 50 at a time',
    kind: 'soon',
    request: word,
    load: closed(50),
    vendorSeconds: 0.06,
  },
  {
    name: 'B 300',
    like: 'the same, 300 at a time',
    kind: 'soon',
    request: word,
    load: closed(300),
    vendorSeconds: 0.06,
  },
  {
    name: 'C 100',
    like: 'TensorZero: at once, 100/s',
    kind: 'short',
    request: santa,
    load: open(100),
    vendorSeconds: 0,
  },
  {
    name: 'C 1000',
    like: 'the same, 1,000/s',
    kind: 'short',
    request: santa,
    load: open(1000),
    vendorSeconds: 0,
  },
  {
    name: 'D',
    like: 'Bifrost: 10 KB after 1.5 s, 500/s',
    kind: 'late',
    request: hello,
    load: open(500),
    vendorSeconds: 1.5,
  },
  {
    name: 'E',
    like: 'LiteLLM: 15 KB asked, after 100 ms, 1,000/s',
    kind: 'later',
    request: fifteen,
    load: open(1000),
    vendorSeconds: 0.1,
  },
  {
    name: 'F',
    like: 'Helicone: after 60 ms, 1,500/s',
    kind: 'soon',
    request: word,
    load: open(1500),
    vendorSeconds: 0.06,
  },
  {
    name: 'F large',
    like: 'the same, 10 KB asked and answered',
    kind: 'large',
    request: large,
    load: open(1500),
    vendorSeconds: 0.06,
  },
  {
    name: 'stream',
    like: '33 chunks, one each 10 ms, 100 streams/s',
    kind: 'spaced',
    request: hello,
    load: { connections: 200, rate: 100 },
    vendorSeconds: 0.33,
  },
];

/**
 * Seconds before counting, plus the vendor's delay, so that responses come at the rate of requests.
 */
const warmSeconds = 0.5;

/** The figures of one contender for one workload, one entry a round. */
export interface Run {
  readonly perSecond: number[];
  readonly p50: number[];
  readonly p99: number[];
  readonly firstP50: number[];
  /** Requests without a 200 in time. */
  readonly failed: number[];
  readonly cpuPerRequest: number[];
  readonly memoryMb: number[];
}

export type Runs = Map<Published, Run>;

const noRun = (): Run => ({
  perSecond: [],
  p50: [],
  p99: [],
  firstP50: [],
  failed: [],
  cpuPerRequest: [],
  memoryMb: [],
});

/** `started` is undefined for the bare vendor, whose processor time does not count. */
export async function measurePublished(
  folder: string,
  command: string,
  seconds: number,
  contender: Pick<Contender, 'target'>,
  started: Started | undefined,
  runs: Runs,
  between: (paced: Paced) => Promise<void>,
): Promise<void> {
  for (const one of published) {
    const target = contender.target(one.kind, one.request);
    if (target === undefined) continue;
    const run = runs.get(one) ?? noRun();
    runs.set(one, run);
    const cpu = started === undefined ? 0 : cpuMicroseconds(started.pid);
    const warm = warmSeconds + one.vendorSeconds;
    const paced = await pace(folder, command, target, {
      ...one.load,
      warm,
      seconds,
      patience: one.vendorSeconds + 2,
    });
    if (started !== undefined) {
      run.cpuPerRequest.push((cpuMicroseconds(started.pid) - cpu) / Math.max(1, paced.all));
      run.memoryMb.push(memoryMb(started.pid));
    }
    keep(run, paced, seconds);
    await between(paced);
  }
}

function keep(run: Run, paced: Paced, seconds: number): void {
  run.perSecond.push(paced.within / seconds);
  run.failed.push(paced.errors / Math.max(1, paced.all + paced.errors));
  const [p50, p99] = paced.wholeMs;
  if (p50 !== undefined && p99 !== undefined) {
    run.p50.push(p50);
    run.p99.push(p99);
  }
  const [first] = paced.firstMs;
  if (first !== undefined) run.firstP50.push(first);
}

const shown = (value: number | undefined, digits: number) =>
  value === undefined ? '–' : value.toFixed(digits);

/** One line for each workload and contender; `bare` is the vendor with nothing in between. */
export function publishedTable(
  columns: readonly { readonly name: string; readonly runs: Runs }[],
  bare: Runs,
): string {
  const head = [
    'workload',
    'gateway',
    'answers/s',
    'p50 ms',
    'p99 ms',
    'added p50',
    'added p99',
    'CPU µs each',
    'MB',
    'failed',
  ];
  const lines = published.flatMap((one) => {
    const without = bare.get(one);
    const rows = [...columns, { name: 'no gateway', runs: bare }].flatMap(({ name, runs }) => {
      const run = runs.get(one);
      return run === undefined
        ? []
        : [line(name, run, name === 'no gateway' ? undefined : without)];
    });
    return rows.map((cells, index) => [index === 0 ? `**${one.name}** ${one.like}` : '', ...cells]);
  });
  return markdownTable(head, lines, 2);
}

function line(name: string, run: Run, without: Run | undefined): string[] {
  const added = (of: 'p50' | 'p99') => {
    const [ours, bare] = [median(run[of]), median(without?.[of] ?? [])];
    return shown(
      ours === undefined || bare === undefined ? undefined : Math.max(0, ours - bare),
      2,
    );
  };
  const failed = median(run.failed) ?? 0;
  return [
    name,
    shown(median(run.perSecond), 0),
    shown(median(run.p50), 2),
    shown(median(run.p99), 2),
    added('p50'),
    added('p99'),
    shown(median(run.cpuPerRequest), 0),
    shown(median(run.memoryMb), 0),
    failed === 0 ? '' : `${(failed * 100).toFixed(failed < 0.01 ? 2 : 0)} %`,
  ];
}
