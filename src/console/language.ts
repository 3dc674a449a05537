import type { IncomingHttpHeaders } from 'node:http';
import type { UserLanguage } from '../accounts/users.ts';
import { cookieIn } from '../http/cookies.ts';

/** The language of the console in this browser: the chosen one, otherwise the browser's own. */
export function languageOf({
  cookie,
  'accept-language': accepted = '',
}: IncomingHttpHeaders): UserLanguage {
  const chosen = cookieIn(cookie, 'tollgate_language');
  if (chosen === 'zh' || chosen === 'en') return chosen;
  return /^\s*zh/i.test(accepted) ? 'zh' : 'en';
}
