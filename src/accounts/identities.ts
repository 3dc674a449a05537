import { dayMs } from '../base/calendar.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { placeholders } from '../storage/sql.ts';
import { hashOf } from './keys.ts';
import { isSecret, newSecret } from './secrets.ts';
import { type User, userOf } from './users.ts';

/** A person as a provider of sign-ins knows them. */
export interface ProviderProfile {
  readonly provider: string;
  /** The provider's own number, never a name that can be given to another. */
  readonly subject: string;
  /** The provider's id for the same person before it gave `subject`. */
  readonly formerly?: string;
  /** The name to show. */
  readonly name: string;
}

/** A user's sign-in with a provider, at most one with each. */
export interface Identity {
  readonly provider: string;
  readonly name: string;
  /** Wall clock, ms. */
  readonly linkedAt: number;
}

/** Finds the user of an identity, and stores the provider's present name and subject for it. */
export function* userOfIdentity({
  provider,
  subject,
  formerly,
  name,
}: ProviderProfile): Transaction<User | undefined> {
  const [row] = yield {
    sql: `UPDATE identities SET name = $1, subject = $2 WHERE provider = $3 AND subject =
      (SELECT subject FROM identities WHERE provider = $3 AND subject IN ($2, $4) ORDER BY CASE subject WHEN $2 THEN 0 ELSE 1 END LIMIT 1) RETURNING user_id`,
    params: [name, subject, provider, formerly ?? subject],
  };
  if (row === undefined) return undefined;
  const [user] = yield { sql: 'SELECT * FROM users WHERE id = $1', params: [row['user_id'] ?? ''] };
  return user && userOf(user);
}

/**
 * Links an identity to a user. `taken`: another user signs in with it, or began to at this very
 * moment. `other`: the user has another one with this provider. A retry does no harm.
 */
export function* linkIdentity(
  userId: string,
  person: ProviderProfile,
  at: number,
): Transaction<'linked' | 'taken' | 'other'> {
  const known = yield* userOfIdentity(person);
  if (known !== undefined) return known.id === userId ? 'linked' : 'taken';
  const { provider, subject, name } = person;
  const made = yield {
    sql: 'INSERT INTO identities (provider, subject, user_id, name, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING user_id',
    params: [provider, subject, userId, name, at],
  };
  if (made.length > 0) return 'linked';
  const own = yield {
    sql: 'SELECT provider FROM identities WHERE user_id = $1 AND provider = $2',
    params: [userId, provider],
  };
  return own.length > 0 ? 'other' : 'taken';
}

/** Whether a user could still sign in with an identity of another provider that is `offered`. */
export const isRemovable = (
  provider: string,
  all: readonly string[],
  offered: ReadonlySet<string>,
): boolean => all.some((other) => other !== provider && offered.has(other));

/**
 * Removes a user's identity. `last`: the user could not sign in without it, and it stays. `absent`:
 * there is none with this provider.
 */
export function* unlinkIdentity(
  userId: string,
  provider: string,
  offered: ReadonlySet<string>,
): Transaction<'unlinked' | 'last' | 'absent'> {
  // Two unlinks at once could leave none: the user's row makes them wait for each other.
  yield { sql: 'UPDATE users SET frozen = frozen WHERE id = $1', params: [userId] };
  const all = (yield {
    sql: 'SELECT provider FROM identities WHERE user_id = $1',
    params: [userId],
  }).map((row) => String(row['provider']));
  if (!all.includes(provider)) return 'absent';
  if (!isRemovable(provider, all, offered)) return 'last';
  yield {
    sql: 'DELETE FROM identities WHERE user_id = $1 AND provider = $2',
    params: [userId, provider],
  };
  return 'unlinked';
}

/** A user's identities, in the order in which they were linked. */
export async function listIdentities(
  database: Database,
  userId: string,
): Promise<readonly Identity[]> {
  const sql =
    'SELECT provider, name, created_at FROM identities WHERE user_id = $1 ORDER BY created_at, provider';
  return (await database.query(sql, [userId])).map(identityOf);
}

const identityOf = (row: Row): Identity => ({
  provider: String(row['provider']),
  name: String(row['name']),
  linkedAt: Number(row['created_at']),
});

/** Whether some operator who is not suspended can sign in with one of these providers. */
export async function operatorCanSignIn(
  database: Database,
  providers: readonly string[],
): Promise<boolean> {
  if (providers.length === 0) return false;
  const sql = `SELECT provider FROM identities JOIN users ON users.id = user_id WHERE role = 'operator' AND frozen = 0 AND provider IN (${placeholders(providers)}) LIMIT 1`;
  return (await database.query(sql, providers)).length > 0;
}

/** Long enough to copy it from a terminal into a browser. */
export const linkLifeMs = 15 * 60_000;
/** An invited user reads the link later. */
export const invitationLifeMs = 3 * dayMs;

/**
 * Makes a secret that signs its user in once. Undefined when there is no such user. Times are wall
 * clock, ms.
 */
export function* makeLink(
  userId: string,
  at: number,
  lifeMs = linkLifeMs,
): Transaction<{ readonly secret: string; readonly expiresAt: number } | undefined> {
  const secret = newSecret();
  const expiresAt = at + lifeMs;
  const sql = `INSERT INTO sign_in_links (hash, user_id, created_at, expires_at) SELECT $1, id, $3, $4 FROM users WHERE id = $2 RETURNING hash`;
  const made = yield { sql, params: [hashOf(secret), userId, at, expiresAt] };
  return made.length === 0 ? undefined : { secret, expiresAt };
}

/** The user that the link would sign in now; undefined: none. Does not use the link up. */
export async function linkHolder(
  database: Database,
  secret: string,
  at: number,
): Promise<User | undefined> {
  if (!isSecret(secret)) return undefined;
  const sql =
    'SELECT u.* FROM sign_in_links l JOIN users u ON u.id = l.user_id WHERE l.hash = $1 AND l.used_at IS NULL AND l.expires_at > $2';
  const [row] = await database.query(sql, [hashOf(secret), at]);
  return row && userOf(row);
}

/**
 * Uses the link up, and returns its user. Undefined when it was used, has expired or never existed.
 * The user's other links are used up with it: an operator who holds one cannot sign in as a user who
 * has signed in.
 */
export function* useLink(secret: string, at: number): Transaction<User | undefined> {
  if (!isSecret(secret)) return undefined;
  const sql =
    'UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING user_id';
  const [link] = yield { sql, params: [hashOf(secret), at] };
  if (link === undefined) return undefined;
  const user = link['user_id'] ?? '';
  const others = 'UPDATE sign_in_links SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL';
  yield { sql: others, params: [user, at] };
  const [row] = yield { sql: 'SELECT * FROM users WHERE id = $1', params: [user] };
  return row && userOf(row);
}

/** The operator who was made first and is not suspended. */
export function* firstOperator(): Transaction<User | undefined> {
  const sql = "SELECT * FROM users WHERE role = 'operator' AND frozen = 0 ORDER BY id LIMIT 1";
  const [row] = yield { sql, params: [] };
  return row && userOf(row);
}
