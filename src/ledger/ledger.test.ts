import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { migrations, proofs } from '../app/schema.ts';
import { systemClock } from '../base/clock.ts';
import { nanoPerYuan } from '../base/money.ts';
import { check } from './check.ts';
import { balance, debit } from './ledger.ts';
import { ledgerProcedures } from './procedures.ts';

forEachDatabase((_name, _openFresh, fresh) => {
  test('the same debit, sent twice at once, is made once, and both are answered', async () => {
    const { open } = await fresh(migrations);
    const database = await open({ procedures: ledgerProcedures });
    const { userId: account } = await newCustomer(database, 50n * nanoPerYuan);
    const once = (id: string) =>
      debit(
        database,
        systemClock,
        { id, account, amount: nanoPerYuan, ref: 'taken back', at: systemClock.now() },
        function* () {},
      );
    for (let count = 0; count < 20; count++) {
      const id = `debit_${count}`;
      const both = await Promise.all([once(id), once(id)]);
      expect(both.toSorted(), id).toEqual(['created', 'exists']);
    }
    expect((await balance(database, account))?.balance).toBe(30n * nanoPerYuan);
    expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
  });
});
