import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { charges, noon } from '../../test/support/console-user.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { migrations } from '../app/schema.ts';
import { allRecordsPage, chargedAfterMs } from './all-records.ts';

const idOf = (number: number): string => `req_${String(number).padStart(32, '0')}`;
const everything = { fromId: 'req_', beforeId: 'req_g', begunFrom: 0 };

forEachDatabase((_name, openFresh) => {
  test('a filter with few matches comes in pages that say how far they looked', async () => {
    const database = await openFresh({ migrations });
    const { userId: account } = await newCustomer(database, 1_000_000_000_000n);
    await charges(database, [
      ...Array.from({ length: 10 }, (_, index) => ({
        ...{ id: idOf(index), account, keyId: 'key_1', at: noon + index, totalMs: index },
        ...{ model: index === 1 || index === 8 ? 'rare' : 'glm', lines: [] },
      })),
      { id: 'video_1', account, keyId: 'key_1', at: noon, lines: [] },
    ]);
    const page = (beforeId: string, model?: string) =>
      database.snapshot(() =>
        allRecordsPage({ ...everything, beforeId, model, limit: 3 }, { lookedThrough: 4 }),
      );
    const read = async (beforeId: string, model?: string) => {
      const { rows, until } = await page(beforeId, model);
      return [rows.map(({ id }) => id), until];
    };
    expect(await read('req_g')).toEqual([[idOf(9), idOf(8), idOf(7)], undefined]);
    expect(await read('req_g', 'rare')).toEqual([[idOf(8)], idOf(6)]);
    expect(await read(idOf(6), 'rare')).toEqual([[], idOf(2)]);
    expect(await read(idOf(2), 'rare')).toEqual([[idOf(1)], undefined]);
    expect(await database.snapshot(() => chargedAfterMs([idOf(4), 'req_x']))).toEqual(
      new Map([[idOf(4), 4]]),
    );
  });
});
