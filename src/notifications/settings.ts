import { isEmail } from '../accounts/text-fields.ts';
import type { Env } from '../base/env.ts';

/** The ways to reach operators and users with alerts. A way that is absent is not used. */
export interface NotificationSettings {
  readonly email?: EmailSettings;
  readonly webhook?: WebhookSettings;
  /** A channel gets an alert when its trouble has lasted this long. */
  readonly troubleMs: number;
}

export interface EmailSettings {
  /** `smtp://user:password@host:587` (STARTTLS where it is offered) or `smtps://…`. */
  readonly url: string;
  /** As in the header: `Tollgate <noreply@example.com>`. */
  readonly from: string;
  /** Operators' addresses. */
  readonly to: readonly string[];
}

export interface WebhookSettings {
  readonly url: string;
  /** The signing key: its bytes, or `whsec_` and their base64. */
  readonly secret: string;
}

const usualTroubleMinutes = 5;
const secretBytesMin = 16;

/**
 * Reads the settings from the environment. Undefined: no alerts are sent; a text: a sentence about
 * what is wrong.
 */
export function notificationSettings(env: Env): NotificationSettings | undefined | string {
  const [smtp, from, hook, secret] = [
    'SMTP_URL',
    'NOTIFY_FROM',
    'NOTIFY_WEBHOOK',
    'NOTIFY_WEBHOOK_SECRET',
  ].map((name) => env[name] || undefined);
  const to = (env['NOTIFY_EMAIL'] ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean);
  const wrong = to.find((address) => !isEmail(address));
  if (wrong !== undefined) return `NOTIFY_EMAIL are addresses with commas between, not '${wrong}'`;
  const minutes = env['NOTIFY_CHANNEL_MINUTES'] || String(usualTroubleMinutes);
  if (!/^\d{1,4}$/.test(minutes))
    return `NOTIFY_CHANNEL_MINUTES is a whole number, not '${minutes}'`;
  if (smtp === undefined && (from !== undefined || to.length > 0))
    return `${to.length > 0 ? 'NOTIFY_EMAIL' : 'NOTIFY_FROM'} is for mails, which need SMTP_URL: an address such as smtps://user:password@mail.example.com`;
  if (smtp === undefined && hook === undefined) return undefined;
  if (smtp !== undefined && !hasHost(smtp, ['smtp:', 'smtps:']))
    return 'SMTP_URL is an address such as smtps://user:password@mail.example.com';
  if (smtp !== undefined && from === undefined)
    return 'NOTIFY_FROM is missing beside SMTP_URL: whom mails are from, such as Tollgate <noreply@example.com>';
  if (hook !== undefined && !hasHost(hook, ['https:', 'http:']))
    return 'NOTIFY_WEBHOOK is an address such as https://example.com/hook';
  if (hook !== undefined && (signingKey(secret ?? '')?.length ?? 0) < secretBytesMin)
    return `NOTIFY_WEBHOOK_SECRET signs what is sent to NOTIFY_WEBHOOK: ${secretBytesMin} bytes or more, or whsec_ and their base64`;
  return {
    ...(smtp !== undefined && from !== undefined && { email: { url: smtp, from, to } }),
    ...(hook !== undefined && secret !== undefined && { webhook: { url: hook, secret } }),
    troubleMs: Number(minutes) * 60_000,
  };
}

/** The bytes that sign; undefined where `whsec_` is followed by no base64. */
export function signingKey(secret: string): Buffer | undefined {
  if (!secret.startsWith('whsec_')) return Buffer.from(secret);
  const text = secret.slice('whsec_'.length);
  return /^[A-Za-z0-9+/]+=*$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function hasHost(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocols.includes(protocol) && hostname !== '';
}
