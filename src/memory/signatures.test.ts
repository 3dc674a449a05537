import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import type { Clock } from '../base/clock.ts';
import type { Transaction } from '../storage/database.ts';
import { openSealer } from '../storage/seal.ts';
import { migrations } from '../app/schema.ts';
import { unexpected } from '../../test/support/unexpected.ts';
import { openSignatureStore, signatureLimits } from './signatures.ts';

class TurnedClock implements Clock {
  at = 1_763_700_000_000;
  now(): number {
    return this.at;
  }
  monotonicMs(): number {
    return this.at;
  }
}

function* dropSignatures(): Transaction<void> {
  yield { sql: 'DROP TABLE signature', params: [] };
}

const sealer = openSealer(randomBytes(32));
const signed = new Map([
  ['call a', '{"extra_content":"Schluß"}'],
  ['call b', '{"reasoning_details":["thought"]}'],
]);

forEachDatabase((_, openFresh, fresh) => {
  test('what one node remembers another knows at once, for that account and that signer alone', async () => {
    const { open } = await fresh(migrations);
    const [here, there] = [await open(), await open()];
    const clock = new TurnedClock();
    await openSignatureStore(here, clock, sealer, unexpected).keep('ada', 'm1', signed);
    const other = openSignatureStore(there, clock, sealer, unexpected);
    expect(await other.find('ada', 'm1', ['call a', 'nothing', 'call b'])).toEqual(signed);
    expect(await other.find('bob', 'm1', ['call a'])).toEqual(new Map());
    expect(await other.find('ada', 'm2', ['call a'])).toEqual(new Map());
  });

  test('what this process knows, or knows to be missing, is not asked for again', async () => {
    const database = await openFresh({ migrations });
    const clock = new TurnedClock();
    const [memory, other] = [
      openSignatureStore(database, clock, sealer, unexpected),
      openSignatureStore(database, clock, sealer, unexpected),
    ];
    await memory.keep('ada', 'm1', signed);
    expect(memory.find('ada', 'm1', ['call a', 'call b'])).toEqual(signed);
    const found = other.find('ada', 'm1', ['call a', 'nothing']);
    expect(found).toBeInstanceOf(Promise);
    await found;
    expect(other.find('ada', 'm1', ['call a', 'nothing'])).toEqual(
      new Map([['call a', signed.get('call a')]]),
    );
    await memory.keep('ada', 'm1', new Map([['nothing', 'something']]));
    clock.at += signatureLimits.absentForMs;
    expect(await other.find('ada', 'm1', ['nothing'])).toEqual(new Map([['nothing', 'something']]));
  });

  test('a call that comes again has the newer signature', async () => {
    const database = await openFresh({ migrations });
    const clock = new TurnedClock();
    await openSignatureStore(database, clock, sealer, unexpected).keep('ada', 'm1', signed);
    await openSignatureStore(database, clock, sealer, unexpected).keep(
      'ada',
      'm1',
      new Map([['call a', 'newer']]),
    );
    expect(
      await openSignatureStore(database, clock, sealer, unexpected).find('ada', 'm1', ['call a']),
    ).toEqual(new Map([['call a', 'newer']]));
  });

  test('it is forgotten after its time', async () => {
    const database = await openFresh({ migrations });
    const clock = new TurnedClock();
    const memory = openSignatureStore(database, clock, sealer, unexpected);
    await memory.keep('ada', 'm1', signed);
    clock.at += signatureLimits.keptForMs - 1;
    await memory.keep('ada', 'm1', new Map([['call c', 'late']]));
    expect(memory.find('ada', 'm1', ['call a'])).toHaveProperty('size', 1);
    clock.at += 1;
    expect(await memory.find('ada', 'm1', ['call a', 'call c'])).toEqual(
      new Map([['call c', 'late']]),
    );
    expect(await memory.expire()).toBe(2);
    expect(await memory.expire()).toBe(0);
    expect(await database.query('SELECT call FROM signature')).toEqual([{ call: 'call c' }]);
  });

  test('thoughts are sealed at rest', async () => {
    const database = await openFresh({ migrations });
    await openSignatureStore(database, new TurnedClock(), sealer, unexpected).keep(
      'ada',
      'm1',
      signed,
    );
    const rows = await database.query('SELECT sealed FROM signature ORDER BY call');
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('thought');
    const stranger = openSignatureStore(
      database,
      new TurnedClock(),
      openSealer(randomBytes(32)),
      unexpected,
    );
    await expect(stranger.find('ada', 'm1', ['call a'])).rejects.toThrow('master key');
  });

  test('signatures that the database refuses are missing later, and that is reported once', async () => {
    const database = await openFresh({ migrations });
    const reported: string[] = [];
    const memory = openSignatureStore(database, new TurnedClock(), sealer, (work) => {
      reported.push(work);
    });
    await database.transact(dropSignatures);
    await memory.keep('ada', 'm1', signed);
    await memory.keep('ada', 'm1', signed);
    expect(reported).toEqual(['signatures of answers']);
  });

  test('what is too much is not remembered, and a process keeps as much as it may', async () => {
    const database = await openFresh({ migrations });
    const clock = new TurnedClock();
    const limits = { ...signatureLimits, answerCharsMax: 100, nearCharsMax: 200 };
    const memory = openSignatureStore(database, clock, sealer, unexpected, limits);
    await memory.keep('ada', 'm1', new Map([['large', 'x'.repeat(101)]]));
    expect(await memory.find('ada', 'm1', ['large'])).toEqual(new Map());
    for (const call of ['one', 'two', 'three'])
      await memory.keep('ada', 'm1', new Map([[call, 'x'.repeat(80)]]));
    expect(memory.find('ada', 'm1', ['three'])).toHaveProperty('size', 1);
    const oldest = memory.find('ada', 'm1', ['one']);
    expect(oldest).toBeInstanceOf(Promise);
    expect(await oldest).toHaveProperty('size', 1);
  });
});
