import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import type { Clock } from '../base/clock.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { memoryMigrations } from './migrations.ts';
import {
  type StoredResponse,
  responseRetentionMs,
  unstoredRetentionMs,
  responseGivenUpMs,
  responseLeaseMs,
  ResponseStore,
} from './responses.ts';

const migrations = [...memoryMigrations];

class TurnedClock implements Clock {
  at = 1_000;
  now(): number {
    return this.at;
  }
  monotonicMs(): number {
    return this.at;
  }
}

const message = (id: string, text: string) => ({
  id,
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

function turn(
  id: string,
  previous?: string,
  status: StoredResponse['status'] = 'completed',
): StoredResponse {
  const output = [
    {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: `Héllo 你好 from ${id}` }],
    },
  ];
  return {
    id,
    status,
    previous,
    input: [message(`in_${id}`, id)],
    body: { id, status, background: true, output },
  };
}

const queued = (id: string): StoredResponse => ({
  ...turn(id, undefined, 'queued'),
  body: { id, status: 'queued', background: true, output: [] },
});

function* noCharge(): Transaction<void> {}

/** A store, and the responses whose charges it has paid back. */
async function openPaying(database: Database, clock: Clock) {
  await database.query('CREATE TABLE refunded (id TEXT PRIMARY KEY)');
  const store = new ResponseStore(database, clock, function* ({ id }) {
    yield {
      sql: 'INSERT INTO refunded (id) VALUES ($1) ON CONFLICT (id) DO NOTHING',
      params: [id],
    };
  });
  const paidBack = async () =>
    (await database.query('SELECT id FROM refunded ORDER BY id')).map(({ id }) => id);
  return { store, paidBack };
}

const goesOn = (): boolean => false;

forEachDatabase((_, openFresh, fresh) => {
  test('a response is found by its account at once, on every node', async () => {
    const { open } = await fresh(migrations);
    const [here, there] = [await open(), await open()];
    const clock = new TurnedClock();
    await new ResponseStore(here, clock, noCharge).keep('ada', turn('a'));
    const other = new ResponseStore(there, clock, noCharge);
    expect(await other.find('ada', 'a')).toEqual(turn('a'));
    expect(await other.find('bob', 'a')).toBeUndefined();
    expect(await other.conversation('bob', 'a')).toBeUndefined();
    expect(await other.items('bob', ['msg_a'])).toEqual(new Map());
    expect(await other.forget('bob', 'a')).toBe(false);
    expect(await other.cancel('bob', 'a')).toBeUndefined();
  });

  test('a conversation is every turn up to a response, oldest first; a missing turn breaks it', async () => {
    const memory = new ResponseStore(await openFresh({ migrations }), new TurnedClock(), noCharge);
    await memory.keep('ada', turn('a'));
    await memory.keep('ada', turn('b', 'a'));
    await memory.keep('ada', turn('c', 'b'));
    await memory.keep('ada', turn('d', 'a'));
    const items = await memory.conversation('ada', 'c');
    expect(items?.map((item) => item['id'])).toEqual([
      'in_a',
      'msg_a',
      'in_b',
      'msg_b',
      'in_c',
      'msg_c',
    ]);
    expect((await memory.conversation('ada', 'd'))?.map((item) => item['id'])).toEqual([
      'in_a',
      'msg_a',
      'in_d',
      'msg_d',
    ]);
    expect(await memory.forget('ada', 'b')).toBe(true);
    expect(await memory.conversation('ada', 'c')).toBeUndefined();
    expect(await memory.items('ada', ['msg_b', 'msg_c', 'in_a', 'nothing'])).toEqual(
      new Map([
        ['msg_c', items?.at(-1)],
        ['in_a', turn('a').input[0]],
      ]),
    );
  });

  test('an item that is sent again stays with the response that made it, while that is kept', async () => {
    const clock = new TurnedClock();
    const database = await openFresh({ migrations });
    const memory = new ResponseStore(database, clock, noCharge);
    const ids = ['in_a', 'msg_a'];
    const found = async () => [...(await memory.items('ada', ids)).keys()].sort();
    const again = (id: string): StoredResponse => {
      const { input, body } = turn('a');
      return { ...turn(id), input: [...input, ...(body['output'] as typeof input)] };
    };
    await memory.keep('ada', turn('a'));
    await memory.keep('ada', again('b'));
    expect(await memory.forget('ada', 'b')).toBe(true);
    expect(await found()).toEqual(ids);
    // The next one takes over what has no other place any more.
    clock.at += responseRetentionMs;
    await memory.keep('ada', again('c'));
    await memory.expire();
    expect(await found()).toEqual(ids);
  });

  test('a response is forgotten after its time, and its items with it', async () => {
    const database = await openFresh({ migrations });
    const clock = new TurnedClock();
    const memory = new ResponseStore(database, clock, noCharge);
    await memory.keep('ada', turn('old'));
    clock.at += responseRetentionMs - 1;
    await memory.keep('ada', turn('new', 'old'));
    expect(await memory.find('ada', 'old')).toBeDefined();
    clock.at += 1;
    expect(await memory.find('ada', 'old')).toBeUndefined();
    expect(await memory.conversation('ada', 'new')).toBeUndefined();
    expect(await memory.expire()).toBe(1);
    expect(await memory.expire()).toBe(0);
    expect(await memory.find('ada', 'new')).toBeDefined();
    expect(await database.query('SELECT DISTINCT response FROM response_item')).toEqual([
      { response: 'new' },
    ]);
  });

  test('what runs in the background ends once: finished, cancelled, or failed with its node', async () => {
    const clock = new TurnedClock();
    const memory = new ResponseStore(await openFresh({ migrations }), clock, noCharge);
    for (const id of ['a', 'b', 'c']) await memory.begin('ada', queued(id));
    expect(await memory.conversation('ada', 'a')).toBeUndefined();
    expect(await memory.renew('a', 'in_progress')).toBe(true);
    expect(await memory.find('ada', 'a')).toMatchObject({
      status: 'in_progress',
      body: { status: 'in_progress' },
    });
    await memory.finish('ada', turn('a'));
    expect(await memory.find('ada', 'a')).toEqual(turn('a'));
    expect((await memory.conversation('ada', 'a'))?.length).toBe(2);
    expect(await memory.cancel('ada', 'a')).toMatchObject({ status: 'completed' });
    expect(await memory.cancel('ada', 'b')).toMatchObject({
      status: 'cancelled',
      body: { status: 'cancelled' },
    });
    expect(await memory.renew('b', 'in_progress')).toBe(false);
    await memory.finish('ada', turn('b'));
    expect(await memory.find('ada', 'b')).toMatchObject({
      status: 'cancelled',
      body: { output: [] },
    });
    clock.at += responseLeaseMs + 1;
    expect(await memory.find('ada', 'c')).toMatchObject({
      status: 'failed',
      body: { status: 'failed', error: { code: 'server_error' } },
    });
  });

  test('what runs in the background and is not to be stored is forgotten soon after its end', async () => {
    const clock = new TurnedClock();
    const memory = new ResponseStore(await openFresh({ migrations }), clock, noCharge);
    const running = queued('a');
    await memory.begin('ada', { ...running, body: { ...running.body, store: false } });
    const longAfter = clock.at + 2 * unstoredRetentionMs;
    for (; clock.at < longAfter; clock.at += responseLeaseMs)
      expect(await memory.renew('a', 'in_progress')).toBe(true);
    await memory.finish('ada', turn('a'));
    expect(await memory.find('ada', 'a')).toEqual(turn('a'));
    clock.at += unstoredRetentionMs;
    expect(await memory.find('ada', 'a')).toBeUndefined();
    expect(await memory.expire()).toBe(1);
  });

  test('a charge without an answer to read is paid back: failed, cancelled or deleted', async () => {
    const clock = new TurnedClock();
    const database = await openFresh({ migrations });
    const { store, paidBack } = await openPaying(database, clock);
    for (const id of ['done', 'failed', 'cancelled', 'deleted', 'left'])
      await store.begin('ada', queued(id));
    await store.cancel('ada', 'cancelled');
    expect(await store.forget('ada', 'deleted')).toBe(true);
    expect(await store.find('ada', 'deleted')).toBeUndefined();
    expect(await store.forget('ada', 'deleted')).toBe(false);
    expect(await store.renew('deleted', 'in_progress')).toBe(false);
    expect(await paidBack()).toEqual([]);
    await store.leave('left');
    for (const id of ['done', 'cancelled', 'deleted']) await store.finish('ada', turn(id));
    await store.finish('ada', turn('failed', undefined, 'failed'));
    // Its runner did not hear that it was stored.
    await store.finish('ada', turn('done'));
    expect(await paidBack()).toEqual(['cancelled', 'deleted', 'failed']);
    expect(await store.find('ada', 'done')).toEqual(turn('done'));
    expect(await store.find('ada', 'left')).toMatchObject({ status: 'cancelled' });
    // The charge of a failure may be committed after it.
    await database.query('DELETE FROM refunded');
    expect(await store.expire()).toBe(0);
    clock.at += responseLeaseMs + responseGivenUpMs;
    await store.endInterrupted(goesOn);
    expect(await paidBack()).toEqual(['cancelled', 'deleted', 'failed']);
    expect(await store.find('ada', 'failed')).toEqual(turn('failed', undefined, 'failed'));
    expect(await store.expire()).toBe(1);
  });

  test('a response that was read as failed stays so, and its late answer is paid back', async () => {
    const clock = new TurnedClock();
    const { store, paidBack } = await openPaying(await openFresh({ migrations }), clock);
    await store.begin('ada', queued('late'));
    clock.at += responseLeaseMs + 1;
    expect(await store.find('ada', 'late')).toMatchObject({ status: 'failed' });
    expect(await store.renew('late', 'in_progress')).toBe(false);
    await store.finish('ada', turn('late'));
    expect(await store.find('ada', 'late')).toMatchObject({
      status: 'failed',
      body: { status: 'failed' },
    });
    expect(await paidBack()).toEqual(['late']);
  });

  test('a charge whose runner died is paid back, whatever its client did', async () => {
    const clock = new TurnedClock();
    const { store, paidBack } = await openPaying(await openFresh({ migrations }), clock);
    for (const id of ['alive', 'cancelled', 'dead', 'deleted', 'done', 'left'])
      await store.begin('ada', queued(id));
    await store.cancel('ada', 'cancelled');
    await store.forget('ada', 'deleted');
    await store.finish('ada', turn('done'));
    await store.cancel('ada', 'left');
    await store.leave('left');
    clock.at += responseLeaseMs + responseGivenUpMs - 1;
    await store.endInterrupted(goesOn);
    expect(await paidBack()).toEqual([]);
    expect(await store.expire()).toBe(0);
    await store.renew('alive', 'in_progress');
    clock.at += 1;
    await store.endInterrupted(goesOn);
    expect(await paidBack()).toEqual(['cancelled', 'dead', 'deleted']);
    expect(await store.find('ada', 'dead')).toMatchObject({
      status: 'failed',
      body: { status: 'failed', error: { message: 'The response was interrupted.' } },
    });
    expect(await store.find('ada', 'cancelled')).toMatchObject({ status: 'cancelled' });
    expect(await store.renew('dead', 'in_progress')).toBe(false);
    expect(await store.expire()).toBe(1);
    await store.finish('ada', turn('alive'));
    expect(await store.find('ada', 'alive')).toEqual(turn('alive'));
    expect(await paidBack()).toEqual(['cancelled', 'dead', 'deleted']);
  });
});
