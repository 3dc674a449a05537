import { markdownTable } from './markdown-table.ts';
import type { Column } from './report.ts';

/** What a gateway does for a request, by its documents and source. */
interface Doing {
  readonly name: string;
  /** Of a gateway that the bench does not run. */
  readonly version?: string;
  readonly checksKey: string;
  readonly limits: string;
  readonly reserves: string;
  readonly records: string;
  readonly charges: string;
  readonly runs: string;
}

/** The gateways that are written in Go. */
export const goPeers = ['GoModel', 'Bifrost', 'one-api'];

const doings: readonly Doing[] = [
  {
    name: 'Tollgate',
    checksKey: 'yes',
    limits: 'requests, tokens, at once',
    reserves: 'yes, never more than the balance',
    records: 'yes, durable',
    charges: 'yes, exact, in one commit with the record',
    runs: '`tollgate serve`, everything on, SQLite',
  },
  {
    name: 'nginx',
    checksKey: 'no',
    limits: 'no',
    reserves: 'no',
    records: 'no',
    charges: 'no',
    runs: 'forwards',
  },
  {
    name: 'Node with duties',
    checksKey: 'one key',
    limits: 'requests, tokens',
    reserves: 'yes, in memory',
    records: 'yes, durable',
    charges: 'yes, in one commit with the record',
    runs: 'forwards',
  },
  {
    name: 'Portkey',
    checksKey: 'no, passes it on',
    limits: 'no',
    reserves: 'no',
    records: 'no',
    charges: 'no',
    runs: '`node build/start-server.js`, its open server; keys, budgets and logs belong to its hosted service',
  },
  {
    name: 'LiteLLM',
    checksKey: 'one master key',
    limits: 'no',
    reserves: 'no',
    records: 'no',
    charges: 'no',
    runs: '`litellm --config`, one process without PostgreSQL and Redis, which its keys, budgets and spend logs need',
  },
  {
    name: 'GoModel',
    checksKey: 'one master key, or keys that it keeps',
    limits: 'budgets',
    reserves: 'no, compares with what was spent so far',
    records: 'in batches every 5 s, dropped when its queue is full',
    charges: 'no balances; the cost is in the record',
    runs: '`gomodel`, a master key, usage on, no budgets, SQLite; its log of whole requests is off, as by default',
  },
  {
    name: 'Bifrost',
    checksKey: 'virtual keys',
    limits: 'requests, tokens, budgets',
    reserves: 'no, compares with what was used so far',
    records: 'in batches, dropped when its queue is full',
    charges: 'after the answer, in memory, written every 10 s',
    runs: '`bifrost-http -app-dir`, a virtual key with a budget and limits, SQLite, `GOGC=200`; logs without what was asked and answered',
  },
  {
    name: 'one-api',
    checksKey: 'yes',
    limits: 'the quota of a user and a key',
    reserves: 'only when a hundred requests like it exceed the quota that is left',
    records: 'after the answer',
    charges: 'after the answer; sums written every 5 s; a quota may go below zero',
    runs: '`one-api --port --log-dir`, its data in PostgreSQL that does not wait for the disk, Redis before it; the processor time of both is not counted',
  },
  {
    name: 'new-api',
    version: '1.0.0-rc.25',
    checksKey: 'yes',
    limits: 'yes',
    reserves: 'up to a trusted balance; nothing above it',
    records: 'yes',
    charges: 'after the answer, in separate statements; a balance may go below zero',
    runs: 'no package registry has it, and this benchmark does not know how to start it',
  },
];

export function doingsTable(
  columns: readonly Column[],
  absent: ReadonlyMap<string, string>,
): string {
  const head = [
    '',
    'checks a key',
    'limits',
    'reserves before',
    'record of each answer',
    'charges',
    'as it runs here',
  ];
  const lines = doings.map((one) => {
    const ran = columns.find(({ name }) => name === one.name);
    const version = ran?.version ?? one.version ?? '';
    const runs = ran === undefined ? `not run: ${absent.get(one.name) ?? one.runs}` : one.runs;
    const { checksKey, limits, reserves, records, charges } = one;
    return [`${one.name} ${version}`.trim(), checksKey, limits, reserves, records, charges, runs];
  });
  return `${markdownTable(head, lines, head.length)}\n\n${source}`;
}

const source =
  'What the others do is told by their documents and source, not by this run. That Portkey passes any key on was seen here.';
