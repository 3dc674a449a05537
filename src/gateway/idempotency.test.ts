import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { migrations } from '../app/schema.ts';
import { systemClock } from '../base/clock.ts';
import { createAccount } from '../ledger/ledger.ts';
import { ledgerProcedures } from '../ledger/procedures.ts';
import { IdempotentRequests } from './idempotency.ts';

const keyed = { account: 'ada', key: 'k', digest: 'd', id: 'req_1' };

forEachDatabase((_, openFresh) => {
  test('a claim that can be neither renewed nor released is reported, once each', async () => {
    const database = await openFresh({ migrations, procedures: ledgerProcedures });
    const errors: string[] = [];
    const requests = new IdempotentRequests(database, systemClock, (work, error) => {
      errors.push(`${work}: ${String(error)}`);
    });
    const claimed = await requests.enter(keyed);
    if (claimed.kind !== 'mine') throw new Error(claimed.kind);
    await claimed.claim.renew();
    expect(errors).toEqual([]);
    await database.query('ALTER TABLE answer RENAME TO elsewhere');
    await claimed.claim.renew();
    await claimed.claim.renew();
    await claimed.claim.forget();
    expect(errors).toEqual([
      expect.stringMatching(/^renewal of Idempotency-Keys: .*answer/),
      expect.stringMatching(/^release of Idempotency-Keys: .*answer/),
    ]);
  });

  test('a request that ends without an answer pays back again what its dead predecessor was charged', async () => {
    const database = await openFresh({ migrations, procedures: ledgerProcedures });
    const requests = new IdempotentRequests(database, systemClock, () => {});
    await createAccount(database, 'ada');
    await requests.enter(keyed);
    await database.query('UPDATE answer SET lease_until=1');
    const claimed = await requests.enter({ ...keyed, id: 'req_2' });
    if (claimed.kind !== 'mine') throw new Error(claimed.kind);
    await database.query(
      "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ('req_1', 'ada', 'revenue', 7, 'chat', 1)",
    );
    await claimed.claim.forget();
    expect(await database.query("SELECT ref, amount FROM transfer WHERE code='refund'")).toEqual([
      { ref: 'req_1', amount: 7n },
    ]);
  });
});
