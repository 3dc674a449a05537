import { cpus } from 'node:os';
import { closedLoop } from './load.ts';
import { markdownTable } from './markdown-table.ts';
import { median } from './report.ts';

/** The figures of one slice of one arrangement. */
export interface Slice {
  readonly way: string;
  readonly processes: number;
  /** Concurrent clients. */
  readonly clients: number;
  /** Requests per second of wall clock time. */
  readonly perSecond: number;
  /** Requests a second of the gateway's processor time. */
  readonly perCpuSecond: number;
  /** Shares of one: of the gateway's quota, and of the whole machine. */
  readonly quotaUsed: number;
  readonly machineUsed: number;
  /**
   * Processor time of a request, µs: main threads of serving processes, their other threads, and
   * supervisors.
   */
  readonly mainUs: number;
  readonly otherUs: number;
  readonly supervisorUs: number;
  /** Charges in one durable transaction. */
  readonly chargesPerCommit: number;
  /** Processor time of the least busy process, as a share of the busiest one's. */
  readonly leastShare: number;
}

const head = [
  '',
  'processes',
  'clients',
  'requests/s',
  'least and most',
  '×',
  'of each round',
  'requests per CPU second',
  '×',
];

export function table(slices: readonly Slice[]): string {
  return markdownTable(head, perArrangement(slices, line));
}

/** The processor time of a request by thread, and its distribution over processes. */
export function whereTable(slices: readonly Slice[]): string {
  const columns = [
    'main threads',
    'their other threads',
    'supervisor',
    'charges in a commit',
    'least ÷ most of the processes',
    'of its quota',
    'of the machine',
  ];
  const cells = (of: readonly Slice[]) => [
    ...[middle(of, 'mainUs'), middle(of, 'otherUs'), middle(of, 'supervisorUs')].map((value) =>
      value.toFixed(0),
    ),
    middle(of, 'chargesPerCommit').toFixed(1),
    ...[middle(of, 'leastShare'), middle(of, 'quotaUsed'), middle(of, 'machineUsed')].map(percent),
  ];
  return markdownTable(
    ['CPU µs per request', 'processes', 'clients', ...columns],
    perArrangement(slices, (of) => [...nameOf(of), ...cells(of)]),
  );
}

function perArrangement(
  slices: readonly Slice[],
  row: (of: readonly Slice[], ones: readonly Slice[]) => string[],
): string[][] {
  const ways = [...new Set(slices.map(({ way }) => way))];
  return ways.flatMap((way) => {
    const ofWay = slices.filter((slice) => slice.way === way);
    const ones = ofWay.filter(({ processes }) => processes === 1);
    const kinds = [...new Set(ofWay.map(kind))].toSorted();
    return kinds.map((wanted) =>
      row(
        ofWay.filter((slice) => kind(slice) === wanted),
        ones,
      ),
    );
  });
}

const kind = ({ processes, clients }: Slice): string => `${processes} ${clients}`;

function line(slices: readonly Slice[], ones: readonly Slice[]): string[] {
  const times = (of: 'perSecond' | 'perCpuSecond') =>
    (middle(slices, of) / middle(ones, of)).toFixed(2);
  const several = slices[0]?.processes !== 1;
  const each = slices.map(({ perSecond }, round) => perSecond / (ones[round]?.perSecond ?? 0));
  return [
    ...nameOf(slices),
    whole(middle(slices, 'perSecond')),
    range(
      slices.map(({ perSecond }) => perSecond),
      whole,
    ),
    several ? `**${times('perSecond')}**` : '',
    several ? range(each, (value) => value.toFixed(2)) : '',
    whole(middle(slices, 'perCpuSecond')),
    several ? times('perCpuSecond') : '',
  ];
}

const nameOf = ([first]: readonly Slice[]): string[] => [
  first?.way ?? '',
  String(first?.processes ?? ''),
  String(first?.clients ?? ''),
];

const middle = (slices: readonly Slice[], of: Exclude<keyof Slice, 'way'>): number =>
  median(slices.map((slice) => slice[of])) ?? 0;
const range = (values: readonly number[], shown: (value: number) => string): string =>
  `${shown(Math.min(...values))}–${shown(Math.max(...values))}`;
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const percent = (value: number): string => `${Math.round(value * 100)} %`;

export function page(
  result: string,
  slices: readonly Slice[],
  { rounds, seconds, cores }: { rounds: number; seconds: number; cores: number },
): string {
  const [first] = cpus();
  return `# What a second process brings

Written by \`npm run bench:scale -- --write\`, ${rounds} interleaved rounds of ${seconds} s, medians. Small chat requests with everything on: key, limits, reserve, settle, usage record, durable before the last byte.

- **Nodes**: one gateway or two on one PostgreSQL and one Valkey (limits that hold over both), behind clients that spread evenly.
- **Workers**: \`serve --workers 1\` or \`2\` on SQLite, on one address.
- **Separate gateways**: one or two with databases of their own, each with its own clients. What two of them bring is what the machine lets any two processes do at once.
- One process and two run at once, on books of their own, and are asked in turn, so that whatever else the machine does it does to both. Before that each is warmed, with all that the machine has, until three slices of two seconds are
  within 5 % of each other (or for 30 s): a young process is slow, and one alone would be compared while V8 still made it faster.
- A process may use ${cores} of a core and no more, by cgroup quotas; two of them twice that together, whatever hands out their connections included. So a "machine" is ${cores} of a core, and one machine is compared with two that have
  enough around them: load, vendor and databases have the rest, and go before whatever else runs. "Of the machine" is how busy it was, other programs included.
- Databases lie where \`TMPDIR\` says; PostgreSQL is one that runs already (\`DATABASE_URL\`), or one of the run's own without \`fsync\`. It is the processor that is measured, not the disk.
- Two processes are asked by as many clients as one, and by as many each. The fewer ask a process at once, the less goes together: in a commit, and in a turn of the event loop.
- Target: 1.9 × the requests, with as many clients for each process.

${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, ${process.platform}. Closed loops: ${closedLoop}.

${result}
## Where workers fall short

${shortfall(slices)}

Nothing is lost to unfairness (the processes use the same within some percent) nor to quotas (all of them is used): what two workers do not bring is processor time that each request takes more. A supervisor keeps the limits that all
share; it lends each worker a part of them (decision 0032). It also hands out connections, and each slice opens its own. Writers of one SQLite file wait for each other, each reads again what the other has changed, and what waits for a
worker's own turn is committed by it alone: the fewer clients a worker has, the fewer charges share a commit. Nodes share neither: what they have in common is asked in one round trip each, by processes that are not counted here.
`;
}

/**
 * The extra processor time of a request with two processes compared with one, with as many clients
 * each.
 */
function shortfall(slices: readonly Slice[]): string {
  const lines = [...new Set(slices.map(({ way }) => way))].map((way) => {
    const most = slices.filter((slice) => slice.way === way && slice.clients > clientsOf(slices));
    const one = slices.filter((slice) => slice.way === way && slice.processes === 1);
    const more = (of: 'mainUs' | 'otherUs' | 'supervisorUs') => {
      const by = middle(most, of) - middle(one, of);
      return `${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(0)} µs`;
    };
    return `- With two ${way}: main threads ${more('mainUs')}, their other threads (the one that commits, V8's helpers) ${more('otherUs')}, supervisor ${more('supervisorUs')} a request.`;
  });
  return lines.join('\n');
}

const clientsOf = (slices: readonly Slice[]): number =>
  Math.min(...slices.map(({ clients }) => clients));
