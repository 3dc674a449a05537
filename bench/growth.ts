// `npm run bench:growth`: what a request costs when there is much of something. `--only keys,channels,records,streams` measures some of it, `--records URL` names the database that
// `npm run bench:console` has filled, `--write` puts what was measured into docs/benchmarks-growth.md and leaves the rest of that page as it is.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { open } from '../src/storage/open.ts';
import { countOf } from './history.ts';
import { compareSizes } from './growth/compare.ts';
import { manyKeys } from './growth/keys.ts';
import { compareStreams } from './growth/streams.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'keys,channels,records,streams' },
    rounds: { type: 'string', default: '16' },
    keys: { type: 'string', default: '1,1000,100000' },
    channels: { type: 'string', default: '1,30,1000' },
    records: { type: 'string' },
    streams: { type: 'string', default: '1,100,1000,8500' },
    write: { type: 'boolean', default: false },
  },
});
const page = join(import.meta.dirname, '../docs/benchmarks-growth.md');
const rounds = Number(options.rounds);
const numbers = (list: string): number[] => list.split(',').map(Number);
const said = (count: number): string => count.toLocaleString('en');

const parts: Readonly<
  Record<string, { readonly title: string; readonly about: string; readonly measure: () => Promise<string | undefined> }>
> = {
  keys: {
    title: 'Keys',
    about:
      'All of them in use, one after the other; a hundred belong to one user, who has money. Each has asked once before: its first request reads the key from the database and draws money. Charges of one user in one commit are one change of his balance; with many users each has its own, which is what the first row does not pay.',
    measure: () =>
      compareSizes(
        'keys',
        numbers(options.keys).map((count) => ({ label: said(count), wish: { keys: (database) => manyKeys(database, count) } })),
        rounds,
      ),
  },
  channels: {
    title: 'Channels',
    about:
      'All of them sell the same model to the same group, so that each request has all to choose from; each has connections of its own.',
    measure: () =>
      compareSizes(
        'channels',
        numbers(options.channels).map((channels) => ({ label: said(channels), wish: { channels } })),
        rounds,
      ),
  },
  records: {
    title: 'Usage records',
    about: 'In the database before the first request, rolled up by the hour. The large ones are files of `npm run bench:console`.',
    measure: records,
  },
  streams: {
    title: 'Open streams',
    about:
      'One chunk at a time, to each stream in turn. Memory is what the process has more than before it opened them, after some were open and have ended. With 20,000 open files, which this machine allows a process, more than 9,900 streams cannot be open.',
    measure: () => compareStreams(numbers(options.streams)),
  },
};

const wanted = options.only.split(',');
let text = existsSync(page) ? readFileSync(page, 'utf8') : '';
for (const [name, { title, about, measure }] of Object.entries(parts)) {
  const table = wanted.includes(name) ? await measure() : undefined;
  if (table === undefined) continue;
  const section = `## ${title}\n\n${about}\n\n${table}\n`;
  console.log(`\n${section}`);
  text = withSection(text, title, section);
}
if (options.write) writeFileSync(page, text);

/** An empty database beside those that are full. */
async function records(): Promise<string | undefined> {
  if (options.records === undefined) return undefined;
  const sizes = [{ label: '0', wish: {} }];
  for (const databaseUrl of options.records.split(',')) {
    const database = await open(databaseUrl);
    const label = `${said(await countOf(database, 'usage'))} on ${database.dialect === 'postgres' ? 'PostgreSQL' : 'SQLite'}`;
    await database.close();
    sizes.push({ label, wish: { databaseUrl } });
  }
  return compareSizes('records', sizes, rounds);
}

/** The page with this section in its place: a new one stands behind the others. */
function withSection(page: string, title: string, section: string): string {
  const head = page === '' ? introduction() : page;
  const begin = head.indexOf(`## ${title}\n`);
  if (begin < 0) return `${head.trimEnd()}\n\n${section}`;
  const end = head.indexOf('\n## ', begin);
  return head.slice(0, begin) + section + (end < 0 ? '' : head.slice(end));
}

function introduction(): string {
  return `# What growth costs

A request should cost the same whether there is one key or a hundred thousand. Written by \`npm run bench:growth -- --write\`: gateways of all sizes run at the same time on one machine and are asked in turn, a few
milliseconds each; CPU is that of all threads of the process, the lower quartile of many such slices.

${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${process.platform}.
`;
}
