import type { Script } from '../storage/database.ts';
import { termColumns, termValues } from './key-terms.ts';
import {
  hashOf,
  type Key,
  keyColumns,
  keyOf,
  looksLikeKey,
  type NewKey,
  orderedId,
} from './keys.ts';

/** A key that another gateway made, and that its owner goes on using. */
export interface BroughtKey extends NewKey {
  readonly secret: string;
  readonly enabled: boolean;
  /** Wall clock, ms. */
  readonly lastUsedAt: number | undefined;
}

/**
 * Keeps the hash of a key that was made elsewhere. `there`: it was brought before, as this user's;
 * `others`: it is somebody else's here; `shapeless`: no key looks like this, and the door would not
 * let it in.
 */
export function* bringKey(key: BroughtKey): Script<Key | 'there' | 'others' | 'shapeless'> {
  const { secret, userId, name, group, limit, enabled, expiresAt, at, lastUsedAt } = key;
  if (!looksLikeKey(secret)) return 'shapeless';
  const hash = hashOf(secret);
  const [row] = yield {
    sql: `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, spend_limit, expires_at, created_at, last_used_at, ${termColumns.join()})
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (hash) DO NOTHING RETURNING ${keyColumns}`,
    params: [
      ...[
        orderedId('key_', at),
        userId,
        name,
        group,
        hash,
        secret.slice(0, 5),
        secret.slice(-4),
        enabled ? 'active' : 'disabled',
      ],
      ...[limit ?? null, expiresAt ?? null, at, lastUsedAt ?? null, ...termValues(key)],
    ],
  };
  if (row !== undefined) return keyOf(row);
  const [known] = yield { sql: 'SELECT user_id FROM api_keys WHERE hash=$1', params: [hash] };
  return known?.['user_id'] === userId ? 'there' : 'others';
}
