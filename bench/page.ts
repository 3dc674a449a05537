import type { End } from './closing.ts';
import { doingsTable, goPeers } from './doings.ts';
import { type Figures, rates } from './figures.ts';
import { streamSecondsOf } from './latency.ts';
import type { Percentiles } from './load.ts';
import { openStreams } from './measure.ts';
import { publishedTable } from './published.ts';
import { rateTable } from './rates.ts';
import { type Column, machine, median, table, threadTable } from './report.ts';
import { verdicts } from './targets.ts';

interface Processor {
  readonly all: number;
  readonly busy: number;
  readonly stolen: number;
  readonly own: number;
}

/** All measurements of a run. */
export interface Result {
  readonly columns: readonly Column[];
  /** The contenders without figures, by name, and why. */
  readonly absent: ReadonlyMap<string, string>;
  readonly bare: Figures;
  readonly end: End | undefined;
  /** The time to store 4 KB on the disk, an entry a round. */
  readonly disk: readonly Percentiles[];
  /** The machine's processor time before and after. */
  readonly before: Processor;
  readonly after: Processor;
  readonly rounds: string;
  readonly seconds: string;
}

/** The page of benchmarks, in Markdown. */
export function page(result: Result): string {
  const { columns, bare, end, disk } = result;
  const of = (name: string) => columns.find((column) => column.name === name)?.figures;
  const ours = of('Tollgate');
  const measured = {
    nginx: of('nginx'),
    floor: of('Node with duties'),
    inGo: goPeers.flatMap((name) => of(name) ?? []),
    bare,
    disk,
    open: end?.open,
    openAtFloor: end?.openAtFloor,
    books: end?.books,
  };
  const published = columns.map(({ name, figures }) => ({ name, runs: figures.published }));
  const parts = [
    '# Benchmarks',
    method(result),
    `${machine()} ${quiet(result)}`,
    ...(ours === undefined ? [] : ['## Targets', verdicts({ ours, ...measured })]),
    '## Side by side',
    table(columns, bare),
    threadTable(columns),
    ...(bare.waits.free.at[rates[0]].wholeMs.length === 0
      ? []
      : ['## The same rates for everyone', ratesText, rateTable(columns, bare)]),
    ...(end === undefined ? [] : [closingText(end)]),
    ...(bare.published.size === 0
      ? []
      : ["## Others' workloads", publishedText, publishedTable(published, bare.published)]),
    '## What each of them does for a request',
    doingsTable(columns, result.absent),
  ];
  return `${parts.join('\n\n')}\n`;
}

const rateList = new Intl.ListFormat('en').format(rates.map((rate) => rate.toLocaleString('en')));

function method({ rounds, seconds }: Result): string {
  return `What one request costs the gateway, beside what the same request costs nginx, which only forwards it, and other gateways. Written by \`npm run bench -- --write\`;
what is compared ran in one run on one machine, in ${rounds} interleaved rounds of ${seconds} s, and medians are shown. \`npm run bench:peers\` installs the other gateways that a package registry has, outside the project, and says where it looks for the programs of the others.

- The vendors are nginx (what is there at once) and a small Go program (what takes time), so that they are never the bottleneck.
- Tollgate runs with everything on: SQLite with durable commits, key, limits, reserve, settle, usage record, metrics. What the others do is told at the end.
- Node with duties is the floor: [a server](../../bench/floor/server.mjs) that forwards requests over kept connections and holds the last bytes of an answer until its charge is durable, with [all that a request is owed where it is paid for](../../bench/floor/duties.mjs), each in the shortest way that we know: a key, checks, limits, money that is set aside, a price, a record with its columns, a transfer, counters, a line of the log. No vendor fails, no client leaves, nothing is translated and nothing is tried again there ([0035](../decisions/0035-least-that-duties-cost.md)).
- A chat request has 1.5 KB, its answer 1 KB. CPU is the user and system time of all threads of the process, divided by answers or chunks.
- Latencies come from requests at fixed instants (no coordinated omission), ${rateList} a second of every gateway alike, minus what the same client waits for the vendor alone.
  The client tells how late it was itself. Each paced run begins with a second of the same load that is not counted: it opens the connections, in front of the gateway and behind it.
  Where streams come at fixed instants, they do so for ${streamSecondsOf(Number(seconds))} s.
- Before it is measured, each gateway streams for ten seconds in each format with all that the machine has, and then answers small chats until three slices of two seconds are within 5 % of each other (or for 30 s): a young process is slow, since V8 still compiles on the same processor.
- Latencies are taken twice, of everyone alike. *One core*: the gateway with all of its threads on the first core, load and vendors on the others, as for processor time; there the main thread waits while the thread that
  commits, or the collector, has its time slice. *Not pinned*: as an operator runs it, every thread where the kernel puts it, load and vendors on the same cores. The targets are of the second; open streams are measured so, too.
- A cold start is the command that each one's README or container runs, without a package runner or a container around it, until the first answer, on a data folder that exists. It is not the first start of all: Tollgate keeps compiled code from the one before.
- Tollgate and Node with duties run with \`MALLOC_TRIM_THRESHOLD_=131072\`, as Tollgate's image and its systemd unit set it ([0028](../decisions/0028-memory-and-start.md)).`;
}

/**
 * Whether the machine was idle enough: a run in which other processes took much is worth little.
 */
function quiet({ columns, bare, before, after }: Result): string {
  const all = after.all - before.all;
  const others = Math.max(0, after.busy - before.busy - (after.own - before.own)) / all;
  const stolen = (after.stolen - before.stolen) / all;
  const late = [bare, ...columns.map(({ figures }) => figures)].flatMap(({ lag }) =>
    lag.flatMap((percentiles) => percentiles[1] ?? []),
  );
  const [middle, worst] = [median(late) ?? 0, Math.max(0, ...late)];
  const share = (part: number) => `${(part * 100).toFixed(1)} %`;
  return `Other processes took ${share(others)} of the machine's time and its host ${share(stolen)}; of its own the client was ${middle.toFixed(2)} ms late at p99 (median of its runs; ${worst.toFixed(2)} ms in the worst).`;
}

function closingText({ open, books }: End): string {
  const late = (ms: number) => `${ms.toFixed(1)} ms`;
  const streams =
    open === undefined
      ? ''
      : `${openStreams} open streams, one chunk a second each: ${open.memoryMb.toFixed(0)} MB at most, latest chunk ${late(open.lateMs)} after it was written (${late(open.aloneMs)} without a gateway)${open.failed === 0 ? '' : `; ${open.failed} FAILED`}.\n\n`;
  return `${streams}${books.text}`;
}

const publishedText = `The work of benchmarks that others have published, shortened and on this machine: not their figures, but their requests. Closed loops ("at a time") show what a gateway does at most,
fixed rates what a client waits; what is not answered 200 within two seconds of when it could be has failed. Added is what the vendor alone does not take.`;

const ratesText =
  'Milliseconds that a whole answer takes longer than without a gateway, p50 / p99. "Answers N/s": the gateway did not reach the rate, and answered so many at most.';
