import { remember } from '../browser/cookies.ts';
import { store } from '../browser/store.ts';

export const languages = ['zh', 'en'] as const;
export type Language = (typeof languages)[number];

const current = store<Language>(
  typeof document !== 'undefined' && document.documentElement.lang.startsWith('zh') ? 'zh' : 'en',
);

export const language = current.get;
export const useLanguage = current.use;

/**
 * The server writes the first language into the page; a cookie stores a change. Call
 * `switchLanguage`, which loads the texts first.
 */
export function setLanguage(next: Language): void {
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  remember('tollgate_language', next);
  current.set(next);
}

/** What stands between two sentences: nothing where one ends with 。, which has room of its own. */
export function useSentenceGap(): string {
  return useLanguage() === 'zh' ? '' : ' ';
}
