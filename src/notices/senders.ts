import { createHmac } from 'node:crypto';
import { callControl } from '../http/control.ts';
import type { EmailSettings, NoticeSettings, WebhookSettings } from './settings.ts';

/** One thing to be said to one address, as it stands in the database. */
export interface Outgoing {
  readonly id: string;
  readonly target: string;
  /** JSON: of a mail its subject and text, of a webhook what is posted. */
  readonly content: string;
}

/** Undefined: it arrived. Otherwise why not, without a word of whom it was for. */
export type Send = (outgoing: Outgoing, now: number) => Promise<string | undefined>;

export interface Senders {
  readonly email: Send | undefined;
  readonly webhook: Send | undefined;
}

const timeoutMs = 10_000;

export const sendersOf = ({ email, webhook }: NoticeSettings): Senders => ({
  email: email && emailSender(email),
  webhook: webhook && webhookSender(webhook),
});

/** The package is loaded with the first mail. */
function emailSender({ url, from }: EmailSettings): Send {
  return async ({ id, target, content }) => {
    // Written by `tell`.
    const { subject, text } = JSON.parse(content) as {
      readonly subject: string;
      readonly text: string;
    };
    const { createTransport } = await import('nodemailer');
    const waits = {
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
    };
    const transport = createTransport({
      url,
      ...waits,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
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
      transport.close();
    }
  };
}

/**
 * Signed as standardwebhooks.com has it (spec of 2023-12): HMAC-SHA256 over `id.timestamp.body`, so
 * that libraries which know it verify it. The address is the operator's own word and may be
 * private: what keeps clients' addresses off private networks does not look at it.
 */
function webhookSender({ url, secret }: WebhookSettings): Send {
  const key = secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret);
  return async ({ id, content }, now) => {
    const timestamp = String(Math.floor(now / 1_000));
    const signature = createHmac('sha256', key)
      .update(`${id}.${timestamp}.${content}`)
      .digest('base64');
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'tollgate',
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

/** Errors' own sentences may name the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { code, responseCode } = error as Error & {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const said = [code, responseCode].filter(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  return said.length === 0 ? error.name : said.join(' ');
}
