import type { Database } from '../storage/database.ts';

/** The groups that a key can be made for, as recorded by the gateway. */
export async function groupNames(database: Database): Promise<readonly string[]> {
  const rows = await database.query('SELECT name FROM model_groups ORDER BY name');
  return rows.map((row) => String(row['name']));
}
