import assert from 'node:assert/strict';
import { dayMs } from '../base/calendar.ts';
import { orderedId } from '../base/random.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { hashOf } from './keys.ts';
import { isSecret, newSecret } from './secrets.ts';
import { type Role, type User, userOf } from './users.ts';

/** A session ends after `idleMs` without use; use prolongs it, but not beyond `lifeMs`. */
export const idleMs = 14 * dayMs;
export const lifeMs = 90 * dayMs;
/** How often a use is stored: a page sends several requests at once. */
const seenEveryMs = 60_000;
/** The most sessions of one user; the least recently used ends when another begins. */
export const sessionsMax = 50;
const browserCharactersMax = 300;

/** One signed-in browser. Times are wall clock, ms. */
export interface UserSession {
  readonly id: string;
  readonly userId: string;
  /** How it was signed in: a provider's name, or `link`. */
  readonly way: string;
  /** The browser's User-Agent header. */
  readonly browser: string;
  readonly ip: string;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly expiresAt: number;
}

export interface NewSession {
  readonly userId: string;
  readonly way: string;
  readonly browser: string;
  readonly ip: string;
  readonly at: number;
}

const columns = 'id, user_id, way, browser, ip, created_at, seen_at, expires_at';

function sessionOf(row: Row): UserSession {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    way: String(row['way']),
    browser: String(row['browser']),
    ip: String(row['ip']),
    createdAt: Number(row['created_at']),
    seenAt: Number(row['seen_at']),
    expiresAt: Number(row['expires_at']),
  };
}

/**
 * Starts a session of an existing user, who has signed in from then on, even after its end.
 * `secret` is for the browser alone: only its hash is stored.
 */
export function* startSession({
  userId,
  way,
  browser,
  ip,
  at,
}: NewSession): Transaction<{ readonly session: UserSession; readonly secret: string }> {
  const secret = newSecret();
  yield {
    sql: `DELETE FROM sessions WHERE user_id = $1 AND id NOT IN (SELECT id FROM sessions WHERE user_id = $1 ORDER BY seen_at DESC, id DESC LIMIT $2)`,
    params: [userId, sessionsMax - 1],
  };
  const sql = `INSERT INTO sessions (id, hash, user_id, way, browser, ip, created_at, seen_at, expires_at) VALUES ($1,$2,$3,$4,$5,$6,$7,$7,$8) RETURNING ${columns}`;
  const shown = browser.slice(0, browserCharactersMax);
  const [row] = yield {
    sql,
    params: [orderedId('ses_', at), hashOf(secret), userId, way, shown, ip, at, at + idleMs],
  };
  assert(row !== undefined, 'an INSERT returns its row');
  yield { sql: 'UPDATE users SET signed_in_at=$2 WHERE id=$1', params: [userId, at] };
  return { session: sessionOf(row), secret };
}

export interface ResumedSession {
  readonly session: UserSession;
  readonly user: User;
}

/** The session of this secret and its user, unless it is over or never was; a use prolongs it. */
export async function resumeSession(
  database: Database,
  { secret, ip, at }: { readonly secret: string; readonly ip: string; readonly at: number },
): Promise<ResumedSession | undefined> {
  if (!isSecret(secret)) return undefined;
  const hash = hashOf(secret);
  const [row] = await database.query(
    `SELECT users.*, sessions.id AS session_id, way, browser, ip, sessions.created_at AS started_at, seen_at, expires_at
      FROM sessions JOIN users ON users.id = user_id WHERE hash = $1 AND expires_at > $2`,
    [hash, at],
  );
  if (row === undefined) return undefined;
  const session = sessionOf({
    ...row,
    id: row['session_id'] ?? '',
    user_id: row['id'] ?? '',
    created_at: row['started_at'] ?? 0n,
  });
  const signedIn = { session, user: userOf(row) };
  if (at - session.seenAt < seenEveryMs) return signedIn;
  const expiresAt = Math.min(at + idleMs, session.createdAt + lifeMs);
  await database.query(
    'UPDATE sessions SET seen_at = $1, expires_at = $2, ip = $3 WHERE hash = $4',
    [at, expiresAt, ip, hash],
  );
  return { ...signedIn, session: { ...session, seenAt: at, expiresAt, ip } };
}

/**
 * The present role of the session's user; undefined: the session is over, or the user is suspended.
 */
export function* roleOfSession(sessionId: string, at: number): Transaction<Role | undefined> {
  const [row] = yield {
    sql: 'SELECT users.* FROM sessions JOIN users ON users.id = user_id WHERE sessions.id = $1 AND frozen = 0 AND expires_at > $2',
    params: [sessionId, at],
  };
  return row && userOf(row).role;
}

/** A user's sessions that are not over, the most recently used first. */
export async function listSessions(
  database: Database,
  userId: string,
  at: number,
): Promise<readonly UserSession[]> {
  const sql = `SELECT ${columns} FROM sessions WHERE user_id = $1 AND expires_at > $2 ORDER BY seen_at DESC, id DESC LIMIT ${sessionsMax}`;
  return (await database.query(sql, [userId, at])).map(sessionOf);
}

/** Effective at once, everywhere. False when the user has no such session. */
export async function endSession(database: Database, userId: string, id: string): Promise<boolean> {
  return (
    (
      await database.query('DELETE FROM sessions WHERE id = $1 AND user_id = $2 RETURNING id', [
        id,
        userId,
      ])
    ).length > 0
  );
}

/** Ends the earlier session of a browser that signs in again. Part of a transaction. */
export function* endSessionOf(secret: string): Transaction<void> {
  yield { sql: 'DELETE FROM sessions WHERE hash = $1', params: [hashOf(secret)] };
}
