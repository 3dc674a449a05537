import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The microseconds or bytes of a function itself. */
export interface Own {
  readonly name: string;
  readonly amount: number;
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Allocated {
  readonly callFrame: Frame;
  readonly selfSize: number;
  readonly children: readonly Allocated[];
}

/**
 * Microseconds by function, the most first, between two instants of the monotonic clock (µs):
 * without start and end of the process.
 */
export function selfTimes(file: string, from: number, to: number): Own[] {
  const { nodes, startTime, samples, timeDeltas }: CpuProfile = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Sums();
  let at = startTime;
  for (const [i, id] of samples.entries()) {
    const passed = timeDeltas[i] ?? 0;
    at += passed;
    const frame = frames.get(id);
    if (frame !== undefined && frame.functionName !== '(idle)' && at > from && at <= to)
      sums.add(frame, passed);
  }
  return sums.sorted();
}

/** Bytes by the function that allocated them, the most first. */
export function allocations(file: string): Own[] {
  const sums = new Sums();
  const walk = ({ callFrame, selfSize, children }: Allocated): void => {
    sums.add(callFrame, selfSize);
    for (const child of children) walk(child);
  };
  const { head }: { head: Allocated } = JSON.parse(readFileSync(file, 'utf8'));
  walk(head);
  return sums.sorted();
}

class Sums {
  readonly #amounts = new Map<string, number>();

  add(frame: Frame, amount: number): void {
    const name = nameOf(frame);
    this.#amounts.set(name, (this.#amounts.get(name) ?? 0) + amount);
  }

  sorted(): Own[] {
    const all = [...this.#amounts].map(([name, amount]) => ({ name, amount }));
    return all.filter(({ amount }) => amount > 0).sort((a, b) => b.amount - a.amount);
  }
}

const maps = new Map<string, SourceMap | undefined>();

/** The function's name and the file that contains it. */
function nameOf({ functionName, url, lineNumber, columnNumber }: Frame): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
  if (entry === undefined || !('originalSource' in entry)) return `${name} ${basename(url)}`;
  return `${name} ${entry.originalSource.replace(/^.*?(?=src\/|node_modules\/)/, '')}:${entry.originalLine + 1}`;
}

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) {
    const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
    maps.set(
      url,
      existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined,
    );
  }
  return maps.get(url);
}

/** Calls by name, the most first: what `strace -c` prints. */
export function systemCalls(table: string): Own[] {
  const rows = table
    .split('\n')
    .map((line) => /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/.exec(line));
  const calls = rows.flatMap((row) =>
    row?.[1] === undefined || row[2] === undefined
      ? []
      : [{ name: row[2], amount: Number(row[1]) }],
  );
  return calls.filter(({ name }) => name !== 'total').sort((a, b) => b.amount - a.amount);
}
