import assert from 'node:assert/strict';
import type { Nano } from '../base/money.ts';
import { orderedId } from '../base/random.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Transaction, SqlValue } from '../storage/database.ts';
import {
  containing,
  endingIn,
  optionalInteger,
  optionalNumber,
  optionalText,
  placeholders,
  WhereClause,
} from '../storage/sql.ts';
import { keysTopic, nextKeysVersion } from './keys.ts';

export type Role = 'user' | 'operator';

/** A suspended user has no console, and the user's keys count as unknown. */
export type UserState = 'active' | 'suspended';

export type UserLanguage = 'zh' | 'en';

/** `id` is also the id of the user's ledger account. `createdAt` is wall clock, ms. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly state: UserState;
  /** IANA name: where the user's days begin. */
  readonly zone: string;
  /** Undefined: the browser's. */
  readonly language: UserLanguage | undefined;
  /** The balance below which the user is notified; undefined: never. */
  readonly lowBalance: Nano | undefined;
  /** The address for notifications; undefined: they appear only in the console. */
  readonly email: string | undefined;
  /** Whether single letters are shortcuts in the console. */
  readonly shortcuts: boolean;
  /** Counts changes, so that no client overwrites a change that it has not seen. */
  readonly version: number;
  readonly createdAt: number;
}

/** Settings that users change; absent members stay, and null removes a value. */
export interface UserChange {
  readonly name?: string;
  readonly zone?: string;
  readonly language?: UserLanguage | null;
  readonly lowBalance?: Nano | null;
  readonly email?: string | null;
  readonly shortcuts?: boolean;
}

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  /** Wall clock, ms. */
  readonly at: number;
}

const userColumns =
  'id, name, role, frozen, zone, language, low_balance, email, shortcuts, version, created_at';

/** Reads a row with the columns of `users`. */
export function userOf(row: Row): User {
  const { language } = row;
  return {
    id: String(row['id']),
    name: String(row['name']),
    role: row['role'] === 'operator' ? 'operator' : 'user',
    state: row['frozen'] === 1n ? 'suspended' : 'active',
    zone: String(row['zone']),
    language: language === 'zh' || language === 'en' ? language : undefined,
    lowBalance: optionalInteger(row, 'low_balance'),
    email: optionalText(row, 'email'),
    shortcuts: row['shortcuts'] === 1n,
    version: Number(row['version']),
    createdAt: Number(row['created_at']),
  };
}

/** Part of a transaction, which also makes the ledger account of the same id. */
export function* createUser({ name, role, at }: NewUser): Transaction<User> {
  const sql = `INSERT INTO users (id, name, role, created_at) VALUES ($1, $2, $3, $4) RETURNING ${userColumns}`;
  const [row] = yield { sql, params: [orderedId('usr_', at), name, role, at] };
  assert(row !== undefined, 'an INSERT returns its row');
  return userOf(row);
}

export async function findUser(database: Database, id: string): Promise<User | undefined> {
  const [row] = await database.query(`SELECT ${userColumns} FROM users WHERE id = $1`, [id]);
  return row && userOf(row);
}

/** The users with this name, oldest first; at most `limit`. */
export async function usersCalled(
  database: Database,
  name: string,
  limit: number,
): Promise<readonly User[]> {
  const rows = await database.query(
    `SELECT ${userColumns} FROM users WHERE name = $1 ORDER BY id LIMIT $2`,
    [name, limit],
  );
  return rows.map(userOf);
}

/** In the order in which they were made, beginning after the user `after`; at most `limit`. */
export async function listUsers(
  database: Database,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly User[]> {
  const rows = await database.query(
    `SELECT ${userColumns} FROM users WHERE id > $1 ORDER BY id LIMIT $2`,
    [after, limit],
  );
  return rows.map(userOf);
}

/** Changes a user. Undefined: there is no such user, or it has changed since `version`. */
export function* changeUser(
  userId: string,
  version: number,
  change: UserChange,
): Transaction<User | undefined> {
  const { name, zone, language, lowBalance, email, shortcuts } = change;
  const given: readonly (readonly [column: string, value: SqlValue | undefined])[] = [
    ['name', name],
    ['zone', zone],
    ['language', language],
    ['low_balance', lowBalance],
    ['email', email],
    ['shortcuts', shortcuts === undefined ? undefined : Number(shortcuts)],
  ];
  const set = given.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const sql = `UPDATE users SET version = version + 1${set.map(({ column }, i) => `, ${column} = $${i + 3}`).join('')}
    WHERE id = $1 AND version = $2 RETURNING ${userColumns}`;
  const [row] = yield { sql, params: [userId, version, ...set.map(({ value }) => value)] };
  return row && userOf(row);
}

/**
 * A suspended user's keys are unknown in every process within a second. Sessions and links from
 * before a suspension are told of it, and end when the user is restored. Undefined when there is no
 * such user.
 */
export function* setUserState(userId: string, state: UserState): Transaction<User | undefined> {
  const keysVersion = yield* nextKeysVersion();
  if (state === 'active')
    for (const ways of ['sessions', 'sign_in_links'])
      yield {
        sql: `DELETE FROM ${ways} WHERE user_id = (SELECT id FROM users WHERE id = $1 AND frozen = 1)`,
        params: [userId],
      };
  const sql = `UPDATE users SET frozen = $1, version = version + 1 WHERE id = $2 RETURNING ${userColumns}`;
  const [row] = yield { sql, params: [state === 'suspended' ? 1 : 0, userId] };
  yield {
    sql: 'UPDATE api_keys SET version = $1 WHERE user_id = $2',
    params: [keysVersion, userId],
  };
  return row && userOf(row);
}

/** Names the form that made a user; a second user of the same form is refused by the database. */
export function* rememberForm(userId: string, form: string): Transaction<void> {
  yield { sql: 'UPDATE users SET made_with=$2 WHERE id=$1', params: [userId, form] };
}

/** The id of the user that this form made. */
export function* userMadeWith(form: string): Transaction<string | undefined> {
  const [row] = yield { sql: 'SELECT id FROM users WHERE made_with=$1', params: [form] };
  return row && String(row['id']);
}

/** Sets the address without asking for a version: for a user that was just made. */
export function* setUserEmail(userId: string, email: string): Transaction<void> {
  yield { sql: 'UPDATE users SET email=$2 WHERE id=$1', params: [userId, email] };
}

/** Undefined when there is no such user. */
export function* setUserRole(userId: string, role: Role): Transaction<User | undefined> {
  const sql = `UPDATE users SET role = $1, version = version + 1 WHERE id = $2 RETURNING ${userColumns}`;
  const [row] = yield { sql, params: [role, userId] };
  return row && userOf(row);
}

/**
 * A user with the facts that operators need first. Times are wall clock, ms; undefined: never.
 */
export interface UserOverview {
  readonly user: User;
  readonly signIns: readonly string[];
  /** Those that are enabled. */
  readonly keys: number;
  /** All that are not deleted. */
  readonly allKeys: number;
  /** The latest sign-in. */
  readonly signedInAt: number | undefined;
  /** The latest use of a browser that is signed in, else the latest sign-in. */
  readonly lastSeenAt: number | undefined;
}

export interface UserFilter {
  /** The id or its end, or a part of the name or of the e-mail address, whatever its case. */
  readonly q?: string | undefined;
  readonly role?: Role | undefined;
  readonly state?: UserState | undefined;
}

interface UserQuery extends UserFilter {
  readonly id?: string | undefined;
  /** The id of the last one of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of users, newest first. */
export function* userPage(query: UserQuery): Transaction<readonly UserOverview[]> {
  const where = conditionsOf(query);
  where.add('u.id=?', query.id);
  where.add('u.id<?', query.before);
  return yield* overviews(where, `ORDER BY u.id DESC LIMIT ${where.place(query.limit)}`);
}

/** The users with these ids, in the order of the ids. */
export function* usersNamed(ids: readonly string[]): Transaction<readonly UserOverview[]> {
  if (ids.length === 0) return [];
  const where = new WhereClause();
  where.addOneOf('u.id', ids);
  const found = new Map((yield* overviews(where, '')).map((each) => [each.user.id, each]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

const lastSeen =
  'COALESCE((SELECT MAX(s.seen_at) FROM sessions s WHERE s.user_id=u.id), u.signed_in_at)';

/** The newest `limit` users that fit, with what a list can be ordered by. */
export function* usersToOrder(
  filter: UserFilter,
  limit: number,
): Transaction<readonly { readonly id: string; readonly name: string; readonly seen: number }[]> {
  const where = conditionsOf(filter);
  const rows = yield {
    sql: `SELECT u.id, u.name, COALESCE(${lastSeen}, 0) AS seen
      FROM users u${where.text} ORDER BY u.id DESC LIMIT ${where.place(limit)}`,
    params: where.params,
  };
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    seen: Number(row['seen']),
  }));
}

/** What the console shows of an id; fewer letters are the end of too many ids. */
const idEndMin = 6;

function conditionsOf({ q, role, state }: UserFilter): WhereClause {
  const where = new WhereClause();
  if (q !== undefined && q !== '') {
    const text = `LOWER(${where.place(containing(q))})`;
    // As the console shows it: `…a6sJr9`.
    const idEnd = q.replace(/^…/, '');
    const end =
      idEnd.length < idEndMin
        ? ''
        : ` OR LOWER(u.id) LIKE LOWER(${where.place(endingIn(idEnd))}) ESCAPE '!'`;
    where.add(
      `(u.id=? OR LOWER(u.name) LIKE ${text} ESCAPE '!' OR LOWER(u.email) LIKE ${text} ESCAPE '!'${end})`,
      q,
    );
  }
  where.add('u.role=?', role);
  where.add('u.frozen=?', state === undefined ? undefined : Number(state === 'suspended'));
  return where;
}

function* overviews(where: WhereClause, rest: string): Transaction<readonly UserOverview[]> {
  const rows = yield {
    sql: `SELECT u.*, (SELECT COUNT(*) FROM api_keys k WHERE k.user_id=u.id AND k.status='active') AS active_keys,
        (SELECT COUNT(*) FROM api_keys k WHERE k.user_id=u.id AND k.status<>'deleted') AS all_keys,
        ${lastSeen} AS last_seen_at
      FROM users u${where.text} ${rest}`,
    params: where.params,
  };
  const ways = yield* signInsOf(rows.map((row) => String(row['id'])));
  return rows.map((row) => overviewOf(row, ways));
}

function* signInsOf(ids: readonly string[]): Transaction<readonly Row[]> {
  if (ids.length === 0) return [];
  return yield {
    sql: `SELECT user_id, provider FROM identities WHERE user_id IN (${placeholders(ids)}) ORDER BY provider`,
    params: ids,
  };
}

function overviewOf(row: Row, ways: readonly Row[]): UserOverview {
  return {
    user: userOf(row),
    signIns: ways
      .filter((way) => way['user_id'] === row['id'])
      .map((way) => String(way['provider'])),
    keys: Number(row['active_keys']),
    allKeys: Number(row['all_keys']),
    signedInAt: optionalNumber(row, 'signed_in_at'),
    lastSeenAt: optionalNumber(row, 'last_seen_at'),
  };
}

/** How many users, operators apart, were made within a range (wall clock, ms). */
export function* usersMadeWithin(from: number, to: number): Transaction<number> {
  const [row] = yield {
    sql: "SELECT COUNT(*) AS count FROM users WHERE created_at>=$1 AND created_at<$2 AND role='user'",
    params: [from, to],
  };
  return Number(row?.['count'] ?? 0);
}

/**
 * Whether a user is an operator at this very moment. Until the transaction ends, no other one
 * passes here: when two operators act on each other, one of them fails.
 */
export function* stillOperator(id: string): Transaction<boolean> {
  yield bump(keysTopic);
  return yield* isOperator(id);
}

/** The same for what changes no user: operators do not take turns. */
export function* isOperator(id: string): Transaction<boolean> {
  const rows = yield {
    sql: "SELECT id FROM users WHERE id=$1 AND role='operator' AND frozen=0",
    params: [id],
  };
  return rows.length > 0;
}

/** The number of other operators that are not suspended. */
export function* otherOperators(id: string): Transaction<number> {
  const [row] = yield {
    sql: "SELECT COUNT(*) AS others FROM users WHERE role='operator' AND frozen=0 AND id<>$1",
    params: [id],
  };
  return Number(row?.['others'] ?? 0);
}
