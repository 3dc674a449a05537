import { randomText } from '../base/id.ts';
import type { Database, Script } from '../storage/database.ts';
import { hashOf } from './keys.ts';
import { type User, userOf } from './users.ts';

/** Long enough to copy it from a terminal into a browser. */
export const linkLifeMs = 15 * 60_000;
const secretPattern = /^[A-Za-z0-9]{43}$/;

/**
 * A secret that signs its user in once. Undefined when there is no such user. Times are wall clock,
 * ms.
 */
export function* makeLink(
  userId: string,
  at: number,
): Script<{ readonly secret: string; readonly expiresAt: number } | undefined> {
  const secret = randomText(43);
  const expiresAt = at + linkLifeMs;
  const sql = `INSERT INTO sign_in_links (hash, user_id, created_at, expires_at) SELECT $1, id, $3, $4 FROM users WHERE id = $2 RETURNING hash`;
  const made = yield { sql, params: [hashOf(secret), userId, at, expiresAt] };
  return made.length === 0 ? undefined : { secret, expiresAt };
}

/** Whom it would sign in now; undefined: nobody. Looking uses nothing up. */
export async function linkHolder(
  database: Database,
  secret: string,
  at: number,
): Promise<User | undefined> {
  if (!secretPattern.test(secret)) return undefined;
  const sql =
    'SELECT u.* FROM sign_in_links l JOIN users u ON u.id = l.user_id WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > $2';
  const [row] = await database.query(sql, [hashOf(secret), at]);
  return row && userOf(row);
}

/** Uses the link up, and says whose it is. Undefined when it was used, is over or never was. */
export function* useLink(secret: string, at: number): Script<User | undefined> {
  if (!secretPattern.test(secret)) return undefined;
  const sql =
    'UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING user_id';
  const [link] = yield { sql, params: [hashOf(secret), at] };
  if (link === undefined) return undefined;
  const [row] = yield { sql: 'SELECT * FROM users WHERE id = $1', params: [link['user_id'] ?? ''] };
  return row && userOf(row);
}

/** The operator who was made first and is not suspended. */
export async function firstOperator(database: Database): Promise<User | undefined> {
  const [row] = await database.query(
    "SELECT * FROM users WHERE role = 'operator' AND frozen = 0 ORDER BY id LIMIT 1",
  );
  return row && userOf(row);
}
