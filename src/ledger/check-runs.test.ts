import { expect, test } from 'vitest';
import { hourMs } from '../base/calendar.ts';
import { forEachDatabase } from '../../test/databases.ts';
import { migrations } from '../app/schema.ts';
import { nanoPerYuan } from '../base/money.ts';
import { check } from './check.ts';
import { checkRun, checkRuns, lastNight, startCheck, startNightlyCheck } from './check-runs.ts';
import { unexpected } from '../../test/support/unexpected.ts';

/** 2026-11-21 05:00 in Shanghai. */
const early = Date.UTC(2026, 10, 20, 21);

test('a night begins at four by the offset of the limits', () => {
  expect(lastNight(early, 480)).toBe(early - hourMs);
  expect(lastNight(early - hourMs, 480)).toBe(early - hourMs);
  expect(lastNight(early - hourMs - 1, 480)).toBe(early - 25 * hourMs);
  expect(lastNight(early, 0)).toBe(Date.UTC(2026, 10, 20, 4));
});

forEachDatabase((_name, openFresh) => {
  test('each night has one proof, whichever node begins it', async () => {
    const database = await openFresh({ migrations });
    const clock = { time: early, now: () => clock.time, monotonicMs: () => 0 };
    const look = () =>
      startNightlyCheck(database, clock, {}, lastNight(clock.time, 480), unexpected);
    const ended = (id: string) =>
      expect.poll(async () => (await checkRun(database, id, clock.time))?.ok).toBe(true);
    await ended(await startCheck(database, clock, {}, unexpected));
    clock.time += 1_000;
    const begun = (await Promise.all([look(), look(), look()])).filter((id) => id !== undefined);
    expect(begun).toHaveLength(1);
    await ended(begun[0] ?? '');
    clock.time += 20 * hourMs;
    expect(await look()).toBeUndefined();
    clock.time += 4 * hourMs;
    await ended((await look()) ?? '');
    expect((await checkRuns(database, clock.time, 10)).map(({ nightly }) => nightly)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('a proof that is lost is begun again, three times a night at most', async () => {
    const database = await openFresh({ migrations });
    const clock = { time: early, now: () => clock.time, monotonicMs: () => 0 };
    const look = () =>
      startNightlyCheck(database, clock, {}, lastNight(clock.time, 480), unexpected);
    const tries: boolean[] = [];
    for (let i = 0; i < 4; i++) {
      const id = await look();
      tries.push(id !== undefined);
      if (id !== undefined) {
        await expect.poll(async () => (await checkRun(database, id, clock.time))?.ok).toBe(true);
        await database.query('UPDATE ledger_check SET ok=NULL WHERE id=$1', [id]);
        expect(await look()).toBeUndefined();
      }
      clock.time += 600_000;
    }
    expect(tries).toEqual([true, true, true, false]);
  });

  test('a proof with a query that fails is lost, and its error is reported', async () => {
    const database = await openFresh({ migrations });
    const clock = { time: early, now: () => clock.time, monotonicMs: () => 0 };
    const errors: string[] = [];
    const onError = (_: string, error: unknown) => void errors.push(String(error));
    const id = await startCheck(database, clock, { wrong: 'SELECT 1 FROM nowhere' }, onError);
    await expect.poll(() => errors).toEqual([expect.stringContaining('nowhere')]);
    clock.time += 60_000;
    expect(await checkRun(database, id, clock.time)).toMatchObject({
      ok: undefined,
      running: false,
    });
  });

  test('credits and debits of more than 64 bits in all are proved and added up', async () => {
    const database = await openFresh({ migrations });
    const most = 999_999_999n * nanoPerYuan;
    await database.query(
      "INSERT INTO account (id, kind, credits, debits) VALUES ('A', 'user', $1, $1), ('B', 'user', $2, 0)",
      [9n * most, most + 1n],
    );
    const move = (id: string, debit: string, to: string, amount: bigint) =>
      database.query(
        "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, $2, $3, $4, 'grant', 1)",
        [id, debit, to, amount],
      );
    for (let n = 0; n < 9; n++) {
      await move(`given ${n}`, 'grants', 'A', most);
      await move(`back ${n}`, 'A', 'grants', most);
    }
    await move('given', 'grants', 'B', most + 1n);
    const clock = { now: () => early, monotonicMs: () => 0 };
    const id = await startCheck(database, clock, {}, unexpected);
    await expect.poll(async () => (await checkRun(database, id, early))?.ok).toBe(true);
    expect(await checkRun(database, id, early)).toMatchObject({
      sums: { balance: most + 1n, topUps: 0n, credits: most + 1n, paidOut: 0n, charges: 0n },
    });
    await database.query("UPDATE account SET debits=debits-1 WHERE id='A'");
    expect((await check(database)).problems).toMatchObject([{ query: 'debits', row: { id: 'A' } }]);
  });
});
