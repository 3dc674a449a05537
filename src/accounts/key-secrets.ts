import type { Transaction } from '../storage/database.ts';
import { type Key, keyColumns, keyOf, newKeySecret, nextKeysVersion, storedOf } from './keys.ts';

/** How long an old secret may go on working, ms. */
export const graces = { now: 0, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type Grace = keyof typeof graces;

/** A secret that works beside the one that replaced it. */
export interface OldSecret {
  readonly last4: string;
  /** Wall clock, ms. */
  readonly worksUntil: number;
}

/** A key with its new secret, which is kept nowhere. */
export interface Rotated {
  readonly key: Key;
  readonly secret: string;
}

/**
 * Gives a key a new secret, which only this call returns. The one that it had works on for the
 * grace; one that it had before that ends now, so that two work at most. `rotatedWith`: the
 * idempotency key of the request. To be yielded after reading the key under the lock of
 * `keysTopic`. Effective in every process within a second.
 */
export function* rotateKey(
  { id }: Key,
  grace: Grace,
  at: number,
  rotatedWith?: string,
): Transaction<Rotated | undefined> {
  const version = yield* endOldSecret(id, at);
  yield {
    sql: 'UPDATE api_keys SET rotated_with=$2 WHERE id=$1',
    params: [id, rotatedWith ?? null],
  };
  return yield* replaceSecret(id, at + graces[grace], version);
}

/**
 * Repeats the key's last rotation if `rotatedWith` began it, otherwise does nothing. Its answer was
 * lost, and nobody knows the secret that it made: that one ends now and another takes its place,
 * while the one before, if it still works, works for the grace. To be yielded like `rotateKey`.
 */
export function* rotateAgain(
  { id }: Key,
  grace: Grace,
  at: number,
  rotatedWith: string,
): Transaction<Rotated | undefined> {
  const [same] = yield {
    sql: 'SELECT id FROM api_keys WHERE id=$1 AND rotated_with=$2',
    params: [id, rotatedWith],
  };
  if (same === undefined) return undefined;
  const version = yield* nextKeysVersion();
  yield {
    sql: 'UPDATE old_secrets SET works_until=$2 WHERE key_id=$1 AND works_until>$3',
    params: [id, at + graces[grace], at],
  };
  return yield* replaceSecret(id, at, version);
}

/** `oldWorksUntil`: the end of the secret that is replaced. */
function* replaceSecret(
  id: string,
  oldWorksUntil: number,
  version: bigint,
): Transaction<Rotated | undefined> {
  const secret = newKeySecret();
  yield {
    sql: `INSERT INTO old_secrets (hash, key_id, last4, works_until)
      SELECT hash, id, last4, CAST($2 AS BIGINT) FROM api_keys WHERE id=$1`,
    params: [id, oldWorksUntil],
  };
  const [row] = yield {
    sql: `UPDATE api_keys SET hash=$2, prefix=$3, last4=$4, version=$5 WHERE id=$1 RETURNING ${keyColumns}`,
    params: [id, ...storedOf(secret), version],
  };
  return row && { key: keyOf(row), secret };
}

/** Ends the grace of a key's old secret; returns the key's new version. */
export function* endOldSecret(id: string, at: number): Transaction<bigint> {
  const version = yield* nextKeysVersion();
  yield {
    sql: 'UPDATE old_secrets SET works_until=$2 WHERE key_id=$1 AND works_until>$2',
    params: [id, at],
  };
  yield { sql: 'UPDATE api_keys SET version=$2 WHERE id=$1', params: [id, version] };
  return version;
}

/** The old secrets of a user's keys that still work, by key. */
export function* oldSecretsOf(
  ownerId: string,
  now: number,
): Transaction<ReadonlyMap<string, OldSecret>> {
  const rows = yield {
    sql: `SELECT o.key_id, o.last4, o.works_until FROM api_keys k JOIN old_secrets o ON o.key_id=k.id
      WHERE k.user_id=$1 AND o.works_until>$2`,
    params: [ownerId, now],
  };
  return new Map(
    rows.map((row) => [
      String(row['key_id']),
      { last4: String(row['last4']), worksUntil: Number(row['works_until']) },
    ]),
  );
}
