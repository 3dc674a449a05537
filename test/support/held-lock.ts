import pg from 'pg';
import { expect, onTestFinished } from 'vitest';

/** A lock of PostgreSQL that a test holds, so that the order of transactions is certain. */
export interface HeldLock {
  /** Resolves once so many other transactions of this database wait for a lock. */
  waiting(transactions: number): Promise<void>;
  release(): Promise<void>;
}

/** Takes the lock that the statement `sql` takes. */
export async function holdLock(url: string, sql: string): Promise<HeldLock> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(sql);
  const count = async () => {
    // A transaction sees the activity of its first look again, unless it is told to forget that.
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'",
    );
    return rows.length;
  };
  return {
    waiting: (transactions) =>
      expect.poll(count, { interval: 20, timeout: 10_000 }).toBe(transactions),
    async release() {
      await client.query('COMMIT');
    },
  };
}
