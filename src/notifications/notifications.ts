import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { dayMs } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import { storedCatalog } from '../catalog/stored-catalog.ts';
import { nodeReports } from '../gateway/reports/report.ts';
import { callControl, userAgent } from '../http/control-call.ts';
import { checkBalances, checkChannels } from './alerts.ts';
import type { Database, Row } from '../storage/database.ts';
import {
  type EmailSettings,
  type NotificationSettings,
  signingKey,
  type WebhookSettings,
} from './settings.ts';

export interface NotificationsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: NotificationSettings;
  /** The console's address, for links. */
  readonly home: string | undefined;
  /** Called with the result of each attempt to send; never with the recipient. */
  readonly onAttempt: (id: string, way: string, why: string | undefined) => void;
  readonly onError: (error: unknown) => void;
  /** The time in which a mail server has to take a mail. Default: 45 seconds. */
  readonly mailMs?: number;
}

const lookEveryMs = 15_000;
/**
 * Longer than one message takes, before each of which the turn is renewed; a process that dies
 * keeps its turn this long.
 */
const turnMs = 60_000;
const usualMailMs = 45_000;
/**
 * The most that is sent in one look: a thousand users with a low balance get their mails within a
 * quarter of an hour.
 */
const sentMax = 20;
/** The delays after each failed attempt; after the last one the message is given up. */
const retryAfterMs = [30_000, 120_000, 600_000, 3_600_000, 21_600_000] as const;
const keptMs = 30 * dayMs;

/**
 * Looks for conditions that need an alert, and sends the alerts. Of all processes only the one that
 * has the turn does it.
 */
export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #senders: Senders;
  readonly #node = randomText(16);
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#senders = sendersOf(options.settings, options.mailMs ?? usualMailMs);
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), lookEveryMs);
    this.#timer.unref();
  }

  /** One look at everything; a failure is tried again with the next. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    const release = 'UPDATE notice_turn SET until=0 WHERE id=1 AND node=$1';
    await this.#options.database.query(release, [this.#node]).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { database, clock, settings, home } = this.#options;
    if (this.#closed || !(await this.#turn())) return;
    const at = clock.now();
    const [{ channels }, reports] = [
      await storedCatalog(database),
      await nodeReports(database, clock),
    ];
    const context = { settings, home, at };
    await database.transact(() => checkChannels(channels, reports, context));
    await database.transact(() => checkBalances(context));
    for (const due of await database.query(dueSql, [at])) {
      if (this.#closed || !(await this.#turn())) return;
      await this.#send(due);
    }
    await database.query("DELETE FROM notice WHERE created_at<$1 AND state<>'open'", [at - keptMs]);
  }

  async #turn(): Promise<boolean> {
    const { database, clock } = this.#options;
    const now = clock.now();
    const sql =
      'UPDATE notice_turn SET node=$1, until=$2 WHERE id=1 AND (node=$1 OR until<=$3) RETURNING id';
    return (await database.query(sql, [this.#node, now + turnMs, now])).length > 0;
  }

  /**
   * Claims the message before it is sent: if the process dies in between, another sends it a while
   * later.
   */
  async #send(due: Row): Promise<void> {
    const { database, clock, onAttempt: report } = this.#options;
    const [id, way] = [String(due['id']), due['way'] === 'email' ? 'email' : 'webhook'] as const;
    const attempts = Number(due['attempts']);
    const now = clock.now();
    const claim =
      "UPDATE notice SET attempts=$2, next_at=$3 WHERE id=$1 AND state='open' AND attempts=$4 RETURNING id";
    const mine = await database.query(claim, [
      id,
      attempts + 1,
      now + (retryAfterMs[attempts] ?? turnMs),
      attempts,
    ]);
    if (mine.length === 0) return;
    const outgoing: OutgoingNotification = {
      id,
      target: String(due['target']),
      content: String(due['content']),
    };
    const why = await (this.#senders[way]?.(outgoing, now) ?? 'not configured any more');
    const state =
      why === undefined ? 'sent' : attempts >= retryAfterMs.length ? 'given_up' : 'open';
    // Not when another process has claimed the message since.
    const sql = 'UPDATE notice SET state=$2, why=$3 WHERE id=$1 AND attempts=$4';
    await database.query(sql, [id, state, why ?? null, attempts + 1]);
    report(id, way, why);
  }
}

const dueSql = `SELECT * FROM notice WHERE state='open' AND next_at<=$1 ORDER BY next_at, id LIMIT ${sentMax}`;

/** One message to one address, as stored in the database. */
interface OutgoingNotification {
  readonly id: string;
  readonly target: string;
  /** JSON: subject and text of a mail, the body of a webhook. */
  readonly content: string;
}

/**
 * Resolves with undefined when the message arrived, otherwise with the reason; never with the
 * recipient.
 */
type Send = (outgoing: OutgoingNotification, now: number) => Promise<string | undefined>;

interface Senders {
  readonly email: Send | undefined;
  readonly webhook: Send | undefined;
}

/** How long a mail server may say nothing. */
const sendTimeoutMs = 10_000;

const sendersOf = ({ email, webhook }: NotificationSettings, mailMs: number): Senders => ({
  email: email && emailSender(email, mailMs),
  webhook: webhook && webhookSender(webhook),
});

/** Loads the package with the first mail. */
function emailSender({ url, from }: EmailSettings, mailMs: number): Send {
  return async ({ id, target, content }) => {
    // Written by `enqueueAlert`.
    const { subject, text } = JSON.parse(content) as {
      readonly subject: string;
      readonly text: string;
    };
    const { createTransport } = await import('nodemailer');
    const waits = {
      connectionTimeout: sendTimeoutMs,
      greetingTimeout: sendTimeoutMs,
      socketTimeout: sendTimeoutMs,
      dnsTimeout: sendTimeoutMs,
    };
    const transport = createTransport({
      url,
      ...waits,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), mailMs);
    try {
      await transport.sendMail({
        signal: over.signal,
        from,
        to: target,
        subject,
        text,
        headers: { 'auto-submitted': 'auto-generated' },
        messageId: `<${id}@tollgate>`,
      });
      return undefined;
    } catch (error) {
      return reasonOf(error);
    } finally {
      clearTimeout(timer);
      transport.close();
    }
  };
}

/**
 * Signed as standardwebhooks.com has it (spec of 2023-12): HMAC-SHA256 over `id.timestamp.body`, so
 * that libraries for that standard verify it. The operator sets the address, so it may be private:
 * the check that keeps clients' addresses off private networks does not apply.
 */
function webhookSender({ url, secret }: WebhookSettings): Send {
  const key = signingKey(secret);
  assert(key !== undefined, 'the secret was checked when the settings were read');
  return async ({ id, content }, now) => {
    const timestamp = String(Math.floor(now / 1_000));
    const signature = createHmac('sha256', key)
      .update(`${id}.${timestamp}.${content}`)
      .digest('base64');
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    try {
      const { status } = await callControl(url, { method: 'POST', headers, body: content });
      return status >= 200 && status < 300 ? undefined : `status ${status}`;
    } catch (error) {
      return reasonOf(error);
    }
  };
}

/** The message of an error may contain the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { code, responseCode } = error as Error & {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const codes = [code, responseCode].filter(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  return codes.length === 0 ? error.name : codes.join(' ');
}
