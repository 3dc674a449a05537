import { cpus } from 'node:os';
import { closedLoop } from './load.ts';
import { median } from './report.ts';

/** What one round of one way brought. */
export interface Round {
  readonly way: string;
  readonly processes: number;
  /** Requests a second of a clock on the wall. */
  readonly perSecond: number;
  /** Requests a second of the gateway's processor time. */
  readonly perCpuSecond: number;
  /** Shares of one: of what the gateway might have used, and of the whole machine. */
  readonly quotaUsed: number;
  readonly machineUsed: number;
}

export function table(rounds: readonly Round[]): string {
  const head = ['', 'processes', 'requests/s', 'least and most', '×', 'requests per CPU second', '×', 'of its quota', 'of the machine'];
  const ways = [...new Set(rounds.map(({ way }) => way))];
  const lines = ways.flatMap((way) => {
    const of = (processes: number) => rounds.filter((round) => round.way === way && round.processes === processes);
    return [1, 2].map((processes) => line(of(processes), of(1)));
  });
  return [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function line(rounds: readonly Round[], ones: readonly Round[]): string[] {
  const rates = rounds.map(({ perSecond }) => perSecond).toSorted((a, b) => a - b);
  const times = (pick: (round: Round) => number) => (middle(rounds, pick) / middle(ones, pick)).toFixed(2);
  const several = rounds[0]?.processes !== 1;
  return [
    rounds[0]?.way ?? '',
    String(rounds[0]?.processes ?? ''),
    whole(middle(rounds, ({ perSecond }) => perSecond)),
    `${whole(rates[0] ?? 0)}–${whole(rates.at(-1) ?? 0)}`,
    several ? `**${times(({ perSecond }) => perSecond)}**` : '',
    whole(middle(rounds, ({ perCpuSecond }) => perCpuSecond)),
    several ? times(({ perCpuSecond }) => perCpuSecond) : '',
    percent(middle(rounds, ({ quotaUsed }) => quotaUsed)),
    percent(middle(rounds, ({ machineUsed }) => machineUsed)),
  ];
}

const middle = (rounds: readonly Round[], pick: (round: Round) => number): number => median(rounds.map(pick)) ?? 0;
const whole = (value: number): string => Math.round(value).toLocaleString('en');
const percent = (value: number): string => `${Math.round(value * 100)} %`;

export function page(result: string, { rounds, seconds, cores }: { rounds: number; seconds: number; cores: number }): string {
  const [first] = cpus();
  return `# What a second process brings

Written by \`npm run bench:scale -- --write\`, ${rounds} interleaved rounds of ${seconds} s, medians. Small chat requests with everything on: key, limits, reserve, settle, usage record, durable before the last byte.

- **Nodes**: one gateway or two on one PostgreSQL and one Valkey (limits that hold over both), behind clients that spread evenly.
- **Workers**: \`serve --workers 1\` or \`2\` on SQLite, on one address.
- A process may use ${cores} of a core and no more, by cgroup quotas; two of them twice that together, whatever hands out their connections included. So a "machine" is ${cores} of a core, and one machine is compared with two that have
  enough around them: load, vendor and databases have the rest, and go before whatever else runs. "Of the machine" is how busy it was, other programs included.
- Databases lie where \`TMPDIR\` says; PostgreSQL is one that runs already (\`DATABASE_URL\`), or one of the run's own without \`fsync\`. It is the processor that is measured, not the disk.
- Target: 1.8 × the requests.

${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, ${process.platform}. Closed loops: ${closedLoop}, 100 connections.

${result}
## What it took

Workers answered 1.12 times what one process did before what they ask their supervisor about limits went together: each limited request cost three messages between processes, as much processor time as most of a request. Nodes needed nothing: what they
share is asked in one round trip each, and commits go in groups.
`;
}
