import { bump } from '../storage/changes.ts';
import type { Database, Row, Script, SqlValue } from '../storage/database.ts';
import { keysTopic } from './keys.ts';
import { type Role, type User, userOf, type UserState } from './users.ts';

/**
 * A user with what operators ask about first. `lastSeenAt`: wall clock, ms, of any of the user's
 * browsers.
 */
export interface UserOverview {
  readonly user: User;
  readonly signIns: readonly string[];
  readonly keys: number;
  readonly lastSeenAt: number | undefined;
}

export interface UserQuestion {
  /** The id, or a part of the name, whatever its case. */
  readonly q?: string | undefined;
  readonly role?: Role | undefined;
  readonly state?: UserState | undefined;
  readonly id?: string | undefined;
  /** The id of the last one of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Users, those made last first. */
export function* userPage({
  q,
  role,
  state,
  id,
  before,
  limit,
}: UserQuestion): Script<readonly UserOverview[]> {
  const params: SqlValue[] = [];
  const place = (value: SqlValue): string => `$${params.push(value)}`;
  const conditions = [
    ...(q === undefined || q === ''
      ? []
      : [
          `(u.id=${place(q)} OR LOWER(u.name) LIKE ${place(`%${escaped(q.toLowerCase())}%`)} ESCAPE '!')`,
        ]),
    ...(role === undefined ? [] : [`u.role=${place(role)}`]),
    ...(state === undefined ? [] : [`u.frozen=${place(state === 'suspended' ? 1 : 0)}`]),
    ...(id === undefined ? [] : [`u.id=${place(id)}`]),
    ...(before === undefined ? [] : [`u.id<${place(before)}`]),
  ];
  const rows = yield {
    sql: `SELECT u.*, (SELECT COUNT(*) FROM api_keys k WHERE k.user_id=u.id AND k.status='active') AS active_keys,
        (SELECT MAX(s.seen_at) FROM sessions s WHERE s.user_id=u.id) AS last_seen_at
      FROM users u ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} ORDER BY u.id DESC LIMIT ${place(limit)}`,
    params,
  };
  const ways = yield* signInsOf(rows.map((row) => String(row['id'])));
  return rows.map((row) => overviewOf(row, ways));
}

const escaped = (text: string): string => text.replace(/[!%_]/g, '!$&');

function* signInsOf(ids: readonly string[]): Script<readonly Row[]> {
  if (ids.length === 0) return [];
  const places = ids.map((_, index) => `$${index + 1}`).join();
  return yield {
    sql: `SELECT user_id, provider FROM identities WHERE user_id IN (${places}) ORDER BY provider`,
    params: ids,
  };
}

function overviewOf(row: Row, ways: readonly Row[]): UserOverview {
  const seen = row['last_seen_at'] ?? null;
  return {
    user: userOf(row),
    signIns: ways
      .filter((way) => way['user_id'] === row['id'])
      .map((way) => String(way['provider'])),
    keys: Number(row['active_keys']),
    lastSeenAt: seen === null ? undefined : Number(seen),
  };
}

/** Of those of them that are users. */
export async function userNames(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const places = wanted.map((_, index) => `$${index + 1}`).join();
  const rows = await database.query(`SELECT id, name FROM users WHERE id IN (${places})`, wanted);
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]));
}

/**
 * Whether somebody is an operator at this very moment. Until the transaction ends no other passes
 * here: of two who act on each other, one has lost.
 */
export function* stillOperator(id: string): Script<boolean> {
  yield bump(keysTopic);
  const rows = yield {
    sql: "SELECT id FROM users WHERE id=$1 AND role='operator' AND frozen=0",
    params: [id],
  };
  return rows.length > 0;
}

/** Operators who are not suspended, but for this one. */
export function* otherOperators(id: string): Script<number> {
  const [row] = yield {
    sql: "SELECT COUNT(*) AS others FROM users WHERE role='operator' AND frozen=0 AND id<>$1",
    params: [id],
  };
  return Number(row?.['others'] ?? 0);
}
