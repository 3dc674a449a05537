// `npm run bench:profile -- WORKLOAD [--database sqlite|postgres|URL] [--seconds 4] [--top
// 15]`: what one request or chunk costs the built gateway, and where. Processor time beside nginx
// in the same run, by thread and by function; bytes allocated by function; system calls. WORKLOAD:
// a name in workloads.ts. Without a WORKLOAD: the totals of those that matter, on both databases,
// in one table; with --write docs/benchmarks/profiles.md.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres.ts';
import { type Started, threads } from './process.ts';
import { profilesPage } from './profile-page.ts';
import {
  allocationsOf,
  callsOf,
  type Counted,
  costOf,
  eachOf,
  type Profiled,
  startProfiled,
} from './profiled.ts';
import { selfTimes } from './profiles.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '4' },
    top: { type: 'string', default: '15' },
    write: { type: 'boolean', default: false },
  },
});
// and with it all processes that it started
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const [name] = positionals;
const seconds = Number(options.seconds);
const rounds = 5;

if (name === undefined) {
  const page = await profilesPage();
  console.log(page);
  if (options.write)
    writeFileSync(join(import.meta.dirname, '../docs/benchmarks/profiles.md'), page);
} else {
  await one(name);
}

async function one(workload: string): Promise<void> {
  const postgres = options.database === 'postgres' ? await startPostgres() : undefined;
  if (postgres !== undefined && 'missing' in postgres) throw new Error(postgres.missing);
  const url = postgres?.url ?? (options.database === 'sqlite' ? undefined : options.database);
  const profiled = await startProfiled(workload, url);
  await profiled.running([], {}, async (started) => {
    const { own, nginx } = await costOf(profiled, started, rounds, Math.max(1, seconds / 2));
    const where = url === undefined ? 'SQLite' : 'PostgreSQL';
    console.log(
      `${workload} on ${where}: ${own.toFixed(1)} µs a ${profiled.unit}, nginx ${nginx.toFixed(1)} µs: ${(own / nginx).toFixed(2)} ×`,
    );
    print(profiled, 'Processor time by thread', await byThread(profiled, started), 'µs');
    const calls = await callsOf(profiled, started.pid, profiled.ours, seconds);
    if (calls === undefined) console.log('\nSystem calls: strace is not installed.');
    else print(profiled, 'System calls, while they were counted', calls, 'calls');
  });
  await byFunction(profiled);
  print(
    profiled,
    'Allocated in the heap of the main thread, buffers apart',
    await allocationsOf(profiled, seconds),
    'bytes',
  );
  await profiled.stop();
  await postgres?.stop();
}

function print({ unit }: Profiled, title: string, counted: Counted, of: string): void {
  const { rows, units } = counted;
  const total = rows.reduce((sum, { amount }) => sum + amount, 0);
  console.log(`\n${title}: ${eachOf(counted).toFixed(1)} ${of} a ${unit}`);
  for (const { name: row, amount } of rows.slice(0, Number(options.top)))
    console.log(`${(amount / units).toFixed(2).padStart(12)}  ${share(amount, total)}  ${row}`);
}

function share(amount: number, total: number): string {
  return `${((100 * amount) / total).toFixed(1).padStart(5)} %`;
}

async function byThread(profiled: Profiled, { pid }: Started): Promise<Counted> {
  const before = threads(pid);
  const units = await profiled.load(profiled.ours, seconds);
  const rows = threads(pid).map(({ id, name: thread, amount }) => {
    const was = before.find((earlier) => earlier.id === id)?.amount ?? 0;
    return { name: `${thread}${id === pid ? ' (main)' : ''}`, amount: amount - was };
  });
  return {
    rows: rows.filter(({ amount }) => amount > 0).sort((x, y) => y.amount - x.amount),
    units,
  };
}

async function byFunction(profiled: Profiled): Promise<void> {
  const place = join(profiled.folder, 'cpu');
  const clock = (): number => Number(process.hrtime.bigint() / 1000n);
  const [from, to] = await profiled.running(
    ['--cpu-prof', `--cpu-prof-dir=${place}`, '--cpu-prof-interval=200'],
    {},
    async () => {
      const begun = clock();
      await profiled.load(profiled.ours, seconds);
      return [begun, clock()] as const;
    },
  );
  for (const file of readdirSync(place)) {
    const thread = /\.\d+\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1];
    const rows = selfTimes(join(place, file), from, to);
    const total = rows.reduce((sum, { amount }) => sum + amount, 0);
    // Only shares: a sampler counts the time in which a function's thread waits for the core as the
    // function's.
    if (total > 0) console.log(`\nOwn time by function, thread ${thread}`);
    for (const { name: row, amount } of rows.slice(0, Number(options.top)))
      console.log(`${share(amount, total)}  ${row}`);
  }
}
