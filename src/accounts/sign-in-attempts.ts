import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { optionalText } from '../storage/sql.ts';
import { hashOf } from './keys.ts';
import { newSecret } from './secrets.ts';

/** As long as providers keep their codes. */
export const attemptLifeMs = 10 * 60_000;

/** One sign-in that is on its way to a provider and back. */
export interface SigninAttempt {
  readonly provider: string;
  /** A checked path of this site. */
  readonly next: string;
  /** The user who links an identity; undefined: this is a sign-in. */
  readonly userId: string | undefined;
}

/**
 * Stores the attempt of this browser, and returns its state. The database has only hashes of both.
 */
export async function beginAttempt(
  database: Database,
  { provider, next, userId }: SigninAttempt,
  { browser, at }: { readonly browser: string; readonly at: number },
): Promise<string> {
  const state = newSecret();
  await database.query(
    'INSERT INTO sign_in_attempts (state, browser, provider, next, user_id, expires_at) VALUES ($1, $2, $3, $4, $5, $6)',
    [hashOf(state), hashOf(browser), provider, next, userId ?? null, at + attemptLifeMs],
  );
  return state;
}

/**
 * Takes the attempt, which is possible once. `mismatch`: it is another browser's or provider's, was
 * taken or was never made.
 */
export async function takeAttempt(
  database: Database,
  {
    provider,
    state,
    browser,
    at,
  }: {
    readonly provider: string;
    readonly state: string;
    readonly browser: string;
    readonly at: number;
  },
): Promise<SigninAttempt | 'mismatch' | 'expired'> {
  const sql = `DELETE FROM sign_in_attempts WHERE state = $1 AND browser = $2 AND provider = $3 RETURNING next, user_id, expires_at`;
  const [row] = await database.query(sql, [hashOf(state), hashOf(browser), provider]);
  if (row === undefined) return 'mismatch';
  if (Number(row['expires_at']) <= at) return 'expired';
  return {
    provider,
    next: String(row['next']),
    userId: optionalText(row, 'user_id'),
  };
}

const forgottenAtOnce = 500;
const tables = [
  ['sessions', 'id'],
  ['sign_in_links', 'hash'],
  ['sign_in_attempts', 'state'],
] as const;

/**
 * Deletes sessions, links and attempts that are over, at most 500 of each at a time. Returns the
 * largest of the three counts.
 */
export async function expireSignIns(database: Database, clock: Clock): Promise<number> {
  let most = 0;
  for (const [table, key] of tables) {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE expires_at <= $1 LIMIT ${forgottenAtOnce}) RETURNING ${key}`;
    most = Math.max(most, (await database.query(sql, [clock.now()])).length);
  }
  return most;
}
