import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { migrations } from '../app/schema.ts';
import { systemClock } from '../base/clock.ts';
import { ledgerProcedures } from '../ledger/procedures.ts';
import { IdempotentRequests } from './idempotency.ts';

const submission = { account: 'ada', key: 'k', digest: 'd', id: 'req_1' };

forEachDatabase((_, openFresh) => {
  test('a claim that can be neither renewed nor released is reported, once each', async () => {
    const database = await openFresh({ migrations, procedures: ledgerProcedures });
    const errors: string[] = [];
    const requests = new IdempotentRequests(database, systemClock, (work, error) => {
      errors.push(`${work}: ${String(error)}`);
    });
    const claimed = await requests.enter(submission);
    if (claimed.kind !== 'mine') throw new Error(claimed.kind);
    await claimed.submission.renew();
    expect(errors).toEqual([]);
    await database.query('ALTER TABLE answer RENAME TO elsewhere');
    await claimed.submission.renew();
    await claimed.submission.renew();
    await claimed.submission.forget();
    expect(errors).toEqual([
      expect.stringMatching(/^renewal of Idempotency-Keys: .*answer/),
      expect.stringMatching(/^release of Idempotency-Keys: .*answer/),
    ]);
  });
});
