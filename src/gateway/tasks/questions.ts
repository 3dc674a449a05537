import type { Database } from '../../storage/database.ts';

/** Tasks that have not ended, by the name of their channel. */
export async function openTasksByChannel(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query(
    'SELECT channel, COUNT(*) AS tasks FROM task WHERE ended_at IS NULL GROUP BY channel',
  );
  const open = new Map<string, number>();
  for (const row of rows) {
    // Of the name and the revision the name.
    const pin = String(row['channel']);
    const name = pin.slice(0, pin.lastIndexOf('@'));
    open.set(name, (open.get(name) ?? 0) + Number(row['tasks']));
  }
  return open;
}
