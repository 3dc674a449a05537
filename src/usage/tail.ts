import type { Script } from '../storage/database.ts';
import { begunWithin, Places, rolledUntil, type Span } from './cover.ts';

/**
 * Twice as long as records usually wait for the roll-up; and what is read in a tenth of a second.
 */
const tailMsMost = 15 * 60_000;
const tailRecordsMost = 4_000;

/**
 * How recent figures of all accounts are: `until` (wall clock, ms), by the records of `tail` beside
 * what is rolled up.
 */
interface Recent {
  readonly until: number;
  readonly tail: Span | undefined;
}

/**
 * The records of a span that are in no hour yet, as far as they are soon read. To be yielded in the
 * snapshot of the figures themselves.
 */
export function* recentOf({ from, to }: Span, now: number): Script<Recent> {
  const rolled = yield* rolledUntil();
  const until = rolled === 0 ? ((yield* firstChargeOfAll()) ?? now) : rolled;
  const tail = { from: Math.max(from, until), to };
  if (now - until > tailMsMost || (yield* isMoreThan(tailRecordsMost, tail)))
    return { until, tail: undefined };
  return { until: now, tail };
}

/** Counts no further than to `most`. */
function* isMoreThan(most: number, span: Span): Script<boolean> {
  const places = new Places();
  const counted = `SELECT 1 AS one ${recordsOf(places, span)} LIMIT ${places.add(most + 1)}`;
  const [row] = yield {
    sql: `SELECT COUNT(*) AS count FROM (${counted}) c`,
    params: places.params,
  };
  return Number(row?.['count'] ?? 0) > most;
}

/** When anybody was charged first; undefined: nobody was. */
export function* firstChargeOfAll(): Script<number | undefined> {
  const [row] = yield {
    sql: 'SELECT MIN((SELECT MIN(r.finished_at) FROM usage r WHERE r.account=u.id)) AS first FROM users u',
    params: [],
  };
  const first = row?.['first'] ?? null;
  return first === null ? undefined : Number(first);
}

/**
 * SQL: all records of a span, each user's own stretch of the index, so that nothing else is read;
 * `join`: with what comes of each.
 */
export function recordsOf(places: Places, span: Span, join = ''): string {
  return `FROM users u CROSS JOIN usage r${join} WHERE r.account=u.id
    AND r.finished_at>=${places.add(span.from)} AND r.finished_at<${places.add(span.to)} AND ${begunWithin(places, span)}`;
}
