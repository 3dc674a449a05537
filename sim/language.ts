import type { IncomingHttpHeaders } from 'node:http';

export type Language = 'en' | 'zh';

/** The language of a page for people: Chinese for a browser that asks for it first. */
export const languageOf = ({ 'accept-language': asked = '' }: IncomingHttpHeaders): Language =>
  /^\s*zh/i.test(asked) ? 'zh' : 'en';
