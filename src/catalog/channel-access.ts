import { isPlainText } from '../base/plain-text.ts';
import { type Reason, reason } from '../base/reason.ts';

/** The reason why a text is no base address of a channel, if there is one. */
export function addressProblem(written: string): Reason | undefined {
  if (!isBaseUrl(written)) return reason('not_a_base_address', { written });
  const { username, password } = new URL(written);
  return username === '' && password === '' ? undefined : reason('password_in_address');
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, search, hash } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && search === '' && hash === '';
}

/** Whether a text is the address of a site: a name and a password, `?` and `#` are not in it. */
export const isSiteAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/.test(text);

/**
 * Whether a vendor can be called with this key. A key goes into a header, which is one line; a
 * credentials file in JSON does not.
 */
export const isVendorKey = (secret: string): boolean =>
  secret.startsWith('{') || isPlainText(secret);
