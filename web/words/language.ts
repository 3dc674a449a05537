import { useSyncExternalStore } from 'react';
import { remember } from '../browser/cookies.ts';

export const languages = ['zh', 'en'] as const;
export type Language = (typeof languages)[number];

const listeners = new Set<() => void>();
let current: Language =
  typeof document !== 'undefined' && document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';

export function language(): Language {
  return current;
}

/**
 * The server writes the first language into the page; a cookie stores a change. Call
 * `switchLanguage`, which loads the texts first.
 */
export function setLanguage(next: Language): void {
  current = next;
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  remember('tollgate_language', next);
  for (const listener of listeners) listener();
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language);
}

/** What stands between two sentences: nothing where one ends with 。, which has room of its own. */
export function useSentenceGap(): string {
  return useLanguage() === 'zh' ? '' : ' ';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
