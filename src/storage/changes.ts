import type { Database, Migration, Statement } from './database.ts';
import { type OnError, repeat, type Repeated } from './repeat.ts';

export const changesMigrations: readonly Migration[] = [
  {
    id: '0001-change',
    statements: ['CREATE TABLE change (topic TEXT PRIMARY KEY, version BIGINT NOT NULL)'],
  },
];

/**
 * A change is effective in every process within one second: a look every 300 ms leaves time for a
 * slow one.
 */
const lookEveryMs = 300;

/**
 * The statement to yield in a transaction that changes something under `topic`: every process
 * notices the change once it is committed. Returns the new `version`; changes of one topic are
 * committed in the order of their versions, because the row stays locked until then.
 */
export function bump(topic: string): Statement {
  return {
    sql: 'INSERT INTO change (topic, version) VALUES ($1, 1) ON CONFLICT (topic) DO UPDATE SET version = change.version + 1 RETURNING version',
    params: [topic],
  };
}

/** The statement whose row has the `version` of a topic; no row: nothing has changed under it. */
export function readVersion(topic: string): Statement {
  return { sql: 'SELECT version FROM change WHERE topic = $1', params: [topic] };
}

/**
 * The statement to yield before changes of one topic that must take turns: it locks the topic until
 * the transaction ends, and returns its `version`.
 */
export function lockVersion(topic: string): Statement {
  return {
    sql: 'UPDATE change SET version = version WHERE topic = $1 RETURNING version',
    params: [topic],
  };
}

/**
 * Calls the handler of every topic that changed, and each once at the start, so that what was
 * loaded before is not stale. After an error of a handler or of the database, the next look tries
 * again.
 */
export function watchChanges(
  database: Database,
  handlers: Readonly<Record<string, () => void | Promise<void>>>,
  onError: OnError,
): Repeated {
  const seen = new Map<string, unknown>();
  const look = async (): Promise<void> => {
    const rows = await database.query('SELECT topic, version FROM change');
    const versions = new Map(rows.map((row) => [row['topic'], row['version']]));
    for (const [topic, handler] of Object.entries(handlers)) {
      const version = versions.get(topic) ?? 0n;
      if (seen.get(topic) === version) continue;
      await handler();
      seen.set(topic, version);
    }
  };
  return repeat('reading of changes', look, { everyMs: lookEveryMs }, onError);
}
