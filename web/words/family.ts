import { use } from 'react';
import { loadFile } from '../api/later.ts';
import { type Language, language, setLanguage, useLanguage } from './language.ts';

type Load<Words> = () => Promise<{ readonly default: Words }>;

/** The texts of some pages: one file per language, loaded when a page needs them. */
export interface Family<Words> {
  readonly files: Readonly<Record<Language, Load<Words>>>;
  readonly ready: Map<Language, Words>;
  readonly loading: Map<Language, Promise<Words>>;
}

const used = new Set<Family<unknown>>();

/**
 * English defines which texts there are; the Chinese file says `satisfies typeof en`, so that a
 * missing one does not compile.
 */
export function family<Words>(files: Readonly<Record<Language, Load<Words>>>): Family<Words> {
  return { files, ready: new Map(), loading: new Map() };
}

/**
 * The texts in the user's language. Suspends until they are loaded: pages name their family to the
 * router, which loads it beside the page.
 */
export function useWords<Words>(of: Family<Words>): Words {
  const language = useLanguage();
  return of.ready.get(language) ?? use(load(of, language));
}

/** The texts if a page has loaded them; does not suspend. */
export function useLoadedWords<Words>(of: Family<Words>): Words | undefined {
  return of.ready.get(useLanguage());
}

export function preload<Words>(of: Family<Words>): Promise<Words> {
  return load(of, language());
}

/** Nothing on the page changes before all texts are loaded. */
export async function switchLanguage(next: Language): Promise<void> {
  await Promise.all([...used].map((each) => load(each, next)));
  setLanguage(next);
}

function load<Words>(of: Family<Words>, language: Language): Promise<Words> {
  const known = of.loading.get(language);
  if (known !== undefined) return known;
  used.add(of);
  const words = loadFile(of.files[language]).then(
    (file) => {
      of.ready.set(language, file.default);
      return file.default;
    },
    (error: unknown) => {
      of.loading.delete(language); // so that the next call tries again
      throw error;
    },
  );
  of.loading.set(language, words);
  return words;
}
