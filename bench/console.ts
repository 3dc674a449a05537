import { hourMs } from '../src/base/calendar.ts';
import { systemClock } from '../src/base/clock.ts';
import { migrations } from '../src/app/schema.ts';
import { migrate } from '../src/storage/migrate.ts';
import { requestLogLimits } from '../src/request-log/entry.ts';
import { open } from '../src/storage/open.ts';
import { noStatementTimeout } from '../src/storage/sql.ts';
import { rollUp } from '../src/usage/rollup.ts';
import { createPartitions } from '../src/usage/partitions.ts';
import { measurePages } from './console-pages.ts';
import { countOf, historyDays, makeHistory } from './history.ts';
import { makeRequestLog } from './request-log-rows.ts';

/**
 * `npm run bench:console -- sqlite:/path/file.db 10000000 [1000000] [1000000]`: creates that many
 * usage records (at most the third number at a time, and as many hourly figures: call it again) and
 * a request log with the fourth number of rows, and prints how long each page of the console takes.
 */
const [
  url = 'sqlite::memory:',
  wanted = '1000000',
  atOnce = wanted,
  logged = String(requestLogLimits.rowsMax),
] = process.argv.slice(2);
const whole = Number(wanted);
const database = await open(url);
await migrate(database, migrations);
await database.query(
  "INSERT INTO account (id, kind) VALUES ('wallet:bench', 'operator') ON CONFLICT (id) DO NOTHING",
);
const counted = await countOf(database, 'usage');
const [begun] = await database.query('SELECT MIN(created_at) AS at FROM users');
// An earlier call created its users at the beginning.
const to =
  begun?.['at'] === null || begun === undefined
    ? Math.floor(systemClock.now() / hourMs) * hourMs
    : Number(begun['at']) + historyDays * 24 * hourMs;
// As a running gateway would have made them.
for (let at = to - historyDays * 24 * hourMs; at < to; at += 20 * 24 * hourMs)
  await createPartitions(database, { ...systemClock, now: () => at });
const records = Math.min(whole, counted + Number(atOnce));
const started = systemClock.monotonicMs();
const history = await makeHistory(database, to, records, whole);
const made = systemClock.monotonicMs();
// The same share of them at a time as of records.
const hoursMax = Math.ceil(Number(atOnce) / 5_000);
let hours = 0;
let left = true;
for (; records === whole && left && hours < hoursMax; hours++)
  left = (await rollUp(database, to + hourMs)) !== undefined;
if (!left) await makeRequestLog(database, history, Number(logged));
if (database.dialect === 'postgres' && !left)
  await database.transact(function* () {
    yield* noStatementTimeout(database);
    yield { sql: 'ANALYZE', params: [] };
  });
const rolled = systemClock.monotonicMs();
console.log(
  `${records} of ${whole} records in ${seconds(made - started)}, ${hours} hours rolled up in ${seconds(rolled - made)}`,
);
if (!left) {
  const line = (...cells: readonly string[]): void => console.log(cells.join('  '));
  line('page'.padEnd(52), 'user    ', '   median', '      p95', ' CPU');
  await measurePages(database, history, ({ page, user, medianMs, p95Ms, cpuMs }) =>
    line(
      page.padEnd(52),
      user.padEnd(8),
      ...[medianMs, p95Ms, cpuMs].map((ms) => `${ms.toFixed(0).padStart(6)} ms`),
    ),
  );
}
await database.close();

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
