import { readdirSync, readFileSync } from 'node:fs';
import { processorNs } from '../cost/cost.ts';

/**
 * A counter that only ever grows, in nanoseconds or bytes; a request's cost is the amount it adds.
 */
export interface Meter {
  readonly name: string;
  read(): number;
}

/** The values of a gateway's meters. */
export type Reading = readonly number[];

/**
 * The meters of a gateway: all of its threads, the main thread, the database's thread or
 * PostgreSQL's processes, and its disk reads.
 */
export function metersOf(pid: number, databaseUrl: string | undefined): readonly Meter[] {
  const postgres = databaseUrl?.startsWith('postgres') === true;
  return [
    { name: 'CPU µs per request', read: () => processorNs(pid) },
    { name: 'main thread', read: () => threadNs(pid, pid) },
    { name: 'KB from disk', read: () => bytesRead(postgres ? backendsOf(databaseUrl) : [pid]) },
    { name: 'KB to disk', read: () => bytesWritten(postgres ? backendsOf(databaseUrl) : [pid]) },
    ...(postgres
      ? [{ name: "PostgreSQL's", read: () => sum(backendsOf(databaseUrl), processorNs) }]
      : []),
  ];
}

export const readings = (meters: readonly Meter[]): Reading => meters.map((meter) => meter.read());

const threadNs = (pid: number, thread: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);

const bytesRead = (pids: readonly number[]): number => sum(pids, (pid) => ioOf(pid, 'read_bytes'));
const bytesWritten = (pids: readonly number[]): number =>
  sum(pids, (pid) => ioOf(pid, 'write_bytes'));

function ioOf(pid: number, what: string): number {
  return Number(
    new RegExp(`^${what}: (\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0,
  );
}

/**
 * Processes of a local server that serve this database, as their titles say:
 * `postgres: role database …`.
 */
function backendsOf(url: string): number[] {
  const database = new URL(url).pathname.slice(1);
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const title = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return title.startsWith('postgres: ') && title.split(' ')[2] === database
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((all, pid) => {
    try {
      return all + of(pid);
    } catch {
      return all;
    }
  }, 0);
}
