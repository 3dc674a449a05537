import { startPostgres } from '../test/postgres.ts';
import { markdownTable } from './markdown-table.ts';
import { ownDatabase } from './postgres.ts';
import { allocationsOf, callsOf, costOf, eachOf, startProfiled } from './profiled.ts';
import { machine } from './report.ts';

/** The workloads of the table, and their descriptions. */
const shown: readonly (readonly [workload: string, words: string])[] = [
  ['small', 'chat, 1.5 KB'],
  ['long', 'chat, 100 KB'],
  ['image', 'chat with a picture of 4 MB'],
  ['stream', 'chat, streamed'],
  ['responses', 'responses over chat'],
  ['responses-stream', 'responses over chat, streamed'],
  ['messages', 'messages to Anthropic'],
  ['messages-stream', 'messages to Anthropic, streamed'],
];
const rounds = 3;
const sliceSeconds = 1;
const countedSeconds = 2;

/** The totals of one request or chunk, for each workload on each database, in Markdown. */
export async function profilesPage(): Promise<string> {
  const postgres = await startPostgres();
  if ('missing' in postgres) throw new Error(postgres.missing);
  const lines: string[][] = [];
  const put = (line: string[]): void => {
    lines.push(line);
    console.log(line.join(' | '));
  };
  for (const [n, [workload, words]] of shown.entries()) {
    put([words, 'SQLite', ...(await cells(workload, undefined))]);
    const database = await ownDatabase(postgres.url, `profile_${process.pid}_${n}`);
    put([words, 'PostgreSQL', ...(await cells(workload, database.url))]);
    await database.drop();
  }
  await postgres.stop();
  const head = [
    '',
    'database',
    'of one',
    'CPU µs',
    'nginx',
    '×',
    'KB allocated',
    'system calls',
    'nginx',
    '×',
  ];
  const table = markdownTable(head, lines, 3);
  return `# What a request costs, and a chunk

Written by \`npm run bench:profile -- --write\`: the gateway with everything on, and nginx, which only passes the same on, asked in turn, ${rounds} slices of each, medians. Streams have a chunk each 10 ms, 100 of them at once, and are counted in chunks;
of whole answers fifty are asked for at once, of pictures four. Where it goes, by thread and by function: \`npm run bench:profile -- WORKLOAD [--database postgres]\`; what was found and changed: [decision 0017](../decisions/0017-profiles.md).

- CPU is the user and system time of all threads of the process. PostgreSQL's own processes are not in it.
- Allocated is what the main thread allocates in V8's heap, by its sampler; buffers, which lie outside it, are not in it.
- System calls are counted by \`strace\`, which makes everything slower, so that more goes together in one call than usual.

${machine()}

${table}
`;
}

async function cells(workload: string, database: string | undefined): Promise<string[]> {
  const profiled = await startProfiled(workload, database);
  try {
    const { cost, calls, proxied } = await profiled.running([], {}, async (started) => ({
      cost: await costOf(profiled, started, rounds, sliceSeconds),
      calls: await callsOf(profiled, started.pid, profiled.ours, countedSeconds),
      proxied: await callsOf(profiled, profiled.proxyPid, profiled.proxied, countedSeconds),
    }));
    const kilobytes = eachOf(await allocationsOf(profiled, countedSeconds)) / 1024;
    const counted = calls && proxied ? beside(eachOf(calls), eachOf(proxied), 1) : ['–', '–', ''];
    return [profiled.unit, ...beside(cost.own, cost.nginx, 0), kilobytes.toFixed(1), ...counted];
  } finally {
    await profiled.stop();
  }
}

const beside = (own: number, nginx: number, digits: number): string[] => [
  own.toFixed(digits),
  nginx.toFixed(digits),
  `${(own / nginx).toFixed(2)} ×`,
];
