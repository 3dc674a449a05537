import { expect, test } from 'vitest';
import { onPostgres } from '../../test/databases.ts';
import { relayTo } from '../../test/relay.ts';
import type { Procedures, Row, Transaction } from './database.ts';
import { migrate } from './migrate.ts';

const notes = { id: '0001-note', statements: ['CREATE TABLE note (id TEXT PRIMARY KEY)'] };
const insert = (id: string) => ({ sql: 'INSERT INTO note VALUES ($1)', params: [id] }) as const;
function* allNotes(): Transaction<readonly Row[]> {
  return yield { sql: 'SELECT id FROM note', params: [] };
}
const kill = { sql: 'SELECT pg_terminate_backend(pg_backend_pid())', params: [] } as const;

onPostgres((_, openFresh, fresh) => {
  test('a text with the one character that PostgreSQL does not hold is kept with another in its place', async () => {
    const db = await openFresh({ migrations: [notes] });
    await db.transact(function* (): Transaction<void> {
      yield insert('a\0b');
    });
    expect(await db.query('SELECT id FROM note WHERE id=$1', ['a\0b'])).toEqual([
      { id: 'a\ufffdb' },
    ]);
  });

  test('a connection that breaks before the commit is busy, one that breaks under an autocommitted statement unknown', async () => {
    const db = await openFresh({ migrations: [notes] });
    const dying = db.transact(function* (): Transaction<void> {
      yield insert('a');
      yield kill;
    });
    await expect(dying).rejects.toMatchObject({ kind: 'busy' });
    await expect(db.query(kill.sql)).rejects.toMatchObject({ kind: 'unknown' });
    expect(await db.query('SELECT id FROM note')).toEqual([]);
  });

  test('a commit whose answer is lost is unknown', async () => {
    const { url, open } = await fresh();
    const direct = await open();
    await migrate(direct, [notes]);
    const relay = await relayTo(url);
    const procedures = {
      *muted(): Transaction<void> {
        yield insert('a');
        relay.mute();
        setTimeout(() => relay.cut(), 200);
      },
    } satisfies Procedures;
    const db = await open({ procedures }, relay.url);
    await expect(db.call('muted', {})).rejects.toMatchObject({ kind: 'unknown' });
    expect(await direct.query('SELECT id FROM note')).toEqual([{ id: 'a' }]);
    relay.mend();
    await expect.poll(() => db.query('SELECT COUNT(*) AS n FROM note')).toEqual([{ n: 1n }]);
  });

  test('two transactions that lock each other out end as busy for one of them', async () => {
    const db = await openFresh({ migrations: [notes] });
    await db.query("INSERT INTO note VALUES ('a'), ('b')");
    const crossing = (first: string, second: string) =>
      db.transact(function* (): Transaction<void> {
        yield { sql: 'UPDATE note SET id = id WHERE id = $1', params: [first] };
        yield { sql: 'SELECT pg_sleep(0.1)', params: [] };
        yield { sql: 'UPDATE note SET id = id WHERE id = $1', params: [second] };
      });
    const outcomes = await Promise.allSettled([crossing('a', 'b'), crossing('b', 'a')]);
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed).toMatchObject([{ reason: { kind: 'busy' } }]);
  });

  test('a client that stalls inside a transaction loses it and its locks before others give it up', async () => {
    const db = await openFresh();
    expect(
      await db.query(
        "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'",
      ),
    ).toEqual([{ setting: '10000' }]);
  });

  test('the server compiles no statement', async () => {
    const db = await openFresh();
    expect(await db.query("SELECT current_setting('jit') AS jit")).toEqual([{ jit: 'off' }]);
  });

  test('a table changed by another node does not break prepared statements', async () => {
    const db = await openFresh({ migrations: [notes], postgres: { connectionsMax: 1 } });
    await db.query('SELECT * FROM note');
    await db.query('ALTER TABLE note ADD COLUMN text TEXT');
    await expect(db.query('SELECT * FROM note')).rejects.toMatchObject({ kind: 'busy' });
    expect(await db.query('SELECT * FROM note')).toEqual([]);
  });

  test('a connection that leads to a demoted primary is replaced after its first refused write', async () => {
    const db = await openFresh({ migrations: [notes], postgres: { connectionsMax: 1 } });
    const writes = [
      () => db.query("INSERT INTO note VALUES ('a')"),
      () =>
        db.transact(function* (): Transaction<void> {
          yield insert('b');
        }),
    ];
    for (const write of writes) {
      // As an old primary does after a switchover that breaks no connection.
      await db.query('SET default_transaction_read_only = on');
      await expect(write()).rejects.toMatchObject({ kind: 'busy' });
      await write();
    }
    expect(await db.query('SELECT id FROM note ORDER BY id')).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  test('however many long reads there are, they leave connections to what writes', async () => {
    const db = await openFresh({ migrations: [notes], postgres: { connectionsMax: 5 } });
    const reading = Array.from({ length: 8 }, () =>
      db.snapshot(function* (): Transaction<void> {
        yield { sql: 'SELECT pg_sleep(0.5)', params: [] };
      }),
    );
    const running = async () => {
      const rows = await db.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND query LIKE '%pg_sleep(0.5)%' AND pid<>pg_backend_pid()",
      );
      return rows.length;
    };
    await expect.poll(running).toBe(2);
    let readAll = false;
    const all = Promise.all(reading).then(() => (readAll = true));
    await db.transact(function* (): Transaction<void> {
      yield insert('a');
    });
    expect(readAll).toBe(false);
    await all;
    // Places are given back by reads that fail, too.
    const failing = Array.from({ length: 4 }, () =>
      db.snapshot(function* (): Transaction<void> {
        yield insert('b');
      }),
    );
    const outcomes = await Promise.allSettled(failing);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(await db.snapshot(() => allNotes())).toEqual([{ id: 'a' }]);
  });

  test('a server that does not promise durable commits is refused', async () => {
    const { url, open } = await fresh();
    const db = await open();
    await db.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    await expect(open()).rejects.toThrow('synchronous_commit=off');
  });
});
