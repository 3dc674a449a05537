import { isEmail } from '../accounts/text-fields.ts';
import type { UserLanguage } from '../accounts/users.ts';
import { orderedId } from '../base/random.ts';
import { formatYuan } from '../base/money.ts';
import type { StoredChannel } from '../catalog/stored-catalog.ts';
import { channelAcrossNodes, type NodeReport } from '../gateway/reports/report.ts';
import { availableBalance } from '../ledger/transfers.ts';
import type { Row, Statement, Transaction } from '../storage/database.ts';
import { optionalNumber } from '../storage/sql.ts';
import type { NotificationSettings } from './settings.ts';

/** Users alerted in one look; the others follow in the next. */
const usersMax = 500;
/** The shortest time between two alerts about trouble that comes and goes. */
const againAfterMs = 3_600_000;

export interface AlertContext {
  readonly settings: NotificationSettings;
  /** The console's address, for links; undefined: not known. */
  readonly home: string | undefined;
  /** Wall clock, ms. */
  readonly at: number;
}

/**
 * Alerts each user whose balance is below the user's own threshold: once, until the balance is
 * above it again, and at most once an hour, so that a user who keeps changing the threshold causes
 * no flood of mails. Without a webhook, a user without an address is not told, and hears of it once
 * there is one.
 */
export function* checkBalances(context: AlertContext): Transaction<void> {
  const reachable = context.settings.webhook === undefined ? ' AND u.email IS NOT NULL' : '';
  const rows = yield {
    sql: `SELECT u.id, u.name, u.email, u.language, u.low_balance, ${availableBalance} AS balance FROM users u JOIN account a ON a.id=u.id
      WHERE u.low_balance IS NOT NULL AND u.frozen=0${reachable} AND ${availableBalance}<u.low_balance
        AND NOT EXISTS (SELECT 1 FROM notice_matter m WHERE m.about='balance ' || u.id AND (m.well_at IS NULL OR m.told_at>$1))
      ORDER BY u.id LIMIT ${usersMax}`,
    params: [context.at - againAfterMs],
  };
  for (const row of rows) {
    const [user, name] = [String(row['id']), String(row['name'])];
    const { email, language } = row;
    const [balance, threshold] = [yuanIn(row, 'balance'), yuanIn(row, 'low_balance')];
    const { at } = context;
    yield storeAlert(`balance ${user}`, { since: at, alertedAt: at, wellAt: undefined });
    const to =
      typeof email === 'string' && isEmail(email)
        ? [{ to: email, language: readLanguage(language) }]
        : [];
    yield* enqueueAlert({ type: 'balance.low', user, name, balance, threshold }, to, context);
  }
  yield {
    sql: `UPDATE notice_matter SET well_at=$1 WHERE about LIKE 'balance %' AND well_at IS NULL AND NOT EXISTS (SELECT 1 FROM users u JOIN account a ON a.id=u.id
      WHERE u.id=substr(notice_matter.about, 9) AND u.low_balance IS NOT NULL AND ${availableBalance}<u.low_balance)`,
    params: [context.at],
  };
  yield {
    sql: "DELETE FROM notice_matter WHERE about LIKE 'balance %' AND well_at IS NOT NULL AND told_at<=$1",
    params: [context.at - againAfterMs],
  };
}

/** A sum may come as text. */
const yuanIn = (row: Row, column: string): string => formatYuan(BigInt(row[column] ?? 0));

const readLanguage = (value: unknown): UserLanguage | undefined =>
  value === 'zh' || value === 'en' ? value : undefined;

/** A problem: since when, when its alert was sent, and when it was over. */
interface AlertState {
  readonly since: number;
  readonly alertedAt: number | undefined;
  readonly wellAt: number | undefined;
}

/**
 * Alerts about channels in use that fail or are paused. When the vendor refuses our key or our
 * account, the alert goes out at once, for other trouble after a while. A recovered channel gets an
 * alert too if its trouble had one, once it has answered; a channel that comes and goes gets one
 * per hour.
 */
export function* checkChannels(
  channels: readonly StoredChannel[],
  reports: readonly NodeReport[],
  context: AlertContext,
): Transaction<void> {
  const rows = yield {
    sql: "SELECT * FROM notice_matter WHERE about LIKE 'channel %'",
    params: [],
  };
  const known = new Map(
    rows.map((row): [string, AlertState] => [
      String(row['about']),
      {
        since: Number(row['since']),
        alertedAt: optionalNumber(row, 'told_at'),
        wellAt: optionalNumber(row, 'well_at'),
      },
    ]),
  );
  const mails = (context.settings.email?.to ?? []).map((to) => ({ to, language: undefined }));
  const inUse = new Set<string>();
  for (const { name, state } of channels) {
    if (state !== 'active') continue;
    const about = `channel ${name}`;
    inUse.add(about);
    const alert = known.get(about);
    const next = judgeChannel(name, channelAcrossNodes(reports, name), alert, context);
    if (next.event !== undefined) yield* enqueueAlert(next.event, mails, context);
    if (next.alert !== alert) yield storeAlert(about, next.alert);
  }
  for (const about of known.keys()) if (!inUse.has(about)) yield storeAlert(about, undefined);
}

/** Undefined forgets the alert. In its table, `notice_matter`, `alertedAt` is `told_at`. */
const storeAlert = (about: string, alert: AlertState | undefined): Statement =>
  alert === undefined
    ? { sql: 'DELETE FROM notice_matter WHERE about=$1', params: [about] }
    : {
        sql: 'INSERT INTO notice_matter (about, since, told_at, well_at) VALUES ($1, $2, $3, $4) ON CONFLICT (about) DO UPDATE SET since=excluded.since, told_at=excluded.told_at, well_at=excluded.well_at',
        params: [about, alert.since, alert.alertedAt ?? null, alert.wellAt ?? null],
      };

/** What is kept of a channel's trouble after this look (undefined: nothing), and its alert. */
function judgeChannel(
  channel: string,
  seen: ReturnType<typeof channelAcrossNodes>,
  alert: AlertState | undefined,
  { settings, at }: AlertContext,
): { readonly alert: AlertState | undefined; readonly event?: AlertEvent } {
  const alertedAt = alert?.alertedAt;
  const lately = alertedAt !== undefined && at < alertedAt + againAfterMs;
  const goesOn = alert !== undefined && alert.wellAt === undefined;
  if (seen.state === 'healthy') {
    if (alertedAt === undefined) return { alert: undefined };
    if (!goesOn) return { alert: lately ? alert : undefined };
    // A process that has just begun, and has not called the channel, calls it healthy too.
    if (seen.recent.attempts === seen.recent.failed) return { alert };
    const event = { type: 'channel.recovered', channel } as const;
    return { alert: lately ? { ...alert, wellAt: at } : undefined, event };
  }
  if (lately || (goesOn && alertedAt !== undefined)) return { alert };
  // The trouble begins anew when the channel was well in between.
  const begun = goesOn ? alert : { since: at, alertedAt: undefined, wellAt: undefined };
  const why = seen.why ?? 'unknown';
  const ours = why === 'credentials' || why === 'quota';
  if (!ours && at < begun.since + settings.troubleMs) return { alert: begun };
  const since = new Date(begun.since).toISOString();
  return {
    alert: { ...begun, alertedAt: at },
    event: { type: 'channel.trouble', channel, why, since },
  };
}

/**
 * Queues an alert for the sender: operators get all alerts by webhook, and those about channels by
 * mail; a user gets mail about the user's own balance.
 */
function* enqueueAlert(
  event: AlertEvent,
  mails: readonly { readonly to: string; readonly language: UserLanguage | undefined }[],
  context: AlertContext,
): Transaction<void> {
  const { settings, home, at } = context;
  const id = orderedId('ntc_', at);
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

/** The content of an alert. Amounts are yuan, times ISO 8601. */
type AlertEvent =
  | {
      readonly type: 'balance.low';
      readonly user: string;
      readonly name: string;
      readonly balance: string;
      readonly threshold: string;
    }
  | {
      readonly type: 'channel.trouble';
      readonly channel: string;
      readonly why: string;
      readonly since: string;
    }
  | { readonly type: 'channel.recovered'; readonly channel: string };

interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** The reason for a channel's trouble, by the errors of its last attempts. */
const reasons: Readonly<Record<string, { readonly zh: string; readonly en: string }>> = {
  credentials: { zh: '凭据失效，厂商拒绝了密钥', en: 'the vendor refused its key' },
  quota: { zh: '厂商账户余额不足', en: 'the vendor account is empty' },
  rate_limited: { zh: '厂商限制了请求速率', en: 'rate limited by the vendor' },
};
const otherReason = { zh: '厂商没有正常响应', en: 'the vendor does not answer correctly' };

/**
 * Contains no text that a user can write: the address may belong to another person. In the reader's
 * language; in both languages when it is not known.
 */
function mailOf(
  event: AlertEvent,
  language: UserLanguage | undefined,
  home: string | undefined,
): Mail {
  const both = language === undefined ? (['zh', 'en'] as const) : ([language] as const);
  const mails = both.map((one) => mailTexts[one](event, home));
  return {
    subject: mails.map(({ subject }) => subject).join(' · '),
    text: `${mails.map(({ text }) => text).join('\n\n')}\n`,
  };
}

const mailTexts: Readonly<
  Record<UserLanguage, (event: AlertEvent, home: string | undefined) => Mail>
> = {
  zh(event, home) {
    if (event.type === 'balance.low')
      return {
        subject: '余额不足提醒',
        text: `你的可用余额为 ¥${event.balance}，低于你设置的 ¥${event.threshold}。充值之前不会再次提醒。${linkTo(home, '/top-up')}`,
      };
    if (event.type === 'channel.recovered')
      return {
        subject: `渠道 ${event.channel} 已恢复`,
        text: `渠道 ${event.channel} 已恢复正常。`,
      };
    const reason = reasons[event.why] ?? otherReason;
    return {
      subject: `渠道 ${event.channel} 出现故障`,
      text: `渠道 ${event.channel} 自 ${event.since} 起无法正常使用：${reason.zh}。${linkTo(home, '/operator/channels')}`,
    };
  },
  en(event, home) {
    if (event.type === 'balance.low')
      return {
        subject: 'Your balance is low',
        text: `Your available balance is ¥${event.balance}, below your limit of ¥${event.threshold}. You will not be warned again before you top up.${linkTo(home, '/top-up')}`,
      };
    if (event.type === 'channel.recovered')
      return {
        subject: `Channel ${event.channel} has recovered`,
        text: `Channel ${event.channel} works again.`,
      };
    const reason = reasons[event.why] ?? otherReason;
    return {
      subject: `Channel ${event.channel} has a fault`,
      text: `Channel ${event.channel} has not worked correctly since ${event.since}: ${reason.en}.${linkTo(home, '/operator/channels')}`,
    };
  },
};

const linkTo = (home: string | undefined, path: string): string =>
  home === undefined ? '' : `\n${home}${path}`;
