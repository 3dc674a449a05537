import type { SynchronousCapability } from '../base/capability.ts';
import type { Fault } from '../base/fault.ts';
import { type Refusal, refusal, unavailable } from '../base/refusal.ts';
import type { ChannelFacts } from '../catalog/snapshot.ts';
import { sanitizeVendorMessage } from '../providers/vendor-message.ts';

const messageCharsMax = 1_000;
/** How much of a vendor's message is read. */
const charsReadMax = 4 * messageCharsMax;

/** The facts of a channel that its vendor may repeat in a message, and that no client may see. */
export type HiddenFacts = Pick<ChannelFacts, 'secret' | 'moreSecrets' | 'baseUrl'>;

/**
 * A vendor's fault as the client may see it: the client's own mistakes as a 400, a generation that
 * the vendor gave up as a 500, everything else as our 503, never as the vendor's 401, 402, 403 or
 * 429.
 */
export function refusalFor(
  fault: Fault,
  requestId: string,
  retryAfterMs: number | undefined,
  channel: HiddenFacts | undefined,
  capability?: SynchronousCapability,
): Refusal {
  const values = {
    message: shownMessage(fault.message, channel),
    ...(fault.param === undefined ? {} : { param: shownMessage(fault.param, channel) }),
  };
  if (fault.kind === 'bad_request') return refusal('vendor_bad_request', values);
  if (fault.kind === 'context_length')
    return refusal('context_length_exceeded', {
      param: 'messages',
      ...values,
      ...promptMembers[capability ?? 'chat'],
    });
  if (fault.kind === 'content_policy') return refusal('content_policy_violation', values);
  if (fault.ended === true && fault.kind === 'server_error')
    return refusal('generation_failed', { id: requestId });
  const why = whatHappened[fault.kind] ?? 'the model cannot be reached';
  return unavailable(requestId, why, retryAfterMs ?? fault.retryAfterMs);
}

/** The member that holds the prompt, in formats that a vendor of another format cannot name. */
const promptMembers: Readonly<Partial<Record<SynchronousCapability, { param: string }>>> = {
  generate_content: { param: 'contents' },
  embed_content: { param: 'content' },
};

/** A shorter secret may be part of any word. */
const secretCharsMin = 6;

/**
 * The vendor's text without our key, should the key stand in it in a form that the adapter does not
 * know.
 */
export function withoutSecret(secret: string | undefined, message: string): string {
  return secret === undefined || secret.length < secretCharsMin
    ? message
    : message.replaceAll(secret, '***');
}

/**
 * Every vendor message reaches the client through this function: without our keys or parts of them,
 * our account, and the channel's URL.
 */
export function shownMessage(message: string, channel: HiddenFacts | undefined): string {
  let text = message.slice(0, charsReadMax);
  for (const secret of [channel?.secret, ...(channel?.moreSecrets ?? [])])
    text = withoutParts(secret, withoutSecret(secret, text));
  return sanitizeVendorMessage(withoutAddress(channel?.baseUrl, text)).slice(0, messageCharsMax);
}

/** How many characters at an end of a key identify it: fewer may be the end of a word. */
const partChars = 4;

/** Removes `sk-ab...wxyz` and `…wxyz`: the ends of a key whose middle the vendor has masked. */
function withoutParts(secret: string | undefined, message: string): string {
  if (secret === undefined || secret.length < 3 * partChars || !/\.{2,}|…|[*•]{2,}/.test(message))
    return message;
  const [head, tail] = [secret.slice(0, partChars), secret.slice(-partChars)];
  return message.replace(/[^\s"'`(),:;]*(?:\.{2,}|…|[*•]{2,})[^\s"'`(),:;]*/g, (part) =>
    part.startsWith(head) || part.replace(/\.$/, '').endsWith(tail) ? '***' : part,
  );
}

/**
 * Removes the channel's host, and the URL that contains it. A host of one label may be a common
 * word, and is removed only with its port.
 */
function withoutAddress(baseUrl: string | undefined, message: string): string {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return message;
  const { hostname, host } = new URL(baseUrl);
  const name = /[.:]/.test(hostname) ? hostname : host;
  if (!/[.:]/.test(name) || !message.toLowerCase().includes(name)) return message;
  const named = name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return message.replace(
    new RegExp(
      String.raw`(?:https?://)?(?<![\w.-])${named}(?![\w-])(?::\d+)?(?:/[^\s"'<>)\],;]*)?`,
      'gi',
    ),
    '***',
  );
}

const whatHappened: Readonly<Partial<Record<Fault['kind'], string>>> = {
  rate_limited: 'the model is busy',
  overloaded: 'the model is overloaded',
  timeout: 'the model did not answer in time',
  network: 'the connection to the model broke',
  protocol: 'the model gave an answer that cannot be read',
  server_error: 'the model failed',
};
