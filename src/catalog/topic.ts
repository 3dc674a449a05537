import { assert } from '../base/assert.ts';
import type { Script } from '../storage/database.ts';

/** The topic under which every process hears that the catalogue changed. */
export const catalogTopic = 'catalog';

/** Takes the catalogue for this transaction alone; returns its version. */
export function* lockVersion(): Script<bigint> {
  const [row] = yield {
    sql: 'UPDATE change SET version = version WHERE topic = $1 RETURNING version',
    params: [catalogTopic],
  };
  assert(typeof row?.['version'] === 'bigint', 'the catalogue has a version');
  return row['version'];
}
