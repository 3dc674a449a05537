import { isEmail } from '../accounts/email.ts';
import type { Language } from '../accounts/users.ts';
import { randomText } from '../base/id.ts';
import { formatYuan } from '../base/money.ts';
import type { RecordedChannel } from '../catalog/recorded.ts';
import { channelTogether, type NodeReport } from '../gateway/reports/report.ts';
import type { Script } from '../storage/database.ts';
import { mailOf, type NoticeEvent } from './event.ts';
import type { NoticeSettings } from './settings.ts';

/** Users that are told in one look; the others in the next. */
const usersMax = 500;
/** What comes and goes is told of so often at most. */
const againAfterMs = 3_600_000;

export interface Teller {
  readonly settings: NoticeSettings;
  /** Where the console is, for links; undefined: not known. */
  readonly home: string | undefined;
  /** Wall clock, ms. */
  readonly at: number;
}

/**
 * Puts what is to be said where the sender finds it: operators hear of everything by webhook, and
 * by mail of channels; a user by mail of his own balance.
 */
function* tell(
  event: NoticeEvent,
  mails: readonly { readonly to: string; readonly language: Language | undefined }[],
  teller: Teller,
): Script<void> {
  const { settings, home, at } = teller;
  const id = `ntc_${at.toString(36).padStart(9, '0')}${randomText(13)}`;
  const sql =
    'INSERT INTO notice (id, way, target, content, created_at, next_at) VALUES ($1, $2, $3, $4, $5, $5)';
  if (settings.webhook !== undefined) {
    const { type, ...data } = event;
    const content = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
    yield { sql, params: [id, 'webhook', 'operator', content, at] };
  }
  if (settings.email === undefined) return;
  for (const [index, { to, language }] of mails.entries())
    yield {
      sql,
      params: [`${id}_${index}`, 'email', to, JSON.stringify(mailOf(event, language, home)), at],
    };
}

const balanceOf =
  'a.credits-a.debits-COALESCE((SELECT SUM(f.spent) FROM till_float f WHERE f.account=a.id), 0)';

/**
 * Whoever has less than he asked to be told of, once, until there is as much again. Once an hour at
 * most, too: whoever turns his own amount up and down writes nobody letters.
 */
export function* lookAtBalances(teller: Teller): Script<void> {
  const rows = yield {
    sql: `SELECT u.id, u.name, u.email, u.language, u.low_balance, ${balanceOf} AS balance FROM users u JOIN account a ON a.id=u.id
      WHERE u.low_balance IS NOT NULL AND u.frozen=0 AND ${balanceOf}<u.low_balance
        AND NOT EXISTS (SELECT 1 FROM notice_matter m WHERE m.about='balance ' || u.id AND (m.well_at IS NULL OR m.told_at>$1))
      ORDER BY u.id LIMIT ${usersMax}`,
    params: [teller.at - againAfterMs],
  };
  for (const row of rows) {
    const [user, name] = [String(row['id']), String(row['name'])];
    const { email, language } = row;
    const [balance, threshold] = [row['balance'], row['low_balance']].map((nano) =>
      formatYuan(BigInt(nano ?? 0)),
    );
    yield {
      sql: 'INSERT INTO notice_matter (about, since, told_at) VALUES ($1, $2, $2) ON CONFLICT (about) DO UPDATE SET since=excluded.since, told_at=excluded.told_at, well_at=NULL',
      params: [`balance ${user}`, teller.at],
    };
    const to =
      typeof email === 'string' && isEmail(email)
        ? [{ to: email, language: languageOf(language) }]
        : [];
    yield* tell(
      { type: 'balance.low', user, name, balance: balance ?? '', threshold: threshold ?? '' },
      to,
      teller,
    );
  }
  yield {
    sql: `UPDATE notice_matter SET well_at=$1 WHERE about LIKE 'balance %' AND well_at IS NULL AND NOT EXISTS (SELECT 1 FROM users u JOIN account a ON a.id=u.id
      WHERE u.id=substr(notice_matter.about, 9) AND u.low_balance IS NOT NULL AND ${balanceOf}<u.low_balance)`,
    params: [teller.at],
  };
  yield {
    sql: "DELETE FROM notice_matter WHERE about LIKE 'balance %' AND well_at IS NOT NULL AND told_at<=$1",
    params: [teller.at - againAfterMs],
  };
}

const languageOf = (value: unknown): Language | undefined =>
  value === 'zh' || value === 'en' ? value : undefined;

interface Matter {
  readonly since: number;
  readonly toldAt: number | undefined;
  readonly wellAt: number | undefined;
}

/**
 * Channels in use that fail or are shut out: what a vendor refuses for our key or our account is
 * told at once, the rest after a while. One that is well again is told of, too, if its trouble was;
 * one that comes and goes once an hour.
 */
export function* lookAtChannels(
  channels: readonly RecordedChannel[],
  reports: readonly NodeReport[],
  teller: Teller,
): Script<void> {
  const rows = yield {
    sql: "SELECT * FROM notice_matter WHERE about LIKE 'channel %'",
    params: [],
  };
  const known = new Map(
    rows.map((row): [string, Matter] => [
      String(row['about']),
      {
        since: Number(row['since']),
        toldAt: timeOf(row['told_at']),
        wellAt: timeOf(row['well_at']),
      },
    ]),
  );
  const inUse = new Set<string>();
  for (const { name, state } of channels) {
    if (state !== 'active') continue;
    inUse.add(`channel ${name}`);
    yield* lookAtChannel(
      name,
      channelTogether(reports, name),
      known.get(`channel ${name}`),
      teller,
    );
  }
  for (const about of known.keys())
    if (!inUse.has(about))
      yield { sql: 'DELETE FROM notice_matter WHERE about=$1', params: [about] };
}

const timeOf = (value: unknown): number | undefined =>
  typeof value === 'bigint' ? Number(value) : undefined;

function* lookAtChannel(
  channel: string,
  seen: ReturnType<typeof channelTogether>,
  matter: Matter | undefined,
  teller: Teller,
): Script<void> {
  const { settings, at } = teller;
  const about = `channel ${channel}`;
  const mails = (settings.email?.to ?? []).map((to) => ({ to, language: undefined }));
  if (seen.state === 'healthy') {
    if (matter === undefined) return;
    const recent = matter.toldAt !== undefined && at < matter.toldAt + againAfterMs;
    if (matter.toldAt !== undefined && matter.wellAt === undefined)
      yield* tell({ type: 'channel.recovered', channel }, mails, teller);
    if (!recent) yield { sql: 'DELETE FROM notice_matter WHERE about=$1', params: [about] };
    else if (matter.wellAt === undefined)
      yield { sql: 'UPDATE notice_matter SET well_at=$2 WHERE about=$1', params: [about, at] };
    return;
  }
  // Its trouble begins anew where it had been well in between.
  const since = matter === undefined || matter.wellAt !== undefined ? at : matter.since;
  if (matter === undefined)
    yield {
      sql: 'INSERT INTO notice_matter (about, since) VALUES ($1, $2) ON CONFLICT (about) DO NOTHING',
      params: [about, at],
    };
  else if (matter.wellAt !== undefined && at >= (matter.toldAt ?? 0) + againAfterMs)
    yield {
      sql: 'UPDATE notice_matter SET since=$2, told_at=NULL, well_at=NULL WHERE about=$1',
      params: [about, at],
    };
  const told =
    matter?.toldAt !== undefined &&
    (matter.wellAt === undefined || at < matter.toldAt + againAfterMs);
  const ours = seen.why === 'credentials' || seen.why === 'quota';
  if (told || (!ours && at < since + settings.troubleMs)) return;
  yield* tell(
    {
      type: 'channel.trouble',
      channel,
      why: seen.why ?? 'unknown',
      since: new Date(since).toISOString(),
    },
    mails,
    teller,
  );
  yield {
    sql: 'UPDATE notice_matter SET told_at=$2, well_at=NULL WHERE about=$1',
    params: [about, at],
  };
}
