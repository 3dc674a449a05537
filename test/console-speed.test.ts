import { expect, test } from 'vitest';
import { measurePages } from '../bench/console-pages.ts';
import { makeHistory } from '../bench/history.ts';
import { check } from '../src/ledger/check.ts';
import { migrations } from '../src/app/schema.ts';
import { rollUp } from '../src/usage/rollup.ts';
import { forEachDatabase } from './databases.ts';

/** The full size is `npm run bench:console`'s; `npm run test:long` has a twentieth of it. */
const long = process.env['LONG_TESTS'] === 'true';
const [records, days] = long ? [500_000, 60] : [20_000, 4];
const end = Date.UTC(2026, 10, 21);
/** Of a machine that does other things at the same time. */
const slack = 5;

forEachDatabase((name, openFresh) => {
  test('pages answer at once, however much there is, and the history is in order', async () => {
    const database = await openFresh({ migrations });
    await database.query("INSERT INTO account (id, kind) VALUES ('wallet:bench', 'operator')");
    const history = await makeHistory(database, end, records / 2, records, days);
    await makeHistory(database, end, records, records, days);
    while (await rollUp(database, end + 3_600_000)) continue;
    const [counted] = await database.query(
      'SELECT (SELECT COUNT(*) FROM usage) AS records, (SELECT SUM(requests) FROM spend_hour) AS rolled',
    );
    expect([Number(counted?.['records']), Number(counted?.['rolled'])]).toEqual([records, records]);
    if (!long) expect(await check(database)).toMatchObject({ ok: true, problems: [] });
    const limit = (name === 'postgres' ? 200 : 400) * slack;
    for (const { page, user, medianMs } of await measurePages(database, history))
      expect(medianMs, `${page} of the ${user} user`).toBeLessThan(limit);
  }, 300_000);
});
