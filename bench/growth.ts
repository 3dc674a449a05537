// `npm run bench:growth`: what a request costs when there is much of something.
// `--only keys,channels,records,streams` measures some of it (`--only none` nothing),
// `--records URL,URL` names databases that `npm run bench:console` has filled, `--postgres URL` a
// server for keys there (else one of its own). `--write` keeps what was found beside
// (growth/data/results.json) and writes docs/benchmarks/growth.md of it.
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres.ts';
import { compareSizes, sizesOf } from './growth/compare.ts';
import { manyKeys } from './growth/keys.ts';
import { writeGrowthPage } from './growth/page.ts';
import { newDatabase } from './growth/postgres.ts';
import { compareRecords } from './growth/records.ts';
import { beginSection, type Found } from './growth/results.ts';
import { compareStreams } from './growth/streams.ts';
import { markdown } from './growth/table.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'keys,channels,records,streams' },
    rounds: { type: 'string', default: '16' },
    keys: { type: 'string', default: '1,1000,100000' },
    channels: { type: 'string', default: '1,30,1000' },
    records: { type: 'string', default: '' },
    postgres: { type: 'string' },
    streams: { type: 'string', default: '1,100,1000,9900' },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const numbers = (list: string): number[] => list.split(',').map(Number);
const parts: Readonly<Record<string, () => Promise<Found | undefined>>> = {
  keys,
  'keys-postgres': keysOnPostgres,
  channels,
  records,
  streams,
};
const wanted = options.only.split(',');
for (const [name, measure] of Object.entries(parts)) {
  if (!wanted.includes(name)) continue;
  const keep = beginSection(name);
  const found = await measure();
  if (found === undefined) continue;
  console.log(`\n${[...found.tables.map(markdown), found.words ?? ''].join('\n\n')}`);
  if (options.write) keep(found);
}
if (options.write) writeGrowthPage();

async function keys(): Promise<Found> {
  const counts = numbers(options.keys);
  const sizes = sizesOf(counts, (count) => ({ keys: (database) => manyKeys(database, count) }));
  const most = Math.max(...counts);
  const ofOne = sizesOf([most], (count) => ({ keys: (database) => manyKeys(database, count, 1) }));
  return {
    tables: [
      await compareSizes(
        'keys, SQLite',
        [...sizes, ...ofOne.map((size) => ({ ...size, label: `${size.label} of one user` }))],
        rounds,
      ),
    ],
  };
}

async function keysOnPostgres(): Promise<Found | undefined> {
  const server =
    options.postgres === undefined
      ? await startPostgres()
      : { url: options.postgres, stop: async () => {} };
  if ('missing' in server) {
    console.log(`no PostgreSQL: ${server.missing}`);
    return undefined;
  }
  try {
    const counts = numbers(options.keys);
    const urls = new Map<number, string>();
    for (const count of counts) urls.set(count, await newDatabase(server.url));
    const sizes = sizesOf(counts, (count) => ({
      databaseUrl: urls.get(count) ?? '',
      keys: (database) => manyKeys(database, count),
    }));
    return { tables: [await compareSizes('keys, PostgreSQL', sizes, rounds)] };
  } finally {
    await server.stop();
  }
}

async function channels(): Promise<Found> {
  return {
    tables: [
      await compareSizes(
        'channels',
        sizesOf(numbers(options.channels), (count) => ({ channels: count })),
        rounds,
      ),
    ],
  };
}

async function records(): Promise<Found | undefined> {
  const urls = options.records.split(',').filter((url) => url !== '');
  const found = [];
  for (const url of urls) found.push(await compareRecords(url, rounds));
  if (found.length === 0) return undefined;
  return {
    tables: found.map(({ table }) => table),
    words: found
      .map(({ words }) => words)
      .join('')
      .trim(),
  };
}

async function streams(): Promise<Found> {
  return { tables: [await compareStreams(numbers(options.streams))] };
}
