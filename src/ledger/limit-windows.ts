import { dayMs, type Period, parsePeriod } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import type { Database, Row, Statement, Transaction } from '../storage/database.ts';
import { integerColumn, integerColumnOrZero, placeholders, textColumn } from '../storage/sql.ts';
import type { LimitWindow } from './contract.ts';
import { changeLimitTx, insertWindow } from './transactions/account.ts';
import { spentOfFloats } from './transfers.ts';

/**
 * Windows that one statement reads, proves or deletes: a key with a daily limit has forty, and
 * streams and charges wait while the rows are read and written.
 */
const windowsAtOnce = 500;
const keptForMs = 40 * 86_400_000;
const spent = `a.debits+${spentOfFloats}`;

/** Every process knows of a changed limit within this time. */
const knownWithinMs = 60_000;
/** Longer than requests and tasks take. */
const longestMs = dayMs;

/**
 * Whether a record (table `u`) may be missing in the windows of its key, by the row `g` of
 * `limit_gap`: requests that run when a limit is added do not count in it, and none counts while it
 * is away.
 */
export const mayBeMissing = `((g.closed_at IS NOT NULL AND u.reserved_at>=g.closed_at-${knownWithinMs})
  OR (u.reserved_at>=g.opened_at-${longestMs} AND u.reserved_at<g.opened_at+${knownWithinMs}))`;

export type WindowKind = 'total' | 'day' | 'month';

interface Window extends Period {
  readonly id: string;
  readonly keyId: string;
  readonly kind: WindowKind;
  readonly charged: bigint;
}

/**
 * The day and month windows whose charges differ from the usage records reserved in them, and
 * windows whose id is neither total, day nor month.
 */
export function* wrongWindows(): Transaction<readonly Row[]> {
  const wrong: Row[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly Row[] = yield datedWindows(`a.id, ${spent} AS charged`, after);
    after = nextOf(rows);
    const windows: Window[] = [];
    for (const row of rows) {
      const window = windowOf(textColumn(row, 'id'), integerColumnOrZero(row, 'charged'));
      if (window === undefined) wrong.push(row);
      else windows.push(window);
    }
    if (windows.length === 0) continue;
    const sums = new Map((yield paidIn(windows)).map((row) => [textColumn(row, 'id'), row]));
    for (const { id, charged } of windows) {
      const paid = integerColumnOrZero(sums.get(id), 'paid');
      const missing = integerColumnOrZero(sums.get(id), 'missing');
      if (charged > paid || charged < paid - missing) wrong.push({ id, charged, paid });
    }
  }
  return wrong;
}

/** A page of all windows but totals, by id. */
const datedWindows = (columns: string, after: string): Statement => ({
  sql: `SELECT ${columns} FROM account a WHERE a.kind='limit' AND a.id NOT LIKE 'key:%:total' AND a.id>$1
    ORDER BY a.id LIMIT ${windowsAtOnce}`,
  params: [after],
});

/** The id after which the next page begins; undefined: this was the last one. */
const nextOf = (page: readonly Row[]): string | undefined =>
  page.length < windowsAtOnce ? undefined : textColumn(page.at(-1), 'id');

function windowOf(id: string, charged: bigint): Window | undefined {
  const parts = /^key:(.+):(day|month):([^:]+(?::\d\d)?)$/.exec(id);
  const period = parsePeriod(parts?.[3] ?? '');
  const kind = parts?.[2] === 'day' ? 'day' : 'month';
  return period && { ...period, id, keyId: parts?.[1] ?? '', kind, charged };
}

function paidIn(windows: readonly Window[]): Statement {
  const places = windows.map((_, i) => {
    const n = i * 5;
    return `(CAST($${n + 1} AS TEXT), CAST($${n + 2} AS TEXT), CAST($${n + 3} AS BIGINT), CAST($${n + 4} AS BIGINT), CAST($${n + 5} AS TEXT))`;
  });
  return {
    sql: `WITH w(id, key_id, first, next, kind) AS (VALUES ${places.join()}) SELECT w.id, SUM(u.cost-u.shortfall) AS paid,
        SUM(CASE WHEN ${mayBeMissing} THEN u.cost-u.shortfall ELSE 0 END) AS missing
      FROM w JOIN usage u ON u.key_id=w.key_id AND u.reserved_at>=w.first AND u.reserved_at<w.next
        LEFT JOIN limit_gap g ON g.key_id=w.key_id AND g.kind=w.kind GROUP BY w.id`,
    params: windows.flatMap(({ id, keyId, from, to, kind }) => [id, keyId, from, to, kind]),
  };
}

/** Deletes the windows that ended more than `keptForMs` ago; returns how many. */
export async function forgetWindows(
  database: Database,
  now: number,
  stopped: () => boolean = () => false,
): Promise<number> {
  let forgotten = 0;
  for (let after: string | undefined = ''; after !== undefined && !stopped(); ) {
    const page = datedWindows('a.id', after);
    const rows: readonly Row[] = await database.snapshot(function* (): Transaction<readonly Row[]> {
      return yield page;
    });
    after = nextOf(rows);
    const ended = rows
      .map((row) => textColumn(row, 'id'))
      .filter((id) => (windowOf(id, 0n)?.to ?? now) < now - keptForMs);
    if (ended.length === 0) continue;
    const deleted = await database.query(
      `DELETE FROM account WHERE id IN (${placeholders(ended)}) AND kind='limit' AND held=0 RETURNING id`,
      ended,
    );
    forgotten += deleted.length;
  }
  return forgotten;
}

/** The time of a day's or month's window; undefined for a total. */
export const periodOfWindow = (id: string): Period | undefined => windowOf(id, 0n);

/**
 * Adds a limit to a key that lacked it, as a window in which `paid` is spent: what the key paid in
 * that time, read before this transaction. Requests that run now do not count in it.
 */
export function* openLimitWindow(
  keyId: string,
  kind: WindowKind,
  window: LimitWindow,
  paid: Nano,
  at: number,
): Transaction<void> {
  const { id, amount } = window;
  yield insertWindow(window);
  yield* changeLimitTx({ id: `key:${keyId}:${kind}`, amount });
  // The account's row is locked now: its floats' spending moves nowhere.
  const [row] = yield {
    sql: `SELECT ${spent} AS charged FROM account a WHERE a.id=$1`,
    params: [id],
  };
  const missing = paid - integerColumn(row, 'charged');
  if (missing > 0n)
    yield { sql: 'UPDATE account SET debits=debits+$2 WHERE id=$1', params: [id, missing] };
  yield {
    sql: `INSERT INTO limit_gap (key_id, kind, opened_at) VALUES ($1, $2, $3)
      ON CONFLICT (key_id, kind) DO UPDATE SET opened_at=excluded.opened_at, closed_at=NULL`,
    params: [keyId, kind, at],
  };
}

/** Takes a limit away: the windows stay, and later requests do not count in them. */
export function* closeLimitWindows(keyId: string, kind: WindowKind, at: number): Transaction<void> {
  yield {
    sql: `INSERT INTO limit_gap (key_id, kind, closed_at) VALUES ($1, $2, $3)
      ON CONFLICT (key_id, kind) DO UPDATE SET closed_at=excluded.closed_at`,
    params: [keyId, kind, at],
  };
}

/** The amounts spent in windows, by their ids. */
export function* spentInWindows(ids: readonly string[]): Transaction<ReadonlyMap<string, Nano>> {
  if (ids.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT a.id, ${spent} AS charged FROM account a WHERE a.id IN (${placeholders(ids)})`,
    params: ids,
  };
  return new Map(rows.map((row) => [textColumn(row, 'id'), integerColumnOrZero(row, 'charged')]));
}

/** What running tasks hold in windows, by their ids. */
export function* heldInWindows(ids: readonly string[]): Transaction<ReadonlyMap<string, Nano>> {
  if (ids.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT account, CAST(SUM(amount) AS BIGINT) AS held FROM hold
      WHERE state='open' AND account IN (${placeholders(ids)}) GROUP BY account`,
    params: ids,
  };
  return new Map(rows.map((row) => [textColumn(row, 'account'), integerColumn(row, 'held')]));
}
