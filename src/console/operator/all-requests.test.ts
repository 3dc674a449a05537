import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { charges, noon } from '../../../test/support/console-user.ts';
import { newCustomer } from '../../../test/support/customer.ts';
import { migrations } from '../../app/schema.ts';
import { firstIdAt } from '../../base/random.ts';
import { type RequestLogQuery, writeRequests } from '../../request-log/queries.ts';
import type { Database } from '../../storage/database.ts';
import { requestOfCharge } from '../user/requests.ts';
import { allRequests } from './all-requests.ts';

const idAt = (at: number): string => `${firstIdAt(noon + at)}${'0'.repeat(20)}`;

async function idsOf(
  database: Database,
  question: Omit<RequestLogQuery, 'limit' | 'before'>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const { items, next } = await database.snapshot(() =>
      allRequests({ ...question, before, limit: 1 }),
    );
    ids.push(...items.map(({ id }) => id));
    if (next === undefined) return ids;
    before = next;
  }
}

forEachDatabase((_name, openFresh) => {
  test('a page whose records the log has with another status is not the last one', async () => {
    const database = await openFresh({ migrations });
    const { userId: account } = await newCustomer(database, 1_000_000_000_000n);
    const made = { account, keyId: 'key_1', lines: [] };
    await charges(database, [
      { ...made, id: idAt(4), at: noon + 7_000, status: 'left', firstByteMs: null },
      { ...made, id: idAt(3), at: noon + 6_990, status: 'left' },
      { ...made, id: idAt(2), at: noon + 6_980 },
      { ...made, id: idAt(1), at: noon + 6_970 },
    ]);
    await database.transact(function* () {
      const [row = {}] = yield { sql: 'SELECT * FROM usage WHERE id=$1', params: [idAt(3)] };
      yield* writeRequests([{ ...requestOfCharge(row), status: 499 }]);
    });
    for (const whose of [{}, { account }]) {
      expect(await idsOf(database, { ...whose, status: '200' })).toEqual([idAt(2), idAt(1)]);
      expect(await idsOf(database, { ...whose, status: '499' })).toEqual([idAt(4), idAt(3)]);
      expect(await idsOf(database, whose)).toEqual([4, 3, 2, 1].map(idAt));
    }
    expect(await idsOf(database, { id: idAt(2), account })).toEqual([idAt(2)]);
  });
});
