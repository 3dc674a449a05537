import { createHash } from 'node:crypto';
import { orderedId } from '../base/random.ts';
import type { Database, Migration, Row, Transaction, SqlValue } from '../storage/database.ts';
import { optionalNumber, optionalText, placeholders } from '../storage/sql.ts';

export const announcementsMigrations: readonly Migration[] = [
  {
    id: '0024-announcements',
    statements: [
      `CREATE TABLE announcement (
        id TEXT PRIMARY KEY,
        title_zh TEXT NOT NULL,
        title_en TEXT NOT NULL,
        text_zh TEXT NOT NULL,
        text_en TEXT NOT NULL,
        level TEXT NOT NULL CHECK (level IN ('info', 'warn', 'bad')),
        from_at BIGINT NOT NULL,
        to_at BIGINT,
        group_name TEXT,
        made_with TEXT NOT NULL UNIQUE,
        version BIGINT NOT NULL DEFAULT 1
      )`,
    ],
  },
];

export type AnnouncementLevel = 'info' | 'warn' | 'bad';

/** A message to users, in both languages. Times are wall clock, ms. */
export interface NewAnnouncement {
  readonly title: { readonly zh: string; readonly en: string };
  readonly text: { readonly zh: string; readonly en: string };
  readonly level: AnnouncementLevel;
  readonly from: number;
  /** Undefined: until it is removed. */
  readonly to: number | undefined;
  /** For users with a key of this group; undefined: for all users. */
  readonly group: string | undefined;
}

export interface Announcement extends NewAnnouncement {
  readonly id: string;
  readonly version: number;
}

const columns = 'title_zh, title_en, text_zh, text_en, level, from_at, to_at, group_name';

const valuesOf = ({
  title,
  text,
  level,
  from,
  to,
  group,
}: NewAnnouncement): readonly SqlValue[] => [
  title.zh,
  title.en,
  text.zh,
  text.en,
  level,
  from,
  to ?? null,
  group ?? null,
];

/** Makes one announcement for each `madeWith` of one author. */
export function* addAnnouncement(
  announcement: NewAnnouncement,
  {
    author,
    madeWith,
    at,
  }: { readonly author: string; readonly madeWith: string; readonly at: number },
): Transaction<{ readonly announcement: Announcement; readonly made: boolean }> {
  const key = createHash('sha256')
    .update(JSON.stringify([author, madeWith]))
    .digest('hex');
  const inserted = yield {
    sql: `INSERT INTO announcement (id, ${columns}, made_with) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (made_with) DO NOTHING RETURNING id`,
    params: [orderedId('ann_', at), ...valuesOf(announcement), key],
  };
  const [row = {}] = yield { sql: 'SELECT * FROM announcement WHERE made_with=$1', params: [key] };
  return { announcement: announcementOf(row), made: inserted.length > 0 };
}

export function* findAnnouncement(id: string): Transaction<Announcement | undefined> {
  const [row] = yield { sql: 'SELECT * FROM announcement WHERE id=$1', params: [id] };
  return row && announcementOf(row);
}

/** Changes an announcement. Undefined: it is gone, or it has changed since `version`. */
export function* changeAnnouncement(
  id: string,
  version: number,
  wanted: NewAnnouncement,
): Transaction<Announcement | undefined> {
  const sets = columns.split(', ').map((column, index) => `${column}=$${index + 3}`);
  const [row] = yield {
    sql: `UPDATE announcement SET version=version+1, ${sets.join(', ')} WHERE id=$1 AND version=$2 RETURNING *`,
    params: [id, version, ...valuesOf(wanted)],
  };
  return row && announcementOf(row);
}

export function* removeAnnouncement(id: string): Transaction<boolean> {
  return (
    (yield { sql: 'DELETE FROM announcement WHERE id=$1 RETURNING id', params: [id] }).length > 0
  );
}

/** All of them, the latest first. */
export async function listAnnouncements(
  database: Database,
  limit = 200,
): Promise<readonly Announcement[]> {
  return (
    await database.query('SELECT * FROM announcement ORDER BY from_at DESC, id DESC LIMIT $1', [
      limit,
    ])
  ).map(announcementOf);
}

/** The titles of those ids that are announcements. */
export async function announcementTitles(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Announcement['title']>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const sql = `SELECT * FROM announcement WHERE id IN (${placeholders(wanted)})`;
  const rows = await database.query(sql, wanted);
  return new Map(rows.map(announcementOf).map(({ id, title }) => [id, title]));
}

/** A text that is another one whenever an announcement was added, changed or removed. */
export function* announcementsMark(): Transaction<string> {
  const [row] = yield {
    sql: "SELECT COUNT(*) || ' ' || COALESCE(SUM(version), 0) || ' ' || COALESCE(MAX(id), '') AS mark FROM announcement",
    params: [],
  };
  return String(row?.['mark']);
}

const shownMax = 20;

/** The present announcements for this user, the latest first. */
export async function announcedTo(
  database: Database,
  userId: string,
  now: number,
): Promise<readonly Announcement[]> {
  const rows = await database.query(
    `SELECT * FROM announcement WHERE from_at<=$1 AND (to_at IS NULL OR to_at>$1)
      AND (group_name IS NULL OR group_name IN (SELECT group_name FROM api_keys WHERE user_id=$2 AND status='active'))
      ORDER BY from_at DESC, id DESC LIMIT ${shownMax}`,
    [now, userId],
  );
  return rows.map(announcementOf);
}

function announcementOf(row: Row): Announcement {
  const { level } = row;
  return {
    id: String(row['id']),
    title: { zh: String(row['title_zh']), en: String(row['title_en']) },
    text: { zh: String(row['text_zh']), en: String(row['text_en']) },
    level: level === 'warn' || level === 'bad' ? level : 'info',
    from: Number(row['from_at']),
    to: optionalNumber(row, 'to_at'),
    group: optionalText(row, 'group_name'),
    version: Number(row['version']),
  };
}
