import { type Period, parsePeriod } from '../base/calendar.ts';
import type { Database, Row, Transaction, SqlValue } from '../storage/database.ts';
import { integerColumnOrZero, textColumn } from '../storage/sql.ts';

/** Windows proved by one statement. */
const windowsAtOnce = 200;
const keptForMs = 40 * 86_400_000;
const spent = 'a.debits+COALESCE((SELECT SUM(f.spent) FROM till_float f WHERE f.account=a.id), 0)';

interface Window extends Period {
  readonly id: string;
  readonly keyId: string;
  readonly charged: bigint;
}

/**
 * The day and month windows whose charges differ from the usage records reserved in them, and
 * windows whose id is neither total, day nor month.
 */
export function* wrongWindows(): Transaction<readonly Row[]> {
  const rows = yield {
    sql: `SELECT a.id, ${spent} AS charged FROM account a WHERE a.kind='limit' AND a.id NOT LIKE 'key:%:total'`,
    params: [],
  };
  const wrong: Row[] = [];
  const windows: Window[] = [];
  for (const row of rows) {
    const window = windowOf(textColumn(row, 'id'), integerColumnOrZero(row, 'charged'));
    if (window === undefined) wrong.push(row);
    else windows.push(window);
  }
  for (let i = 0; i < windows.length; i += windowsAtOnce) {
    const some = windows.slice(i, i + windowsAtOnce);
    const paid = new Map(
      (yield paidIn(some)).map((row) => [textColumn(row, 'id'), integerColumnOrZero(row, 'paid')]),
    );
    for (const { id, charged } of some)
      if (charged !== (paid.get(id) ?? 0n)) wrong.push({ id, charged, paid: paid.get(id) ?? 0n });
  }
  return wrong;
}

function windowOf(id: string, charged: bigint): Window | undefined {
  const parts = /^key:(.+):(?:day|month):([^:]+(?::\d\d)?)$/.exec(id);
  const period = parsePeriod(parts?.[2] ?? '');
  return period && { ...period, id, keyId: parts?.[1] ?? '', charged };
}

function paidIn(windows: readonly Window[]): {
  readonly sql: string;
  readonly params: readonly SqlValue[];
} {
  const places = windows.map((_, i) => {
    const n = i * 4;
    return `(CAST($${n + 1} AS TEXT), CAST($${n + 2} AS TEXT), CAST($${n + 3} AS BIGINT), CAST($${n + 4} AS BIGINT))`;
  });
  return {
    sql: `WITH w(id, key_id, first, next) AS (VALUES ${places.join()}) SELECT w.id, SUM(u.cost-u.shortfall) AS paid
      FROM w JOIN usage u ON u.key_id=w.key_id AND u.reserved_at>=w.first AND u.reserved_at<w.next GROUP BY w.id`,
    params: windows.flatMap(({ id, keyId, from, to }) => [id, keyId, from, to]),
  };
}

/** Deletes the windows that ended more than `keptForMs` ago; returns how many. */
export async function forgetWindows(database: Database, now: number): Promise<number> {
  const rows = await database.query(
    "SELECT id FROM account WHERE kind='limit' AND held=0 AND id NOT LIKE 'key:%:total'",
  );
  const ended = rows
    .map((row) => textColumn(row, 'id'))
    .filter((id) => (windowOf(id, 0n)?.to ?? now) < now - keptForMs);
  for (const id of ended)
    await database.query("DELETE FROM account WHERE id=$1 AND kind='limit' AND held=0", [id]);
  return ended.length;
}
