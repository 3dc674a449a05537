import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { relayTo } from '../../test/relay.ts';
import { bump, changesMigrations, watchChanges } from './changes.ts';
import type { Database, Transaction } from './database.ts';
import { migrate } from './migrate.ts';
import type { OnError } from './repeat.ts';
import { unexpected } from '../../test/support/unexpected.ts';

const within = { timeout: 1_000, interval: 20 };

function watch(
  db: Database,
  handlers: Record<string, () => void>,
  onError: OnError = unexpected,
): void {
  const watching = watchChanges(db, handlers, onError);
  onTestFinished(() => watching.stop());
}

const bumping = (...topics: string[]) =>
  function* (): Transaction<void> {
    for (const topic of topics) yield bump(topic);
  };

forEachDatabase((name, _, fresh) => {
  test('a change is heard by every process within a second, and only once committed', async () => {
    const { open } = await fresh();
    const [writer, reader] = [await open(), await open()];
    await migrate(writer, changesMigrations);
    const heard = { keys: 0, catalog: 0 };
    watch(reader, { keys: () => void heard.keys++, catalog: () => void heard.catalog++ });
    await vi.waitFor(() => expect(heard).toEqual({ keys: 1, catalog: 1 }), within);
    await writer.transact(bumping('keys', 'keys', 'other'));
    await vi.waitFor(() => expect(heard).toEqual({ keys: 2, catalog: 1 }), within);
    const failing = writer.transact(function* (): Transaction<void> {
      yield bump('catalog');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await wait(400);
    expect(heard).toEqual({ keys: 2, catalog: 1 });
  });

  test('a handler that fails is asked again, and its error is reported once', async () => {
    const { open } = await fresh();
    const db = await open();
    await migrate(db, changesMigrations);
    let calls = 0;
    const failing = (): void => {
      if (++calls < 3) throw new Error('not yet');
    };
    const errors: unknown[] = [];
    watch(db, { keys: failing }, (_, error) => void errors.push(error));
    await vi.waitFor(() => expect(calls).toBe(3), { timeout: 2_000 });
    await wait(400);
    expect(calls).toBe(3);
    expect(errors).toEqual([new Error('not yet')]);
  });

  if (name === 'sqlite') return;
  test('the watch outlives a database that is away', async () => {
    const { open, url } = await fresh();
    const writer = await open();
    await migrate(writer, changesMigrations);
    const relay = await relayTo(url);
    const reader = await open({}, relay.url);
    let heard = 0;
    watch(reader, { keys: () => void heard++ });
    await vi.waitFor(() => expect(heard).toBe(1), within);
    relay.cut();
    await writer.transact(bumping('keys'));
    await wait(700);
    expect(heard).toBe(1);
    relay.mend();
    await vi.waitFor(() => expect(heard).toBe(2), within);
  });
});
