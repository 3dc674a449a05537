import { expect, test } from 'vitest';
import { endOfTime } from '../base/calendar.ts';
import { forEachDatabase } from '../../test/databases.ts';
import { charges, noon, type TestCharge } from '../../test/support/console-user.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { migrations } from '../app/schema.ts';
import { firstIdAt, timeOfId } from '../base/random.ts';
import type { Database } from '../storage/database.ts';
import {
  type AllRecordsQuery,
  chargedAfterMs,
  recordsOfAccount,
  recordsOfAll,
} from './all-records.ts';

const idOf = (number: number): string => `req_${String(number).padStart(32, '0')}`;
const everything = { fromId: 'req_', beforeId: 'req_g', begunFrom: 0, begunTo: endOfTime };

forEachDatabase((_name, openFresh) => {
  async function withCharges(made: readonly Omit<TestCharge, 'account' | 'keyId' | 'lines'>[]) {
    const database = await openFresh({ migrations });
    const { userId: account } = await newCustomer(database, 1_000_000_000_000n);
    await charges(
      database,
      made.map((one) => ({ ...one, account, keyId: 'key_1', lines: [] })),
    );
    return { database, account };
  }
  const reader =
    (database: Database, lookedThrough: number, account?: string) =>
    async (question: Partial<AllRecordsQuery>): Promise<readonly unknown[]> => {
      const asked = { ...everything, limit: 3, ...question };
      const { rows, until } = await database.snapshot(() =>
        account === undefined
          ? recordsOfAll(asked, lookedThrough)
          : recordsOfAccount(account, asked, lookedThrough),
      );
      return [rows.map(({ id }) => id), until];
    };

  test('a page of all records says how far it goes; a filter with few matches, how far it looked', async () => {
    const { database } = await withCharges([
      ...Array.from({ length: 10 }, (_, index) => ({
        ...{ id: idOf(index), at: noon + index },
        model: index === 1 || index === 8 ? 'rare' : 'glm',
      })),
      { id: 'video_1', at: noon },
    ]);
    const read = reader(database, 4);
    expect(await read({})).toEqual([[idOf(9), idOf(8), idOf(7)], idOf(7)]);
    expect(await read({ beforeId: idOf(2) })).toEqual([[idOf(1), idOf(0)], undefined]);
    expect(await read({ model: 'rare' })).toEqual([[idOf(8)], idOf(6)]);
    expect(await read({ beforeId: idOf(6), model: 'rare' })).toEqual([[], idOf(2)]);
    expect(await read({ beforeId: idOf(2), model: 'rare' })).toEqual([[idOf(1)], undefined]);
  });

  test('the records of an account come by its index, in the order of their beginning', async () => {
    const begun = (at: number): string => `${firstIdAt(noon + at)}${'0'.repeat(20)}`;
    // The request that began at 1 took until 90.
    const { database, account } = await withCharges(
      [1, 2, 3, 4, 5, 6].map((at) => ({
        id: begun(at),
        at: noon + (at === 1 ? 90 : at * 10),
        model: at === 1 ? 'rare' : 'glm',
      })),
    );
    const other = (await newCustomer(database, 1_000_000_000_000n)).userId;
    await charges(
      database,
      [7, 8, 9].map((at) => ({
        ...{ id: begun(at), at: noon + 100 + at },
        ...{ account: other, keyId: 'key_2', lines: [] },
      })),
    );
    const pages = async (question: Partial<AllRecordsQuery>) => {
      const read = reader(database, 4, account);
      const all: unknown[] = [];
      for (let beforeId: string | undefined = 'req_g'; beforeId !== undefined; ) {
        const begunTo = beforeId === 'req_g' ? endOfTime : timeOfId(beforeId) + 1;
        const page = await read({ ...question, beforeId, begunTo });
        all.push(page[0]);
        beforeId = page[1] as string | undefined;
      }
      return all;
    };
    expect(await pages({})).toEqual([[6, 5, 4].map(begun), [3, 2, 1].map(begun), []]);
    expect(await pages({ limit: 2 })).toEqual([
      ...[[6, 5].map(begun), [4, 3].map(begun)],
      ...[[2, 1].map(begun), []],
    ]);
    // Four charges were looked through: those of the requests 1, 6, 5 and 4.
    expect(await pages({ model: 'rare' })).toEqual([[], [begun(1)]]);
    expect(await reader(database, 4, other)({})).toEqual([[9, 8, 7].map(begun), begun(7)]);
  });

  test('a request whose client left before the first byte is told from the others', async () => {
    const { database } = await withCharges([
      { id: idOf(1), at: noon, status: 'left', firstByteMs: null },
      { id: idOf(2), at: noon, status: 'left' },
      { id: idOf(3), at: noon, firstByteMs: null },
    ]);
    const read = reader(database, 100);
    expect(await read({ answerBegun: false })).toEqual([[idOf(1)], undefined]);
    expect(await read({ answerBegun: true })).toEqual([[idOf(3), idOf(2)], undefined]);
  });

  test('the time of a request is that until its charge', async () => {
    const { database } = await withCharges([{ id: idOf(4), at: noon, totalMs: 4 }]);
    expect(await database.snapshot(() => chargedAfterMs([idOf(4), 'req_x']))).toEqual(
      new Map([[idOf(4), 4]]),
    );
  });
});
